"""Segment loader: loads a segment's messages and the beliefs needed to resolve its claims.

Loads only what may matter: attributes with one value at a time, recurring and future events, notes,
the events of those weeks, and events that began something.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nlargest
from operator import attrgetter
from typing import Final

import numpy as np

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import BELIEF_KINDS, KEYED_KINDS, list_kinds
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import EntityId, MessageId, ObjectId
from oldfriend.domain.memories import Entity, MemoryKind, MemoryState
from oldfriend.domain.messages import Message
from oldfriend.learning.belief_nearness import build_nearness_measure
from oldfriend.learning.earlier_reading import EarlierReading, load_earlier_reading
from oldfriend.learning.extraction import ExtractionInput
from oldfriend.learning.extraction_prompt import MAX_READ_LENGTH
from oldfriend.learning.resolution.attribute_resolution import fold_value
from oldfriend.learning.resolution.claim_matching import EVENT_WINDOW
from oldfriend.learning.resolution.resolution_state import ResolutionContext
from oldfriend.learning.rule_extraction.simple_statements import parse_new_role
from oldfriend.learning.similarity import Vector
from oldfriend.memory.belief_views import (
    list_entities,
    list_memories,
    list_merged_memories,
    list_rejected_entity_names,
    list_rejected_memories,
    list_unconfirmed_memories,
)
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.journal import MemoryVersion, get_latest_seq, get_memory_version
from oldfriend.memory.judged_beliefs import JudgedBelief, list_judged_beliefs
from oldfriend.memory.message_log import get_message
from oldfriend.memory.people import get_companion, get_person_by_id
from oldfriend.memory.receipts import find_receipt
from oldfriend.memory.restatement_detection import has_correction_words
from oldfriend.memory.segments import Segment, list_messages_before_segment, list_segment_messages
from oldfriend.memory.vectors import load_message_vectors
from oldfriend.search.name_index import NamedIn
from oldfriend.search.types import multiply

ONGOING_KINDS: Final = frozenset(list_kinds(lambda kind: kind.is_ongoing))
CONTEXT_SIZE: Final = 4
"""Messages before a segment that give context."""
KNOWN_LIMITS: Final[Mapping[MemoryKind, int]] = {
    kind.name: kind.known_limit
    for kind in sorted(BELIEF_KINDS, key=attrgetter("known_rank"))
    if kind.known_limit
}
"""Known beliefs of each kind that a segment is read with, the strongest first."""


MAX_TOLD: Final = 8
"""Messages by which answers are understood that the person puts right."""
MAX_SHOWN: Final = 35
"""Beliefs that a model is shown, those nearest to what is said.

In seven lives 59 of 75 that the messages end are among them.
"""

STRENGTH_KEY: Final = attrgetter("stats.strength", "stats.last_seen")
"""Sort key of strength."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentContext:
    """Segment context: everything needed to consolidate one segment."""

    segment: Segment  # as it was when loaded
    revision: MemoryVersion
    inputs: ExtractionInput
    resolution: ResolutionContext
    known: tuple[MemoryState, ...]  # all beliefs that a claim may affect
    embeddings: Mapping[str, Vector]  # of the beliefs' texts, as far as there are any
    entities: tuple[Entity, ...]
    bases: Mapping[EntityId, int]
    earlier: EarlierReading

    def has_same_input(self, other: "SegmentContext") -> bool:
        """Return whether an extraction from the other context is valid for this one, too."""
        is_same = self.segment.generation == other.segment.generation
        return is_same and self.revision.rewritten == other.revision.rewritten


