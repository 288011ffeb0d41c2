"""What is believed there is read once, however much the person has decided."""

from oldfriend.app.believing import correcting
from oldfriend.app.house import House
from oldfriend.app.replaying.standing_there import Standing
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Known
from oldfriend.evals.lives.loading import load_life
from oldfriend.memory.beliefs import list_memories
from tests.app.replaying.lives import live, owner_of, reader
from tests.clock import FrozenClock
from tests.memory.test_scoping import Recorder


async def rows_read(house: House, standing: Standing) -> int:
    """How many rows of memories and their words a look takes."""
    async with house.db.reading() as tx:
        recorder = Recorder(tx, standing.person)
        await standing.everything(recorder)
    return sum(len(found) for sql, _, found in recorder.seen if "FROM entity" not in sql)


async def is_up_to_date(house: House, standing: Standing, known: list[Known]) -> None:
    """It is what a fresh look finds."""
    async with house.db.reading() as tx:
        seen = await standing.everything(tx)
        fresh = await Standing(person=standing.person).everything(tx)
    assert seen == fresh
    assert {each.memory.id for each in known} <= {each.what.id for each in seen}


async def test_what_changed_is_read_on_and_the_rest_is_not_read_again(
    house: House, clock: FrozenClock
) -> None:
    """After each decision it is what a fresh look finds, from a few rows."""
    life = load_life("en")
    await live(house, life, model=reader(life), days=4)
    person = await owner_of(house.db)
    async with house.db.reading() as tx:
        known = await list_memories(tx, person)
    clock.now = known[-1].memory.learned_at + DAY
    kept = Standing(person=person)
    whole = await rows_read(house, kept)
    for deed, each in zip(("pin", "reject", "confirm"), known, strict=False):
        await correcting.judge(house, person, deed, each.memory.id)
        assert await rows_read(house, kept) < whole / 2
        await is_up_to_date(house, kept, known)
    kept.forget()

    assert await rows_read(house, kept) >= whole
