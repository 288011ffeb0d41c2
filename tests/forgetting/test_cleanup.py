"""What was forgotten leaves the files, also when whoever forgot it did not come to that."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.spool_file import write_offline_file
from oldfriend.channels.email.email_settings import RECORD_FILE
from oldfriend.channels.email.outgoing_mail import SentRecord
from oldfriend.forgetting import cleanup
from oldfriend.forgetting.cleanup import CLEAN_JOB, cleanup_lock, resume_cleanups, run_cleanups
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.deletion.audit_log import Cleanup, list_audit_entries, list_cleanups
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import list_messages
from oldfriend.queues.queue import claim_jobs
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.wiring import open_app
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY, both_engines

engine = both_engines


SECRET = "my sister Ana is terribly allergic to hazelnuts"
HARMLESS = "we had a very long walk along the river"

pytestmark = pytest.mark.usefixtures("settings_folder")


def type_it(app: AppContext, chat_context: ChatContext) -> Path:
    """Have the secret stand among what was typed."""
    typed = app.settings.data / f"chat-history-{chat_context.person.id}"
    typed.parent.mkdir(exist_ok=True)
    typed.write_text(f"\n# 2026\n+{SECRET}\n\n# 2026\n+{HARMLESS}\n")
    return typed


async def forget_and_die(app: AppContext, chat_context: ChatContext) -> None:
    """Forget the secret, and end once that is committed: before any file is cleaned of it."""
    async with cleanup_lock(app.settings.data, timeout_s=0.0), asyncio.TaskGroup() as tasks:
        dying = tasks.create_task(forget(app, chat_context.person.id, DeletionRequest(about="Ana")))
        planned: list[Cleanup] = []
        while not planned:
            await asyncio.sleep(0.01)
            async with app.db.begin_read() as tx:
                planned = await list_cleanups(tx)
        dying.cancel()


async def test_unfinished_cleanup_is_stored_without_plain_text_and_not_proved(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Without a word of it; the record of it is not yet proved either."""
    await say(SECRET)
    await forget_and_die(app, chat_context)
    async with app.db.begin_read() as tx:
        (planned,) = await list_cleanups(tx)
        (entry,) = await list_audit_entries(tx, chat_context.person.id)

    assert entry.proved_at is None
    assert not any(word in planned.traces for word in ("sister", "hazelnuts", "Ana"))


