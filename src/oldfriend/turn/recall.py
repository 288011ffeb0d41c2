"""What comes to mind? The messages and notes that bear on a question, found for one person.

Reads the database and the embedder, one after the other; writes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.memories import Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.domain.people import Person
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.memory.log import list_by_seq
from oldfriend.memory.notes import list_evidence, list_notes
from oldfriend.memory.search import Hit, Question, search
from oldfriend.memory.shelf import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A message that came to mind, and why."""

    message: Message
    hit: Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What came to mind for one question."""

    found: tuple[Recalled, ...]  # best first
    answerable: float  # how likely it is that any of it answers, 0 to 1
    is_good_enough: bool
    degraded: bool  # searched by words alone, because there was no vector


NOTHING = Recollection(found=(), answerable=0.0, is_good_enough=False, degraded=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """What makes somebody remember: words, and when they were said."""

    text: str
    language: str
    at: Micros
    exclude: Sequence[int] = ()  # seqs of what is in view anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNote:
    """A note, and the words that it stands on first."""

    memory: Memory
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Where to look: the database, the indexes that stand ready, and the sense for meaning."""

    db: Database
    shelf: Shelf
    embedder: Embedder | None


async def recall(looking: Looking, person: Person, cue: Cue, *, limit: int) -> Recollection:
    """The messages of this person, on all channels, that answer the cue best."""
    if is_too_short(cue.text):
        return NOTHING
    vector = await vector_of(looking.embedder, cue.text)
    async with looking.db.reading() as tx:
        index = await looking.shelf.index_of(tx, person.id)
        question = Question(
            text=cue.text, language=cue.language, vector=vector, asked_at=cue.at,
            zone_offset_s=offset_at(cue.at, person.zone), exclude=frozenset(cue.exclude),
        )  # fmt: skip
        found = search(index, question, limit)
        messages = await list_by_seq(tx, person.id, [hit.seq for hit in found.hits])
    by_seq = {message.seq: message for message in messages}
    return Recollection(
        found=tuple(Recalled(message=by_seq[hit.seq], hit=hit) for hit in found.hits),
        answerable=found.answerable,
        is_good_enough=found.is_good_enough,
        degraded=looking.embedder is not None and vector is None,
    )


async def list_known_notes(tx: Transaction, person: Person) -> tuple[KnownNote, ...]:
    """The notes of a person, oldest first."""
    evidence = await list_evidence(tx, person.id)
    return tuple(
        KnownNote(memory=note, evidence=evidence[note.id][0])
        for note in await list_notes(tx, person.id)
        if note.id in evidence
    )


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
