"""Import source: the bytes of an export, from a file or from a zip member, decoded to text.

What the text means is not known here.
"""

import codecs
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path, PurePosixPath
from typing import IO

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import MAX_TEXT_CHARS

PROBE_BYTES = 65_536
CHUNK_BYTES = 1 << 20
MAX_MEMBERS = 20_000
"""Readable files in one zip; each takes a fifth of a millisecond to look at."""
MAX_UNCOMPRESSED_BYTES = 2 << 30
"""Total size of all files of a zip; no chat is as large, and a larger one may be a zip bomb."""
MAX_UNPACKING_RATIO = 50
"""Times the size of a zip; chats unpack to 4 to 20 times their size."""
MIN_CHECKED_BYTES = 16 << 20
"""A zip of less is read in a few seconds, whatever its ratio."""
READABLE_SUFFIXES = frozenset(
    {".txt", ".text", ".md", ".markdown", ".json", ".jsonl", ".ndjson", ".csv", ".xml"}
)
MACOS_METADATA = re.compile(r"(?:^|/)(?:__MACOSX/|\.DS_Store$)")
DUPLICATE_NOTE = "of the same name as another"

_READ_ERRORS = (
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,  # a compression method that Python does not support
    RuntimeError,  # raised by zipfile for a missing password
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file, or a member of a zip."""

    path: Path
    member: str | None = None
    archive: zipfile.ZipFile | None = field(default=None, repr=False, compare=False)
    """The open zip, whose directory is read once instead of for each member."""

    @property
    def name(self) -> str:
        """The file name without its path."""
        return PurePosixPath(self.member).name if self.member else self.path.name

    @property
    def key(self) -> str:
        """The name that distinguishes the file from others beside it."""
        return self.member or self.path.name

    @property
    def suffix(self) -> str:
        """The suffix of the name in lower case."""
        return PurePosixPath(self.name).suffix.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """The size and modification time of a file; if they differ, it was written to."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatProbe:
    """The beginning of a source, for format detection."""

    source: SourceFile
    text: str
    is_text: bool
    keys: frozenset[str]  # keys of the first objects, if it is JSON
    damage: ImportRefused | None = None  # why JSON cannot be read further, if so


def list_sources(path: Path) -> list[SourceFile]:
    """Return the file itself, or the readable members of a zip. Raises ImportRefused."""
    if path.is_dir():
        raise ImportRefused(
            f"{path} is a folder. Name the file in it, such as result.json, or the .zip as you "
            "received it."
        )
    if not path.is_file():
        raise ImportRefused(f"There is no file {path.name}.")
    with wrap_read_errors(path):
        if path.stat().st_size == 0:
            raise ImportRefused(localizable("empty_file", "This file is empty."))
        if not zipfile.is_zipfile(path):
            if path.suffix.lower() == ".zip":
                raise zipfile.BadZipFile("it is damaged, or not a zip file")
            return [SourceFile(path=path)]
        archive = zipfile.ZipFile(path)
    readable = {
        each.filename: each for each in archive.infolist() if is_candidate_member(each.filename)
    }
    check_unpacked_size(path, sum(each.file_size for each in readable.values()))
    if len(readable) > MAX_MEMBERS:
        raise ImportRefused(
            localizable(
                "import_too_many_files",
                f"{path.name} contains too many readable files ({len(readable):,}; at most "
                f"{MAX_MEMBERS:,}). Split it.",
                name=path.name,
                count=len(readable),
                most=MAX_MEMBERS,
            )
        )
    return [SourceFile(path=path, member=name, archive=archive) for name in sorted(readable)]


def check_unpacked_size(path: Path, unpacked: int) -> None:
    """Raise ImportRefused for a zip that is a zip bomb, or larger than any chat.

    The size that its directory states holds: zipfile reads no more of a member than that.
    """
    if unpacked > MAX_UNCOMPRESSED_BYTES:
        raise ImportRefused(
            localizable(
                "import_unfolds",
                f"{path.name} unpacks to {unpacked / (1 << 30):,.0f} GB, at most "
                f"{MAX_UNCOMPRESSED_BYTES >> 30} GB are read. Import only the file in it that "
                "contains the conversations.",
                name=path.name,
                gb=round(unpacked / (1 << 30)),
                most=MAX_UNCOMPRESSED_BYTES >> 30,
            )
        )
    ratio = unpacked / path.stat().st_size  # of the whole file: members may share their bytes
    if unpacked > MIN_CHECKED_BYTES and ratio > MAX_UNPACKING_RATIO:
        raise ImportRefused(
            localizable(
                "import_zip_bomb",
                f"{path.name} unpacks to {ratio:,.0f} times its size; Oldfriend reads up "
                f"to {MAX_UNPACKING_RATIO} times, because chats unpack to far less. If you "
                "trust it, unpack it and import the file in it.",
                name=path.name,
                times=round(ratio),
                most=MAX_UNPACKING_RATIO,
            )
        )


def is_candidate_member(member: str) -> bool:
    """Return whether a member of a zip may hold an export."""
    parts = PurePosixPath(member).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not hidden and PurePosixPath(member).suffix.lower() in READABLE_SUFFIXES


def list_unread_members(sources: Sequence[SourceFile]) -> list[str]:
    """Return the members of a zip that are not among the sources, readable formats first.

    Metadata files added by macOS are left out.
    """
    archive = sources[0].archive
    if archive is None:
        return []
    read = {each.member: archive.getinfo(each.member) for each in sources if each.member}
    unread = [
        each.filename
        for each in archive.infolist()
        if not each.is_dir()
        and read.get(each.filename) is not each
        and not MACOS_METADATA.search(each.filename)
    ]
    suffixes = {name: PurePosixPath(name).suffix.lower() for name in unread}
    return sorted(
        (f"{name} ({DUPLICATE_NOTE})" if name in read else name for name in unread),
        key=lambda name: (suffixes.get(name, ".txt") not in READABLE_SUFFIXES, name),
    )


@contextmanager
def wrap_read_errors(path: Path) -> Iterator[None]:
    """Convert every error of reading a file into ImportRefused."""
    try:
        yield
    except _READ_ERRORS as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ImportRefused(
            localizable(
                "import_unreadable",
                f"{path.name} cannot be read: {reason or error}.",
                name=path.name,
                reason=str(reason or error),
            )
        ) from error


def get_size(source: SourceFile) -> int:
    """Return the uncompressed size of a source in bytes. Raises ImportRefused."""
    with wrap_read_errors(source.path):
        if source.archive is None or source.member is None:
            return source.path.stat().st_size
        return source.archive.getinfo(source.member).file_size


def get_stamp(path: Path) -> FileStamp:
    """Return the stamp of a file. Raises ImportRefused."""
    with wrap_read_errors(path):
        status = path.stat()
    return FileStamp(size=status.st_size, mtime_ns=status.st_mtime_ns)


def check_unchanged(path: Path, stamp: FileStamp) -> None:
    """Raise ImportRefused where a file was written to while it was being read."""
    if get_stamp(path) != stamp:
        raise ImportRefused(
            localizable(
                "import_changed",
                f"{path.name} changed while it was being read. Import it again once nothing writes "
                "to it any more.",
                name=path.name,
            )
        )


@contextmanager
def open_bytes(source: SourceFile) -> Iterator[IO[bytes]]:
    """Open a source as a byte stream."""
    if source.archive is None or source.member is None:
        with source.path.open("rb") as stream:
            yield stream
    else:
        with source.archive.open(source.member) as stream:
            yield stream


def get_modified_at(source: SourceFile) -> datetime:
    """Return the modification time: aware for a file, naive local time for a zip member."""
    with wrap_read_errors(source.path):
        if source.archive is None or source.member is None:
            return datetime.fromtimestamp(source.path.stat().st_mtime, UTC)
        stamp = source.archive.getinfo(source.member).date_time
    try:
        return datetime.combine(date(*stamp[:3]), time(*stamp[3:]))
    except ValueError:
        return get_modified_at(SourceFile(path=source.path))


def read_head(source: SourceFile) -> bytes:
    """Return the first bytes of a source."""
    with wrap_read_errors(source.path), open_bytes(source) as stream:
        return stream.read(PROBE_BYTES)


def find_bom_encoding(head: bytes) -> str | None:
    """Return the encoding of a byte order mark, if there is one."""
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None


def detect_encoding(source: SourceFile) -> str:
    """Return the encoding of a text: by its byte order mark, else UTF-8, else Windows-1252."""
    marked = find_bom_encoding(read_head(source))
    if marked is not None:
        return marked
    decoder = codecs.getincrementaldecoder("utf-8")()
    with wrap_read_errors(source.path), open_bytes(source) as stream:
        try:
            while chunk := stream.read(CHUNK_BYTES):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def read_lines(
    source: SourceFile, encoding: str, *, max_chars: int = MAX_TEXT_CHARS
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with numbers from 1, without line ends. Raises ImportRefused."""
    number = 0
    with wrap_read_errors(source.path), open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding)
        try:
            while line := text.readline(max_chars + 1):
                number += 1
                if len(line) > max_chars:
                    raise ImportRefused(
                        localizable(
                            "import_line_long", "this line is too long.", longest=max_chars
                        ),
                        line=number,
                        expected=f"at most {max_chars:,} characters",
                    )
                yield number, line.removesuffix("\n")
        except UnicodeError as error:
            raise ImportRefused(
                localizable("import_no_text", "this is not text."),
                line=number + 1,
                expected="text in UTF-8",
            ) from error
