"""Belief queries: beliefs and thoughts as of now or of a past day, with evidence. Read-only."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.belief_kinds import KEYED_KINDS
from oldfriend.domain.clock import DAY, Micros, get_start_of_day, parse_timestamp
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import (
    NEVER_BELIEVED,
    Cause,
    Entity,
    Evidence,
    EvidenceStats,
    JournalEntry,
    JournalObject,
    MemoryKind,
    MemoryState,
    StoredBelief,
    Summary,
)
from oldfriend.domain.messages import Message, Person
from oldfriend.domain.relations import EntityResolver
from oldfriend.domain.staleness import find_stale_since
from oldfriend.lang.detection import detect_language
from oldfriend.learning.doubt import get_doubtful_passage
from oldfriend.learning.similarity import get_canonical_stems
from oldfriend.learning.validation.quote_alignment import find_span
from oldfriend.llm.embedding import Embedder
from oldfriend.memory.belief_views import (
    get_memory_state,
    get_object_by_partial_id,
    list_entities,
    list_memories,
    list_summaries,
    list_superseding_memories,
    list_unconfirmed_memories,
)
from oldfriend.memory.derived_evidence import list_premises
from oldfriend.memory.evidence import list_evidence, list_object_evidence
from oldfriend.memory.journal import list_journal_as_of, list_object_journal
from oldfriend.memory.message_log import get_message
from oldfriend.memory.pagination import BeliefFilter, list_folded
from oldfriend.memory.people import get_person_by_id
from oldfriend.memory.receipts import MemoryUsage, find_memory_usage
from oldfriend.memory.reflection_log import TRANSCRIPT_TTL, ReflectionRecord, list_reflections
from oldfriend.memory.segments import find_segment, list_segment_messages
from oldfriend.memory.vectors import load_belief_vectors
from oldfriend.search import EntityGraph
from oldfriend.search.attribute_lookup import parse_key_owner
from oldfriend.search.types import multiply
from oldfriend.turn.query_embedding import embed_text

MIN_COSINE = 0.35
"""Lowest cosine at which a belief may match a query in other words."""
ISO_DATE_LENGTH = len("2026-03-14")


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefDetails:
    """A belief with the evidence for and against it."""

    content: JournalObject
    standing: EvidenceStats | None = None  # for memories
    evidence: tuple[Evidence, ...] = ()
    relations: tuple[MemoryState, ...] = ()  # for entities, nearest first
    base: int | None = None  # seq of its newest change then, if loaded
    uses: MemoryUsage | None = None  # for memories: the replies it was recalled for, if loaded
    sources: tuple[Message | Summary, ...] = ()  # for summaries, if loaded; oldest first
    folded: tuple[ObjectId, ...] = ()  # what lists show beneath it, if loaded; oldest first

    def find_stale_since(self, now: Micros) -> Micros | None:
        """Return when a state was last said, if so long ago that it may be over; else None."""
        if not isinstance(self.content, StoredBelief):
            return None
        said_at = (each.said_at for each in self.evidence if each.stance == "supports")
        last_seen = max(said_at, default=0) if self.standing is None else self.standing.last_seen
        return find_stale_since(self.content, last_seen, now)


async def list_beliefs(
    tx: Transaction, person: PersonId, *, kinds: Collection[MemoryKind] = (), live: bool = True
) -> list[BeliefDetails]:
    """Return memories of some kinds (empty: all), oldest first; ended ones too without ``live``.

    What waits for the person's word was never believed, and is left out.
    """
    memories = await list_memories(tx, person, kinds=kinds, live=live)
    evidence = await list_evidence(tx, person)
    return [
        attach_evidence(each, evidence.get(each.memory.id, ()))
        for each in memories
        if each.memory.status not in NEVER_BELIEVED
    ]


async def list_unconfirmed(tx: Transaction, person: PersonId) -> list[BeliefDetails]:
    """Return what waits for the person's word, the newest first, in whole sentences."""
    waiting = await list_unconfirmed_memories(tx, person)
    evidence = await list_object_evidence(tx, person, [each.memory.id for each in waiting])
    found = (attach_evidence(each, evidence.get(each.memory.id, ())) for each in waiting)
    return [await widen_quotes(tx, person, each) for each in found]


