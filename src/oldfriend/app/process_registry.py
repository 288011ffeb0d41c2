"""Process files: prove which processes are alive, and hold what they have not stored yet.

Each process that takes leases or calls models holds one file in the data folder, locked for as long
as it lives: the system releases the lock however the process ends. A file that can be locked
belongs to a dead process. That is proof only within one running system (``boot``): whether locks
are visible to another system that shares the folder is unknown.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from oldfriend.config.settings import is_postgres_url, parse_database_path
from oldfriend.domain.json import JsonValue

PROCESSES_FOLDER: Final = "processes"
SUFFIX: Final = ".process"
TEMP_SUFFIX: Final = ".new"
RESERVED_BYTES: Final = 128 << 10
"""Disk space that a file reserves at once, so that it can be written when the disk is full."""
BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessHeader:
    """The owner of a process file."""

    process: str  # the name under which it holds leases
    store: str  # a hash of the database's address
    boot: str | None  # None: the system does not report it


@dataclass(frozen=True, slots=True)
class LineSpan:
    """The position of a line in a file, in bytes."""

    start: int
    length: int


class ProcessFile:
    """The file of this process; lines are written at once, and erased in place.

    No position in one file is used twice, so that other processes may erase a line whose content
    must go, however slow this process is. Space is reclaimed with a new file.
    """

    def __init__(self, folder: Path, header: ProcessHeader) -> None:
        """Prepare the file without creating it."""
        self.path = folder / f"{hash_name(header.process)}{SUFFIX}"
        self._header = header
        self._file: int | None = None
        self._start = 0  # end of the header
        self._end = 0
        self._is_reserved = False

    @property
    def is_open(self) -> bool:
        """Whether other processes can see that this one is alive."""
        return self._file is not None

    def open(self) -> None:
        """Create the file, locked before anybody can see it. Raises OSError."""
        if self._file is None:
            self.rewrite([])

    def rewrite(self, lines: Sequence[Mapping[str, JsonValue]]) -> list[LineSpan]:
        """Replace the file atomically by a new one with these lines. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp_path = self.path.with_suffix(TEMP_SUFFIX)
        file = os.open(temp_path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            header = format_line(header_to_json(self._header))
            written = list(map(format_line, lines))
            if self._is_reserved:
                os.posix_fallocate(file, 0, RESERVED_BYTES)
            write_at(file, b"".join([header, *written]), 0)
            temp_path.rename(self.path)
        except OSError:
            os.close(file)
            with suppress(OSError):
                temp_path.unlink(missing_ok=True)
            raise
        if self._file is not None:
            os.close(self._file)
        self._file, self._start = file, len(header)
        starts = accumulate(map(len, written), initial=self._start)
        spans = [LineSpan(start, len(line)) for start, line in zip(starts, written, strict=False)]
        self._end = self._start + sum(map(len, written))
        return spans

    def reserve(self) -> None:
        """Reserve disk space, if the file system supports it. Raises OSError."""
        self.open()
        if not self._is_reserved and self._file is not None:
            os.posix_fallocate(self._file, 0, RESERVED_BYTES)
            self._is_reserved = True

    def append(self, fields: Mapping[str, JsonValue]) -> LineSpan:
        """Append a line that survives a killed process. Raises OSError."""
        self.open()
        assert self._file is not None
        line = format_line(fields)
        span = LineSpan(self._end, len(line))
        write_at(self._file, line, span.start)
        self._end += span.length
        return span

    def erase(self, span: LineSpan) -> None:
        """Overwrite a line, so that nothing of it stays on disk. Raises OSError."""
        if self._file is not None:
            write_at(self._file, b"\n" * span.length, span.start)

    def overwrite(self, span: LineSpan, fields: Mapping[str, JsonValue]) -> None:
        """Replace a line by one of the same length. Raises OSError."""
        line = format_line(fields)
        assert len(line) == span.length
        if self._file is not None:
            write_at(self._file, line, span.start)

    def is_erased(self, span: LineSpan) -> bool:
        """Return whether another process has erased a line. Raises OSError."""
        return self._file is not None and os.pread(self._file, 1, span.start) == b"\n"

    @property
    def is_half_full(self) -> bool:
        """Whether more than half of the reserved space is used, perhaps by erased lines."""
        return self._end > RESERVED_BYTES // 2

    def sync(self) -> None:
        """Flush the file to disk, against a power cut. Raises OSError."""
        if self._file is not None:
            os.fdatasync(self._file)

    def close(self, *, keep: bool) -> None:
        """Release the lock; with ``keep`` the file stays for a later process."""
        if self._file is None:
            return
        if not keep:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        os.close(self._file)
        self._file = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherProcessFile:
    """The file of another process, as it was read."""

    path: Path
    header: ProcessHeader
    lines: tuple[Mapping[str, Any], ...]
    spans: tuple[LineSpan, ...]  # of the lines
    inode: int
    start: int  # end of the header
    size: int
    is_locked: bool  # by its living process; False: by this process, while it looks at the file

    def is_dead_for(self, own: ProcessHeader) -> bool:
        """Return whether the owner of this file is certainly dead, seen from another process."""
        return not self.is_locked and own.boot is not None and own.boot == self.header.boot


class ProcessFolder:
    """The files of all processes that share a data folder, including this one."""

    def __init__(self, folder: Path, header: ProcessHeader) -> None:
        """Prepare the folder without touching the disk."""
        self.own = ProcessFile(folder, header)
        self.header = header
        self.settled: set[str] = set()  # ids of other processes' calls that are in the ledger
        self._folder = folder
        self._changed_at = 0
        self._others: tuple[Path, ...] = ()

    def remove_unfinished(self) -> None:
        """Remove the unfinished replacement files of dead processes. Raises OSError."""
        for path in sorted(self._folder.glob(f"*{TEMP_SUFFIX}")):
            with suppress(FileNotFoundError), path.open("r+b", buffering=0) as file:
                if (size := path.stat().st_size) and try_lock(file.fileno()):
                    write_at(file.fileno(), b"\n" * size, 0)
                    path.unlink()

    def register(self, *, reserve: bool) -> None:
        """Create this process's file; without it, only its leases show that it lives."""
        if not self.own.is_open:
            with suppress(OSError):
                self.own.open()
                if reserve:
                    self.own.reserve()

    def list_others(self) -> tuple[Path, ...]:
        """Return the files of other processes; cheap if none was added or removed."""
        try:
            changed_at = self._folder.stat().st_mtime_ns
        except OSError:
            return ()
        if changed_at != self._changed_at:
            with suppress(OSError):
                found = sorted(self._folder.glob(f"*{SUFFIX}"))
                self._others = tuple(each for each in found if each != self.own.path)
                self._changed_at = changed_at
        return self._others


def build_process_folder(data: Path, url: str, name: str) -> ProcessFolder:
    """Build the folder of process files for a data folder and a database."""
    data = data.absolute()
    if not is_postgres_url(url) and (file := parse_database_path(url)).is_relative_to(data):
        url = str(file.relative_to(data))  # remains valid after the folder was moved
    header = ProcessHeader(process=name, store=hash_name(url), boot=find_boot_id())
    return ProcessFolder(data / PROCESSES_FOLDER, header)


@contextmanager
def open_other(path: Path, *, include_living: bool) -> Iterator[OtherProcessFile | None]:
    """Open the file of another process, and lock it for the block if that process is dead.

    Yields None if it is gone, or if its process lives and only dead ones are wanted.
    """
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        yield None
        return
    try:
        is_locked = not try_lock(file)
        is_gone = os.fstat(file).st_ino != find_inode(path)  # removed or replaced
        if is_gone or (is_locked and not include_living):
            yield None
            return
        yield read_other(path, file, is_locked=is_locked)
    finally:
        os.close(file)


def has_living(folder: ProcessFolder) -> bool:
    """Tell whether another process of a data folder lives."""
    for path in folder.list_others():
        with open_other(path, include_living=True) as found:
            if found is not None and found.is_locked:
                return True
    return False


def remove_other(found: OtherProcessFile) -> None:
    """Overwrite and remove the file of a dead process, whose lock we hold. Raises OSError."""
    with found.path.open("r+b", buffering=0) as file:
        write_at(file.fileno(), b"\n" * found.path.stat().st_size, 0)
    found.path.unlink(missing_ok=True)


def erase_in_other(found: OtherProcessFile, ids: Collection[str]) -> bool:
    """Overwrite the lines with these ids in the file of another process. Raises OSError.

    If nobody holds the file, everything after the header is overwritten, such as a truncated line.
    Returns False if the process has replaced the file in the meantime.
    """
    if find_inode(found.path) is None:
        return True
    with found.path.open("r+b", buffering=0) as file:
        if os.fstat(file.fileno()).st_ino != found.inode:
            return False
        for line, span in zip(found.lines, found.spans, strict=True):
            if line.get("id") in ids:
                write_at(file.fileno(), b"\n" * span.length, span.start)
        if not found.is_locked:
            write_at(file.fileno(), b"\n" * (found.size - found.start), found.start)
    return find_inode(found.path) == found.inode


def read_other(path: Path, file: int, *, is_locked: bool) -> OtherProcessFile | None:
    """Parse a file; a line that was truncated by a crash is skipped."""
    content = os.pread(file, os.fstat(file).st_size, 0)
    lines: list[dict[str, Any]] = []
    spans: list[LineSpan] = []
    start = 0
    for line in content.split(b"\n"):
        if (parsed := parse_line(line)) is not None:
            lines.append(parsed)
            spans.append(LineSpan(start, len(line)))
        start += len(line) + 1
    if not lines or (header := parse_header(lines[0])) is None:
        return None
    return OtherProcessFile(
        path=path,
        inode=os.fstat(file).st_ino,
        header=header,
        lines=tuple(lines[1:]),
        spans=tuple(spans[1:]),
        start=spans[0].length,
        size=len(content),
        is_locked=is_locked,
    )


def header_to_json(header: ProcessHeader) -> dict[str, JsonValue]:
    """Return the header as JSON."""
    return {"process": header.process, "store": header.store, "boot": header.boot}


def parse_header(fields: Mapping[str, Any]) -> ProcessHeader | None:
    """Parse the header from the first line."""
    process, store, boot = fields.get("process"), fields.get("store"), fields.get("boot")
    if not isinstance(process, str) or not isinstance(store, str):
        return None
    return ProcessHeader(process=process, store=store, boot=boot if isinstance(boot, str) else None)


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the fields of a line; None if it is empty or truncated."""
    line = line.strip(b"\x00")
    if not line:
        return None
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def format_line(fields: Mapping[str, JsonValue]) -> bytes:
    """Encode fields as a line."""
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def write_at(file: int, content: bytes, start: int) -> None:
    """Write all of the content at a position. Raises OSError."""
    while content:
        written = os.pwrite(file, content, start)
        content, start = content[written:], start + written


def try_lock(file: int) -> bool:
    """Lock a file unless another process holds it, and return whether it is locked now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def find_inode(path: Path) -> int | None:
    """Return the inode at a path, or None if there is no file."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def find_boot_id() -> str | None:
    """Return the boot id of this system, or None if the system does not report it."""
    try:
        return BOOT_ID.read_text("ascii").strip() or None
    except (OSError, ValueError):
        return None


def hash_name(text: str) -> str:
    """Return a short hash of a text that is usable as a file name."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
