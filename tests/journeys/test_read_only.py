"""A memory that cannot be written can still be looked into, and says that nothing is kept."""

import http.client
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from oldfriend.db.sqlite.pool import POLL_INTERVAL_S
from tests.cli.serving import on_any_port, served
from tests.conftest import SIZE
from tests.processes import Program, kill, until

LOOKING = (
    ("recall", "cat"),
    ("doctor",),
    ("status",),
    ("why",),
    ("memory", "list"),
    ("export",),
)
ONLY_READ = "is read-only"


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on a disk: in memory, files that nobody may write can be written all the same."""
    with tempfile.TemporaryDirectory(prefix="oldfriend-", dir="/var/tmp") as folder:
        yield Path(folder)


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """A folder and its files that nobody can write, not even root, for a while.

    Not SQLite's shared memory, which has a test of its own.
    """
    files = [each for each in folder.iterdir() if each.is_file() and not each.name.endswith("-shm")]
    with immutable(*files, folder):
        yield


@contextmanager
def immutable(*paths: Path) -> Iterator[None]:
    """Files and folders that nobody can write, not even root, for a while."""
    names = [str(each) for each in paths]
    try:
        subprocess.run(["chattr", "+i", *names], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        subprocess.run(["chattr", "-i", *names], check=False, capture_output=True)
        pytest.skip(f"nothing can be made immutable here: {error}")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", *names], check=True)


@contextmanager
def on_read_only_disk(folder: Path) -> Iterator[None]:
    """A folder on a disk that is mounted read-only, for a while."""
    try:
        mounting = ["mount", "--bind", "-o", "ro", str(folder), str(folder)]
        subprocess.run(mounting, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"nothing can be mounted here: {error}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


HOW = pytest.mark.parametrize(
    "made_read_only", [unwritable, on_read_only_disk] if SIZE == "full" else [on_read_only_disk]
)
BOTH = pytest.mark.parametrize("made_read_only", [unwritable, on_read_only_disk])


@BOTH
def test_read_commands_work_on_a_read_only_store_with_a_warning(
    oldfriend: Program, made_read_only
) -> None:
    """By every command that looks; each says that nothing is kept."""
    oldfriend.done("say", "Remember that my cat is called Miso")
    with made_read_only(oldfriend.data):
        looked = {" ".join(each): oldfriend(*each) for each in LOOKING}

    assert {name: ended.stderr for name, ended in looked.items() if ended.code} == {
        "doctor": looked["doctor"].stderr
    }
    assert all(ONLY_READ in ended.stderr for ended in looked.values())
    assert "Miso" in looked["recall cat"].stdout
    assert "PROBLEM" in looked["doctor"].stdout
    assert "Miso" in looked["export"].stdout


@HOW
def test_write_commands_on_a_read_only_store_are_refused(
    oldfriend: Program, made_read_only
) -> None:
    """And afterwards it is as before, and goes on."""
    oldfriend.done("say", "Remember that my cat is called Miso")
    before = (oldfriend.data / "oldfriend.db").read_bytes()
    with made_read_only(oldfriend.data):
        refused = [
            oldfriend("say", "My dog is called Dora."),
            oldfriend("forget", "--about", "Miso", "--yes"),
            oldfriend("person", "rename", "owner", "Nora"),
        ]

    assert [each.code for each in refused] == [1, 1, 1]
    assert all("cannot be opened for writing" in each.stderr for each in refused)
    assert not any("Traceback" in each.stderr for each in refused)
    assert (oldfriend.data / "oldfriend.db").read_bytes() == before
    oldfriend.done("say", "My dog is called Dora.")
    assert "Miso" in oldfriend.done("recall", "cat").stdout


@HOW
def test_read_only_json_store_can_be_read_but_not_written(
    oldfriend: Program, made_read_only
) -> None:
    """By the same commands, also while nobody can say who else uses it."""
    store = oldfriend.data / "oldfriend.json"
    program = replace(oldfriend, environment={"OLDFRIEND_DATABASE": f"json:///{store}"})
    program.done("say", "Remember that my cat is called Miso")
    before = store.read_bytes()
    with made_read_only(program.data):
        looked = {" ".join(each): program(*each) for each in LOOKING}
        refused = program("say", "My dog is called Dora.")

    assert [name for name, ended in looked.items() if ended.code] == ["doctor"]
    assert all(ONLY_READ in ended.stderr for ended in looked.values())
    assert "Miso" in looked["recall cat"].stdout
    assert "PROBLEM" in looked["doctor"].stdout
    assert refused.code == 1
    assert "Traceback" not in refused.stderr
    assert store.read_bytes() == before
    program.done("say", "My dog is called Dora.")


def kill_one_that_was_told(oldfriend: Program) -> None:
    """Have a chat end, and the last words stand in the log of writes alone."""
    oldfriend.done("say", "hello")
    with oldfriend.started("chat") as chat:
        chat.stdin.write(b"Remember that my cat is called Miso\n")
        chat.stdin.flush()
        while b"Miso" not in chat.stdout.readline():
            pass
        kill(chat)


@HOW
def test_read_only_store_includes_the_wal_of_a_killed_process(
    oldfriend: Program, made_read_only
) -> None:
    """Else the last words would be missing, or the file unsound."""
    kill_one_that_was_told(oldfriend)
    assert (oldfriend.data / "oldfriend.db-wal").stat().st_size > 0
    with made_read_only(oldfriend.data):
        assert "Miso" in oldfriend.done("recall", "cat").stdout


@HOW
def test_read_only_store_with_wal_but_no_shm_is_refused(oldfriend: Program, made_read_only) -> None:
    """It says what to do."""
    kill_one_that_was_told(oldfriend)
    (oldfriend.data / "oldfriend.db-shm").unlink()
    with made_read_only(oldfriend.data):
        refused = oldfriend("recall", "cat")

    assert refused.code == 1
    assert "was not closed properly" in refused.stderr
    assert "Miso" in oldfriend.done("recall", "cat").stdout


def test_server_recovers_once_the_store_is_writable_again(oldfriend: Program) -> None:
    """What was refused is taken when it is sent again; what was kept is read all along."""
    program = on_any_port(oldfriend)
    program.done("say", "Remember that my cat is called Miso")
    token = program.done("token", "new", "a program", "--scope", "admin").stdout.split()
    with served(program) as running:
        api = Api(port=running.port, token=next(each for each in token if len(each) > 30))
        with unwritable(program.data):
            refused, why = api.say("My dog is called Dora")
            _, read = api.ask("GET", "/chat/messages")
            _, health = api.ask("GET", "/doctor")
        taken, _ = api.say("My dog is called Dora")
        until(lambda: "Dora" in api.ask("GET", "/chat/messages")[1], within_s=30)
        assert running.process.poll() is None

    assert (refused, taken) == (503, 202)
    assert "cannot be written now" in why
    assert "Miso" in read
    assert '"store_read_only"' in health


def test_server_survives_shared_memory_that_turns_unwritable(oldfriend: Program) -> None:
    """Else the system would end it (SIGBUS); it can be read, and goes on afterwards."""
    program = on_any_port(oldfriend)
    program.done("say", "Remember that my cat is called Miso")
    token = program.done("token", "new", "a program", "--scope", "admin").stdout.split()
    with served(program) as running:
        api = Api(port=running.port, token=next(each for each in token if len(each) > 30))
        wait_until_nothing_is_committed(program.data)
        with immutable(program.data / "oldfriend.db-shm"):
            refused = [api.say("My dog is called Dora") for _ in range(3)]
            read = api.ask("GET", "/chat/messages")
            time.sleep(POLL_INTERVAL_S + 1)
            assert running.process.poll() is None
        until(lambda: api.say("My dog is called Dora")[0] == 202, within_s=30)
        until(lambda: "Dora" in api.ask("GET", "/chat/messages")[1], within_s=30)

    assert {status for status, _ in refused} == {503}
    assert all("read-only" in why for _, why in refused)
    # Not even that, where the mark of a reader would have to be written.
    assert "Miso" in read[1] or (read[0] == 503 and "read-only" in read[1])


def wait_until_nothing_is_committed(data: Path) -> None:
    """Wait until the log of writes has not changed for two seconds.

    A commit that is under way as the shared memory turns unwritable ends the process: nothing can
    be checked between the disk's confirmation and SQLite's note of it.
    """
    log = data / "oldfriend.db-wal"
    deadline = time.monotonic() + 60
    while time.time() - log.stat().st_mtime < 2:
        assert time.monotonic() < deadline, "it goes on writing"
        time.sleep(0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The API of one that serves."""

    port: int
    token: str

    def say(self, text: str) -> tuple[int, str]:
        """Say something, under a key by which it is known when it is sent again."""
        return self.ask("POST", "/chat/messages", {"text": text}, key="as-it-was-sent")

    def ask(
        self, method: str, path: str, body: object = None, *, key: str = "not-needed"
    ) -> tuple[int, str]:
        """The status and the text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        content = None if body is None else json.dumps(body)
        connection.request(method, f"/api/v1{path}", body=content, headers=headers)
        answer = connection.getresponse()
        status, text = answer.status, answer.read().decode()
        connection.close()
        return status, text
