"""What somebody wrote about themselves stays where they wrote it, and the preview says so."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.forgetting.delete import preview_forget
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.core_blocks import write_block
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.presenters.deletion_schemas import DeletionPreviewSchema, preview_as_json
from oldfriend.presenters.deletion_text import preview_as_text
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

BLOCK = "I am Nora and like tea.\nMy friend Lena lives in Hamburg."


async def write(app: AppContext, chat_context: ChatContext, clock: FrozenClock, text: str) -> None:
    """Write who the person is."""
    async with app.db.begin_write() as tx:
        await write_block(tx, chat_context.person.id, "user", text, now=clock())


@pytest.mark.parametrize("about", ["Lena", "Hamburg"])
async def test_preview_lists_lines_of_core_blocks_that_stay(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say, about: str
) -> None:
    """For people, programs and the page: the lines with it, and no others."""
    await write(app, chat_context, clock, BLOCK)
    await say("Lena has moved to Hamburg")
    preview = await preview_forget(app.db, chat_context.person.id, DeletionRequest(about=about))

    lines = ["My friend Lena lives in Hamburg."]
    as_json = preview_as_json(preview)
    assert isinstance(as_json, dict)
    assert as_json["written"] == lines
    assert DeletionPreviewSchema.from_domain(preview, {}, {}).written == tuple(lines)
    assert lines[0] in preview_as_text(preview)


async def test_question_before_forgetting_names_what_stays_in_core_blocks(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """With the way to change it."""
    await write(app, chat_context, clock, BLOCK)
    await say("Lena has moved to Hamburg")
    asked = (await say("/forget Lena")).reply.text
    assert "oldfriend core" in asked
    assert "“My friend Lena lives in Hamburg.”" in asked


async def test_words_that_a_core_block_repeats_are_listed_for_a_message(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """Also where a message is forgotten by its id."""
    await write(app, chat_context, clock, BLOCK)
    said = await say("my friend Lena lives in Hamburg")
    other = await say("tea is on the table")
    found = [
        await preview_forget(
            app.db, chat_context.person.id, DeletionRequest(ids=(each.message.id,))
        )
        for each in (said, other)
    ]
    assert [len(each.plan.written_lines) for each in found] == [1, 0]
