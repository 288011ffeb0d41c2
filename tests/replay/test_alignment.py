"""What is believed there is read once, however much the person has decided."""

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs import correct as correcting
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import MemoryState
from oldfriend.memory.belief_views import list_memories
from oldfriend.replay.alignment import TargetSnapshot
from oldfriend_evals.lives.life_files import load_life
from tests.clock import FrozenClock
from tests.memory.test_scoping import Recorder
from tests.replay.lives import live, owner_of, reader


async def rows_read(app: AppContext, standing: TargetSnapshot) -> int:
    """How many rows of memories and their words a look takes."""
    async with app.db.begin_read() as tx:
        recorder = Recorder(tx, standing.person)
        await standing.list_all(recorder)
    return sum(len(found) for sql, _, found in recorder.seen if "FROM entity" not in sql)


async def is_up_to_date(
    app: AppContext, standing: TargetSnapshot, known: list[MemoryState]
) -> None:
    """It is what a fresh look finds."""
    async with app.db.begin_read() as tx:
        seen = await standing.list_all(tx)
        fresh = await TargetSnapshot(person=standing.person).list_all(tx)
    assert seen == fresh
    assert {each.memory.id for each in known} <= {each.content.id for each in seen}


async def test_target_snapshot_reads_only_changed_beliefs(
    app: AppContext, clock: FrozenClock
) -> None:
    """After each decision it is what a fresh look finds, from a few rows."""
    life = load_life("en")
    await live(app, life, model=reader(life), days=4)
    person = await owner_of(app.db)
    async with app.db.begin_read() as tx:
        known = await list_memories(tx, person)
    clock.now = known[-1].memory.learned_at + DAY
    kept = TargetSnapshot(person=person)
    whole = await rows_read(app, kept)
    for deed, each in zip(("pin", "reject", "confirm"), known, strict=False):
        await correcting.apply_belief_action(app.db, app.clock, person, deed, each.memory.id)
        assert await rows_read(app, kept) < whole / 2
        await is_up_to_date(app, kept, known)
    kept.invalidate()

    assert await rows_read(app, kept) >= whole
