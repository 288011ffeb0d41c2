"""Is it running, what waits, what may it use, what has it spent?"""

import asyncio
from pathlib import Path

import pytest

from oldfriend.app.embed_messages import find_embedding_resume_at
from oldfriend.app.pid_lock import find_server, hold_pid_lock
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import AllowanceUsedUp
from oldfriend.runtime.job_handlers import plan_jobs, postpone_to_tomorrow
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import claim_next_partition
from tests.cli.conftest import Call


def test_status_without_a_server_says_how_to_start_it(call: Call) -> None:
    """And how the house does all the same."""
    call("say", "hello")
    said = call("status")

    assert said.code == 0
    assert "Start it with: oldfriend serve" in said.stdout
    assert "Waiting: in the background: 1 job scheduled for later." in said.stdout, (
        "what was said is read"
    )
    assert "Models: none, so it answers from memory (offline)." in said.stdout
    assert "Today: 0 calls, 0 tokens, $0.00." in said.stdout
    assert "Failed" not in said.stdout


def test_status_json_serving_is_null_without_a_server(call: Call) -> None:
    """The rest has its place."""
    call("say", "hello")
    status = call("status", "--json").json

    assert status["serving"] is None
    assert set(status) == {
        "serving",
        "waiting",
        "to_read",
        "models",
        "today",
        "embedding_waits_until",
        "not_folded",
        "not_proved_forgotten",
        *CHANNELS,
    }
    assert status["to_read"] == 0
    assert status["embedding_waits_until"] is None
    assert set(status["waiting"]) == {"inbox", "outbox", "agenda"}
    assert status["today"]["background"]["dollars_left"] == 1.0


def test_status_lists_models_by_use_with_fallbacks(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has none of their own takes those of main."""
    call("say", "hello")
    monkeypatch.setenv("OLDFRIEND_MODELS_MAIN", "ollama:big, ollama:old")
    monkeypatch.setenv("OLDFRIEND_MODELS_SMALL", "ollama:tiny")
    text = call("status").stdout

    expected = "small ollama:tiny; main ollama:big, then ollama:old; reflect ollama:big, then"
    assert expected in text


def test_status_tells_starting_and_hanging_server_from_ready_one(call: Call, tmp_path) -> None:
    """What it cannot say for itself is said for it."""
    call("say", "hello")
    with hold_pid_lock(tmp_path / "data", now=0) as presence:
        starting = call("status").stdout
        presence.set_address("127.0.0.1", 1)  # nobody listens there
        hanging = call("status").stdout
        status = call("status", "--json").json

    assert "still starting" in starting
    assert "It does not answer at http://127.0.0.1:1." in hanging
    assert not status["serving"]["ready"]
    assert find_server(tmp_path / "data") is None


def test_status_without_a_store_suggests_chat_and_creates_nothing(call: Call, tmp_path) -> None:
    """Looking makes nothing."""
    ended = call("status")

    assert ended.code == 1
    assert "Oldfriend is not running" in ended.stdout
    assert "Talk first: oldfriend chat" in ended.stderr
    assert not (tmp_path / "data").exists()


def test_status_reports_embedding_deferred_by_the_daily_budget(call: Call, tmp_path: Path) -> None:
    """With the time at which it goes on, by the clocks of this machine."""
    call("say", "hello")
    midnight = asyncio.run(put_off_embedding(tmp_path / "data"))
    said, status = call("status").stdout, call("status", "--json").json

    assert "Embedding has reached today's limit and continues on 20" in said
    assert status["embedding_waits_until"] == from_micros(midnight).isoformat()


async def put_off_embedding(data: Path) -> Micros:
    """Have the embedding job find that too much was spent; when it is due again."""
    async with open_app(load_settings({}, data=str(data))) as app:
        await plan_jobs(app.db, app.clock, app.settings)
        claim = await claim_next_partition(app, "agenda")
        assert claim is not None
        await postpone_to_tomorrow(
            app.db, app.clock, app.settings, claim, claim.jobs[0], AllowanceUsedUp("enough")
        )
        async with app.db.begin_read() as tx:
            until = await find_embedding_resume_at(tx, now=app.clock())
    assert until is not None
    return until


def test_status_reports_broken_settings_file_with_line_number(call: Call, tmp_path: Path) -> None:
    """Whether anything runs is said all the same."""
    call("say", "hello")
    (tmp_path / "data" / "oldfriend.toml").write_text("[limits]\nlease_s = 5\nwombat = 3\n")
    ended = call("status")

    assert ended.code == 2
    assert "Start it with: oldfriend serve" in ended.stdout
    assert "oldfriend.toml, line 3 is not a setting" in ended.stderr
