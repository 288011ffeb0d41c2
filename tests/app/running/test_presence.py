"""At most one process serves a folder, and nobody is told of one that is dead."""

import os
import signal
import threading
from pathlib import Path

import pytest

from oldfriend.app.running.presence import (
    FILE_NAME,
    Presence,
    Reload,
    Serving,
    find_serving,
    locked,
    present,
    send,
)
from oldfriend.domain.errors import CannotServe, StoreUnusable
from tests.processes import kill, line_of, python, until

SERVE = """
import sys
from pathlib import Path
from oldfriend.app.running.presence import present
with present(Path(sys.argv[1]), now=5) as presence:
    presence.listens_at("127.0.0.1", 8344)
    print("here", flush=True)
    sys.stdin.readline()
"""


def test_whoever_serves_is_found_with_everything_it_tells(tmp_path: Path) -> None:
    """And only for as long as it does."""
    folder = tmp_path / "new"
    assert find_serving(folder) is None
    with present(folder, now=5) as presence:
        opening = find_serving(folder)
        presence.listens_at("::1", 80)
        presence.has_reloaded(Reload(number=1, refused="é" * 300))
        presence.has_reloaded(Reload(number=2, needs_start=("limits.lease_s",)))
        found = find_serving(folder)

    assert opening == Serving(pid=os.getpid(), started_at=5)
    assert found == Serving(
        pid=os.getpid(), started_at=5, host="::1", port=80,
        reload=Reload(number=2, needs_start=("limits.lease_s",)),
    )  # fmt: skip
    assert found is not None
    assert found.url == "http://[::1]:80"
    assert find_serving(folder) is None
    assert not (folder / FILE_NAME).exists()


def test_a_second_one_is_refused_and_told_what_to_do(tmp_path: Path) -> None:
    """The first goes on undisturbed."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        with pytest.raises(CannotServe, match=rf"pid {process.pid}.*oldfriend stop"):  # noqa: SIM117
            with present(tmp_path, now=6):
                pass

        assert find_serving(tmp_path) == Serving(
            pid=process.pid, started_at=5, host="127.0.0.1", port=8344
        )


def test_what_a_killed_one_left_behind_is_history(tmp_path: Path) -> None:
    """The file is still there; nobody holds it."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        kill(process)

    assert (tmp_path / FILE_NAME).exists()
    assert find_serving(tmp_path) is None
    with present(tmp_path, now=7):
        found = find_serving(tmp_path)
        assert found is not None
        assert found.started_at == 7


def test_nobody_is_told_of_a_dead_one_while_the_next_begins(tmp_path: Path) -> None:
    """It has locked the file, and has not yet written over what the dead one left in it."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        kill(process)
    file = locked(tmp_path / FILE_NAME)
    writes = threading.Timer(0.2, Presence, [file, Serving(pid=os.getpid(), started_at=7)])
    writes.start()
    found = find_serving(tmp_path)
    writes.join()
    os.close(file)

    assert found == Serving(pid=os.getpid(), started_at=7)


def test_whoever_looks_all_the_time_keeps_nobody_from_serving(tmp_path: Path) -> None:
    """Looking takes the lock for a moment."""
    look = """
import sys
from pathlib import Path
from oldfriend.app.running.presence import find_serving
print("here", flush=True)
while True:
    find_serving(Path(sys.argv[1]))
"""
    (tmp_path / FILE_NAME).write_text("old")
    with python(look, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        for now in range(5):
            with present(tmp_path, now=now):
                assert process.poll() is None


def test_a_file_that_is_in_use_and_not_ours_is_told(tmp_path: Path) -> None:
    """Nothing is sent to whatever number stands in it."""
    with present(tmp_path, now=5):
        (tmp_path / FILE_NAME).write_text("{}")
        with pytest.raises(StoreUnusable, match="not as Oldfriend writes it"):
            find_serving(tmp_path)


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """As everything in the folder."""
    with present(tmp_path, now=5):
        assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """In a sentence."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnusable, match="cannot be used"), present(tmp_path / "file", now=5):
        pass


def test_a_signal_reaches_the_one_that_serves(tmp_path: Path) -> None:
    """And where there is none, that is told."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        serving = find_serving(tmp_path)
        assert serving is not None
        send(serving, signal.SIGTERM)
        until(lambda: process.poll() is not None)

    with pytest.raises(CannotServe, match="cannot be seen from here"):
        send(serving, signal.SIGTERM)
