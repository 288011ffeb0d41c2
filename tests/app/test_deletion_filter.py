"""What was forgotten does not come back under the key or id that it had."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import load_deletion_filter
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import (
    ChatContext,
    MessageSubmission,
    accept_message,
    open_local_chat,
    store_without_reply,
)
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.import_writer import (
    ImportedCounts,
    ImportedMessage,
    ImportTarget,
    write_imported_messages,
)
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.reply_worker import answer_message
from tests.chat_fixtures import log_of
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.memory.deletion.life import rows_of

engine = both_engines


SECRET = "my sister Ana is terribly allergic to hazelnuts"
KEY = "about-anas-hazelnuts"

pytestmark = pytest.mark.usefixtures("settings_folder")


async def say_and_forget(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> None:
    """Take in the secret under a key of the client's, answer it, and forget it."""
    await answer_message(app, chat_context, MessageSubmission(text=SECRET, external_id=KEY))
    clock.tick(minutes=5)
    async with app.db.begin_read() as tx:
        said = [each.id for each in await list_messages(tx, chat_context.person.id)]
    await forget(app, chat_context.person.id, DeletionRequest(ids=(said[0],)))


async def test_client_key_of_a_forgotten_message_is_erased(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It may say as much as the words; in no table and in no byte of the file."""
    await say_and_forget(app, chat_context, clock)
    async with app.db.begin_read() as tx:
        keys = await tx.rows("SELECT key FROM job_key WHERE queue = 'inbox'")

    assert KEY not in repr(await rows_of(app.db, chat_context.person.id))
    assert KEY not in repr(keys)
    assert not [piece async for _, piece in app.db.iter_raw_bytes() if KEY.encode() in piece]


@pytest.mark.parametrize("text", [SECRET, "the same delivery, put otherwise"])
async def test_redelivery_of_a_forgotten_message_is_not_accepted(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, text: str
) -> None:
    """Under its key it is known, whatever it says now; another key is another message."""
    await say_and_forget(app, chat_context, clock)
    before = await log_of(app, chat_context)

    assert (
        await accept_message(
            app, chat_context, MessageSubmission(text=text, external_id=KEY), claim_now=False
        )
        is None
    )
    assert (
        await store_without_reply(app, chat_context, MessageSubmission(text=text, external_id=KEY))
        is None
    )
    assert await log_of(app, chat_context) == before
    assert (
        await accept_message(
            app, chat_context, MessageSubmission(text=text, external_id="another"), claim_now=False
        )
        is not None
    )


async def test_import_of_a_forgotten_id_with_other_text_is_filtered_out(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What had the id before stays out; what is said under it afterwards is said anew."""
    said_at = clock() - DAY
    await bring_told(app, chat_context, "I have a secret about nuts", at=said_at, now=clock())
    async with app.db.begin_read() as tx:
        (said,) = await list_messages(tx, chat_context.person.id)
    await forget(app, chat_context.person.id, DeletionRequest(ids=(said.id,)))

    again = await bring_told(app, chat_context, "I have an edited secret", at=said_at, now=clock())
    assert (again.added, again.forgotten) == (0, 1)
    clock.tick(minutes=1)
    anew = await bring_told(app, chat_context, "I have an edited secret", at=clock(), now=clock())
    assert (anew.added, anew.forgotten) == (1, 0)


async def bring_told(
    app: AppContext, chat_context: ChatContext, text: str, *, at: Micros, now: Micros
) -> ImportedCounts:
    """Bring one message under an id."""
    spoken = UnloggedMessage(
        role="person", speaker="Nora", text=text, at=at, trust="person", external_id="nuts-1"
    )
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    async with app.db.begin_write() as tx:
        forgotten = await load_deletion_filter(app.settings, tx, chat_context.person.id)
        target = ImportTarget(chat=chat_context.chat, language="en", tombstones=forgotten)
        return await write_imported_messages(tx, target, [ImportedMessage(message=spoken)], now=now)


async def test_external_ids_naming_a_forgotten_entity_are_erased(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A program may call a session, or a message, by whom it is about."""
    now = app.clock()
    spoken = [
        UnloggedMessage(
            role="other", speaker="Zinnia", text="I am ill", at=now, trust="other", external_id="1"
        ),
        UnloggedMessage(
            role="person",
            speaker="Nora",
            text="the river was high",
            at=now,
            trust="person",
            external_id="ask-zinnia",
        ),
    ]
    async with app.db.begin_write() as tx:
        target = ImportTarget(chat=chat_context.chat, language="en")
        told = [ImportedMessage(message=each, session="about zinnia") for each in spoken]
        await write_imported_messages(tx, target, told, now=now)
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Zinnia"))
    again = await accept_message(
        app,
        chat_context,
        MessageSubmission(text="the river", external_id="ask-zinnia"),
        claim_now=False,
    )

    assert report.is_proved, report.left
    assert "zinnia" not in repr(await rows_of(app.db, chat_context.person.id)).casefold()
    assert [text for _, text in await log_of(app, chat_context)] == ["the river was high"]
    assert again is None