async def load_segment_context(
    tx: Transaction, segment: Segment, *, index_cache: IndexCache, now: Micros
) -> SegmentContext:
    """Load everything needed to consolidate a segment, as it is now."""
    person = await get_person_by_id(tx, segment.person)
    companion = await get_companion(tx)
    messages = [truncate_message(each) for each in await list_segment_messages(tx, segment)]
    beliefs = await index_cache.get_belief_index(tx, person.id)
    notes = await list_memories(tx, person.id, kinds=["note"])  # search finds them by their words
    known = [*iter_relevant(segment, notes), *iter_relevant(segment, beliefs.known, exclude="note")]
    embeddings = beliefs.get_vectors_by_text(known)
    all_entities = await list_entities(tx, person.id, live=False)
    entities = [each for each in all_entities if each.ended_at is None]
    mentioned = filter_mentioned(messages, entities)
    before = await list_messages_before_segment(tx, segment, limit=CONTEXT_SIZE)
    inputs = ExtractionInput(
        segment=segment.id,
        person=person,
        companion=companion.name,
        messages=tuple(messages),
        context_messages=tuple(map(truncate_message, before)),
        told_messages=tuple(
            map(truncate_message, await list_told_messages(tx, [*before, *messages]))
        ),
        known=tuple(select_strongest(known)),
        shown=tuple(
            select_nearest(
                [
                    each
                    for each in known
                    if each.stats.first_seen <= segment.until_at and not each.memory.is_quoted_fact
                ],
                messages,
                await list_belief_cosines(tx, messages, embeddings, index_cache.model),
                [each.id for each in mentioned],
            )
        ),
        entities=tuple(mentioned),
    )
    return SegmentContext(
        segment=segment,
        revision=await get_memory_version(tx, person.id),
        inputs=inputs,
        resolution=ResolutionContext(
            person=person.id,
            excluded_names=frozenset(
                map(
                    fold_value,
                    (
                        person.name,
                        *inputs.companion_names,
                        *await list_rejected_entity_names(tx, person.id),
                    ),
                )
            ),
            language=inputs.language,
            now=now,
            messages={message.id: message for message in messages},
            rejected=tuple(await list_rejected_memories(tx, person.id)),
            merged=tuple(await list_merged_memories(tx, person.id)),
            judged=await list_judged_before(tx, segment),
            unconfirmed=tuple(await list_unconfirmed_memories(tx, person.id)),
            merged_entities=tuple(each for each in all_entities if each.status == "merged"),
        ),
        known=tuple(known),
        embeddings=embeddings,
        entities=tuple(entities),
        bases={each.id: await get_latest_seq(tx, person.id, each.id) for each in entities},
        earlier=await load_earlier_reading(tx, segment, messages, (*notes, *beliefs.known)),
    )


async def list_told_messages(tx: Transaction, messages: Sequence[Message]) -> list[Message]:
    """List what the person said that the answers rest on which a correction follows, oldest first.

    Whether they told it a minute or a year ago.
    """
    told: dict[MessageId, None] = {}
    for index, message in enumerate(messages):
        if message.trust != "person" or not has_correction_words(message.text, message.language):
            continue
        replies = [each for each in messages[:index] if each.role == "companion"][-1:]
        for reply in replies:
            told.update(dict.fromkeys(await list_sources(tx, reply)))
    known = {each.id for each in messages}
    found: list[Message] = []
    for source in [each for each in told if each not in known][:MAX_TOLD]:
        with suppress(NotFound):  # it is forgotten
            found.append(await get_message(tx, messages[0].person, source))
    own = [each for each in found if each.trust == each.role == "person"]
    return sorted(own, key=lambda each: each.seq)


async def list_sources(tx: Transaction, reply: Message) -> list[MessageId]:
    """List the messages that a reply rests on: itself, or by the beliefs that it tells."""
    receipt = await find_receipt(tx, reply.person, reply.id)
    used = [each for each in receipt.items if each.used] if receipt is not None else []
    beliefs = [ObjectId(each.object) for each in used if each.kind == "memory"]
    evidence = await list_object_evidence(tx, reply.person, beliefs)
    messages = [MessageId(each.object) for each in used if each.kind == "message"]
    return [*messages, *(words.message for each in evidence.values() for words in each)]


