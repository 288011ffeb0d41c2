"""What comes to mind? The messages and beliefs that bear on a question, found for one person.

Reads the database and the embedder, one after the other; writes nothing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.ids import MemoryId, MessageId, PersonId
from oldfriend.domain.memories import Entity, Evidence, Known, Memory, MemoryKind
from oldfriend.domain.messages import Message
from oldfriend.domain.people import Person
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.memory.correcting import when_set
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.log import list_beside, list_by_seq
from oldfriend.memory.notes import list_notes
from oldfriend.memory.search import (
    LEARNED_WITH,
    NO_BELIEFS,
    USUAL_TEXTS,
    BeliefHit,
    Found,
    FoundBeliefs,
    Hit,
    PersonIndex,
    Question,
    Reason,
    Sense,
    search,
    to_compare,
    usual_of,
)
from oldfriend.memory.search.asked_for import ASKED_FOR
from oldfriend.memory.search.latest import asks_for_the_latest
from oldfriend.memory.search.liking import Liking, liking_in
from oldfriend.memory.search.ordering import OUTDONE
from oldfriend.memory.search.questions import Matter
from oldfriend.memory.search.scorers import Scorer, typed_decay
from oldfriend.memory.shelf import Shelf
from oldfriend.memory.vectors import exact_cosines


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A message that came to mind, and why."""

    message: Message
    hit: Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A belief that came to mind, why, and the words that it rests on."""

    known: Known
    score: float  # 0 to 1, as a message has it
    why: tuple[Reason, ...]
    words: tuple[Evidence, ...]  # oldest first; those that speak for it as it reads
    set_at: Micros | None = None  # when the person has written it so themselves
    overwritten: frozenset[MessageId] = frozenset()  # what was said for it as it read before that

    @property
    def is_asked_for(self) -> bool:
        """Whether it is a value of what was asked for."""
        return ASKED_FOR in self.why


Thing: TypeAlias = Recalled | Remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What came to mind for one question."""

    found: tuple[Recalled, ...]  # best first
    answerable: float  # how likely it is that any of these answers, 0 to 1
    is_good_enough: bool
    degraded: bool  # searched by words alone, because there was no vector
    beliefs: tuple[Remembered, ...] = ()  # best first
    believable: float = 0.0  # how likely it is that any belief answers
    is_known: bool = False  # it is more honest to answer from a belief than not
    named: tuple[Entity, ...] = ()  # who is asked about
    matter: Matter | None = None  # what is asked for by its key
    other_times: tuple[Remembered, ...] = ()  # its values, where none held when one asks about
    asks_of_past: bool = False  # it asks how it was once
    asks_before: bool = False  # it asks of before now, and names no time
    liking: Liking | None = None  # it asks what of a kind they like, or cannot stand
    asks_for_latest: bool = False  # it asks for the newest of something, or how somebody is by now
    mixed: tuple[Thing, ...] = ()  # both, as they are worth being shown

    @property
    def ranking(self) -> tuple[Thing, ...]:
        """Messages and beliefs, best first."""
        return self.mixed or tuple(
            sorted([*self.beliefs, *self.found], key=lambda each: -score_of(each))
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all came to mind."""
        return not (self.found or self.beliefs)


NOT_FOUND = Found(hits=(), answerable=0.0)
NOTHING = Recollection(found=(), answerable=0.0, is_good_enough=False, degraded=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """What makes somebody remember: words, and when they were said."""

    text: str
    language: str
    at: Micros
    exclude: Sequence[int] = ()  # seqs of what is in view anyway
    answered: Sequence[int] = ()  # of those, what is being answered
    kinds: Collection[MemoryKind] = ()  # of beliefs; none: all
    most_beliefs: int | None = None  # None: as many as messages


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNote:
    """A note, and the words that it stands on first."""

    memory: Memory
    evidence: Evidence
    set_at: Micros | None = None  # when the person has written it so themselves


def no_other(_model: str) -> Embedder | None:
    """Only the present embedder is at hand."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Where to look: the database, the indexes that stand ready, and the sense for meaning."""

    db: Database
    shelf: Shelf
    embedder: Embedder | None
    former: Callable[[str], Embedder | None] = no_other  # the embedder of a model of before
    scorer: Scorer = typed_decay  # by which beliefs that answer are weighed


def score_of(thing: Thing) -> float:
    """How well something answers, 0 to 1."""
    return thing.score if isinstance(thing, Remembered) else thing.hit.score


def id_of(thing: Thing) -> str:
    """Which message or belief it is."""
    return thing.known.memory.id if isinstance(thing, Remembered) else thing.message.id


NEAR = 3
"""So many messages on each side say what a message was about (ACCEPTANCE J9)."""


async def neighbours_of(looking: Looking, message: Message) -> tuple[Message, ...]:
    """What was said just before and after a message."""
    async with looking.db.reading() as tx:
        return tuple(await list_beside(tx, message, each_side=NEAR))


async def recall(looking: Looking, person: Person, cue: Cue, *, limit: int) -> Recollection:
    """What answers the cue best: so many messages, from all channels, and so many beliefs."""
    if is_too_short(cue.text):
        return NOTHING
    question = question_of(cue, person, await sense_of(looking.embedder, cue.text))
    seen = await look(looking, person, question, limit, cue)
    while seen.unasked:
        # Some of this history is not yet embedded anew: it is asked as it was before, too.
        senses = {model: await sense_of(looking.former(model), cue.text) for model in seen.unasked}
        question = replace(question, former={**question.former, **senses})
        seen = await look(looking, person, question, limit, cue)
    by_seq, hits = {message.seq: message for message in seen.messages}, len(seen.believed.hits)
    found = [Recalled(message=by_seq[hit.seq], hit=hit) for hit in seen.found.hits]
    return Recollection(
        found=as_it_is_now(found, seen.remembered[:hits], seen.overtaken),
        answerable=seen.found.answerable,
        is_good_enough=seen.found.is_good_enough,
        degraded=looking.embedder is not None and question.sense is None,
        beliefs=seen.remembered[:hits],
        believable=seen.believed.answerable,
        is_known=seen.believed.is_good_enough,
        named=seen.believed.named,
        matter=seen.believed.matter,
        other_times=seen.remembered[hits:],
        asks_of_past=seen.believed.asks_of_past,
        asks_before=seen.believed.asks_before,
        liking=liking_in(cue.text),
        asks_for_latest=asks_for_the_latest(cue.text),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one look into the indexes gave; nothing yet, where a model has still to be asked."""

    found: Found
    messages: Sequence[Message] = ()
    unasked: frozenset[str] = frozenset()
    believed: FoundBeliefs = NO_BELIEFS
    remembered: tuple[Remembered, ...] = ()
    overtaken: frozenset[MessageId] = frozenset()  # what was said for values that are over


async def look(
    looking: Looking, person: Person, question: Question, limit: int, cue: Cue
) -> Seen:  # fmt: skip
    """Search a person's history as it is now, once the question is there for all its vectors."""
    async with looking.db.reading() as tx:
        beliefs = await looking.shelf.beliefs_of(tx, person.id)
        most = limit if cue.most_beliefs is None else cue.most_beliefs
        believed = beliefs.search(question, most, kinds=cue.kinds, scorer=looking.scorer)
        index = await looking.shelf.index_of(tx, person.id, besides=cue.answered)
        if unasked := index.former.keys() - question.former.keys():
            return Seen(found=NOT_FOUND, unasked=frozenset(unasked))
        if index.is_narrow:
            question = await compared(looking, tx, person, index, question)
            index = await looking.shelf.index_of(tx, person.id, besides=cue.answered)
        found = search(index, question, limit)
        messages = await list_by_seq(tx, person.id, [hit.seq for hit in found.hits])
        remembered = await with_words(tx, person, [*believed.hits, *believed.other_times])
        over = [each.memory.id for each in believed.overtaken]
        evidence = await list_evidence_of(tx, person.id, over) if over else {}
    return Seen(
        found=found, messages=messages, believed=believed, remembered=remembered,
        overtaken=frozenset(words.message for each in evidence.values() for words in each),
    )  # fmt: skip


def as_it_is_now(
    found: Sequence[Recalled], beliefs: Sequence[Remembered], overtaken: Collection[MessageId]
) -> tuple[Recalled, ...]:
    """What was found, with the words for what holds now before those that it has overtaken."""
    told = [each for each in beliefs if each.is_asked_for]
    surely = {words.message: each.score for each in told for words in each.words}
    if not surely:
        return tuple(found)
    scored = [standing_now(each, surely, overtaken) for each in found]
    return tuple(sorted(scored, key=lambda each: -each.hit.score))


def standing_now(
    recalled: Recalled, surely: Mapping[MessageId, float], overtaken: Collection[MessageId]
) -> Recalled:
    """A message as sure as the value that rests on it; one that was overtaken, less than any."""
    hit, message = recalled.hit, recalled.message.id
    if message in surely:
        why = (*hit.why, ASKED_FOR)
        return replace(recalled, hit=replace(hit, score=max(hit.score, surely[message]), why=why))
    if message in overtaken:
        score = min(hit.score, OUTDONE * min(surely.values()))
        return replace(recalled, hit=replace(hit, score=score))
    return recalled


async def with_words(
    tx: Transaction, person: Person, hits: Sequence[BeliefHit]
) -> tuple[Remembered, ...]:
    """Beliefs that were found, each with what stands behind it."""
    grounds = await what_is_behind(tx, person.id, [hit.known.memory for hit in hits])
    return tuple(
        Remembered(
            known=hit.known, score=hit.score, why=hit.why,
            words=grounds[hit.known.memory.id].words, set_at=grounds[hit.known.memory.id].set_at,
            overwritten=grounds[hit.known.memory.id].overwritten,
        )
        for hit in hits
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """What a belief stands on as it reads now."""

    words: tuple[Evidence, ...]  # oldest first
    set_at: Micros | None
    overwritten: frozenset[MessageId]


async def what_is_behind(
    tx: Transaction, person: PersonId, memories: Sequence[Memory]
) -> dict[MemoryId, Behind]:
    """The words that speak for beliefs, and when the person has written them so themselves.

    What was said before that was said of something that read otherwise.
    """
    evidence = await list_evidence_of(tx, person, [each.id for each in memories])
    written = [each.id for each in memories if each.is_by_person]
    set_at = await when_set(tx, person, written)
    return {
        each.id: behind(evidence.get(each.id, ()), set_at=set_at.get(each.id)) for each in memories
    }


def behind(evidence: Sequence[Evidence], *, set_at: Micros | None) -> Behind:
    """Of all words that bear on a belief those that speak for it as it reads now."""
    supporting = [each for each in evidence if each.stance == "supports"]
    words = tuple(each for each in supporting if set_at is None or each.said_at > set_at)
    overwritten = frozenset(each.message for each in supporting if each not in words)
    return Behind(words=words, set_at=set_at, overwritten=overwritten)


async def compared(
    looking: Looking, tx: Transaction, person: Person, index: PersonIndex, question: Question
) -> Question:
    """The question with what it is to the likeliest messages, by whole vectors."""
    senses = {looking.shelf.model or "": question.sense, **question.former}
    seqs = to_compare(index, question)
    return replace(question, exact=await exact_cosines(tx, person.id, senses, seqs))


def question_of(cue: Cue, person: Person, sense: Sense | None) -> Question:
    """What the cue asks of somebody's history."""
    return Question(
        text=cue.text, language=cue.language, sense=sense, asked_at=cue.at,
        zone_offset_s=offset_at(cue.at, person.zone), exclude=frozenset(cue.exclude),
    )  # fmt: skip


async def list_known_notes(tx: Transaction, person: Person) -> tuple[KnownNote, ...]:
    """The notes of a person, oldest first."""
    notes = await list_notes(tx, person.id)
    evidence = await list_evidence_of(tx, person.id, [note.id for note in notes])
    set_at = await when_set(tx, person.id, [note.id for note in notes if note.is_by_person])
    return tuple(
        KnownNote(memory=note, evidence=evidence[note.id][0], set_at=set_at.get(note.id))
        for note in notes
        if note.id in evidence
    )


async def sense_of(embedder: Embedder | None, text: str) -> Sense | None:
    """The text as a model understands it; None where it does not, which never stops a recall."""
    if embedder is None or embedder.model == LEARNED_WITH:
        vector = await vector_of(embedder, text)
        return None if vector is None else Sense(vector=vector)
    try:
        vectors = await embedder.embed([text, *USUAL_TEXTS])
    except EmbeddingFailed:
        return None
    return Sense(vector=vectors[0], usual=usual_of(vectors[0], vectors[1:]))


async def vector_of(embedder: Embedder | None, text: str) -> Vectors | None:
    """The text's vector; None where it cannot be had, which never stops a recall."""
    if embedder is None:
        return None
    try:
        vectors: Vectors = await embedder.embed([text])
    except EmbeddingFailed:
        return None
    first: Vectors = vectors[0]
    return first


def offset_at(at: Micros, zone: str) -> int:
    """Seconds by which a zone's clocks are ahead of UTC at a moment."""
    offset = from_micros(at, zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def is_too_short(text: str) -> bool:
    """Whether a text is too short to ask anything: under three letters, one CJK character."""
    words = "".join(c for c in text if c.isalnum())
    return len(words) < (2 if any(c >= "\u2e80" for c in words) else 3)
