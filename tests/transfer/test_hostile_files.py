"""No file ends a process that serves, nor keeps it from starting; a command says what is wrong."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from oldfriend.runtime.import_jobs import MAX_READ_ATTEMPTS
from tests.cli.serving import Running, on_any_port, served
from tests.conftest import SIZE
from tests.processes import Program, until
from tests.transfer.hostile_files import CHAT, files_to_refuse, telegram

TO_REFUSE = files_to_refuse(is_full=SIZE == "full")
WORST = (
    "id 70000.json",
    "date 70000.json",
    "line 70000.jsonl",
    "lists.json",
    "deep text.json",
    "keys.json",
    "many.zip",
    "bomb.zip",
    "number.zip",
    "locked.zip",
    "raw half.json",
)
UPLOADED = TO_REFUSE if SIZE == "full" else {name: TO_REFUSE[name] for name in WORST}
READER = "oldfriend.transfer.sandbox_reader"
CHECKED_WITHIN_S = 60.0


@pytest.fixture
def program(oldfriend: Program) -> Program:
    """The command line, served on any port, where somebody has talked."""
    oldfriend.done("say", "hello")
    return on_any_port(oldfriend)


@contextmanager
def signed_in(running: Running) -> Iterator[httpx.Client]:
    """Speak to a process that serves, as a program with a token."""
    token = running.program.done("token", "new", "test", "--scope", "write").stdout.splitlines()[0]
    with httpx.Client(
        base_url=f"http://127.0.0.1:{running.port}/api/v1",
        headers={"Authorization": f"Bearer {token}"},
        timeout=20,
        trust_env=False,
        verify=False,  # nothing is encrypted here, and loading certificates takes a while
    ) as client:
        yield client


def hand_over(client: httpx.Client, name: str, content: bytes) -> str:
    """Upload a file as the page does; its id."""
    answer = client.post("/uploads", content=content, headers={"X-File-Name": quote(name)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def looked_at(client: httpx.Client, file: str) -> dict[str, Any]:
    """An uploaded file, once it was checked."""
    found: dict[str, Any] = {}

    def is_checked() -> bool:
        found.update(client.get(f"/uploads/{file}").json())
        return found["stage"] != "checking"

    until(is_checked, within_s=CHECKED_WITHIN_S)
    return found


def long_chat() -> bytes:
    """A sound file at which a reader is busy for a good while."""
    return f"{CHAT}\n".encode() * 300_000


def readers_of(running: Running) -> list[int]:
    """The ids of the processes by which one that serves reads files."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = [each.split(None, 2) for each in listed if READER in each]
    return [int(pid) for pid, parent, _ in found if int(parent) == running.process.pid]


def is_reading(pid: int, data: Path) -> bool:
    """Whether a process has a file of the data folder open."""
    files = list[Path]()
    with suppress(FileNotFoundError):  # it has ended, or a file was closed
        files += [each.readlink() for each in Path(f"/proc/{pid}/fd").iterdir()]
    return any(file.is_relative_to(data) for file in files)


def when_read(running: Running, act: Callable[[int], None]) -> None:
    """Do something to the process that reads a file, as soon as there is one that has begun."""

    def begun() -> list[int]:
        return [pid for pid in readers_of(running) if is_reading(pid, running.program.data)]

    until(lambda: bool(begun()), within_s=CHECKED_WITHIN_S)
    act(begun()[0])


@pytest.mark.slow
def test_hostile_upload_is_refused_and_the_server_keeps_running(program: Program) -> None:
    """Each is refused in words, and it answers; and it starts again with what was left there."""
    with served(program) as running, signed_in(running) as client:
        for name, content in UPLOADED.items():
            file = hand_over(client, name, content)
            seen = looked_at(client, file)
            assert (name, seen["stage"]) == (name, "failed")
            assert seen["why"]["text"]
            assert running.get("/health")[0] == 200
            client.delete(f"/uploads/{file}")
        hand_over(client, "left.json", telegram(id_="7" * 70_000))
        running.process.kill()
    with served(program) as running, signed_in(running) as client:
        left = client.get("/uploads").json()["items"]
        sound = looked_at(client, hand_over(client, "chat.txt", CHAT.encode()))

        assert [each["name"] for each in left] in ([], ["left.json"])
        assert sound["stage"] == "ready"
        assert running.get("/health")[0] == 200


