"""A chat at a real terminal survives what goes wrong around it, and ends when told to."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.cli.terminal import open_history
from oldfriend.config.settings import Settings
from oldfriend.db.sqlite.pool import ProcessNotifier
from oldfriend.domain.clock import system_clock
from oldfriend.domain.ids import PersonId
from oldfriend.memory.people import ensure_companion, ensure_owner
from oldfriend.runtime.wiring import open_app
from oldfriend.transfer.import_run import import_messages
from oldfriend.transfer.preview import build_preview
from tests.engines import SQLITE_ONLY
from tests.fakes.local_servers import FakeModel, FakeOllama, running
from tests.processes import Program
from tests.terminals import Terminal, terminals


@pytest.fixture
def chat(oldfriend: Program) -> Iterator[Callable[..., Terminal]]:
    """Open the chat in a terminal."""
    with terminals(oldfriend) as open_chat:
        yield open_chat


def ask(data: Path, sql: str) -> list[tuple[object, ...]]:
    """Look into the store, or change it, behind everybody's back."""
    with closing(sqlite3.connect(data / "oldfriend.db")) as store, store:
        return store.execute(sql).fetchall()


@pytest.mark.slow
def test_terminal_chat_header_shows_the_companion_name(
    oldfriend: Program, chat: Callable[..., Terminal]
) -> None:
    """The one that it has by then."""
    oldfriend.done("core", "name", "Mira")
    window = chat()
    window.shows("Mira · owner on terminal")
    window.types("/quit")

    assert window.ends() == 0


@pytest.mark.slow
def test_first_chat_suggests_a_local_model_without_connecting_it(oldfriend: Program) -> None:
    """With the command that connects it; nothing is connected, and later chats say nothing."""
    with running(FakeOllama([FakeModel(name="qwen3:8b")])) as fake:
        where = {"OLDFRIEND_PROVIDERS_OLLAMA_BASE_URL": fake.base_url}
        program = replace(oldfriend, environment={**oldfriend.environment, **where})
        with terminals(program) as open_chat:
            first = open_chat()
            first.shows("qwen3:8b is good for talk and for learning")
            first.shows("oldfriend connect model --provider ollama")
            first.types("My cat is called Miso.")
            first.shows("kept it")
            first.types("/quit")
            assert first.ends() == 0
            again = open_chat()
            again.shows("you:")
            again.types("/quit")
            assert again.ends() == 0

    assert "qwen3" not in again.shown
    assert fake.chats == []


@pytest.mark.slow
def test_newer_schema_during_a_chat_is_reported_with_unsaved_text(
    oldfriend: Program, chat: Callable[..., Terminal]
) -> None:
    """What cannot be kept any more stays on the screen."""
    window = chat()
    window.shows("you:")
    window.types("My cat is called Miso.")
    window.shows("kept it")
    ask(oldfriend.data, "PRAGMA user_version = 99")
    window.types("She is afraid of thunder.")
    window.shows("written by a newer Oldfriend")
    window.shows("You wrote: She is afraid of thunder.")
    window.types("/quit")

    assert window.ends() == 0
    assert "Traceback" not in window.shown


@pytest.mark.slow
def test_broken_store_in_chat_listener_is_reported_and_chat_continues(
    oldfriend: Program, chat: Callable[..., Terminal]
) -> None:
    """The task that listens ends; the talk does not."""
    window = chat()
    window.shows("you:")
    window.types("My cat is called Miso.")
    window.shows("kept it")
    ask(oldfriend.data, "ALTER TABLE message RENAME COLUMN speaker TO orator")
    ProcessNotifier(oldfriend.data / "oldfriend.db").notify()
    window.shows("no longer appears here")
    window.types("/quit")

    assert window.ends() == 0
    assert "Traceback" not in window.shown


@pytest.mark.slow
@SQLITE_ONLY
def test_quitting_chat_does_not_wait_for_embedding_backlog(
    oldfriend: Program, chat: Callable[..., Terminal], settings: Settings, tmp_path: Path
) -> None:
    """The next chat goes on making them; a pipe makes a few at its end, and while it waits."""
    asyncio.run(bring_without_vectors(settings, tmp_path / "talk.jsonl", count=2000))
    window = chat()
    window.shows("you:")
    window.types("/quit")

    assert window.ends() == 0
    ((made,),) = ask(oldfriend.data, "SELECT count(*) FROM message_vector")
    assert made < 2000
    oldfriend.done("chat", stdin="/quit\n")
    ((then,),) = ask(oldfriend.data, "SELECT count(*) FROM message_vector")
    assert made + 256 <= then < 2000


async def bring_without_vectors(settings: Settings, file: Path, *, count: int) -> None:
    """Import messages that nobody embeds."""
    text = " ".join(f"word{number}" for number in range(20))
    lines = ({"id": n, "speaker": "me", "at": "2024-01-01", "text": text} for n in range(count))
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    async with open_app(settings) as app:
        async with app.db.begin_write() as tx:
            person = await ensure_owner(tx, now=0, zone="UTC")
            companion = await ensure_companion(tx, now=0)
        preview = build_preview(file, me=None, person=person.name, zone="UTC")
        await import_messages(
            app.db, preview, person=person, companion=companion, clock=system_clock
        )


@pytest.mark.slow
@pytest.mark.parametrize("is_in_the_way", [False, True])
def test_chat_with_external_database_works_without_a_data_dir(
    oldfriend: Program, tmp_path: Path, is_in_the_way: bool
) -> None:
    """It is made for what is typed; where it cannot be, the arrow keys forget with the sitting."""
    if is_in_the_way:
        oldfriend.data.write_text("a file")
    elsewhere = replace(
        oldfriend, environment={"OLDFRIEND_DATABASE": f"sqlite:///{tmp_path}/elsewhere.db"}
    )
    with terminals(elsewhere) as open_chat:
        window = open_chat()
        window.shows("you:")
        window.types("half a character: \udcff")
        window.shows("kept it")
        window.types("/quit")

        assert window.ends() == 0
        assert "Traceback" not in window.shown
    if not is_in_the_way:
        (history,) = oldfriend.data.glob("chat-history-*")
        assert history.stat().st_mode & 0o777 == 0o600
        assert oldfriend.data.stat().st_mode & 0o777 == 0o700
        assert "half a character" in history.read_text()


def test_unwritable_input_history_is_kept_in_memory(tmp_path: Path) -> None:
    """What is typed is then forgotten by the arrow keys alone."""
    history = open_history(tmp_path, PersonId("p"))
    (tmp_path / "chat-history-p").unlink()
    (tmp_path / "chat-history-p").mkdir()

    history.append_string("hello")
    assert history.get_strings() == ["hello"]
