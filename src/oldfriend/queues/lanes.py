"""Who works on what? Lanes of letters: each lane is held by at most one, each letter done once.

*put* takes the next place in a lane. *claim* takes a lane for a while (a lease) and raises its
epoch; everything that the holder writes checks the epoch in its own transaction, so that a holder
that was presumed dead cannot write late. *finish* takes letters away, *fail* puts one off or
parks it, *release* gives the lane back.

Two clocks. When a letter is due is told by the house (``now``). How long a lease holds is told by
the machine or the database server (``tx.clock``), never by a simulated time. So a free lane has
``ready_at`` (when its first open letter is due), a held one has ``lease_until`` instead, each with
an index of its own that holds only such lanes (``free_lanes``).

Order: inbox and outbox strictly by putting, also behind a letter that is put off; on the agenda
each letter becomes due by itself. A parked letter steps aside, with all that is of its group.

Locks: whoever writes for a person locks the person's row first, then lanes; so nobody ever waits
for one who waits for them. Knows nothing of what a letter says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, uptime_s
from oldfriend.domain.errors import InvalidInput, LeaseLost
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Claim, Letter, Queue
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.queues.free_lanes import LONGEST_LEASE_S, find_lane, lease_end
from oldfriend.queues.keys import let_keys_age, remember_key
from oldfriend.queues.letters import (
    COLUMNS,
    count_attempt,
    due_letters,
    due_letters_after,
    first_due,
    first_due_in,
    get_group,
    letter_from,
    park,
    put_off,
    remove,
    unpark,
    write_letter,
)

BEFORE_ALL: Final[tuple[Queue, str, int]] = ("agenda", "", 0)
"""A place before the first letter."""
MOST_ATTEMPTS = 5


async def put(  # noqa: PLR0913 - a letter has so many sides
    tx: Transaction, queue: Queue, lane: str, body: Mapping[str, JsonValue], *,
    person: PersonId | None, now: Micros, due_at: Micros | None = None, key: str | None = None,
    group: str | None = None,
) -> Letter | None:  # fmt: skip
    """Put a letter at the end of a lane; None if its key is known there already."""
    row = await tx.row(
        """INSERT INTO lane (queue, key, next_seq) VALUES (:queue, :lane, 2)
           ON CONFLICT (queue, key) DO UPDATE SET next_seq = lane.next_seq + 1
           RETURNING next_seq - 1, ready_at, lease_until""",
        queue=queue,
        lane=lane,
    )
    assert row is not None
    seq, ready_at, lease_until = row
    if key is not None and not await remember_key(tx, queue, lane, storable(key)):
        return None
    letter = Letter(
        queue=queue, lane=lane, seq=seq, person=person, key=key and storable(key), group=group,
        body=body, put_at=now, due_at=now if due_at is None else due_at, attempts=0, error=None,
        is_parked=False,
    )  # fmt: skip
    await write_letter(tx, letter)
    is_first = ready_at is None or (queue == "agenda" and letter.due_at < ready_at)
    if lease_until is None and is_first:
        await make_ready(tx, queue, lane, at=letter.due_at)
        await tx.wake()
    return letter


async def claim(
    tx: Transaction, queue: Queue, *, owner: str, now: Micros, lease_s: float,
    lane: str | None = None, most_attempts: int = MOST_ATTEMPTS,
) -> Claim | None:  # fmt: skip
    """Take a lane in which something is due (or this one); None if there is none.

    A letter that was begun so many times and never ended is parked: it takes its workers down.
    The claim tells of it, also when nothing else is due in that lane.
    """
    taken_at, clock = uptime_s(), await tx.clock()
    until = lease_end(clock, lease_s)
    while (found := await find_lane(tx, queue, lane, now=now, clock=clock)) is not None:
        letters, given_up = await take_up(tx, queue, found, now=now, most_attempts=most_attempts)
        if letters or given_up:
            last = last_seq(letters or given_up)
            epoch = await hold(tx, queue, found, owner=owner, until=until, handed_out=last)
            return Claim(
                queue=queue, lane=found, owner=owner, epoch=epoch, taken_at=taken_at,
                letters=letters, given_up=given_up,
            )  # fmt: skip
        await let_go(tx, queue, found)
    return None


async def take_up(
    tx: Transaction, queue: Queue, lane: str, *, now: Micros, most_attempts: int
) -> tuple[tuple[Letter, ...], tuple[Letter, ...]]:
    """The letters of a locked lane that are due, the first one begun; and those given up."""
    given_up: list[Letter] = []
    while letters := await due_letters(tx, queue, lane, now=now):
        first, *others = letters
        if first.attempts < most_attempts:
            await count_attempt(tx, first)
            return (replace(first, attempts=first.attempts + 1), *others), tuple(given_up)
        error = first.error or "whoever worked on it ended each time"
        why = f"given up after {first.attempts} attempts: {error}"
        given_up += await park(tx, first, error=why, now=now)
    return (), tuple(given_up)


async def extend(tx: Transaction, claim: Claim, *, lease_s: float) -> bool:
    """Hold on to a lane for longer; False: it is lost."""
    touched = await tx.run(
        """UPDATE lane SET lease_until = :until
           WHERE queue = :queue AND key = :lane AND epoch = :epoch AND lease_until IS NOT NULL""",
        until=lease_end(await tx.clock(), lease_s),
        queue=claim.queue,
        lane=claim.lane,
        epoch=claim.epoch,
    )
    return touched == 1


async def check(tx: Transaction, claim: Claim) -> None:
    """Lock the lane, as long as it is still held by this claim. Raises LeaseLost."""
    row = await tx.row(
        """SELECT 1 FROM lane WHERE queue = :queue AND key = :lane AND epoch = :epoch
           AND lease_until IS NOT NULL FOR UPDATE""",
        queue=claim.queue,
        lane=claim.lane,
        epoch=claim.epoch,
    )
    if row is None:
        raise LeaseLost(f"{claim.queue} {claim.lane} was taken over from {claim.owner}.")


async def refuse_taken_over(tx: Transaction, claim: Claim) -> None:
    """Raise LeaseLost where somebody else holds the lane by now. It may happen right after this."""
    row = await tx.row(
        "SELECT epoch FROM lane WHERE queue = :queue AND key = :lane",
        queue=claim.queue,
        lane=claim.lane,
    )
    if row is None or int(row[0]) != claim.epoch:
        raise LeaseLost(f"{claim.queue} {claim.lane} was taken over from {claim.owner}.")


async def finish(tx: Transaction, claim: Claim, letters: Sequence[Letter], *, now: Micros) -> None:
    """These letters are done; the lane stays held. Raises LeaseLost."""
    await check(tx, claim)
    await take_away(tx, letters, now=now)


async def finish_checked(
    tx: Transaction, claim: Claim, letters: Sequence[Letter], *, now: Micros
) -> tuple[Letter, ...]:  # fmt: skip
    """The last letters that were in the holder's hands are done; what has come since then.

    It is in the holder's hands then. Where nothing has, the lane is free. For a transaction in
    which the claim was checked: it holds until that ends.
    """
    await take_away(tx, letters, now=now)
    come = await take_what_has_come(tx, claim, now=now)
    if not come:
        await hand_back(tx, claim, now=now)
    return come


async def take_away(tx: Transaction, letters: Sequence[Letter], *, now: Micros) -> None:
    """Take letters that are done out of a locked lane."""
    await remove(tx, letters)
    await let_keys_age(tx, letters, now=now)


async def fail(
    tx: Transaction, claim: Claim, letter: Letter, *, error: str, now: Micros,
    retry_at: Micros | None, counts: bool = True,
) -> None:  # fmt: skip
    """Put a letter off, or park it (None); the lane stays held. Raises LeaseLost.

    ``counts=False``: nobody's fault, such as a provider's outage; as if it had not been tried.
    """
    await check(tx, claim)
    was_counted = [each.seq for each in claim.letters[:1]] == [letter.seq]
    attempts = letter.attempts + counts - was_counted
    await put_off(tx, letter, attempts=attempts, error=error, now=now, due_at=retry_at)
    if retry_at is None:
        await park(tx, letter, error=error, now=now)


async def release(tx: Transaction, claim: Claim, *, now: Micros) -> None:
    """Give a lane back, with whatever is left in it; nothing happens if it is lost.

    What is due already is for anybody; for what is put off, whoever put it off comes back.
    """
    try:
        await check(tx, claim)
    except LeaseLost:
        return
    await hand_back(tx, claim, now=now)


async def hand_back(tx: Transaction, claim: Claim, *, now: Micros) -> None:
    """Give back a lane that is locked and held by this claim."""
    due_at = await let_go(tx, claim.queue, claim.lane)
    if due_at is not None and due_at <= now:
        await tx.wake()


async def take_what_has_come(tx: Transaction, claim: Claim, *, now: Micros) -> tuple[Letter, ...]:
    """What has come into a locked lane since it was taken, each letter as it becomes due."""
    since = last_seq(claim.letters or claim.given_up)
    come = await due_letters_after(tx, claim.queue, claim.lane, seq=since, now=now)
    if come:
        await tx.run(
            "UPDATE lane SET handed_out = :last WHERE queue = :queue AND key = :lane",
            last=last_seq(come),
            queue=claim.queue,
            lane=claim.lane,
        )
    return come


async def handed_out(tx: Transaction, queue: Queue, lane: str) -> int:
    """The last letter that is in the hands of whoever holds a lane; 0: nobody does."""
    row = await tx.row(
        "SELECT coalesce(handed_out, 0) FROM lane WHERE queue = :queue AND key = :lane",
        queue=queue,
        lane=lane,
    )
    return 0 if row is None else int(row[0])


async def is_any_held(tx: Transaction, queue: Queue, lanes: Sequence[str]) -> bool:
    """Whether somebody is at work in one of some lanes."""
    names = {f"lane{place}": lane for place, lane in enumerate(lanes)}
    row = await tx.row(
        f"""SELECT 1 FROM lane WHERE queue = :queue AND lease_until > :clock
           AND key IN ({", ".join(f":{name}" for name in names)}) LIMIT 1""",
        queue=queue,
        clock=await tx.clock(),
        **names,
    )
    return row is not None


def last_seq(letters: Sequence[Letter]) -> int:
    """The letter that was put last."""
    return max(letter.seq for letter in letters)


async def next_due(tx: Transaction, queue: Queue) -> Micros | None:
    """When the next free lane is ready, perhaps in the past; None: nothing waits.

    Not when a lease ends: that is noticed by looking now and then.
    """
    row = await tx.row(
        """SELECT ready_at FROM lane WHERE queue = :queue AND ready_at IS NOT NULL
           ORDER BY ready_at LIMIT 1""",
        queue=queue,
    )
    return None if row is None else int(row[0])


async def postpone(tx: Transaction, queue: Queue, lane: str, *, since: int, due_at: Micros) -> None:
    """Make the open letters of a lane, from one on, due at another time."""
    await lock(tx, queue, lane)
    await tx.run(
        """UPDATE letter SET due_at = :due_at
           WHERE queue = :queue AND lane = :lane AND seq >= :since AND parked_at IS NULL""",
        due_at=due_at, queue=queue, lane=lane, since=since,
    )  # fmt: skip
    await settle(tx, queue, lane)


async def list_letters(
    tx: Transaction, *, parked: bool, most: int = 1000,
    after: tuple[Queue, str, int] = BEFORE_ALL,
) -> list[Letter]:  # fmt: skip
    """The letters of all lanes, or only the parked ones, lane by lane; those after a place."""
    only = "AND parked_at IS NOT NULL" if parked else ""
    queue, lane, seq = after
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM letter WHERE (queue, lane, seq) > (:queue, :lane, :seq) {only}
           ORDER BY queue, lane, seq LIMIT :most""",
        queue=queue, lane=lane, seq=seq, most=most,
    )  # fmt: skip
    return [letter_from(row) for row in rows]


