"""The unit lane: tests that open no database and start no process, at most a minute of them.

``pytest --unit`` runs these alone (``make test-unit``), and whichever opens something fails.
"""

import subprocess
from pathlib import Path
from typing import Final, NoReturn

import apsw
import psycopg
import pytest

TESTS: Final = Path(__file__).parent
STORAGE_FIXTURES: Final = {"app", "database_url", "db", "oldfriend", "other_url", "postgres"}
"""Whoever asks for one of these, however far behind, has a database or a process."""
NOT_UNITS: Final = (
    "app/test_pid_lock.py",
    "channels/telegram/test_send_locks.py",
    "channels/telegram/test_sent_log.py",
    "channels/test_new_channel.py",
    "cli",
    "config/test_keys.py",
    "db",
    "evals",
    "fakes",
    "journeys",
    "lang/test_language_pack.py",
    "learning/rule_extraction/test_rule_extractor.py",
    "llm/adapters/test_model_factory.py",
    "llm/adapters/test_whisper.py",
    "llm/adapters/test_wire.py",
    "llm/test_minilm.py",
    "persona/test_drafts.py",
    "presenters/test_base_schema.py",
    "runtime/test_provider_setup.py",
    "runtime/test_schema_check.py",
    "runtime/test_supervisor.py",
    "search/test_question_pattern_loader.py",
    "test_demo.py",
    "test_deploy.py",
    "test_house.py",
    "test_library_beliefs.py",
    "test_sdk.py",
    "transfer/test_sandbox_process.py",
)
"""Folders and files whose tests open stores or start processes themselves."""


def is_unit(item: pytest.Item) -> bool:
    """Whether a test belongs to the lane."""
    place = str(item.path.relative_to(TESTS))
    return (
        item.get_closest_marker("slow") is None
        and STORAGE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        and not place.startswith(NOT_UNITS)
    )


def forbid_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have whatever opens a database or starts a process fail from now on."""

    def refuse(*_: object, **__: object) -> NoReturn:
        pytest.fail("a unit test opens no database and starts no process: see tests/unit_lane.py")

    monkeypatch.setattr(apsw, "Connection", refuse)
    monkeypatch.setattr(psycopg.AsyncConnection, "connect", refuse)
    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