def truncate_message(message: Message) -> Message:
    """Truncate a message to what is read; validation sees no more either."""
    text = message.text
    return (
        message if len(text) <= MAX_READ_LENGTH else replace(message, text=text[:MAX_READ_LENGTH])
    )


def iter_relevant(
    segment: Segment, beliefs: Iterable[MemoryState], *, exclude: MemoryKind | None = None
) -> Iterator[MemoryState]:
    """Yield the beliefs that the segment's claims may affect or date.

    One loop for all kinds, because a person may have thousands of beliefs.
    """
    first, last = segment.from_at - EVENT_WINDOW, segment.until_at + EVENT_WINDOW
    for known in beliefs:
        memory = known.memory
        kind = memory.kind
        if memory.ended_at is not None:
            is_relevant = memory.status == "superseded" and kind in KEYED_KINDS
        elif kind == "event":
            at = memory.learned_at if memory.happened_at is None else memory.happened_at
            is_relevant = first <= at <= last or bool(parse_new_role(memory.text, memory.language))
        else:
            is_relevant = kind in ONGOING_KINDS and kind != exclude
        if is_relevant:
            yield known


def select_strongest(known: Sequence[MemoryState]) -> list[MemoryState]:
    """Return the strongest beliefs of each kind."""
    live: dict[MemoryKind, list[MemoryState]] = {kind: [] for kind in KNOWN_LIMITS}
    for each in known:
        if each.memory.ended_at is None and each.memory.kind in live:
            live[each.memory.kind].append(each)
    return [
        each
        for kind, limit in KNOWN_LIMITS.items()
        for each in sorted(live[kind], key=STRENGTH_KEY, reverse=True)[:limit]
    ]


async def list_belief_cosines(
    tx: Transaction,
    messages: Sequence[Message],
    embeddings: Mapping[str, Vector],
    model: str | None,
) -> Mapping[str, float]:
    """Return the greatest cosine of each belief's text with a message, as far as both have one."""
    if not embeddings or not messages or model is None:
        return {}
    seqs = [message.seq for message in messages]
    vectors = await load_message_vectors(tx, messages[0].person, model, seqs)
    texts = list(embeddings)
    matrix = np.stack([embeddings[text] for text in texts])
    if not len(vectors) or matrix.shape[1] != vectors.shape[1]:
        return {}
    cosines = multiply(matrix, vectors.T).max(axis=1)
    return dict(zip(texts, cosines.tolist(), strict=True))


def select_nearest(
    known: Iterable[MemoryState],
    messages: Sequence[Message],
    cosines: Mapping[str, float],
    mentioned: Collection[EntityId] = (),
) -> list[MemoryState]:
    """Return the beliefs nearest to what is said, which it may change; equals by strength.

    `mentioned`: the entities that the messages name.
    """
    shown = [
        each for each in known if each.memory.ended_at is None and each.memory.kind in KNOWN_LIMITS
    ]
    get_nearness = build_nearness_measure(
        shown, [message.text for message in messages], cosines, mentioned
    )

    def get_sort_key(each: MemoryState) -> tuple[float, float, int]:
        return get_nearness(each), each.stats.strength, each.stats.last_seen

    return nlargest(MAX_SHOWN, shown, key=get_sort_key)


def filter_mentioned(messages: Sequence[Message], entities: Sequence[Entity]) -> list[Entity]:
    """Return the entities named in some messages, and those of uncertain identity."""
    texts = [NamedIn(message.text, message.language) for message in messages]
    return [
        each
        for each in entities
        if each.status == "uncertain"
        or any(name in text for name in (each.name, *each.aliases) for text in texts)
    ]


async def list_judged_before(tx: Transaction, segment: Segment) -> tuple[JudgedBelief, ...]:
    """List the beliefs from earlier readings of a segment that the person has judged."""
    if segment.generation == 1:
        return ()
    return tuple(await list_judged_beliefs(tx, segment.person, segment.id))
