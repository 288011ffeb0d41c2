"""One's own later words bring back what was believed before; nothing is written for that."""

from oldfriend.app.accepting import Line, Said, open_line
from oldfriend.app.answering import answer
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.domain.clock import MINUTE
from oldfriend.evals.scoring.comparing import Case, compared, share_of
from oldfriend.evals.scoring.own_log import MOST, Log, log_of, some, understood
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY

MONTH = 60 * 24 * 30


async def told(house: House, clock: FrozenClock, *texts: str) -> Line:
    """Somebody who has said some things, a month apart, and was read each time."""
    line = await open_line(house, person=None, channel="terminal")
    for text in texts:
        await answer(house, line, Said(text=text))
        for segment in await tend(house, line.person.id, because="asked"):
            await read(house, line.person.id, segment.id)
        clock.tick(minutes=MONTH)
    return line


async def log(house: House, line: Line) -> Log:
    """What a replay needs of it."""
    async with house.db.reading() as tx:
        return await log_of(tx, line.person.id, house.embedder.model, now=house.clock())


def asked(log: Log) -> list[Case]:
    """All that is asked of a log."""
    return [case for _, cases in log.moments() for case in cases]


@SQLITE_ONLY
async def test_what_is_said_again_is_asked_of_what_was_believed_before(
    house: House, clock: FrozenClock
) -> None:
    """Not of what it taught itself."""
    line = await told(house, clock, "I love jazz.", "It rains.", "I love jazz, you know.")
    own = await log(house, line)
    index, (case,) = next(own.moments())

    assert case.question.text == "I love jazz, you know."
    assert [each.memory.value for each in index.known if each.memory.id in case.right] == ["jazz"]
    (jazz,) = (each for each in index.known if each.memory.id in case.right)
    assert jazz.standing.times_seen == 1
    assert jazz.standing.last_seen < (case.question.asked_at or 0) - MONTH * MINUTE
    assert own.known[jazz.memory.id].standing.times_seen == 2


@SQLITE_ONLY
async def test_what_has_changed_is_asked_of_a_day_on_which_it_held(
    house: House, clock: FrozenClock
) -> None:
    """Each value, and the others contradict it."""
    line = await told(house, clock, "I live in Porto.", "I live in Lisbon.", "It rains.")
    own = await log(house, line)
    then = [case for case in asked(own) if case.asked == "then"]
    values = {each.memory.id: each.memory.value for each in own.known.values()}

    assert sorted(values[each] for case in then for each in case.right) == ["Lisbon", "Porto"]
    assert all(case.rivals and not case.rivals & case.right for case in then)
    shares = [share_of(tally.of["as it was then"]) for tally in compared(own.moments()).values()]
    assert [share.value for share in shares if share] == [1.0, 1.0, 1.0]


@SQLITE_ONLY
async def test_nothing_that_is_kept_changes(house: House, clock: FrozenClock) -> None:
    """Neither by the reading, nor by the asking."""
    line = await told(house, clock, "I love jazz.", "I love jazz, you know.")
    async with house.db.reading() as tx:
        before = [
            await tx.rows(f"SELECT * FROM {table}") for table in ("person", "memory", "change")
        ]
    compared((await understood(await log(house, line), house.embedder)).moments())
    async with house.db.reading() as tx:
        after = [
            await tx.rows(f"SELECT * FROM {table}") for table in ("person", "memory", "change")
        ]

    assert before == after


@SQLITE_ONLY
async def test_a_log_in_which_nothing_came_back_asks_nothing(
    house: House, clock: FrozenClock
) -> None:
    """One saying is none again."""
    assert asked(await log(house, await told(house, clock, "I love jazz."))) == []


def test_of_very_much_some_is_asked_that_is_spread_over_time() -> None:
    """From the first to nearly the last."""
    chosen = some(range(10 * MOST))

    assert len(chosen) == MOST
    assert (chosen[0], chosen[1], chosen[-1]) == (0, 10, 10 * MOST - 10)
