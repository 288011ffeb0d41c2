"""Which of a person's beliefs stand ready to be searched, and are they what is decided by now?

Read on where decisions came, or evidence or vectors; read anew where something was forgotten.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import Known
from oldfriend.domain.remembered import let_go
from oldfriend.memory.beliefs import list_decided_since, list_entities, list_standings_since
from oldfriend.memory.meanings import Meanings, load_meanings
from oldfriend.memory.search import BeliefIndex

FEW: Final = 400
"""So many vectors are asked for by their beliefs; of more, all are read."""


@dataclass(slots=True)
class AtHand:
    """One person's beliefs, and how far they were read."""

    index: BeliefIndex = field(default_factory=BeliefIndex)
    rewritten: int = 0
    last_change: int = 0
    weighed: int = 0
    nbytes: int = 0  # as of its last use


class Counters(NamedTuple):
    """By which it shows that something was taken away, decided, or stands otherwise."""

    rewritten: int
    last_change: int
    weighed: int


async def current(
    tx: Transaction, person: PersonId, model: str | None, held: AtHand | None
) -> AtHand:
    """What is believed as of this transaction; what was held before is read on."""
    rewritten, last_change, weighed = await counters_of(tx, person)
    if held is None or held.rewritten != rewritten or held.last_change > last_change:
        if held is not None:
            let_go()  # something was forgotten, perhaps by another process
        held = AtHand(rewritten=rewritten)
    elif (held.last_change, held.weighed) == (last_change, weighed):
        return held
    if held.last_change != last_change:
        await read_decided(tx, person, held)
    if held.weighed != weighed:
        held.index.stand(await list_standings_since(tx, person, held.weighed))
    if model is not None:
        lacking = held.index.lacking()
        held.index.set_vectors(await meanings_of(tx, person, model, lacking))
    held.last_change, held.weighed = last_change, weighed
    held.nbytes = held.index.nbytes
    return held


async def counters_of(tx: Transaction, person: PersonId) -> Counters:
    """How far the memory of a person has come."""
    row = await tx.row(
        "SELECT rewritten, last_change, weighed FROM person WHERE id = :person", person=person
    )
    return Counters(0, 0, 0) if row is None else Counters(*row)


async def read_decided(tx: Transaction, person: PersonId, held: AtHand) -> None:
    """Take in what was decided since; what is over goes, but for what something else replaced."""
    decided = await list_decided_since(tx, person, held.last_change)
    held.index.remove([each.memory.id for each in decided])
    held.index.put([each for each in decided if is_to_be_found(each)], {})
    held.index.entities = await list_entities(tx, person, live=False)


def is_to_be_found(known: Known) -> bool:
    """Whether a belief may come to mind; a note is found as the words that it is, until edited."""
    memory = known.memory
    is_of_kind = memory.kind != "note" or memory.is_by_person
    was_planned = memory.kind == "triple" and memory.status in {"fulfilled", "expired"}
    return is_of_kind and (memory.is_live or memory.status == "superseded" or was_planned)


async def meanings_of(
    tx: Transaction, person: PersonId, model: str, memories: list[MemoryId]
) -> Meanings:
    """What beliefs mean to a model, of few or of all."""
    few = memories if len(memories) <= FEW else None
    return await load_meanings(tx, person, model, few)
