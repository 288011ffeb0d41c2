"""What of forgotten words remains in files? Removed where we may, and looked for everywhere.

The files of the data folder, the copies that were made before a migration, and the bytes of the
database itself where these are ours. What lies elsewhere (exports, backups of others, what a
disk keeps of deleted files) is beyond reach.
"""

import asyncio
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.app.attaching import ATTACHMENTS
from oldfriend.app.parcels import BROUGHT, folders_of
from oldfriend.app.safekeeping import TALK, talks_of
from oldfriend.db.database import Database
from oldfriend.domain.errors import ImportRefused, StoreUnusable
from oldfriend.domain.ids import PersonId
from oldfriend.memory.forgetting.proving import Left
from oldfriend.memory.forgetting.spans import spans_in
from oldfriend.transfer.formats.source import (
    Source,
    encoding_of,
    open_bytes,
    refusing_unreadable,
    sources_in,
)

TYPED: Final = "chat-history-"
"""How the names of the files begin that keep what a person typed."""
DATABASES: Final = (".db", ".db-wal", ".db-shm", ".db-journal")
MOST_TEXTS: Final = 300
_PIECE, _OVERLAP = 1 << 20, 1 << 12
_ENTRY, _LINE = "#", "+"
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e\x80-\xff]{16,}")
"""Text, and what might be; most vectors and numbers are passed over by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is looked for in bytes: runs of words, and whole texts, whatever stands beside them."""

    spans: frozenset[int]
    texts: tuple[tuple[bytes, frozenset[int]], ...]  # each with the runs of words in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Which files were looked at, and which runs of words stand in them, by name."""

    files: int
    found: Mapping[str, frozenset[int]]

    @property
    def spans(self) -> frozenset[int]:
        """Every run of words that was found anywhere."""
        return frozenset[int]().union(*self.found.values())

    def besides(self, allowed: frozenset[int]) -> tuple[Left, ...]:
        """Where something was found that may not be there."""
        return tuple(
            Left(place=name, what="words", count=len(spans - allowed))
            for name, spans in sorted(self.found.items())
            if spans - allowed
        )


def sought(spans: frozenset[int], texts: Iterable[str]) -> Sought:
    """What is looked for: of whole texts only the telling ones, and only so many."""
    whole = [(text.encode(), spans & spans_in(text)) for text in texts]
    return Sought(spans=spans, texts=tuple(each for each in whole if each[1])[:MOST_TEXTS])


def forget_typed(folder: Path, person: PersonId, says_it: Callable[[str], bool] | None) -> int:
    """Take what says it out of the file of what a person typed (None: all); how many entries.

    Raises StoreUnusable.
    """
    file = folder / f"{TYPED}{person}"
    if not file.is_file():
        return 0
    try:
        entries = list(entries_in(file.read_text("utf-8", errors="replace")))
        kept = [] if says_it is None else [each for each in entries if not says_it(typed(each))]
        if len(kept) < len(entries):
            rewrite(file, "".join(kept).encode())
    except OSError as error:
        raise StoreUnusable(f"{file} cannot be rewritten ({error.strerror}).") from error
    return len(entries) - len(kept)


def rewrite(file: Path, content: bytes) -> None:
    """Write a file over in its own place, so that its earlier bytes do not stay on the disk."""
    with file.open("r+b") as stream:
        stream.write(content.ljust(file.stat().st_size, b"\n"))
        stream.flush()
        stream.truncate(len(content))


def entries_in(text: str) -> Iterator[str]:
    """The entries of such a file: a line with a time, then the lines that were typed."""
    entry = ""
    for line in text.splitlines(keepends=True):
        if line.startswith(_ENTRY) and entry:
            yield entry
            entry = ""
        entry += line
    if entry:
        yield entry


def typed(entry: str) -> str:
    """What was typed, of an entry."""
    lines = [line[1:] for line in entry.splitlines() if line.startswith(_LINE)]
    return "\n".join(lines)


