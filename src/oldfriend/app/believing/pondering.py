"""What has the companion thought, about whom, and for which reasons? And what did it say to itself?

Reads only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.app.believing.looking import Belief, about, list_beliefs
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Memory
from oldfriend.domain.sayings import saying
from oldfriend.memory.borrowing import lenders_of
from oldfriend.memory.ticks import TRANSCRIPTS_LAST, Tick, list_ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class Pondered:
    """A thought, and what it was made of, as far as that is there."""

    thought: Belief
    made_of: tuple[Memory, ...]


async def list_pondered(
    tx: Transaction, person: PersonId, *, subject: str | None = None, name: str | None = None,
    live: bool = True,
) -> list[Pondered]:  # fmt: skip
    """The thoughts about one of the two, or about somebody with a name; oldest first.

    Raises NotFound for a name that is not known.
    """
    told = await list_beliefs(tx, person, kinds=["thought"], live=live)
    found = told if name is None else await about(tx, person, name, told)
    held = await list_beliefs(tx, person, live=False)
    known = {ObjectId(each.what.id): each.what for each in held}
    pondered: list[Pondered] = []
    for each in found:
        if isinstance(each.what, Memory) and subject in {None, each.what.subject}:
            lenders = (known.get(one) for one in lenders_of(each.what))
            made_of = tuple(one for one in lenders if isinstance(one, Memory))
            pondered.append(Pondered(thought=each, made_of=made_of))
    return pondered


async def list_transcripts(tx: Transaction, person: PersonId, *, now: Micros) -> list[Tick]:
    """Every time it thought of which there still is a transcript, the last first."""
    ticks = await list_ticks(tx, person, since=now - TRANSCRIPTS_LAST + 1)
    return [each for each in ticks if each.transcript is not None]


def transcript_named(ticks: Sequence[Tick], name: str) -> Tick:
    """The one whose id begins or ends so. Raises NotFound, InvalidInput."""
    wanted = name.strip().lower()
    found = [each for each in ticks if each.id.startswith(wanted) or each.id.endswith(wanted)]
    if not wanted or not found:
        raise NotFound(saying(
            "thought_gone",
            f"There is no transcript {name!r}. They are kept for 14 days; to list them: "
            "oldfriend thoughts --transcripts",
        ))  # fmt: skip
    if len(found) > 1:
        raise InvalidInput(f"{name!r} is the id of several; give more of it.")
    return found[0]