async def retry_letter(
    tx: Transaction, queue: Queue, lane: str, seq: int, *, now: Micros
) -> tuple[Letter, ...]:
    """Open a parked letter again, and all of its group; those. Raises NotFound, InvalidInput."""
    await lock_idle(tx, queue, lane)
    letters = await get_group(tx, queue, lane, seq)
    await unpark(tx, letters, now=now)
    await let_go(tx, queue, lane)
    await tx.wake()
    return letters


async def drop_letter(
    tx: Transaction, queue: Queue, lane: str, seq: int, *, now: Micros
) -> tuple[Letter, ...]:
    """Take a letter away undone, and all of its group; those. Raises NotFound, InvalidInput."""
    await lock_idle(tx, queue, lane)
    letters = await get_group(tx, queue, lane, seq)
    await remove(tx, letters)
    await let_keys_age(tx, letters, now=now)
    await let_go(tx, queue, lane)
    await tx.wake()
    return letters


async def lock(tx: Transaction, queue: Queue, lane: str) -> None:
    """Wait until nobody else writes to a lane."""
    await tx.lock(
        "SELECT 1 FROM lane WHERE queue = :queue AND key = :lane FOR UPDATE",
        queue=queue,
        lane=lane,
    )


async def lock_idle(tx: Transaction, queue: Queue, lane: str) -> None:
    """Lock a lane that nobody works on. Raises InvalidInput if somebody does."""
    await lock(tx, queue, lane)
    clock = await tx.clock()
    held = await tx.row(
        """SELECT owner FROM lane WHERE queue = :queue AND key = :lane
           AND lease_until > :clock AND lease_until <= :latest""",
        queue=queue, lane=lane, clock=clock, latest=lease_end(clock, LONGEST_LEASE_S),
    )  # fmt: skip
    if held is not None:
        told = f"{queue} {lane} is being worked on; try again in a moment."
        raise InvalidInput(saying("letter_at_work", told))


