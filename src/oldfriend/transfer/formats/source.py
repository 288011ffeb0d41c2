"""Where are the bytes of an export, and how do they become text?

A source is a file, or a file inside a zip. Knows nothing of what the text means.
"""

import codecs
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path, PurePosixPath
from typing import IO

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import MAX_TEXT
from oldfriend.domain.sayings import saying

GLIMPSED_BYTES = 65_536
CHUNK_BYTES = 1 << 20
MOST_MEMBERS = 10_000
MOST_UNFOLDED = 2 << 30
"""Bytes in all files of a zip together; no talk is as large, and what is may be a trap."""
READABLE_SUFFIXES = frozenset(
    {".txt", ".text", ".md", ".markdown", ".json", ".jsonl", ".ndjson", ".csv"}
)

_UNREADABLE = (
    OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
    NotImplementedError,  # a way of compressing that Python does not know
    RuntimeError,  # how zipfile says that a password is needed
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, or one inside a zip."""

    path: Path
    member: str | None = None

    @property
    def name(self) -> str:
        """The name of the file itself."""
        return PurePosixPath(self.member).name if self.member else self.path.name

    @property
    def key(self) -> str:
        """What tells the file from others beside it."""
        return self.member or self.path.name

    @property
    def suffix(self) -> str:
        """The ending of the name, in small letters."""
        return PurePosixPath(self.name).suffix.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Glimpse:
    """What the beginning of a source shows."""

    source: Source
    text: str
    is_text: bool
    keys: frozenset[str]  # of the first objects, if it is JSON


def sources_in(path: Path) -> list[Source]:
    """The readable files at a path: itself, or those inside a zip. Raises ImportRefused."""
    if path.is_dir():
        raise ImportRefused(
            f"{path} is a folder. Name the file in it, such as result.json or the .zip as it came."
        )
    if not path.is_file():
        raise ImportRefused(f"There is no file {path}.")
    with refusing_unreadable(path):
        if path.stat().st_size == 0:
            raise ImportRefused(saying("empty_file", "This file is empty."))
        if not zipfile.is_zipfile(path):
            if path.suffix.lower() == ".zip":
                raise zipfile.BadZipFile("it is a damaged zip, or none")
            return [Source(path=path)]
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            unfolded = sum(
                each.file_size for each in archive.infolist() if is_worth_a_look(each.filename)
            )
    if unfolded > MOST_UNFOLDED:
        raise ImportRefused(saying(
            "import_unfolds",
            f"{path.name} unfolds to {unfolded / (1 << 30):,.0f} GB, at most "
            f"{MOST_UNFOLDED >> 30} GB are read. Give the file in it that holds the talk.",
            name=path.name, gb=round(unfolded / (1 << 30)), most=MOST_UNFOLDED >> 30,
        ))  # fmt: skip
    if len(names) > MOST_MEMBERS * 100:
        raise ImportRefused(saying(
            "import_too_many_files", f"{path.name} holds too many files ({len(names):,}).",
            name=path.name, count=len(names),
        ))  # fmt: skip
    found = [Source(path=path, member=name) for name in sorted(names) if is_worth_a_look(name)]
    return found[:MOST_MEMBERS]


def is_worth_a_look(member: str) -> bool:
    """Whether a file in a zip may hold an export."""
    parts = PurePosixPath(member).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not hidden and PurePosixPath(member).suffix.lower() in READABLE_SUFFIXES


@contextmanager
def refusing_unreadable(path: Path) -> Iterator[None]:
    """Turn every way in which bytes can be out of reach into ImportRefused."""
    try:
        yield
    except _UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ImportRefused(saying(
            "import_unreadable", f"{path.name} cannot be read: {reason or error}.", name=path.name,
            reason=str(reason or error),
        )) from error  # fmt: skip


@contextmanager
def open_bytes(source: Source) -> Iterator[IO[bytes]]:
    """The bytes of a source, as a stream."""
    if source.member is None:
        with source.path.open("rb") as stream:
            yield stream
    else:
        with zipfile.ZipFile(source.path) as archive, archive.open(source.member) as stream:
            yield stream


def changed_at(source: Source) -> datetime:
    """When the file was last changed: a moment, or for a file in a zip the local time there."""
    with refusing_unreadable(source.path):
        if source.member is None:
            return datetime.fromtimestamp(source.path.stat().st_mtime, UTC)
        with zipfile.ZipFile(source.path) as archive:
            stamp = archive.getinfo(source.member).date_time
    try:
        return datetime.combine(date(*stamp[:3]), time(*stamp[3:]))
    except ValueError:
        return changed_at(Source(path=source.path))


def head_of(source: Source) -> bytes:
    """The first bytes of a source."""
    with refusing_unreadable(source.path), open_bytes(source) as stream:
        return stream.read(GLIMPSED_BYTES)


def encoding_by_mark(head: bytes) -> str | None:
    """The encoding that a byte order mark names."""
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None


def encoding_of(source: Source) -> str:
    """The encoding of a text: by its mark, else UTF-8, else Windows' Western one."""
    marked = encoding_by_mark(head_of(source))
    if marked is not None:
        return marked
    decoder = codecs.getincrementaldecoder("utf-8")()
    with refusing_unreadable(source.path), open_bytes(source) as stream:
        try:
            while chunk := stream.read(CHUNK_BYTES):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def lines_of(
    source: Source, encoding: str, *, longest: int = MAX_TEXT
) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers from 1, without their ends. Raises ImportRefused."""
    number = 0
    with refusing_unreadable(source.path), open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding)
        try:
            while line := text.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise ImportRefused(
                        saying("import_line_long", "this line is too long.", longest=longest),
                        line=number, expected=f"at most {longest:,} characters",
                    )  # fmt: skip
                yield number, line.removesuffix("\n")
        except UnicodeError as error:
            raise ImportRefused(
                saying("import_no_text", "the bytes here are no text."),
                line=number + 1,
                expected="text in UTF-8",
            ) from error
