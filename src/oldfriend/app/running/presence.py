"""Which process serves a data folder? At most one; whoever asks is never told of a dead one.

``serve.json`` in the folder says who serves, and is locked for as long as that process lives: the
system gives the lock back however it ends. What stands in a file that nobody locks is history.
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
from oldfriend.domain.errors import CannotServe, StoreUnusable

FILE_NAME: Final = "serve.json"
PATIENCE_S, PAUSE_S = 1.0, 0.02
"""Whoever looks holds the lock for a moment; whoever writes is half done for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """What came of reading the settings again while running."""

    number: int  # from 1, since the process began
    refused: str | None = None  # why the old settings stay
    needs_start: tuple[str, ...] = ()  # what has changed and waits for the next start


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A process that serves."""

    pid: int
    started_at: Micros
    host: str | None = None  # None: it is still opening everything
    port: int | None = None
    reload: Reload | None = None

    @property
    def url(self) -> str | None:
        """Where it is asked how it does."""
        return None if self.host is None else address(self.host, self.port)


class Presence:
    """The right to serve a folder, held. Made by ``present``."""

    def __init__(self, file: int, serving: Serving) -> None:
        """Tell who serves."""
        self._file = file
        self._serving = serving
        self._write()

    def listens_at(self, host: str, port: int) -> None:
        """Tell where it is asked."""
        self._serving = replace(self._serving, host=host, port=port)
        self._write()

    def has_reloaded(self, reload: Reload) -> None:
        """Tell what came of a reload."""
        self._serving = replace(self._serving, reload=reload)
        self._write()

    def _write(self) -> None:
        text = json.dumps(asdict(self._serving)) + "\n"
        os.pwrite(self._file, text.encode(), 0)
        os.ftruncate(self._file, len(text))


@contextmanager
def present(data: Path, *, now: Micros) -> Iterator[Presence]:
    """Be the one that serves a folder. Raises CannotServe where another does, StoreUnusable."""
    path = data / FILE_NAME
    file = locked(path)
    try:
        yield Presence(file, Serving(pid=os.getpid(), started_at=now))
    finally:
        with suppress(OSError):  # the folder may be gone by now
            path.unlink()
        os.close(file)


def locked(path: Path) -> int:
    """The file, open and locked by this process. Raises CannotServe, StoreUnusable."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnusable(f"{path} cannot be used ({error.strerror}).") from error
        if try_lock(file, fcntl.LOCK_EX) and is_still(file, path):
            return file
        os.close(file)
        if time.monotonic() > deadline:
            other = find_serving(path.parent)
            who = "Another process" if other is None else f"A process (pid {other.pid})"
            raise CannotServe(
                f"{who} serves {path.parent} already. Look at it with `oldfriend status`, end it "
                "with `oldfriend stop`. More hands for the same memory: `oldfriend work`."
            )
        time.sleep(PAUSE_S)


def find_serving(data: Path) -> Serving | None:
    """The process that serves a folder; None if none does."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            file = os.open(data / FILE_NAME, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnusable(f"{data / FILE_NAME} cannot be read ({error.strerror}).") from error
        try:
            if try_lock(file, fcntl.LOCK_SH):
                return None
            found = serving_from(os.read(file, 1 << 16))
            if is_there(found.pid) or time.monotonic() > deadline:
                return found  # not seen: it may live in another container
        except (ValueError, KeyError, TypeError) as error:
            if time.monotonic() > deadline:
                raise StoreUnusable(
                    f"{data / FILE_NAME} is not as Oldfriend writes it, and in use."
                ) from error
        finally:
            os.close(file)
        time.sleep(PAUSE_S)


def is_there(pid: int) -> bool:
    """Whether a process of that number is seen here: else a dead one's words are not yet replaced.

    Whoever has just locked the file writes into it a moment later.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


def send(serving: Serving, number: signal.Signals) -> None:
    """Send a signal to the process that serves. Raises CannotServe where that cannot be done."""
    try:
        os.kill(serving.pid, number)
    except ProcessLookupError as error:
        raise CannotServe(
            f"The process that serves (pid {serving.pid}) cannot be seen from here; it may run in "
            "a container or for another user. Stop or reload it where it was started."
        ) from error
    except PermissionError as error:
        raise CannotServe(
            f"The process that serves (pid {serving.pid}) belongs to another user; only they, or "
            "root, may stop or reload it."
        ) from error


def serving_from(text: bytes) -> Serving:
    """What the file says."""
    fields = json.loads(text)
    reload = fields["reload"]
    if reload is not None:
        needs_start = tuple(reload["needs_start"])
        reload = Reload(number=reload["number"], refused=reload["refused"], needs_start=needs_start)
    return Serving(
        pid=fields["pid"], started_at=fields["started_at"], host=fields["host"],
        port=fields["port"], reload=reload,
    )  # fmt: skip


def try_lock(file: int, kind: int) -> bool:
    """Lock a file, unless another process holds it; whether it is locked."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_still(file: int, path: Path) -> bool:
    """Whether an open file is the one that stands there; its last owner may have taken it away."""
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def address(host: str, port: int | None) -> str:
    """A host and port as the beginning of a URL."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
