"""At most one process serves a folder, and nobody is told of one that is dead."""

import os
import signal
import threading
from pathlib import Path

import pytest

from oldfriend.app.pid_lock import (
    SERVE_FILE_NAME,
    PidLock,
    ReloadResult,
    ServerInfo,
    find_server,
    has_ended,
    hold_pid_lock,
    open_locked_file,
    send_signal,
)
from oldfriend.domain.errors import ServerProcessError, StoreUnusable
from tests.processes import kill, line_of, python, until

SERVE = """
import sys
from pathlib import Path
from oldfriend.app.pid_lock import hold_pid_lock
with hold_pid_lock(Path(sys.argv[1]), now=5) as presence:
    presence.set_address("127.0.0.1", 8344)
    print("here", flush=True)
    sys.stdin.readline()
"""


def test_running_server_is_found_with_its_info_until_it_ends(tmp_path: Path) -> None:
    """And only for as long as it does."""
    folder = tmp_path / "new"
    assert find_server(folder) is None
    with hold_pid_lock(folder, now=5) as presence:
        opening = find_server(folder)
        presence.set_address("::1", 80)
        presence.set_reload_result(ReloadResult(number=1, refused="é" * 300))
        presence.set_reload_result(ReloadResult(number=2, needs_start=("limits.lease_s",)))
        found = find_server(folder)

    assert opening == ServerInfo(pid=os.getpid(), started_at=5)
    assert found == ServerInfo(
        pid=os.getpid(),
        started_at=5,
        host="::1",
        port=80,
        reload=ReloadResult(number=2, needs_start=("limits.lease_s",)),
    )
    assert found is not None
    assert found.url == "http://[::1]:80"
    assert find_server(folder) is None
    assert not (folder / SERVE_FILE_NAME).exists()


@pytest.mark.slow
def test_second_server_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    """The first goes on undisturbed."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        with pytest.raises(ServerProcessError, match=rf"pid {process.pid}.*oldfriend stop"):  # noqa: SIM117
            with hold_pid_lock(tmp_path, now=6):
                pass

        assert find_server(tmp_path) == ServerInfo(
            pid=process.pid, started_at=5, host="127.0.0.1", port=8344
        )


def test_lock_file_of_a_killed_server_is_ignored_and_reused(tmp_path: Path) -> None:
    """The file is still there; nobody holds it."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        kill(process)

    assert (tmp_path / SERVE_FILE_NAME).exists()
    assert find_server(tmp_path) is None
    with hold_pid_lock(tmp_path, now=7):
        found = find_server(tmp_path)
        assert found is not None
        assert found.started_at == 7


def test_stale_server_info_is_not_returned_while_the_next_server_starts(tmp_path: Path) -> None:
    """It has locked the file, and has not yet written over what the dead one left in it."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        kill(process)
    file = open_locked_file(tmp_path / SERVE_FILE_NAME)
    writes = threading.Timer(0.2, PidLock, [file, ServerInfo(pid=os.getpid(), started_at=7)])
    writes.start()
    found = find_server(tmp_path)
    writes.join()
    os.close(file)

    assert found == ServerInfo(pid=os.getpid(), started_at=7)


def test_constant_lookups_do_not_block_a_starting_server(tmp_path: Path) -> None:
    """Looking takes the lock for a moment."""
    look = """
import sys
from pathlib import Path
from oldfriend.app.pid_lock import find_server
print("here", flush=True)
while True:
    find_server(Path(sys.argv[1]))
"""
    (tmp_path / SERVE_FILE_NAME).write_text("old")
    with python(look, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        for now in range(5):
            with hold_pid_lock(tmp_path, now=now):
                assert process.poll() is None


@pytest.mark.slow
def test_locked_file_with_foreign_content_is_refused(tmp_path: Path) -> None:
    """Nothing is sent to whatever number stands in it."""
    with hold_pid_lock(tmp_path, now=5):
        (tmp_path / SERVE_FILE_NAME).write_text("{}")
        with pytest.raises(StoreUnusable, match="not written by Oldfriend"):
            find_server(tmp_path)


def test_pid_file_is_private_to_the_user(tmp_path: Path) -> None:
    """As everything in the folder."""
    with hold_pid_lock(tmp_path, now=5):
        assert (tmp_path / SERVE_FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_folder_that_cannot_be_created_raises_store_unusable(tmp_path: Path) -> None:
    """In a sentence."""
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(StoreUnusable, match="cannot be used"),
        hold_pid_lock(tmp_path / "file", now=5),
    ):
        pass


def test_signal_is_sent_to_the_running_server_or_refused_if_gone(tmp_path: Path) -> None:
    """And where there is none, that is told."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        serving = find_server(tmp_path)
        assert serving is not None
        send_signal(serving, signal.SIGTERM)
        until(lambda: process.poll() is not None)

    with pytest.raises(ServerProcessError, match="cannot be seen from here"):
        send_signal(serving, signal.SIGTERM)


def test_process_has_ended_before_its_parent_asks_how(tmp_path: Path) -> None:
    """Until then it is there, though it serves no longer."""
    with python(SERVE, tmp_path) as process:
        assert line_of(process.stdout) == "here"
        assert not has_ended(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        until(lambda: has_ended(process.pid))
        process.wait()
        assert has_ended(process.pid)
