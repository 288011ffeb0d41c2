"""Every word is in one segment at most, and is read once in each generation of it."""

from oldfriend.domain.clock import MINUTE
from oldfriend.memory.message_log import edit_message
from oldfriend.memory.segments import (
    Segment,
    cut_segment,
    get_segment,
    list_messages_before_segment,
    list_segment_messages,
    list_segments,
    list_uncut_spans,
    remove_empty_segments,
    reopen_segments,
    set_segment_status,
)
from tests.two_people import Friend


async def cut_all(friend: Friend) -> list[Segment]:
    """Make segments of all that is uncut."""
    person, now = friend.person.id, friend.clock()
    async with friend.db.begin_write() as tx:
        return [
            await cut_segment(tx, person, uncut, cut_by="asked", now=now)
            for uncut in await list_uncut_spans(tx, person)
        ]


async def texts_in(friend: Friend, segment: Segment) -> list[str]:
    """What a segment says now."""
    async with friend.db.begin_read() as tx:
        return [each.text for each in await list_segment_messages(tx, segment)]


async def test_cut_messages_are_not_cut_into_another_segment(nora: Friend) -> None:
    """What is said later is in the next segment, and knows what came before it."""
    await nora.says("one")
    await nora.says("two", role="companion")
    (first,) = await cut_all(nora)
    assert await cut_all(nora) == []
    await nora.says("three")
    (second,) = await cut_all(nora)

    assert (first.messages, first.cut_by, first.status, first.generation) == (
        2,
        "asked",
        "waiting",
        1,
    )
    assert await texts_in(nora, first) == ["one", "two"]
    assert await texts_in(nora, second) == ["three"]
    async with nora.db.begin_read() as tx:
        before = await list_messages_before_segment(tx, second, limit=1)
        assert [each.text for each in before] == ["two"]
        assert await list_segments(tx, nora.person.id) == [first, second]


async def test_uncut_spans_are_separate_per_session(nora: Friend) -> None:
    """Uncut talk counts its turns and how long it is."""
    await nora.says("morning")
    await nora.says("hello", role="companion")
    nora.clock.tick(minutes=90)
    await nora.says("evening")
    async with nora.db.begin_read() as tx:
        early, late = await list_uncut_spans(tx, nora.person.id)
        assert await list_uncut_spans(tx, nora.person.id, session_id=late.session) == [late]

    assert (early.messages, early.turns, early.is_open) == (2, 1, False)
    assert (late.messages, late.turns, late.is_open) == (1, 1, True)
    assert late.from_at - early.until_at > 89 * MINUTE


async def test_edit_reopens_the_segment_as_a_new_generation(nora: Friend) -> None:
    """Whoever was reading the former generation cannot say that it is done."""
    said = await nora.says("I live in Porto")
    assert said is not None
    (segment,) = await cut_all(nora)
    async with nora.db.begin_write() as tx:
        assert await set_segment_status(tx, segment, "reading", now=1)
        await edit_message(tx, nora.person.id, said.id, "I live in Lisbon", now=2)
        assert await reopen_segments(tx, nora.person.id, [said.id]) == [segment.id]
        assert not await set_segment_status(tx, segment, "done", author="rules/1", now=3)
        again = await get_segment(tx, nora.person.id, segment.id)
        assert (again.generation, again.status) == (2, "waiting")
        assert await set_segment_status(
            tx, again, "done", author="rules/1", outcome={"facts": 1}, now=3
        )
        done = await get_segment(tx, nora.person.id, segment.id)

    assert (done.status, done.author, done.outcome, done.ended_at) == (
        "done",
        "rules/1",
        {"facts": 1},
        3,
    )
    assert await texts_in(nora, done) == ["I live in Lisbon"]


async def test_empty_segment_is_removed(nora: Friend, omar: Friend) -> None:
    """And nobody else's does."""
    await omar.says("mine")
    await nora.says("gone")
    await cut_all(omar)
    (segment,) = await cut_all(nora)
    async with nora.db.begin_write() as tx:
        assert await remove_empty_segments(tx, nora.person.id) == []
        await tx.run("DELETE FROM message WHERE person = :person", person=nora.person.id)
        assert await remove_empty_segments(tx, nora.person.id) == [segment.id]
        assert len(await list_segments(tx, omar.person.id)) == 1
