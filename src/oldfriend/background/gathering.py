"""What is needed to read a segment, and to decide about it? The talk, and what is known.

Only what may bear on it is fetched: all that has one value at a time, what keeps being so, what
is still to come, what was noted, the events of those weeks, and those that began something.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from oldfriend.background.deciding.attributes import folded
from oldfriend.background.deciding.deliberation import Scene
from oldfriend.background.deciding.joining import MENTIONED_AGAIN
from oldfriend.background.extraction import Material
from oldfriend.background.likeness import Vector
from oldfriend.background.rules.stating import began_in
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import Entity, Evidence, Known, MemoryKind
from oldfriend.domain.messages import Message
from oldfriend.memory.beliefs import (
    list_entities,
    list_memories,
    list_merged,
    list_rejected,
    list_rejected_names,
)
from oldfriend.memory.changes import Revision, newest_change_of, revision_of
from oldfriend.memory.evidence import list_evidence_by
from oldfriend.memory.people import get_companion, get_person_by_id
from oldfriend.memory.segments import Segment, list_messages_before, list_messages_in
from oldfriend.memory.shelf import Shelf

LASTING: Final = frozenset[MemoryKind](
    {"note", "fact", "preference", "pattern", "commitment", "expectation", "triple", "opinion"}
)
ATTRIBUTES: Final = frozenset[MemoryKind]({"fact", "preference", "triple"})
BEFORE: Final = 6
"""So many messages before a segment help to understand it."""
SHOWN: Final[Mapping[MemoryKind, int]] = {
    "fact": 40, "preference": 20, "pattern": 20, "commitment": 10, "expectation": 10, "event": 10,
    "note": 10, "opinion": 10,
}  # fmt: skip
"""How much of what is known a model is shown, the strongest first."""


STRENGTH: Final = attrgetter("standing.strength", "standing.last_seen")
"""What makes one belief stronger than another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Everything that one reading needs."""

    segment: Segment  # as it was then
    revision: Revision
    material: Material
    scene: Scene
    known: tuple[Known, ...]  # all that a claim may bear on
    meanings: Mapping[str, Vector]  # of their texts, as far as there are any
    entities: tuple[Entity, ...]
    bases: Mapping[EntityId, int]

    def reads_like(self, other: "Gathered") -> bool:
        """Whether what was read of the other is what would be read of this, too."""
        is_same = self.segment.generation == other.segment.generation
        return is_same and self.revision.rewritten == other.revision.rewritten


async def gather(tx: Transaction, segment: Segment, *, shelf: Shelf, now: Micros) -> Gathered:
    """Everything that the reading of a segment needs, as it is now."""
    person = await get_person_by_id(tx, segment.person)
    companion = await get_companion(tx)
    messages = await list_messages_in(tx, segment)
    beliefs = await shelf.beliefs_of(tx, person.id)
    notes = await list_memories(tx, person.id, kinds=["note"])  # search finds them by their words
    known = [*all_bearing_on(segment, notes), *all_bearing_on(segment, beliefs.known, but="note")]
    named = await list_entities(tx, person.id, live=False)
    entities = [each for each in named if each.ended_at is None]
    material = Material(
        segment=segment.id, person=person, companion=companion.name, messages=tuple(messages),
        before=tuple(await list_messages_before(tx, segment, limit=BEFORE)),
        known=tuple(strongest(known)), entities=tuple(named_in(messages, entities)),
    )  # fmt: skip
    return Gathered(
        segment=segment,
        revision=await revision_of(tx, person.id),
        material=material,
        scene=Scene(
            person=person.id,
            names=frozenset(map(folded, (
                person.name, *material.companion_names,
                *await list_rejected_names(tx, person.id),
            ))),
            language=material.language, now=now,
            messages={message.id: message for message in messages},
            rejected=tuple(await list_rejected(tx, person.id)),
            merged=tuple(await list_merged(tx, person.id)),
            fading=await list_fading(tx, segment),
            merged_names=tuple(each for each in named if each.status == "merged"),
        ),
        known=tuple(known),
        meanings=beliefs.meanings(known),
        entities=tuple(entities),
        bases={each.id: await newest_change_of(tx, person.id, each.id) for each in entities},
    )  # fmt: skip


def all_bearing_on(
    segment: Segment, some: Iterable[Known], *, but: MemoryKind | None = None
) -> Iterator[Known]:
    """What of some beliefs may be touched by what is told in a segment, or be its place.

    One loop for all kinds: somebody of whom much is known has thousands.
    """
    first, last = segment.from_at - MENTIONED_AGAIN, segment.until_at + MENTIONED_AGAIN
    for known in some:
        memory = known.memory
        kind = memory.kind
        if memory.ended_at is not None:
            bears = memory.status == "superseded" and kind in ATTRIBUTES
        elif kind == "event":
            at = memory.learned_at if memory.happened_at is None else memory.happened_at
            bears = first <= at <= last or bool(began_in(memory.text, memory.language))
        else:
            bears = kind in LASTING and kind != but
        if bears:
            yield known


def strongest(known: Sequence[Known]) -> list[Known]:
    """What of the known is shown to a model: of each kind the strongest."""
    live: dict[MemoryKind, list[Known]] = {kind: [] for kind in SHOWN}
    for each in known:
        if each.memory.ended_at is None and each.memory.kind in live:
            live[each.memory.kind].append(each)
    return [
        each
        for kind, most in SHOWN.items()
        for each in sorted(live[kind], key=STRENGTH, reverse=True)[:most]
    ]


def named_in(messages: Sequence[Message], entities: Sequence[Entity]) -> list[Entity]:
    """The entities that are named in some talk, and those of which it is not clear who they are."""
    said = "\n".join(message.text for message in messages).casefold()
    return [
        each
        for each in entities
        if each.status == "uncertain"
        or any(name.casefold() in said for name in (each.name, *each.aliases))
    ]


async def list_fading(tx: Transaction, segment: Segment) -> frozenset[ObjectId]:
    """What rests on nothing but an earlier reading of the same segment."""
    if segment.generation == 1:
        return frozenset()
    evidence = await list_evidence_by(tx, segment.person, segment.id)
    return frozenset(each for each, words in evidence.items() if only_from(words, segment))


def only_from(words: Sequence[Evidence], segment: Segment) -> bool:
    """Whether all of these words were found in one segment."""
    return all(each.segment == segment.id for each in words)
