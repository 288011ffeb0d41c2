"""What waits is counted for whoever looks after the house."""

from oldfriend.db.database import Database
from oldfriend.domain.clock import MINUTE
from oldfriend.queues.counting import Waiting, count_waiting
from oldfriend.queues.lanes import claim, fail, put
from tests.clock import FrozenClock


async def test_nothing_waits_in_a_new_house(db: Database, clock: FrozenClock) -> None:
    """Every queue is there all the same."""
    async with db.reading() as tx:
        counted = await count_waiting(tx, now=clock())

    assert [each.queue for each in counted] == ["inbox", "outbox", "agenda"]
    assert {(each.due, each.later, each.parked, each.held, each.oldest_due_at)
            for each in counted} == {(0, 0, 0, 0, None)}  # fmt: skip


async def test_letters_are_counted_by_what_they_wait_for(db: Database, clock: FrozenClock) -> None:
    """Due, for later, set aside; and the lanes on which somebody works."""
    began = clock()
    async with db.writing() as tx:
        for lane in ("a", "b", "b"):
            await put(tx, "inbox", lane, {}, person=None, now=clock())
            clock.tick(seconds=1)
        await put(tx, "agenda", "job", {}, person=None, now=clock(), due_at=clock() + MINUTE)
        held = await claim(tx, "inbox", owner="w", now=clock(), lease_s=30, lane="a")
        assert held is not None
        await fail(tx, held, held.letters[0], error="x", now=clock(), retry_at=None)
        inbox, outbox, agenda = await count_waiting(tx, now=clock())
        *_, later = await count_waiting(tx, now=clock() + MINUTE)

    assert inbox == Waiting(
        queue="inbox", due=2, later=0, parked=1, held=1, oldest_due_at=began + 1_000_000
    )
    assert outbox == Waiting(queue="outbox", due=0, later=0, parked=0, held=0, oldest_due_at=None)
    assert (agenda.due, agenda.later, agenda.oldest_due_at) == (0, 1, None)
    assert (later.due, later.later) == (1, 0)
