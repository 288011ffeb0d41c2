"""A preview of forgetting is short: what is quoted in it again is only hinted at."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.forgetting.delete import preview_forget
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.presenters.deletion_schemas import DeletionPreviewSchema
from oldfriend.presenters.deletion_text import (
    MAX_REPLY_CHARS,
    preview_as_text,
    shorten_message,
)
from tests.chat_fixtures import Say

LONG = "My cat Miso ran away over the roofs of the old harbour last night and came back at dawn."


@pytest.mark.usefixtures("settings_folder")
async def test_preview_shows_only_the_beginning_of_what_the_companion_quotes(
    app: AppContext, say: Say
) -> None:
    """The person's own message stands there in full."""
    told = await say(LONG)
    await say("Where did Miso run?")
    wish = DeletionRequest(ids=(told.message.id,))
    preview = await preview_forget(app.db, told.reply.person, wish)
    text = preview_as_text(preview)

    assert text.count(LONG) == 1
    assert "you said: “My cat Miso ran away over the …”" in text
    (reply,) = [
        each
        for each in DeletionPreviewSchema.from_domain(preview, {}, {}).replies
        if "Miso" in each.text
    ]
    assert LONG not in reply.text
    long = replace(preview.plan.redacted_replies[0], text="I have kept all of it. " * 50)
    assert shorten_message(long).endswith(" …")
    assert len(shorten_message(long)) <= MAX_REPLY_CHARS + len(" …")
