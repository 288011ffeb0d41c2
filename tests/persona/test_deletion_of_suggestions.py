"""What is forgotten leaves what was suggested because of it, and how things read before."""

from oldfriend.app.app_context import AppContext
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.core_blocks import (
    Proposal,
    list_blocks,
    list_persona_versions,
    list_suggestions,
    resolve_suggestion,
    save_global_persona,
    suggest,
    write_block,
)
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_companion
from tests.chat_fixtures import Say
from tests.memory.deletion.life import rows_of

SECRET = "my sister Ana is terribly allergic to hazelnuts"


def proposal(text: str, *, reason: str = "", cites: tuple[str, ...] = ()) -> Proposal:
    """Words for the user block."""
    return Proposal(block="user", text=text, reason=reason, author="reflect/1", cites=cites)


async def test_forgetting_deletes_suggestions_and_soul_versions_that_hold_it(
    app: AppContext, chat_context: ChatContext, say: Say, settings_folder: object
) -> None:
    """Whether it stands in their words or they only point to it; the rest stays."""
    await say(SECRET)
    async with app.db.begin_write() as tx:
        person, now = chat_context.person.id, app.clock()
        said = (await list_messages(tx, person))[0].id
        companion = (await get_companion(tx)).id
        for text in (f"Know that {SECRET}.", "Be kind."):
            await save_global_persona(tx, companion, text, now=now)
        declined = await suggest(tx, person, proposal(f"Also {SECRET}."), now=now)
        assert declined is not None
        await resolve_suggestion(tx, declined, "declined", now=now)
        await suggest(tx, person, proposal("Cooks.", cites=(said,)), now=now)
        await suggest(tx, person, proposal("Cares.", reason=f"They said {SECRET}."), now=now)
        await suggest(tx, person, proposal("Likes tea.", cites=("other",)), now=now)
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(said,)))

    assert report.is_proved
    assert "hazelnuts" not in repr(await rows_of(app.db, chat_context.person.id))
    async with app.db.begin_read() as tx:
        left = await list_suggestions(tx, chat_context.person.id)
        souls = await list_persona_versions(tx, companion)
    assert [each.proposal.text for each in left] == ["Likes tea."]
    assert [(each.version, each.text) for each in souls] == [(2, "Be kind.")]


async def test_core_blocks_are_kept_unless_everything_is_forgotten(
    app: AppContext, chat_context: ChatContext, say: Say, settings_folder: object
) -> None:
    """The soul is everybody's, and stays even then."""
    await say(SECRET)
    async with app.db.begin_write() as tx:
        person, now = chat_context.person.id, app.clock()
        await save_global_persona(
            tx, (await get_companion(tx)).id, "Be kind to all of them.", now=now
        )
        await write_block(tx, person, "user", "I have a sister.", now=now)
        await suggest(tx, person, proposal("Likes tea."), now=now)
        said = (await list_messages(tx, person))[0].id
    assert (await forget(app, chat_context.person.id, DeletionRequest(ids=(said,)))).is_proved
    async with app.db.begin_read() as tx:
        assert [each.text for each in await list_blocks(tx, person)] == ["I have a sister."]
    assert (await forget(app, chat_context.person.id, DeletionRequest(everything=True))).is_proved
    async with app.db.begin_read() as tx:
        assert await list_blocks(tx, person) == []
        assert await list_suggestions(tx, person) == []
        assert len(await list_persona_versions(tx, (await get_companion(tx)).id)) == 1
