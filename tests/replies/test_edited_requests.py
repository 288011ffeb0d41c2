"""What a message has written into the diary follows it when it is edited."""

from oldfriend.app.app_context import AppContext
from oldfriend.diary.diary_store import DiaryEntry, DiaryFilter, list_entries
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.edited_requests import edit_answered
from tests.chat_fixtures import Say


async def list_diary(app: AppContext, line: ChatContext) -> list[DiaryEntry]:
    """All entries."""
    async with app.db.begin_read() as tx:
        return await list_entries(tx, line.person.id, DiaryFilter())


async def test_entry_of_an_edited_message_reads_as_its_new_words(
    app: AppContext, line: ChatContext, say: Say
) -> None:
    """It stays one entry, which goes when they write none, and comes back with them."""
    await say("/journal We walked along the see #walk")
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, line.person.id)
    message = next(each for each in said if each.role == "person")
    (before,) = await list_diary(app, line)
    edited, told = await edit_answered(app, message, "/journal We swam in the sea #swim")
    (after,) = await list_diary(app, line)
    _, same = await edit_answered(app, message, "/diary We swam in the sea #swim")
    (again,) = await list_diary(app, line)
    _, gone = await edit_answered(app, message, "We swam in the sea.")

    assert (after.id, after.text, after.tags) == (before.id, "We swam in the sea #swim", ("swim",))
    assert (after.message, after.message_seq) == (message.id, edited.seq)
    assert "under #swim" in told
    assert (same, again.text) == ("", after.text)
    assert "no longer in your diary" in gone
    assert await list_diary(app, line) == []
    await edit_answered(app, message, "Dear diary, we swam.")
    assert [each.text for each in await list_diary(app, line)] == ["we swam"]
