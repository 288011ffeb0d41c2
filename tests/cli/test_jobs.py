"""What waits or has failed can be seen, tried again, and dropped."""

import asyncio
from pathlib import Path

import pytest

from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import DAY
from oldfriend.inbound.accept import open_local_chat
from oldfriend.queues.queue import claim_jobs, enqueue, fail_job, release_lease
from oldfriend.runtime.wiring import open_app
from tests.cli.conftest import Call

ERROR = "ModelUnavailable: 503\nsecond line"


@pytest.fixture
def filled(tmp_path: Path) -> None:
    """A failed job, one for tomorrow, and a reply in two parts of which both failed."""

    async def fill() -> None:
        settings = load_settings({}, data=str(tmp_path / "data"))
        async with open_app(settings) as app:
            chat_context = await open_local_chat(
                app.db, app.clock, app.settings, person="Nora", channel="terminal"
            )
            now, owner = app.clock(), chat_context.person.id
            async with app.db.begin_write() as tx:
                await enqueue(tx, "inbox", "chat/1", {"text": "secret"}, person=owner, now=now)
                await enqueue(
                    tx, "agenda", "job", {}, person=None, now=now, due_at=now + DAY, dedup_key="k"
                )
                for _ in range(2):
                    await enqueue(tx, "outbox", "chat/1", {}, person=owner, now=now, group="reply")
                for queue in ("inbox", "outbox"):
                    held = await claim_jobs(tx, queue, owner="w", now=now, lease_s=30)
                    assert held is not None
                    await fail_job(tx, held, held.jobs[0], error=ERROR, now=now, retry_at=None)
                    await release_lease(tx, held, now=now)

    asyncio.run(fill())


def ids(call: Call, *arguments: str) -> list[str]:
    """The ids of the jobs that are listed."""
    return [each["id"] for each in call("jobs", "--json", *arguments).json]


def test_jobs_failed_is_empty_in_a_new_store(call: Call) -> None:
    """Which is said, and no error."""
    call("say", "hello")
    parked = call("jobs", "--failed")

    assert (parked.code, parked.stdout) == (0, "No job has failed.\n")
    assert call("jobs", "--failed", "--json").json == []


def test_jobs_list_shows_state_and_error_but_no_message_text(call: Call, filled: None) -> None:
    """Whose, since when, how often tried, what went wrong."""
    text = call("jobs").stdout
    lines = {line.split()[0]: line for line in text.splitlines()}

    assert {*lines} >= {"inbox/chat/1/1", "agenda/job/1", "outbox/chat/1/1", "outbox/chat/1/2"}
    assert "failed" in lines["inbox/chat/1/1"]
    assert "Nora" in lines["inbox/chat/1/1"]
    assert "ModelUnavailable: 503 second line" in lines["inbox/chat/1/1"]
    assert "until" in lines["agenda/job/1"]
    assert "secret" not in text
    assert "secret" not in call("jobs", "--json").stdout
    assert set(ids(call, "--failed")) == {"inbox/chat/1/1", "outbox/chat/1/1", "outbox/chat/1/2"}


def test_a_failed_job_is_tried_again(call: Call, filled: None) -> None:
    """A part of a reply with the other parts."""
    assert "is waiting again" in call("jobs", "retry", "inbox/chat/1/1").stdout
    assert "with 1 other part of its reply" in call("jobs", "retry", "outbox/chat/1/2").stdout

    assert ids(call, "--failed") == []
    again = call("jobs", "retry", "agenda/job/1")
    assert (again.code, "has not failed" in again.stdout) == (0, True)


def test_jobs_drop_in_a_script_requires_yes(call: Call, filled: None) -> None:
    """In a script that is said by --yes."""
    unsure = call("jobs", "drop", "inbox/chat/1/1")
    sure = call("jobs", "drop", "inbox/chat/1/1", "--yes")

    assert (unsure.code, "--yes" in unsure.stderr) == (2, True)
    assert (sure.code, sure.stdout) == (0, "inbox/chat/1/1 was dropped.\n")
    assert "inbox/chat/1/1" not in ids(call)
    gone = call("jobs", "drop", "inbox/chat/1/1", "--yes")
    assert (gone.code, "no such job" in gone.stderr) == (1, True)


@pytest.mark.parametrize("verb", ["retry", "drop"])
def test_jobs_retry_and_drop_refuse_a_leased_partition(
    call: Call, filled: None, tmp_path: Path, verb: str
) -> None:
    """Which is said; the command was right, and may be in a moment."""

    async def work_on_it() -> None:
        settings = load_settings({}, data=str(tmp_path / "data"))
        async with open_app(settings) as app, app.db.begin_write() as tx:
            now = app.clock()
            await enqueue(tx, "inbox", "chat/1", {}, person=None, now=now)
            assert await claim_jobs(tx, "inbox", owner="w", now=now, lease_s=120)

    asyncio.run(work_on_it())
    ended = call("jobs", verb, "inbox/chat/1/1", "--yes")

    assert ended.code == 1
    assert "inbox chat/1 is being worked on; try again in a moment" in ended.stderr
    assert ids(call, "--failed").count("inbox/chat/1/1") == 1


@pytest.mark.parametrize(("typed", "is_dropped"), [("y", True), ("n", False), ("", False)])
def test_jobs_drop_on_a_terminal_asks_for_confirmation(
    call: Call, filled: None, monkeypatch: pytest.MonkeyPatch, typed: str, is_dropped: bool
) -> None:
    """And says what that means."""
    monkeypatch.setattr("oldfriend.cli.jobs.is_interactive", lambda: True)
    said = call("jobs", "drop", "inbox/chat/1/1", stdin=f"{typed}\n")

    assert "What was said stays in the memory, but will not be answered." in said.stdout
    assert said.code == (0 if is_dropped else 1)
    assert ("inbox/chat/1/1" in ids(call)) is not is_dropped


@pytest.mark.parametrize(
    "arguments",
    [
        ("retry",),
        ("drop",),
        ("retry", "a", "b"),
        ("burn", "inbox/a/1"),
        ("retry", "inbox/a"),
        ("retry", "mailbox/a/1"),
        ("retry", "inbox//1"),
        ("drop", "inbox/a/x", "--yes"),
        ("drop", "inbox/a/" + "9" * 30, "--yes"),
    ],
)
def test_jobs_with_invalid_arguments_is_a_usage_error(
    call: Call, arguments: tuple[str, ...]
) -> None:
    """In a sentence."""
    call("say", "hello")
    ended = call("jobs", *arguments)

    assert ended.code == 2
    assert ended.stderr.startswith("oldfriend: ")
    assert "jobs" in ended.stderr


def test_letters_alias_prints_the_same_as_jobs(call: Call, filled: None) -> None:
    """Scripts that say `letters --parked` go on."""
    assert call("letters", "--parked").stdout == call("jobs", "--failed").stdout
