"""How far has it come with reading what somebody has said, and does it think about it just now?

As whoever looks on may know it, in any process: told from what waits and what was done. Reads only.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.app.forming.tending import READ, lane_of, old_lane_of
from oldfriend.app.forming.thinking_ahead import THINKING, thinking_lane_of
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.spending import spent_behind
from oldfriend.memory.segments import count_ended_since, list_waiting
from oldfriend.queues.agenda import find_waiting
from oldfriend.queues.lanes import is_any_held

SOON: Final = 5 * SECOND
"""What is due by then is as good as begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What goes on behind the talk."""

    read: int  # stretches of talk, of those that were to be read
    of: int
    since: Micros | None  # when the first was said that is still to be read …
    until: Micros | None  # … and the last
    cost: int  # of it, in millionths of a dollar, as far as it is known
    waits_until: Micros | None  # it goes on then, such as tomorrow; None: it is at it
    reflects: bool  # it thinks about what it has read


async def find_progress(tx: Transaction, person: PersonId, *, now: Micros) -> Progress | None:
    """How far it has come; None: nothing is to be read, and it does not think."""
    reflects = await is_any_held(
        tx, "agenda", [thinking_lane_of(name, person) for name in THINKING]
    )
    waiting = await list_waiting(tx, person)
    jobs = await find_waiting(tx, READ, lanes=[lane_of(person), old_lane_of(person)])
    if not waiting or jobs is None:
        return None if not reflects else Progress(
            read=0, of=0, since=None, until=None, cost=0, waits_until=None, reflects=True
        )  # fmt: skip
    read = await count_ended_since(tx, person, jobs.put_at)
    return Progress(
        read=read, of=read + len(waiting), since=min(each.from_at for each in waiting),
        until=max(each.until_at for each in waiting),
        cost=(await spent_behind(tx, person, since=jobs.put_at)).cost,
        waits_until=jobs.due_at if jobs.due_at > now + SOON else None, reflects=reflects,
    )  # fmt: skip
