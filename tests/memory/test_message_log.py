"""Every word is kept as it was said."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oldfriend.domain.buttons import Button, build_button_details
from oldfriend.domain.clock import MINUTE
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.messages import MAX_TEXT_CHARS, UnloggedMessage
from oldfriend.memory.chat_history import (
    list_messages_after,
    list_messages_before,
    list_messages_containing,
)
from oldfriend.memory.import_writer import load_known_messages
from oldfriend.memory.message_log import (
    WriteTarget,
    count_messages,
    edit_message,
    get_message,
    list_messages,
    list_messages_after_seq,
    list_messages_by_seq,
    list_recent_messages,
    list_surrounding_messages,
    write_messages,
)
from oldfriend.memory.sessions import ensure_open_session
from tests.two_people import Friend, Meet

same_database = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@same_database
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
async def test_message_text_round_trips_unchanged(nora: Friend, text: str) -> None:
    """Nothing is trimmed, normalised or escaped."""
    written = await nora.says(text)
    async with nora.db.begin_read() as tx:
        kept = await get_message(tx, nora.person.id, written.id)

    assert kept.text == text
    assert replace(written, language=kept.language) == kept


@same_database
@given(text=st.text(st.characters(categories=["Cs", "Cc", "Lu"])), speaker=st.text(max_size=5))
async def test_nul_and_lone_surrogates_are_stored_as_replacement_characters(
    nora: Friend, text: str, speaker: str
) -> None:
    """Half characters and NUL become U+FFFD; all around them stays."""
    async with nora.db.begin_write() as tx:
        place = WriteTarget(
            chat=nora.chat, session=await ensure_open_session(tx, nora.chat, nora.clock())
        )
        spoken = UnloggedMessage(
            role="person",
            speaker=speaker,
            text=text,
            at=nora.clock(),
            trust="person",
            external_id=f"id {text!r} {speaker}",
        )
        await write_messages(tx, place, [spoken, spoken], now=nora.clock())
        kept = (await list_recent_messages(tx, nora.person.id, nora.chat.id, limit=1))[0]

    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert kept.text == expected.replace("\0", "\ufffd")
    assert "\0" not in kept.speaker


async def test_too_long_message_is_rejected(nora: Friend) -> None:
    """The longest that fits is kept; one character more is an error that says how long."""
    assert (await nora.says("x" * MAX_TEXT_CHARS)).text == "x" * MAX_TEXT_CHARS
    with pytest.raises(InvalidInput, match=r"1,000,001 characters.*Split it"):
        await nora.says("x" * (MAX_TEXT_CHARS + 1))

    async with nora.db.begin_read() as tx:
        assert await count_messages(tx, nora.person.id) == 1


async def test_duplicate_external_id_in_one_chat_is_stored_once(meet: Meet) -> None:
    """Channels redeliver and exports overlap; the same id in another chat is another message."""
    terminal, web = await meet("Nora"), await meet("Nora", channel="web")

    assert await terminal.says("first", external_id="m1") is not None
    assert await terminal.says("again", external_id="m1") is None
    assert await web.says("elsewhere", external_id="m1") is not None
    assert await terminal.says("no id") is not None
    assert await terminal.says("no id") is not None
    async with terminal.db.begin_read() as tx:
        texts = [m.text for m in await list_messages(tx, terminal.person.id)]
    assert texts == ["first", "elsewhere", "no id", "no id"]


async def test_batch_write_skips_duplicates_and_returns_none_for_each(nora: Friend) -> None:
    """Whoever imports can count what was new."""
    await nora.says("here already", external_id="m2")
    spoken = [
        UnloggedMessage(
            role="person",
            speaker="Nora",
            text=f"text {i}",
            at=nora.clock(),
            trust="person",
            external_id=f"m{i}",
        )
        for i in (1, 2, 3, 3)
    ]
    async with nora.db.begin_write() as tx:
        place = WriteTarget(
            chat=nora.chat, session=await ensure_open_session(tx, nora.chat, nora.clock())
        )
        written = await write_messages(tx, place, spoken, now=nora.clock())

    assert [m is None for m in written] == [False, True, False, True]


async def test_message_with_buttons_keeps_the_language_of_its_frame(nora: Friend) -> None:
    """What it quotes may be in another, in which a press would be answered."""
    details = build_button_details([Button("Done", "/done 1")])
    reminder = UnloggedMessage(
        role="companion",
        speaker="Friend",
        text="⏰ llamar a mi hermana por la tarde",
        at=nora.clock(),
        trust="person",
        details=details,
    )
    async with nora.db.begin_write() as tx:
        session = await ensure_open_session(tx, nora.chat, nora.clock())
        for language in ("en", "fr"):
            place = WriteTarget(chat=nora.chat, session=session, language=language)
            (written,) = await write_messages(tx, place, [reminder], now=nora.clock())
            assert written is not None
            assert written.language == language


async def test_an_edit_adds_a_version_and_the_old_one_stays_readable(nora: Friend) -> None:
    """Evidence names the version that it quotes."""
    first = await nora.says("I was born in Porto", external_id="m1")
    async with nora.db.begin_write() as tx:
        second = await edit_message(
            tx, nora.person.id, first.id, "I was born in Lisbon", now=nora.clock.tick(seconds=9)
        )
        third = await edit_message(tx, nora.person.id, first.id, "Nací en Lisboa", now=nora.clock())
        versions = [
            await get_message(tx, nora.person.id, first.id, version=number) for number in (1, 2, 3)
        ]
        current = await get_message(tx, nora.person.id, first.id)
        known = await load_known_messages(tx, nora.person.id, nora.chat.id, ["m1"])

    assert [m.text for m in versions] == [
        "I was born in Porto",
        "I was born in Lisbon",
        "Nací en Lisboa",
    ]
    assert (first, second, third) == tuple(versions)
    assert current == third
    assert known["m1"].id == third.id
    assert known["m1"].texts == {m.text for m in versions}
    assert first.seq < second.seq < third.seq
    assert {m.at for m in versions} == {first.at}


async def test_listing_and_counting_include_only_the_newest_message_version(nora: Friend) -> None:
    """An edited message does not appear twice."""
    first = await nora.says("teh cat")
    async with nora.db.begin_write() as tx:
        await edit_message(tx, nora.person.id, first.id, "the cat", now=nora.clock())
        person, chat = nora.person.id, nora.chat.id

        assert [m.text for m in await list_recent_messages(tx, person, chat, limit=9)] == [
            "the cat"
        ]
        assert [m.text for m in await list_messages(tx, person)] == ["the cat"]
        assert [m.text for m in await list_messages_after_seq(tx, person, chat, after=0)] == [
            "the cat"
        ]
        assert await count_messages(tx, person) == 1
        assert await nora.says_in(tx, "unrelated", external_id="m9") is not None


async def test_recent_messages_are_the_newest_in_time_order(nora: Friend) -> None:
    """Not the oldest; and what was said earlier but written later stands where it belongs."""
    for number in range(10):
        await nora.says(f"{number}")
    await nora.says("8½", at=nora.clock() - 500_000)

    async with nora.db.begin_read() as tx:
        recent = await list_recent_messages(tx, nora.person.id, nora.chat.id, limit=4)

    assert [m.text for m in recent] == ["7", "8", "8½", "9"]


async def test_time_range_query_spans_channels_and_excludes_its_end(meet: Meet) -> None:
    """What was told anywhere is one life."""
    terminal, web = await meet("Nora"), await meet("Nora", channel="web")
    begin = terminal.clock()
    for number, place in enumerate([terminal, web, terminal, web]):
        await place.says(f"{number}", at=begin + number * MINUTE)

    async with terminal.db.begin_read() as tx:
        found = await list_messages(
            tx, terminal.person.id, since=begin + MINUTE, until=begin + 3 * MINUTE
        )
        newest = await list_messages(tx, terminal.person.id, limit=2)

    assert [(m.text, m.channel) for m in found] == [("1", "web"), ("2", "terminal")]
    assert [m.text for m in newest] == ["2", "3"]


async def test_messages_are_listed_by_seq_and_unknown_seqs_are_skipped(
    nora: Friend,
) -> None:
    """Search knows messages by their place."""
    first, second = await nora.says("a"), await nora.says("b")
    async with nora.db.begin_read() as tx:
        found = await list_messages_by_seq(tx, nora.person.id, [second.seq, 999, first.seq])

    assert [m.text for m in found] == ["b", "a"]


async def test_an_unknown_message_is_not_found(nora: Friend) -> None:
    """get_ raises."""
    async with nora.db.begin_read() as tx:
        with pytest.raises(NotFound):
            await get_message(tx, nora.person.id, "no such message")
    with pytest.raises(NotFound):
        async with nora.db.begin_write() as tx:
            await edit_message(tx, nora.person.id, "no such message", "new", now=0)


async def test_edited_question_stays_before_its_reply(nora: Friend) -> None:
    """Both have one time; in the log the edit comes last, in the talk it stands where it stood."""
    asked = await nora.says("Wher is the key?")
    async with nora.db.begin_write() as tx:
        place = WriteTarget(chat=nora.chat, session=asked.session)
        replies = [
            UnloggedMessage(
                role="companion", speaker="it", text=text, at=asked.at, trust="companion"
            )
            for text in ("Under the mat.", "I think.")
        ]
        await write_messages(tx, place, replies, now=nora.clock.tick(seconds=1))
        edited = await edit_message(
            tx, nora.person.id, asked.id, "Where is the key?", now=nora.clock.tick(seconds=9)
        )
        person, chat, at = nora.person.id, nora.chat.id, asked.at
        first, second, last = await list_messages(tx, person)
        recent = await list_recent_messages(tx, person, chat, limit=9)
        before = await list_messages_before(tx, person, at=at, seq=second.seq, limit=9)
        after = await list_messages_after(tx, person, at=at, seq=edited.seq, limit=9)
        around = await list_surrounding_messages(tx, second, each_side=9)
        found = await list_messages_containing(tx, person, "the", limit=9)

    assert [each.text for each in (first, second, last)] == [
        "Where is the key?",
        "Under the mat.",
        "I think.",
    ]
    assert recent == [first, second, last]
    assert before == [edited]
    assert after == [second, last]
    assert around == [edited, last]
    assert found == [edited, second]


async def test_edited_message_whose_first_version_was_erased_alone_is_still_paged(
    nora: Friend,
) -> None:
    """It stands where what is left of it was written."""
    asked = await nora.says("My number is 4711, where is the key?")
    async with nora.db.begin_write() as tx:
        place = WriteTarget(chat=nora.chat, session=asked.session)
        reply = UnloggedMessage(
            role="companion", speaker="it", text="Under the mat.", at=asked.at, trust="companion"
        )
        await write_messages(tx, place, [reply], now=nora.clock.tick(seconds=1))
        edited = await edit_message(
            tx, nora.person.id, asked.id, "Where is the key?", now=nora.clock.tick(seconds=9)
        )
        await tx.run("DELETE FROM message WHERE id = :id AND version = 1", id=asked.id)
        listed = await list_messages(tx, nora.person.id)
        after = await list_messages_after(
            tx, nora.person.id, at=asked.at, seq=listed[0].seq, limit=9
        )

    assert [each.text for each in listed] == ["Under the mat.", "Where is the key?"]
    assert after == [edited]
