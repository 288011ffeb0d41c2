"""What is believed, what was believed on a day, and why."""

from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import edit
from oldfriend.app.believing.counting import stats_of
from oldfriend.app.believing.history import history_of
from oldfriend.app.believing.looking import (
    about,
    beliefs_at,
    find_belief,
    list_told,
    moment_named,
    search_beliefs,
    text_of,
)
from oldfriend.app.believing.showing import belief_as_text, history_as_text, line_of
from oldfriend.app.believing.undoing import undo_reading
from oldfriend.app.catching_up import catch_up
from oldfriend.app.house import House
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import Memory
from oldfriend.domain.messages import Message
from oldfriend.memory.changes import Ground, decide, newest_change_of
from oldfriend.memory.people import rename_person
from tests.app.believing.life import TOLD, believed, tell, the_one
from tests.clock import FrozenClock

MONTH = 60 * 24 * 30


async def homes(house: House, line: Line, at: int) -> list[str]:
    """Where the person was believed to live at a moment."""
    async with house.db.reading() as tx:
        return [
            each.what.value
            for each in await beliefs_at(tx, line.person.id, at)
            if isinstance(each.what, Memory) and each.what.key == "location"
        ]


async def test_each_day_has_what_was_believed_then(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Nothing before anything was said; the old home until the move was heard of."""
    before = clock() - 1
    await tell(house, line)
    first = clock()
    clock.tick(minutes=MONTH)
    await tell(house, line, ["Big news: I moved to Lisbon last week!"])

    assert await homes(house, line, before) == []
    assert await homes(house, line, first) == ["Porto"]
    assert await homes(house, line, clock()) == ["Lisbon"]


async def test_a_past_belief_stands_on_what_was_said_by_then(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Not on what was said about it since."""
    await tell(house, line, ["I love jazz."])
    first = clock()
    clock.tick(minutes=MONTH)
    await tell(house, line, ["I really love jazz, I told you."])

    async with house.db.reading() as tx:
        then, now = [
            next(
                each
                for each in await beliefs_at(tx, line.person.id, at)
                if isinstance(each.what, Memory) and each.what.value == "jazz"
            )
            for at in (first, clock())
        ]
    assert [each.said_at <= first for each in then.words] == [True]
    assert len(now.words) == 2


async def test_a_history_follows_a_matter_through_its_values(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Asked of the old value or the new: each decision, its author, the words, until when."""
    await tell(house, line)
    porto = await the_one(house, line, "Porto")
    clock.tick(minutes=MONTH)
    await tell(house, line, ["Big news: I moved to Lisbon last week!"])
    lisbon = next(
        each.what.id
        for each in await believed(house, line)
        if isinstance(each.what, Memory) and each.what.value == "Lisbon"
    )
    clock.tick(minutes=MONTH)
    await edit(house, line.person.id, lisbon, "Lives in Cascais.", value="Cascais")

    async with house.db.reading() as tx:
        told = [await history_of(tx, line.person.id, each[-8:]) for each in (porto, lisbon)]
    assert told[0].steps == told[1].steps
    ops = [(step.change.op, step.change.author.partition("/")[0]) for step in told[0].steps]
    assert sorted(ops) == sorted([
        ("learned", "rules"), ("learned", "rules"), ("superseded", "rules"),
        ("learned", "person"), ("superseded", "person"),
    ])  # fmt: skip
    first = told[0].steps[0]
    assert [message.text for message in first.because] == [TOLD[0]]
    assert first.until == first.change.decided_at + 30 * DAY
    text = history_as_text(told[0], zone="UTC")
    assert "by you" in text
    assert TOLD[0] in text


async def test_a_belief_is_shown_with_its_words(house: House, line: Line) -> None:
    """Found by the end of its id."""
    await tell(house, line)
    porto = await the_one(house, line, "Porto")
    async with house.db.reading() as tx:
        found = await find_belief(tx, line.person.id, porto[-8:])

    text = belief_as_text(found, zone="UTC", now=house.clock())
    assert "location: Porto" in text
    assert f"“{TOLD[0]}”" in text
    assert porto[-8:] in text


async def test_a_summary_of_summaries_leads_to_these(house: House, line: Line) -> None:
    """And each of them to what was said."""
    await tell(house, line)
    now, person = house.clock(), line.person.id
    async with house.db.writing() as tx:
        (first, *_) = await list_told(tx, person)
        whole = replace(
            first, id=new_id(now), level=2, text="In short.", sources=(first.id,), learned_at=now
        )
        folded = replace(first, is_active=False)
        ground = Ground(author="summarise-by-rules/1")
        base = await newest_change_of(tx, person, first.id)
        await decide(tx, folded, op="revised", base=base, ground=ground, now=now)
        await decide(tx, whole, op="learned", base=0, ground=ground, now=now)
        found = await find_belief(tx, person, whole.id)
        below = await find_belief(tx, person, first.id)

    assert found.made_of == (folded,)
    assert f"  • {line_of(folded, zone='UTC')}" in belief_as_text(found, zone="UTC", now=now)
    said = [each for each in below.made_of if isinstance(each, Message)]
    words = [each.text for each in said if each.role == "person"]
    assert words
    assert all(text in belief_as_text(below, zone="UTC", now=now) for text in words)


async def test_what_is_about_a_name_is_found_by_it(house: House, line: Line) -> None:
    """A name that nobody has is refused."""
    await tell(house, line)
    async with house.db.reading() as tx:
        told = await beliefs_at(tx, line.person.id, house.clock())
        ana = await about(tx, line.person.id, "ana", told)
        with pytest.raises(NotFound):
            await about(tx, line.person.id, "Zebedee", told)

    assert ana
    assert len(ana) < len(told)


async def test_by_their_own_name_all_is_found_that_is_of_the_person(
    house: House, line: Line
) -> None:
    """Not only what holds the name."""
    await tell(house, line)
    async with house.db.writing() as tx:
        await rename_person(tx, line.person, "Jazz", platforms=())
    async with house.db.reading() as tx:
        told = await beliefs_at(tx, line.person.id, house.clock())
        own = await about(tx, line.person.id, "jazz", told)

    assert {"jazz" in text_of(each.what).casefold() for each in own} == {True, False}


async def test_beliefs_are_found_by_words_and_meaning(house: House, line: Line) -> None:
    """The best first."""
    await tell(house, line)
    (first, *_) = await search_beliefs(house, line.person, "which music do I love")
    assert "jazz" in getattr(first.what, "text", "")
    assert await search_beliefs(house, line.person, "zzzzqqq") == []


async def test_a_reading_that_is_undone_leaves_nothing(house: House, line: Line) -> None:
    """Of it; and it is not read again by itself."""
    await tell(house, line)
    assert (await undo_reading(house, line.person.id, None)).ended
    assert await believed(house, line) == []
    async with house.db.reading() as tx:
        assert await list_told(tx, line.person.id) == []
    await catch_up(house, line.person.id, because="asked")
    assert await believed(house, line) == []
    with pytest.raises(NotFound):
        await undo_reading(house, line.person.id, None)


async def test_the_numbers_say_what_became_of_talk(house: House, line: Line) -> None:
    """What was kept, learned, joined; and that replies took up what they were based on."""
    await tell(house, line)
    await answer(house, line, Said(text="Where do I live?"))
    stats = await stats_of(house, line.person)

    assert stats.believed["event"] == 1
    assert stats.segments == {"done": 1}
    assert (stats.conversations, stats.unread) == (2, 2)
    assert stats.bytes > 0
    assert 0 <= stats.used <= stats.shown


def test_a_date_means_its_end_by_the_persons_clocks() -> None:
    """But never later than now; the day after tomorrow is refused."""
    now = 1_700_000_000_000_000  # 2023-11-14T22:13:20Z
    assert moment_named("2023-11-13", "UTC", now=now) == 1_699_919_999_999_999
    assert moment_named("2023-11-13", "+02:00", now=now) == 1_699_912_799_999_999
    assert moment_named("2023-11-14", "UTC", now=now) == now
    assert moment_named("2023-11-13T10:00", "UTC", now=now) == 1_699_869_600_000_000
    with pytest.raises(InvalidInput):
        moment_named("2023-11-20", "UTC", now=now)