async def hold(
    tx: Transaction, queue: Queue, lane: str, *, owner: str, until: Micros, handed_out: int
) -> int:
    """Make a locked lane somebody's; its new epoch."""
    row = await tx.row(
        """UPDATE lane SET owner = :owner, lease_until = :until, ready_at = NULL,
             epoch = epoch + 1, handed_out = :handed_out
           WHERE queue = :queue AND key = :lane RETURNING epoch""",
        owner=owner, until=until, handed_out=handed_out, queue=queue, lane=lane,
    )  # fmt: skip
    assert row is not None
    return int(row[0])


async def let_go(tx: Transaction, queue: Queue, lane: str) -> Micros | None:
    """Make a locked lane nobody's; when it is ready for what is left in it."""
    row = await tx.row(
        f"""UPDATE lane SET owner = NULL, lease_until = NULL, handed_out = NULL,
             ready_at = ({first_due_in(queue)})
           WHERE queue = :queue AND key = :lane RETURNING ready_at""",
        queue=queue,
        lane=lane,
    )
    return None if row is None or row[0] is None else int(row[0])


async def settle(tx: Transaction, queue: Queue, lane: str) -> Micros | None:
    """Make a locked lane ready, unless it is held, for its first open letter; when that is due."""
    due_at = await first_due(tx, queue, lane)
    await make_ready(tx, queue, lane, at=due_at)
    return due_at


async def make_ready(tx: Transaction, queue: Queue, lane: str, *, at: Micros | None) -> None:
    """Note when there is something to do in a lane, unless it is held."""
    await tx.run(
        """UPDATE lane SET ready_at = :at
           WHERE queue = :queue AND key = :lane AND lease_until IS NULL""",
        at=at, queue=queue, lane=lane,
    )  # fmt: skip