async def widen_quotes(tx: Transaction, person: PersonId, belief: BeliefDetails) -> BeliefDetails:
    """Return what waits for the person's word with quotes that show what made it doubtful.

    The stored evidence stays as it is. Other beliefs are returned unchanged.
    """
    if not isinstance(belief.content, StoredBelief) or belief.content.status != "unconfirmed":
        return belief
    widened = []
    for each in belief.evidence:
        message = await get_message(tx, person, each.message, version=each.version)
        span = find_span(message, each.quote)
        widened.append(replace(each, quote=get_doubtful_passage(span)) if span else each)
    return replace(belief, evidence=tuple(widened))


async def list_entity_beliefs(
    tx: Transaction, person: PersonId, *, live: bool = True
) -> list[BeliefDetails]:
    """Return the entities; without ``live`` also merged and rejected ones."""
    entities = await list_entities(tx, person, live=live)
    evidence = await list_object_evidence(tx, person, [each.id for each in entities])
    return [
        BeliefDetails(content=each, evidence=tuple(evidence.get(each.id, ()))) for each in entities
    ]


async def list_conversation_summaries(
    tx: Transaction, person: PersonId, *, active: bool = True
) -> list[Summary]:
    """Return the summaries; without ``active`` also those rolled up into others."""
    return await list_summaries(tx, person, active=active)


async def get_belief(tx: Transaction, person: PersonId, partial_id: str) -> BeliefDetails:
    """Return the object whose id begins or ends with the given part.

    Raises NotFound, InvalidInput.
    """
    object_id, kind = await get_object_by_partial_id(tx, person, partial_id)
    if kind in {"entity", "summary"}:
        history = await list_object_journal(tx, person, ObjectId(object_id))
        object_evidence = await list_object_evidence(tx, person, [ObjectId(object_id)])
        return BeliefDetails(
            content=history[-1].after,
            evidence=tuple(object_evidence.get(ObjectId(object_id), ())),
            relations=await load_relations(tx, person, {EntityId(ObjectId(object_id))}),
            base=history[-1].seq,
            sources=await load_summary_sources(tx, person, history[-1].after),
        )
    memory = MemoryId(ObjectId(object_id))
    evidence = await list_object_evidence(tx, person, [memory])
    found = attach_evidence(await get_memory_state(tx, person, memory), evidence.get(memory, ()))
    found = await widen_quotes(tx, person, found)
    folded = await list_folded(tx, person, BeliefFilter(), [memory])
    uses = await find_memory_usage(tx, person, memory)
    return replace(found, uses=uses, folded=folded.get(memory, ()))


async def load_decided_beliefs(
    tx: Transaction, person: PersonId, decided: Sequence[JournalObject]
) -> list[BeliefDetails]:
    """Return what was just decided as it stands, with its evidence, in the same order."""
    evidence = await list_object_evidence(tx, person, [each.id for each in decided])
    return [
        attach_evidence(await get_memory_state(tx, person, each.id), evidence.get(each.id, ()))
        if isinstance(each, StoredBelief)
        else BeliefDetails(content=each, evidence=tuple(evidence.get(each.id, ())))
        for each in decided
    ]


async def load_summary_sources(
    tx: Transaction, person: PersonId, belief: JournalObject
) -> tuple[Message | Summary, ...]:
    """Return the summaries or messages a summary was made of; empty for any other object."""
    if not isinstance(belief, Summary):
        return ()
    if belief.sources:
        summaries = await list_summaries(tx, person, active=False)
        return tuple(each for each in summaries if each.id in belief.sources)
    segments = [await find_segment(tx, person, each) for each in belief.segments]
    messages = [await list_segment_messages(tx, each) for each in segments if each is not None]
    return tuple(message for each in messages for message in each)


