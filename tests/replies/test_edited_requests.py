"""What a message has written into the diary, or its number, follows it when it is edited."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.diary.diary_store import (
    DiaryEntry,
    DiaryFilter,
    delete_entry,
    list_entries,
    save_entries,
)
from oldfriend.inbound.accept import ChatContext
from oldfriend.measurements.measurement_store import list_measurements
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.edited_requests import edit_answered
from tests.chat_fixtures import Say


async def list_diary(app: AppContext, chat_context: ChatContext) -> list[DiaryEntry]:
    """All entries."""
    async with app.db.begin_read() as tx:
        return await list_entries(tx, chat_context.person.id, DiaryFilter())


async def test_entry_of_an_edited_message_reads_as_its_new_words(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It stays one entry, which goes when they write none, and comes back with them."""
    await say("/journal We walked along the see #walk")
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, chat_context.person.id)
    message = next(each for each in said if each.role == "person")
    (before,) = await list_diary(app, chat_context)
    edited, told = await edit_answered(app, message, "/journal We swam in the sea #swim")
    (after,) = await list_diary(app, chat_context)
    _, same = await edit_answered(app, message, "/diary We swam in the sea #swim")
    (again,) = await list_diary(app, chat_context)
    _, gone = await edit_answered(app, message, "We swam in the sea.")

    assert (after.id, after.text, after.tags) == (before.id, "We swam in the sea #swim", ("swim",))
    assert (after.message, after.message_seq) == (message.id, edited.seq)
    assert "under #swim" in told
    assert (same, again.text) == ("", after.text)
    assert "no longer in your diary" in gone
    assert await list_diary(app, chat_context) == []
    await edit_answered(app, message, "Dear diary, we swam.")
    assert [each.text for each in await list_diary(app, chat_context)] == ["we swam"]


@pytest.mark.parametrize("words", ["/journal We swam in the sea", "We swam in the sea."])
async def test_entry_that_was_changed_in_the_diary_stays(
    app: AppContext, chat_context: ChatContext, say: Say, words: str
) -> None:
    """Whether the message now writes something else there or nothing; which is said."""
    await say("/journal We swom in the sea")
    async with app.db.begin_write() as tx:
        said = await list_messages(tx, chat_context.person.id)
        (entry,) = await list_entries(tx, chat_context.person.id, DiaryFilter())
        longer = replace(entry, text="We swom in the sea, and ate at Rosa's.")
        await save_entries(tx, chat_context.person.id, [longer])
    message = next(each for each in said if each.role == "person")
    _, told = await edit_answered(app, message, words)

    assert await list_diary(app, chat_context) == [longer]
    assert "stays as you changed it" in told


async def test_entry_that_was_taken_out_of_the_diary_stays_out(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """A slip that is corrected later is no new wish for it."""
    await say("/journal We swom in the sea")
    async with app.db.begin_write() as tx:
        said = await list_messages(tx, chat_context.person.id)
        (entry,) = await list_entries(tx, chat_context.person.id, DiaryFilter())
        await delete_entry(tx, chat_context.person.id, entry.id)
    message = next(each for each in said if each.role == "person")
    _, told = await edit_answered(app, message, "/journal We swam in the sea")

    assert (told, await list_diary(app, chat_context)) == ("", [])


@pytest.mark.parametrize(
    ("told", "edited"),
    [
        ("71.4 kg this morning", "oops, 70.4 kg this morning"),
        ("Heute früh 71,4 kg", "ups, 70,4 kg"),
        ("Esta mañana 71,4 kg", "perdón, 70,4 kg"),
        ("71,4 kg ce matin", "oups, 70,4 kg"),
        ("今天早上71.4公斤", "写错了，是70.4公斤"),
    ],
)
async def test_number_follows_an_edit_that_says_it_was_wrong(
    app: AppContext, chat_context: ChatContext, say: Say, told: str, edited: str
) -> None:
    """Its own number is meant, and the reply says what it was."""
    await say(told)
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, chat_context.person.id)
    message = next(each for each in said if each.role == "person")
    _, reply = await edit_answered(app, message, edited)
    async with app.db.begin_read() as tx:
        kept = await list_measurements(tx, chat_context.person.id, "weight")

    assert [each.value for each in kept] == [70.4]
    assert "70" in reply
    assert "71" in reply