async def test_unfinished_cleanup_is_completed_on_next_open(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """And the record says when it was proved."""
    typed = type_it(app, chat_context)
    await say(SECRET)
    await forget_and_die(app, chat_context)
    assert SECRET in typed.read_text()
    async with open_app(app.settings, clock=app.clock) as again:
        cleaned = again.finished_cleanups
        async with again.db.begin_read() as tx:
            planned, (entry,) = (
                await list_cleanups(tx),
                await list_audit_entries(tx, chat_context.person.id),
            )
            waiting = await tx.rows(
                "SELECT 1 FROM job WHERE partition = :partition", partition=CLEAN_JOB
            )
    async with open_app(app.settings, clock=app.clock) as once_more:
        assert once_more.finished_cleanups == ()

    assert [each.is_verified for each in cleaned] == [True]
    assert typed.read_text() == f"\n# 2026\n+{HARMLESS}\n"
    assert planned == []
    assert entry.proved_at == app.clock()
    assert waiting == []


async def test_unfinished_cleanup_is_completed_by_a_worker_after_a_minute(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """For whoever forgot may live, and only have been held up."""
    typed = type_it(app, chat_context)
    await say(SECRET)
    await forget_and_die(app, chat_context)
    async with app.db.begin_write() as tx:
        assert (
            await claim_jobs(tx, "agenda", owner="w", now=clock(), lease_s=9, partition=CLEAN_JOB)
            is None
        )
    clock.tick(minutes=1)
    async with app.db.begin_write() as tx:
        due = await claim_jobs(tx, "agenda", owner="w", now=clock(), lease_s=9, partition=CLEAN_JOB)
    assert due is not None
    await run_jobs(app, due, asyncio.Event())

    assert SECRET not in typed.read_text()
    async with app.db.begin_read() as tx:
        assert await list_cleanups(tx) == []
        assert (
            await tx.rows("SELECT 1 FROM job WHERE partition = :partition", partition=CLEAN_JOB)
            == []
        )


async def test_later_forget_completes_an_earlier_cleanup(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """So that what is told of it is true of both."""
    typed = type_it(app, chat_context)
    await say(SECRET)
    await forget_and_die(app, chat_context)
    await say(HARMLESS)
    async with app.db.begin_read() as tx:
        (walk,) = [
            each.id
            for each in await list_messages(tx, chat_context.person.id)
            if each.text == HARMLESS and each.role == "person"
        ]
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(walk,)))

    assert report.is_proved
    assert typed.read_text().strip() == ""


async def test_resume_skips_a_cleanup_locked_by_another_process(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It costs nobody time twice."""
    await say(SECRET)
    await forget_and_die(app, chat_context)
    async with cleanup_lock(app.settings.data, timeout_s=0.0) as is_held:
        assert is_held
        assert await resume_cleanups(app) == ()
    assert [each.is_verified for each in await resume_cleanups(app)] == [True]


async def test_cleanup_runs_anyway_after_the_lock_timeout(
    app: AppContext, chat_context: ChatContext, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both clean the same then."""
    await say(SECRET)
    await forget_and_die(app, chat_context)
    monkeypatch.setattr(cleanup, "LOCK_TIMEOUT_S", 0.1)
    async with cleanup_lock(app.settings.data, timeout_s=0.0):
        cleaned = await run_cleanups(app)

    assert [each.is_verified for each in cleaned.values()] == [True]


async def test_cleanup_without_the_deletion_key_stays_pending_and_doctor_warns(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Which the doctor says."""
    await say(SECRET)
    await forget_and_die(app, chat_context)
    elsewhere = {**app.settings.environment, "OLDFRIEND_FORGETTING_KEY": "another" * 3}
    async with open_app(replace(app.settings, environment=elsewhere)) as other:
        assert other.finished_cleanups == ()
        findings = await run_checks(other)

    assert any("not yet proved to be gone" in each.text for each in findings if not each.is_ok)


@SQLITE_ONLY
async def test_doctor_reports_a_file_with_forgotten_text_until_it_is_removed(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """It is somebody's own, so that only they may."""
    mine = app.settings.data / "mine.txt"
    mine.write_text(f"keep: {SECRET}")
    await say(SECRET)
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))
    ill = [each.text for each in await run_checks(app) if not each.is_ok]
    mine.unlink()
    well = [each.text for each in await run_checks(app) if not each.is_ok]
    async with app.db.begin_read() as tx:
        (entry,) = await list_audit_entries(tx, chat_context.person.id)

    assert (report.is_proved, report.is_clean) == (False, True)
    assert [text for text in ill if "mine.txt" in text] != []
    assert [text for text in well if "not yet proved" in text] == []
    assert entry.proved_at == clock()


@SQLITE_ONLY
async def test_file_that_cannot_be_cleaned_is_retried_on_next_open(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The forgetting itself is done, and told of."""
    copy = app.settings.data / "oldfriend.db.before-8"
    copy.mkdir()  # what cannot be deleted as a file is
    await say(SECRET)
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))
    async with open_app(app.settings, clock=app.clock) as again:
        still = again.finished_cleanups
    copy.rmdir()
    async with open_app(app.settings, clock=app.clock) as again:
        done = again.finished_cleanups

    assert (report.is_clean, report.stuck) == (False, (copy.name,))
    assert [(each.is_verified, each.stuck_files) for each in still] == [(False, (copy.name,))]
    assert [each.is_verified for each in done] == [True]


@SQLITE_ONLY
async def test_forgotten_short_text_is_gone_from_freed_database_pages(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """SQLite does not overwrite where a row was before it was moved."""
    for number in range(60):
        await say(f"{HARMLESS}, the {number}. time")
    await say("call zq81x")
    await forget(app, chat_context.person.id, DeletionRequest(about="zq81x"))

    assert not [piece async for _, piece in app.db.iter_raw_bytes() if b"zq81x" in piece]


@SQLITE_ONLY
async def test_forgotten_lines_are_removed_from_offline_files(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Line by line, the rest stays; one that was cut off as it was written goes as a whole."""
    await say(SECRET)
    await say(HARMLESS)
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id)
    file = write_offline_file(app.settings.data, messages)
    assert file is not None
    part = file.with_name(f"{file.name}.part")
    part.write_text(file.read_text()[:150])
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))

    assert report.is_proved, report.left
    assert HARMLESS in file.read_text()
    assert "hazelnuts" not in file.read_text()
    assert not part.exists() or "hazelnuts" not in part.read_text()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_postgres_vacuum_runs_beside_an_open_reader(app: AppContext, say: Say) -> None:
    """Beside those who use it: nobody waits for it, and it is told where it could not."""
    await say(SECRET)
    async with app.db.begin_read() as tx:
        await tx.rows("SELECT 1 FROM message")
        assert await app.db.vacuum()


async def test_record_of_sent_mails_goes_with_everything_and_not_with_less(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Whoever forgets may have no password of the mailbox; the channel goes on with a new one."""
    record = SentRecord(app.settings.data / "email", password="x", salt="a")
    record.add("1@x", "ana@home.example/1@x")
    file = app.settings.data / "email" / RECORD_FILE
    await say(SECRET)
    await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))
    is_kept = record.has("1@x")
    await forget(app, chat_context.person.id, DeletionRequest(everything=True))
    content = file.read_bytes()
    record.add("2@x", "ana@home.example/1@x")

    assert is_kept
    assert content == b""
    assert record.has("2@x")
