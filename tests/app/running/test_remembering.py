"""How memory does is told in numbers: what was read, decided, refused, and how long it took."""

from prometheus_client.parser import text_string_to_metric_families

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import judge
from oldfriend.app.forming.tending import give_up_reading, read, tend
from oldfriend.app.house import House
from oldfriend.app.running.metrics import as_prometheus, count_all
from oldfriend.domain.clock import DAY
from oldfriend.memory.beliefs import list_memories
from tests.clock import FrozenClock

TOLD = ("I live in Porto.", "My sister Ana is a nurse.", "I love jazz.", "Where do I live?")


async def told(house: House) -> tuple[dict[tuple[str, ...], float], str]:
    """The numbers by name and labels, and as they are sent."""
    text = as_prometheus(await count_all(house), up_s=0).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }, text


async def live(house: House, line: Line, clock: FrozenClock) -> None:
    """Something is told, read, told again, read, and put right; one reading fails."""
    for _ in range(2):
        for text in TOLD:
            await answer(house, line, Said(text=text))
        for segment in await tend(house, line.person.id, because="asked"):
            clock.tick(seconds=30)
            await read(house, line.person.id, segment.id)
    async with house.db.reading() as tx:
        (home,) = [
            each.memory.id
            for each in await list_memories(tx, line.person.id)
            if each.memory.key == "location"
        ]
    await judge(house, line.person.id, "reject", home)
    await answer(house, line, Said(text="We sat by the river again."))
    (segment,) = await tend(house, line.person.id, because="asked")
    async with house.db.writing() as tx:
        await give_up_reading(tx, line.person.id, segment.id, "It broke.", now=clock())


async def test_what_became_of_talk_is_counted_and_nobody_named(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Of today, of everybody together."""
    await live(house, line, clock)

    numbers, text = await told(house)

    expected = {
        ("oldfriend_stretches_read_total", "done"): 2,
        ("oldfriend_stretches_read_total", "failed"): 1,
        ("oldfriend_decisions_total", "rejected"): 1,
        ("oldfriend_reading_seconds", "0.95"): 30,
        ("oldfriend_reply_seconds", "0.95"): 0,
        ("oldfriend_found_by_words_alone",): 0,
    }
    assert expected.items() <= numbers.items()
    assert numbers["oldfriend_things_told_total", "learned"] >= 3
    assert numbers["oldfriend_things_told_total", "joined"] >= 3
    assert numbers["oldfriend_decisions_total", "learned"] >= 3
    assert 0 < numbers["oldfriend_found_closeness",] <= 1
    assert not [word for word in ("Porto", "Ana", "jazz", line.person.id) if word in text]


async def test_of_a_day_on_which_nothing_was_said_there_is_nothing_to_tell(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Counts are at zero; how long replies took is not made up."""
    await live(house, line, clock)
    clock.tick(minutes=2 * DAY // 60_000_000)

    numbers, _ = await told(house)

    assert numbers["oldfriend_stretches_read_total", "done"] == 0
    assert numbers["oldfriend_things_told_total", "learned"] == 0
    assert not [name for name, *_ in numbers if name.endswith(("reply_seconds", "closeness"))]
