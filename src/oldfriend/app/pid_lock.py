"""PID lock: ensures that at most one process serves a data folder.

``serve.json`` in the folder describes the server and stays locked while that process lives: the
system releases the lock however it ends. The content of an unlocked file is stale.
"""

import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import ServerProcessError, StoreUnusable

SERVE_FILE_NAME: Final = "serve.json"
LOCK_TIMEOUT_S, LOCK_RETRY_S = 1.0, 0.02
"""A reader holds the lock only for a moment, and a writer is half done only for a moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadResult:
    """The outcome of a reload of the settings."""

    number: int  # counted from 1 since the process started
    refused: str | None = None  # why the old settings stay in effect
    needs_start: tuple[str, ...] = ()  # changed settings that take effect at the next start


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """A server process."""

    pid: int
    started_at: Micros
    host: str | None = None  # None: it is still starting
    port: int | None = None
    reload: ReloadResult | None = None

    @property
    def url(self) -> str | None:
        """Base URL of the server; None while it is starting."""
        return None if self.host is None else format_base_url(self.host, self.port)


class PidLock:
    """The lock of the server of a data folder. Created by ``hold_pid_lock``."""

    def __init__(self, file: int, serving: ServerInfo) -> None:
        """Write who serves into the file."""
        self._file = file
        self._serving = serving
        self._write()

    def set_address(self, host: str, port: int) -> None:
        """Publish the address of the server."""
        self._serving = replace(self._serving, host=host, port=port)
        self._write()

    def set_reload_result(self, reload: ReloadResult) -> None:
        """Publish the outcome of a reload."""
        self._serving = replace(self._serving, reload=reload)
        self._write()

    def _write(self) -> None:
        text = json.dumps(asdict(self._serving)) + "\n"
        os.pwrite(self._file, text.encode(), 0)
        os.ftruncate(self._file, len(text))


@contextmanager
def hold_pid_lock(data: Path, *, now: Micros) -> Iterator[PidLock]:
    """Serve a data folder in this block. Raises ServerProcessError, StoreUnusable."""
    path = data / SERVE_FILE_NAME
    file = open_locked_file(path)
    try:
        yield PidLock(file, ServerInfo(pid=os.getpid(), started_at=now))
    finally:
        with suppress(OSError):  # the folder may be gone by now
            path.unlink()
        os.close(file)


def open_locked_file(path: Path) -> int:
    """Open the file and lock it for this process. Raises ServerProcessError, StoreUnusable."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnusable(f"{path} cannot be used ({error.strerror}).") from error
        if try_lock(file, fcntl.LOCK_EX) and is_same_file(file, path):
            return file
        os.close(file)
        if time.monotonic() > deadline:
            other = find_server(path.parent)
            who = "Another process" if other is None else f"A process (pid {other.pid})"
            raise ServerProcessError(
                f"{who} is already running for {path.parent}. See `oldfriend status`; to stop it: "
                "`oldfriend stop`. To add workers for the same memory: `oldfriend work`."
            )
        time.sleep(LOCK_RETRY_S)


def find_server(data: Path) -> ServerInfo | None:
    """Return the process that serves a folder, or None. Raises StoreUnusable."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            file = os.open(data / SERVE_FILE_NAME, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnusable(
                f"{data / SERVE_FILE_NAME} cannot be read ({error.strerror})."
            ) from error
        try:
            if try_lock(file, fcntl.LOCK_SH):
                return None
            found = parse_server_info(os.read(file, 1 << 16))
            if is_process_visible(found.pid) or time.monotonic() > deadline:
                return found  # not visible: it may run in another container
        except (ValueError, KeyError, TypeError) as error:
            if time.monotonic() > deadline:
                raise StoreUnusable(
                    f"{data / SERVE_FILE_NAME} is in use, and was not written by Oldfriend."
                ) from error
        finally:
            os.close(file)
        time.sleep(LOCK_RETRY_S)


def is_process_visible(pid: int) -> bool:
    """Return whether a process with this pid is visible here.

    If it is not, the file may still describe a dead process: whoever has just locked it writes its
    own entry a moment later.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to another user
    return True


def has_ended(pid: int) -> bool:
    """Return whether a process is gone; one whose parent has not asked how it ended is, too."""
    if not is_process_visible(pid):
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False  # this system has no such file
    return stat.rpartition(")")[2].split()[:1] == ["Z"]


def send_signal(server: ServerInfo, number: signal.Signals) -> None:
    """Send a signal to the server. Raises ServerProcessError if that is not possible."""
    try:
        os.kill(server.pid, number)
    except ProcessLookupError as error:
        raise ServerProcessError(
            f"The server (pid {server.pid}) cannot be seen from here; it may run in a container "
            "or for another user. Stop or reload it where it was started."
        ) from error
    except PermissionError as error:
        raise ServerProcessError(
            f"The server (pid {server.pid}) belongs to another user; only they, or root, may stop "
            "or reload it."
        ) from error


def parse_server_info(encoded: bytes) -> ServerInfo:
    """Parse the content of the file. Raises ValueError, KeyError, TypeError."""
    fields = json.loads(encoded)
    reload = fields["reload"]
    if reload is not None:
        needs_start = tuple(reload["needs_start"])
        reload = ReloadResult(
            number=reload["number"], refused=reload["refused"], needs_start=needs_start
        )
    return ServerInfo(
        pid=fields["pid"],
        started_at=fields["started_at"],
        host=fields["host"],
        port=fields["port"],
        reload=reload,
    )


def try_lock(file: int, kind: int) -> bool:
    """Lock a file unless another process holds it, and return whether it is locked."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_same_file(file: int, path: Path) -> bool:
    """Return whether an open file is still the one at the path, which its last owner may remove."""
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def format_base_url(host: str, port: int | None) -> str:
    """Return the base URL of a host and port."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
