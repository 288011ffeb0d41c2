"""Files that were handed over, or hold a talk: one's own are looked through, nobody else's."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.spool_file import write_offline_file
from oldfriend.channels.telegram.sent_log import SendLocks
from oldfriend.channels.whatsapp.whatsapp_settings import RECORD_FILE
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.ids import PersonId
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.identities import assign_identity
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_person
from oldfriend.runtime.import_jobs import ImportWorker, import_upload
from oldfriend.transfer.sandbox_process import inspect_in_sandbox
from oldfriend.transfer.uploads import Upload
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY
from tests.processes import line_of, python

SECRET = "my sister Ana is terribly allergic to hazelnuts"
WAITS = """
import asyncio, sys, time
from pathlib import Path
from oldfriend.channels.telegram.sent_log import SendLocks

began = time.monotonic()
asyncio.run(SendLocks(Path(sys.argv[1]), timeout_s=0.5).acquire("reply/0"))
print("waited" if time.monotonic() - began >= 0.5 else "went on")
"""
CHAT = f"03/05/2024, 18:30 - Nora: {SECRET}\n03/05/2024, 18:31 - Ana: oh\n"

pytestmark = [SQLITE_ONLY, pytest.mark.usefixtures("settings_folder")]


def zipped(text: str) -> bytes:
    """A text in a zip, where no byte of it can be read."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_chat.txt", text)
    return packed.getvalue()


async def hand_over(app: AppContext, person: PersonId, name: str, content: bytes) -> Upload:
    """Hand a file over, and leave it."""

    async def sent() -> AsyncIterator[bytes]:
        yield content

    porter = ImportWorker(app.settings.data / "brought")
    return await porter.receive(person, name, sent(), zone="UTC", now=app.clock())


@pytest.fixture
async def other(app: AppContext) -> PersonId:
    """Somebody else who is known here."""
    return (
        await open_local_chat(app.db, app.clock, app.settings, person="Omar", channel="terminal")
    ).person.id


async def test_forget_everything_deletes_own_uploads_and_keeps_those_of_others(
    app: AppContext, chat_context: ChatContext, say: Say, other: PersonId
) -> None:
    """One's own; what another has handed over, or said, is neither looked at nor named."""
    own = await hand_over(app, chat_context.person.id, "mine.zip", zipped(CHAT))
    theirs = await hand_over(app, other, "Chat with my lover Bo.txt", CHAT.encode())
    arriving = app.settings.data / "brought" / "arriving"
    arriving.mkdir()
    (arriving / "half.txt").write_text(CHAT)
    await say(SECRET, person="Omar")
    async with app.db.begin_read() as tx:
        kept = write_offline_file(app.settings.data, await list_messages(tx, other))
    await say(SECRET)
    report = await forget(app, chat_context.person.id, DeletionRequest(everything=True))

    assert report.is_proved, report.left
    assert not own.folder.exists()
    assert theirs.file.exists()
    assert kept is not None
    assert kept.exists()


async def test_file_that_waited_is_not_imported_after_everything_was_forgotten(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Though it had been read before, and its import was about to begin."""
    own = await hand_over(app, chat_context.person.id, "mine.txt", CHAT.encode())
    preview = await asyncio.to_thread(
        inspect_in_sandbox, own.file, me=None, person=chat_context.person.name, zone="UTC"
    )
    clock.tick(minutes=1)
    await forget(app, chat_context.person.id, DeletionRequest(everything=True))

    with pytest.raises(ImportRefused, match="forgotten since"):
        await import_upload(app.db, app.clock, app.settings, own, preview)
    async with app.db.begin_read() as tx:
        assert await list_messages(tx, chat_context.person.id) == []


@pytest.mark.parametrize("content", [CHAT.encode(), zipped(CHAT), CHAT.encode("utf-16")])
async def test_partial_forget_reports_uploads_that_contain_the_text(
    app: AppContext, chat_context: ChatContext, say: Say, content: bytes
) -> None:
    """However it is packed and written: who handed it over puts it away."""
    parcel = await hand_over(app, chat_context.person.id, "WhatsApp.dat", content)
    await hand_over(
        app, chat_context.person.id, "harmless.zip", zipped("Nothing of that is in here.")
    )
    said = await say(SECRET)
    report = await forget(app, chat_context.person.id, DeletionRequest(about="hazelnuts"))

    assert said
    assert [each.place for each in report.left] == ["WhatsApp.dat"]
    assert parcel.file.exists()


async def test_forget_everything_deletes_own_offline_files(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It could not get into its store; nothing of it is to be left either."""
    await say(SECRET)
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id)
    file: Path | None = await asyncio.to_thread(write_offline_file, app.settings.data, messages)
    report = await forget(app, chat_context.person.id, DeletionRequest(everything=True))

    assert file is not None
    assert report.is_proved, report.left
    assert not file.exists()


@pytest.mark.parametrize("is_shared", [True, False])
async def test_record_of_a_channel_stays_where_another_person_needs_it(
    app: AppContext, chat_context: ChatContext, say: Say, is_shared: bool
) -> None:
    """It tells whether somebody may be written to, and holds hashes alone."""
    person = chat_context.person.id
    await say(SECRET)
    await say("My cat is called Miso.", person="Ben", channel="phone")
    async with app.db.begin_write() as tx:
        ben = (await get_person(tx, "Ben")).id
        for who, address in ((person, "1"), (ben, "2"))[: 1 + is_shared]:
            await assign_identity(tx, who, channel="whatsapp", address=address, now=app.clock())
    record = app.settings.data / "whatsapp" / RECORD_FILE
    record.parent.mkdir()
    record.write_text("T 0123abcd\n")
    await forget(app, person, DeletionRequest(everything=True))

    assert record.read_text() == ("T 0123abcd\n" if is_shared else "")


async def test_forgetting_does_not_release_send_locks(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Whoever opens a file of a process and closes it lets go of what that holds."""
    folder = app.settings.data / "telegram"
    begun = SendLocks(folder, timeout_s=9)
    await begun.acquire("reply/0")
    await say(SECRET)
    report = await forget(app, chat_context.person.id, DeletionRequest(everything=True))
    with python(WAITS, folder) as other:
        outcome = await asyncio.to_thread(line_of, other.stdout)

    assert report.is_proved, report.left
    assert outcome == "waited"