def remove_backups(db: Database) -> list[Path]:
    """Delete the copies that were made before migrations; those that could not be deleted."""
    stuck: list[Path] = []
    for each in db.backups():
        try:
            each.unlink(missing_ok=True)
        except OSError:
            stuck.append(each)
    return stuck


async def search_files(db: Database, folder: Path, person: PersonId, what: Sought) -> Searched:
    """Look for what is gone in the files of the data folder and in those of the database."""
    found: dict[str, frozenset[int]] = {}

    async def look(file: Path, piece: bytes) -> None:
        here = await asyncio.to_thread(find_in, piece, what)
        found[file.name] = found.get(file.name, frozenset()) | here

    async for file, piece in db.bytes_held():
        await look(file, piece)
    for file in await asyncio.to_thread(other_files, db, folder, person):
        pieces = all_pieces_of(file) if folder / BROUGHT in file.parents else pieces_of(file)
        while piece := await asyncio.to_thread(next_of, pieces):
            await look(file, piece)
    return Searched(files=len(found), found={name: here for name, here in found.items() if here})


def other_files(db: Database, folder: Path, person: PersonId) -> list[Path]:
    """The plain files of the data folder, and the copies of the database.

    Not databases that may be open: they are read otherwise, or are no part of this memory. Not
    what is another person's: it is theirs. Not sounds: nobody's words can be read in them, and
    those that go are deleted by name. Not empty files: whoever opens and closes one lets go of the
    locks of this process on it.
    """
    backups = set(db.backups())
    is_open = set(db.files()) - backups
    around = {each for each in folder.rglob("*") if holds_something(each)}
    sounds = set(folder.glob(f"*{ATTACHMENTS}"))
    own = set(folders_of(folder / BROUGHT, person))
    return sorted(
        each for each in (around | backups) - is_open
        if each.parent.parent not in sounds
        and (each in backups or not each.name.endswith(DATABASES))
        and not (folder / BROUGHT in each.parents and each.parent not in own)
        and not is_of_another(each.name, person)
    )  # fmt: skip


def holds_something(path: Path) -> bool:
    """Whether it is a file with something in it; one that is gone meanwhile is not."""
    with suppress(OSError):
        return path.is_file() and path.stat().st_size > 0
    return False


def is_of_another(name: str, person: PersonId) -> bool:
    """Whether a file bears another person's id, as files do that are somebody's."""
    if name.startswith(TYPED):
        return name != f"{TYPED}{person}"
    return name.startswith(TALK) and not name.startswith(talks_of(person))


def all_pieces_of(file: Path) -> Iterator[bytes]:
    """A file that was handed over piece by piece, and then what can be read in it, in UTF-8."""
    yield from pieces_of(file)
    with suppress(ImportRefused):
        for source in sources_in(file):
            with suppress(ImportRefused):
                yield from read_in(source)


def read_in(source: Source) -> Iterator[bytes]:
    """What stands in a file in another encoding, or inside a zip. Raises ImportRefused."""
    encoding = encoding_of(source)
    if source.member is None and encoding == "utf-8":
        return
    before = ""
    with refusing_unreadable(source.path), open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding, errors="replace")
        while piece := text.read(_PIECE):
            yield (before + piece).encode(errors="replace")
            before = piece[-_OVERLAP:]


def next_of(pieces: Iterator[bytes]) -> bytes:
    """The next piece; nothing after the last."""
    return next(pieces, b"")


def pieces_of(file: Path) -> Iterator[bytes]:
    """A file piece by piece, each with the end of the one before."""
    before = b""
    with suppress(OSError), file.open("rb") as stream:  # gone meanwhile, or not ours to read
        while piece := stream.read(_PIECE):
            yield before + piece
            before = piece[-_OVERLAP:]


def find_in(piece: bytes, what: Sought) -> frozenset[int]:
    """The runs of words that stand in some bytes."""
    found: set[int] = set()
    for run in _READABLE.findall(piece):
        found |= what.spans & spans_in(run.decode("utf-8", errors="replace"))
    for text, spans in what.texts:
        if text in piece:
            found |= spans
    return frozenset(found)