@pytest.mark.slow
def test_upload_that_crashes_the_parser_is_not_retried_after_restart(program: Program) -> None:
    """It says so and what to do, also after the next start; nobody tries it again unasked."""
    with served(program) as running, signed_in(running) as client:
        file = hand_over(client, "chat.txt", long_chat())
        when_read(running, lambda pid: os.kill(pid, signal.SIGSEGV))
        crashed = looked_at(client, file)
        health = running.get("/health")[0]
        running.process.terminate()
        running.process.wait(30)
    with served(program) as running, signed_in(running) as client:
        time.sleep(1)
        after = client.get(f"/uploads/{file}").json()
        tried_again = readers_of(running)
        answer = client.post(f"/uploads/{file}/import", json={})

    assert crashed["stage"] == after["stage"] == "failed"
    assert crashed["why"]["code"] == after["why"]["code"] == "import_reader_crash"
    assert crashed["why"]["text"] == after["why"]["text"]
    assert "set aside" in after["why"]["text"]
    assert health == 200
    assert tried_again == []
    assert answer.status_code == 202  # but whoever asks for it may have it tried again


@pytest.mark.slow
def test_upload_that_kills_the_server_has_limited_read_attempts(program: Program) -> None:
    """An attempt that did not end is counted before it begins; one that was stopped is not."""
    with served(program) as running, signed_in(running) as client:
        file = hand_over(client, "chat.txt", long_chat())
        when_read(running, lambda pid: running.process.kill())
        running.process.wait(30)
    note = program.data / "brought" / file / "parcel.json"
    killed = json.loads(note.read_text())["attempts"]
    with served(program) as running:
        when_read(running, lambda pid: running.process.terminate())
        running.process.wait(30)
    stopped = json.loads(note.read_text())["attempts"]
    note.write_text(json.dumps({**json.loads(note.read_text()), "attempts": MAX_READ_ATTEMPTS}))
    with served(program) as running, signed_in(running) as client:
        seen = looked_at(client, file)
        readers = readers_of(running)
        health = running.get("/health")[0]

    assert (killed, stopped) == (1, 0)
    assert seen["stage"] == "failed"
    assert seen["why"]["code"] == "import_ended_each_time"
    assert readers == []
    assert health == 200


@pytest.mark.slow
def test_sandbox_reader_exits_when_its_server_is_killed(program: Program) -> None:
    """However that ends."""
    pids: list[int] = []
    with served(program) as running, signed_in(running) as client:
        hand_over(client, "chat.txt", long_chat())
        when_read(running, pids.append)
        running.process.kill()
        running.process.wait(30)

    until(lambda: not is_running(pids[0]), within_s=5)


def is_running(pid: int) -> bool:
    """Whether there is such a process, which has not ended and only waits to be looked after."""
    listed = subprocess.run(
        ["ps", "-p", str(pid), "-o", "stat="], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(listed) and not listed.startswith("Z")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["id 70000.json", "number.zip", "deep line.jsonl", "in 9999.jsonl"]
)
def test_import_command_refuses_a_hostile_file_without_a_traceback(
    name: str, program: Program, tmp_path: Path
) -> None:
    """With the code for what could not be done, and nothing of it written."""
    path = tmp_path / name
    path.write_bytes(TO_REFUSE[name])
    refused = program("import", path)

    assert refused.code == 1
    assert refused.stderr.startswith("oldfriend: ")
    assert "Traceback" not in refused.stderr
    assert program.done("import", "list").stdout == "Nothing has been imported yet.\n"


@pytest.mark.slow
def test_import_command_refuses_a_pipe_a_device_and_a_folder(
    program: Program, tmp_path: Path
) -> None:
    """A pipe, a device and a folder: nothing waits for them, and none is read without end."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    answers = [program("import", path) for path in (pipe, tmp_path / "zero.json", tmp_path)]

    assert [each.code for each in answers] == [1, 1, 1]
    assert not any("Traceback" in each.stderr for each in answers)