async def list_beliefs_at(tx: Transaction, person: PersonId, at: Micros) -> list[BeliefDetails]:
    """Return the beliefs held at a moment, with the evidence known by then, oldest first."""
    evidence = await list_evidence(tx, person)
    return [
        BeliefDetails(
            content=change.after,
            evidence=filter_evidence_until(at, evidence.get(change.object_id, ())),
        )
        for change in await list_journal_as_of(tx, person, at)
        if change.after.ended_at is None and is_top_level(change.after)
    ]


def filter_evidence_until(at: Micros, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the evidence that had been said by a moment."""
    return tuple(each for each in evidence if each.said_at <= at)


def is_top_level(belief: JournalObject) -> bool:
    """Return whether an object stands for itself, unlike a summary rolled up into another."""
    return not isinstance(belief, Summary) or belief.is_active


async def filter_beliefs_about(
    tx: Transaction, person: PersonId, name: str, beliefs: list[BeliefDetails]
) -> list[BeliefDetails]:
    """Return the beliefs about a name. Raises NotFound for an unknown one.

    The person's own name selects the beliefs about the person.
    """
    entity_ids = await list_entity_ids(tx, person, name)
    wanted = name.casefold()
    is_own = not entity_ids and wanted == (await get_person_by_id(tx, person)).name.casefold()
    found = [
        each
        for each in beliefs
        if (isinstance(each.content, StoredBelief) and entity_ids & set(each.content.entities))
        or each.content.id in entity_ids
        or wanted in build_searchable_text(each.content).casefold()
        or (is_own and is_about_person(each.content))
    ]
    if found or entity_ids or is_own:
        return found
    raise NotFound(
        localizable(
            "name_unknown", f"Nothing is known about {name!r}. See: oldfriend entities", name=name
        )
    )


def is_about_person(belief: JournalObject) -> bool:
    """Return whether a belief is about the person and not filed under another name."""
    return (
        isinstance(belief, StoredBelief)
        and belief.subject == "person"
        and not parse_key_owner(belief)
    )


async def list_beliefs_about(tx: Transaction, person: PersonId, name: str) -> list[BeliefDetails]:
    """Return the entities with a name, their relations, and other beliefs about them.

    Raises NotFound.
    """
    entity_ids = await list_entity_ids(tx, person, name)
    entities = [
        each for each in await list_entity_beliefs(tx, person) if each.content.id in entity_ids
    ]
    evidence = await list_evidence(tx, person)
    relations = [
        attach_evidence(each, evidence.get(each.memory.id, ()))
        for each in await load_relations(tx, person, entity_ids)
    ]
    listed = {each.content.id for each in (*entities, *relations)}
    others = await filter_beliefs_about(tx, person, name, await list_beliefs(tx, person))
    return [*entities, *relations, *(each for each in others if each.content.id not in listed)]


async def load_relations(
    tx: Transaction, person: PersonId, entity_ids: Collection[EntityId]
) -> tuple[MemoryState, ...]:
    """Return the relations within two steps of some entities, nearest first."""
    if not entity_ids:
        return ()
    names = EntityResolver(await list_entities(tx, person, live=False))
    graph = EntityGraph(await list_memories(tx, person, kinds=KEYED_KINDS), names)
    start = dict.fromkeys(names.resolve(each) for each in entity_ids)
    return tuple(each.known for each in graph.walk([*start]))


async def list_entity_ids(tx: Transaction, person: PersonId, name: str) -> set[EntityId]:
    """Return the entities with a name, and those merged with them."""
    entities = await list_entities(tx, person, live=False)
    wanted = name.casefold()
    matching = {
        each.id
        for each in entities
        if wanted in {other.casefold() for other in (each.name, *each.aliases)}
    }
    merges = {(each.id, each.same_as) for each in entities if each.status == "merged"}
    survivors = {
        survivor for merged, survivor in merges if merged in matching and survivor is not None
    }
    return (
        matching
        | survivors
        | {merged for merged, survivor in merges if survivor in matching | survivors}
    )


async def search_beliefs(
    db: Database, embedder: Embedder, person: Person, query: str, *, live: bool = True
) -> list[BeliefDetails]:
    """Return the memories that contain words of a query or are close in meaning, best first."""
    language = detect_language(query, fallback=person.language or "en")
    wanted = get_canonical_stems(query, language)
    vector = await embed_text(embedder, query, language)
    async with db.begin_read() as tx:
        beliefs = await list_beliefs(tx, person.id, live=live)
        vectors = await load_belief_vectors(tx, person.id, embedder.model)
    scored: list[tuple[float, BeliefDetails]] = []
    for each in beliefs:
        stems = get_canonical_stems(
            f"{build_searchable_text(each.content)} {build_key_value_text(each.content)}", language
        )
        share = len(wanted & stems) / max(len(wanted), 1)
        belief_vector = vectors.get(MemoryId(each.content.id))
        cosine = (
            0.0
            if vector is None or belief_vector is None
            else float(multiply(vector, belief_vector))
        )
        if share or cosine >= MIN_COSINE:
            scored.append((share + cosine, each))
    return [each for _, each in sorted(scored, key=lambda pair: -pair[0])]


def attach_evidence(known: MemoryState, evidence: Sequence[Evidence]) -> BeliefDetails:
    """Return a memory with its stats and evidence."""
    return BeliefDetails(
        content=known.memory, standing=known.stats, evidence=tuple(evidence), base=known.base_seq
    )


def build_searchable_text(belief: JournalObject) -> str:
    """Return the text of an object; for an entity its name and description."""
    if isinstance(belief, Entity):
        return f"{belief.name}. {belief.description}"
    return belief.text


def build_key_value_text(belief: JournalObject) -> str:
    """Return the words of a memory's key and value."""
    return (
        f"{belief.key} {belief.value}".replace("_", " ") if isinstance(belief, StoredBelief) else ""
    )


def parse_as_of(text: str, zone: str, *, now: Micros) -> Micros:
    """Parse a time, or a date as its end, but never later than now.

    Raises InvalidInput.
    """
    at, at_zone = parse_timestamp(text, zone)
    if len(text.strip()) <= ISO_DATE_LENGTH:
        at = get_start_of_day(at + DAY + DAY // 2, at_zone) - 1
        at = max(at, parse_timestamp(text, zone)[0])
    if at > now + DAY:
        raise InvalidInput(localizable("still_to_come", f"{text} is in the future.", text=text))
    return min(at, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtDetails:
    """A thought with the memories it was derived from, as far as they exist."""

    thought: BeliefDetails
    sources: tuple[StoredBelief, ...]


async def list_thoughts(
    tx: Transaction,
    person: PersonId,
    *,
    subject: str | None = None,
    entity_name: str | None = None,
    live: bool = True,
) -> list[ThoughtDetails]:
    """Return the thoughts about the person or the companion, or about a name, oldest first.

    Raises NotFound for an unknown name.
    """
    all_thoughts = await list_beliefs(tx, person, kinds=["thought"], live=live)
    found = (
        all_thoughts
        if entity_name is None
        else await filter_beliefs_about(tx, person, entity_name, all_thoughts)
    )
    beliefs = await list_beliefs(tx, person, live=False)
    beliefs_by_id = {ObjectId(each.content.id): each.content for each in beliefs}
    thoughts: list[ThoughtDetails] = []
    for each in found:
        if isinstance(each.content, StoredBelief) and subject in {None, each.content.subject}:
            premises = (beliefs_by_id.get(one) for one in list_premises(each.content))
            sources = tuple(one for one in premises if isinstance(one, StoredBelief))
            thoughts.append(ThoughtDetails(thought=each, sources=sources))
    return thoughts


async def list_transcripts(
    tx: Transaction, person: PersonId, *, now: Micros
) -> list[ReflectionRecord]:
    """Return all reflections that still have a transcript, newest first."""
    reflections = await list_reflections(tx, person, since=now - TRANSCRIPT_TTL + 1)
    return [each for each in reflections if each.transcript is not None]


def get_transcript(ticks: Sequence[ReflectionRecord], partial_id: str) -> ReflectionRecord:
    """Return the transcript with a partial id. Raises NotFound, InvalidInput."""
    wanted = partial_id.strip().lower()
    found = [each for each in ticks if each.id.startswith(wanted) or each.id.endswith(wanted)]
    if not wanted or not found:
        raise NotFound(
            localizable(
                "thought_gone",
                f"There is no transcript {partial_id!r}. They are kept for 14 days; to list them: "
                "oldfriend thoughts --transcripts",
            )
        )
    if len(found) > 1:
        raise InvalidInput(f"{partial_id!r} matches several ids; give more of it.")
    return found[0]


MAX_LINKED_BELIEFS = 20
"""Largest number of beliefs followed along a supersession chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One decision, with its cause messages and the time of the next one."""

    change: JournalEntry
    until: Micros | None  # None: it still holds
    cause_messages: tuple[Message, ...]  # as they read then, without forgotten ones


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefHistory:
    """All decisions about one object, and about those it superseded or was superseded by."""

    object_id: ObjectId
    entries: tuple[HistoryEntry, ...]  # oldest first
    evidence: tuple[Evidence, ...]  # current evidence for and against it, oldest first

    @property
    def content(self) -> JournalObject:
        """The object as last decided."""
        own = [entry for entry in self.entries if entry.change.object_id == self.object_id]
        return own[-1].change.after


async def get_history(tx: Transaction, person: PersonId, partial_id: str) -> BeliefHistory:
    """Return the history of the object with a partial id. Raises NotFound, InvalidInput."""
    object_id, _ = await get_object_by_partial_id(tx, person, partial_id)
    entries: list[HistoryEntry] = []
    for each in await list_supersession_chain(tx, person, ObjectId(object_id)):
        entries += await load_entries(tx, person, await list_object_journal(tx, person, each))
    evidence = await list_object_evidence(tx, person, [ObjectId(object_id)])
    return BeliefHistory(
        object_id=ObjectId(object_id),
        entries=tuple(sorted(entries, key=lambda step: step.change.seq)),
        evidence=tuple(evidence.get(ObjectId(object_id), ())),
    )


async def list_supersession_chain(
    tx: Transaction, person: PersonId, object_id: ObjectId
) -> list[ObjectId]:
    """Return an object and, transitively, those it superseded or was superseded by."""
    found = [object_id]
    for each in found:
        if len(found) > MAX_LINKED_BELIEFS:
            break
        linked = await list_superseded(tx, person, each) + await list_superseding_memories(
            tx, person, each
        )
        found += [other for other in linked if other not in found]
    return found


async def list_superseded(tx: Transaction, person: PersonId, object_id: ObjectId) -> list[ObjectId]:
    """Return the objects that an object supersedes."""
    after = (await list_object_journal(tx, person, object_id))[-1].after
    if not isinstance(after, StoredBelief):
        return []
    return [link.target for link in after.relations if link.kind == "supersedes"]


async def load_entries(
    tx: Transaction, person: PersonId, changes: Sequence[JournalEntry]
) -> list[HistoryEntry]:
    """Return the history entries of one object."""
    return [
        HistoryEntry(
            change=change,
            until=None if after is None else after.decided_at,
            cause_messages=tuple(
                [
                    message
                    for cause in change.causes
                    if (message := await find_cause_message(tx, person, cause)) is not None
                ]
            ),
        )
        for change, after in zip(changes, [*changes[1:], None], strict=True)
    ]


async def find_cause_message(tx: Transaction, person: PersonId, cause: Cause) -> Message | None:
    """Return the message a decision rests on; None if it was forgotten since."""
    try:
        return await get_message(tx, person, cause.message, version=cause.version)
    except NotFound:
        return None
