"""What kind of file is this? By what stands in it first, and only then by its name."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.sayings import saying
from oldfriend.transfer.formats.chatgpt import CHATGPT
from oldfriend.transfer.formats.claude import CLAUDE
from oldfriend.transfer.formats.json_pieces import keys_at_front
from oldfriend.transfer.formats.jsonl import JSONL
from oldfriend.transfer.formats.notes import NOTES
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import (
    Glimpse,
    Source,
    encoding_by_mark,
    encoding_of,
    head_of,
    sources_in,
)
from oldfriend.transfer.formats.table import TABLE
from oldfriend.transfer.formats.telegram import TELEGRAM
from oldfriend.transfer.formats.whatsapp import WHATSAPP

FORMATS: Final = (TELEGRAM, CHATGPT, CLAUDE, JSONL, WHATSAPP, TABLE, NOTES)
"""In the order in which they are tried: the surest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A file whose format is known."""

    path: Path
    format: Format
    sources: tuple[Source, ...]

    def messages(self, note: Note) -> Iterator[ParsedMessage]:
        """Everything that was said, in the order of the file. Raises ImportRefused."""
        for source in self.sources:
            yield from self.format.read(source, note)


def find_format(path: Path) -> Export:
    """The export at a path. Raises ImportRefused when it is none that can be read."""
    glimpses = [glimpse_of(source) for source in sources_in(path)]
    for candidate in FORMATS:
        sources = tuple(glimpse.source for glimpse in glimpses if candidate.recognise(glimpse))
        if sources:
            return Export(path=path, format=candidate, sources=sources)
    raise ImportRefused(saying(
        "import_unknown_kind",
        f"{path.name} is nothing that can be imported{hint_for(path)}.\n{readable()}",
        name=path.name, hint=hint_for(path),
    ))  # fmt: skip


def readable() -> str:
    """What can be imported, a line each."""
    titles = [entry.title for entry in FORMATS]
    return "What can be imported:\n" + "\n".join(f"  - {title}" for title in titles)


def hint_for(path: Path) -> str:
    """What to do about a file that is close to one that can be read."""
    if path.suffix.lower() in {".html", ".htm"}:
        return saying(
            "import_html_hint", " (of Telegram, export machine-readable JSON instead of HTML)",
        )  # fmt: skip
    return ""


def glimpse_of(source: Source) -> Glimpse:
    """A look at the beginning of a source."""
    head = head_of(source)
    text = decoded(head)
    is_json = text is not None and text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}
    return Glimpse(
        source=source, text=text or "", is_text=bool(text),
        keys=keys_at_front(source) if is_json else frozenset(),
    )  # fmt: skip


def decoded(head: bytes) -> str | None:
    """The beginning of a text, or None for what is none."""
    marked = encoding_by_mark(head)
    if marked is None and b"\x00" in head:
        return None
    for encoding in (marked or "utf-8", "cp1252"):
        try:
            return codecs.getincrementaldecoder(encoding)().decode(head)
        except UnicodeDecodeError:
            continue
    return None


def note_old_encodings(export: Export, note: Note) -> None:
    """Mention texts that are in no Unicode encoding."""
    for source in export.sources:
        if source.suffix != ".json" and encoding_of(source) == "cp1252":
            note(saying(
                "notice_no_utf8", f"{source.name} is not UTF-8; it is read as Windows-1252.",
                name=source.name,
            ))  # fmt: skip
