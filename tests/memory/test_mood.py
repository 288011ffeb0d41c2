"""A mood lasts half a day, and no longer than the reading that it comes from."""

from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.memories import Mood
from oldfriend.memory.mood import find_mood, set_mood
from oldfriend.memory.segments import (
    Segment,
    cut_segment,
    list_uncut_spans,
    reopen_segments,
    set_segment_status,
)
from tests.two_people import Friend

GLAD = Mood(phrase="glad, a little tired", energy=6, signal="warm")
NEUTRAL = Mood(phrase="", energy=5)
CURT = Mood(phrase="kept at a distance", energy=4, signal="cool")


async def read_as(friend: Friend, mood: Mood | None) -> Segment:
    """Have what is uncut read, with a mood that it leaves behind."""
    person, now = friend.person.id, friend.clock()
    async with friend.db.begin_write() as tx:
        (uncut,) = await list_uncut_spans(tx, person)
        segment = await cut_segment(tx, person, uncut, cut_by="asked", now=now)
        assert await set_segment_status(tx, segment, "done", author="test/1", now=now)
        await set_mood(tx, segment, mood)
    return segment


async def mood_at(friend: Friend, at: Micros) -> Mood | None:
    """How the companion feels towards them then."""
    async with friend.db.begin_read() as tx:
        return await find_mood(tx, friend.person.id, at=at)


async def test_newest_mood_lasts_twelve_hours(nora: Friend) -> None:
    """Twelve hours after the talk ended it is neutral again; nothing is reset by hand."""
    await nora.says("We won!")
    first = await read_as(nora, GLAD)
    await nora.says("Leave me alone.")
    last = await read_as(nora, CURT)

    assert await mood_at(nora, first.until_at) == GLAD
    assert await mood_at(nora, last.until_at) == CURT
    assert await mood_at(nora, last.until_at + 12 * HOUR - 1) == CURT
    assert await mood_at(nora, last.until_at + 12 * HOUR) is None


async def test_segment_without_a_mood_keeps_the_earlier_mood(nora: Friend) -> None:
    """Small talk does not make the companion cold."""
    await nora.says("We won!")
    await read_as(nora, GLAD)
    await nora.says("ok")
    last = await read_as(nora, None)

    assert await mood_at(nora, last.until_at) == GLAD


async def test_neutral_segment_ends_the_earlier_mood(nora: Friend) -> None:
    """Who made it up again hours ago is not met with the mood of the quarrel."""
    await nora.says("Leave me alone.")
    await read_as(nora, CURT)
    await nora.says("Sorry about that. Shall we plan the week?")
    last = await read_as(nora, NEUTRAL)

    assert await mood_at(nora, last.until_at) is None


async def test_reopened_segment_loses_its_mood(nora: Friend) -> None:
    """What was edited or taken away may have been just what made the mood."""
    said = await nora.says("We won!")
    segment = await read_as(nora, GLAD)
    assert said is not None
    async with nora.db.begin_write() as tx:
        await reopen_segments(tx, nora.person.id, [said.id])

    assert await mood_at(nora, segment.until_at) is None


async def test_mood_applies_to_one_person_only(nora: Friend, omar: Friend) -> None:
    """Who was curt does not make it curt with somebody else."""
    await nora.says("Leave me alone.")
    segment = await read_as(nora, CURT)

    assert await mood_at(omar, segment.until_at) is None
