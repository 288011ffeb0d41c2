"""Documents: text and Markdown files as the person's own notes, in chunks that can be quoted.

Whole paragraphs are joined up to a size limit. A longer paragraph is split into overlapping
windows, so that no sentence is lost at a cut.

The date comes from the front matter, else from the file. No text is lost.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Final

from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import sanitize_text
from oldfriend.transfer.formats.parsed_message import (
    AddNotice,
    ChatFormat,
    ContentIds,
    ParsedMessage,
)
from oldfriend.transfer.formats.source import (
    FormatProbe,
    SourceFile,
    detect_encoding,
    get_modified_at,
    read_lines,
)

MAX_CHUNK_CHARS: Final = 2000
WINDOW_CHARS: Final = 1500
OVERLAP_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """A chunk of a text and the line where it begins."""

    line: int
    text: str


def split_chunks(lines: Iterable[tuple[int, str]]) -> Iterator[TextChunk]:
    """Yield the chunks of a text, given as numbered lines, in order."""
    pending: TextChunk | None = None
    for paragraph in split_paragraphs(lines):
        if pending is not None and len(pending.text) + 2 + len(paragraph.text) <= MAX_CHUNK_CHARS:
            pending = TextChunk(line=pending.line, text=f"{pending.text}\n\n{paragraph.text}")
            continue
        if pending is not None:
            yield from split_windows(pending)
        pending = paragraph
    if pending is not None:
        yield from split_windows(pending)


def split_paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[TextChunk]:
    """Yield the paragraphs between blank lines; a very long one is split at a line end."""
    start, gathered, length = 0, list[str](), 0
    for number, line in lines:
        if line.strip() and length < 10 * MAX_CHUNK_CHARS:
            start = start if gathered else number
            gathered.append(line)
            length += len(line)
            continue
        if gathered:
            yield TextChunk(line=start, text="\n".join(gathered))
        start, gathered = number, [line] if line.strip() else []
        length = len(line)
    if gathered:
        yield TextChunk(line=start, text="\n".join(gathered))


def split_windows(chunk: TextChunk) -> Iterator[TextChunk]:
    """Yield the chunk itself, or overlapping windows of it if it is too long."""
    if len(chunk.text) <= MAX_CHUNK_CHARS:
        yield chunk
        return
    for start in range(0, len(chunk.text) - OVERLAP_CHARS, WINDOW_CHARS - OVERLAP_CHARS):
        yield TextChunk(line=chunk.line, text=chunk.text[start : start + WINDOW_CHARS])


TEXT_SUFFIXES: Final = frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".org", ""})
FRONT_MATTER_FENCE: Final = "---"
MAX_FRONT_MATTER_LINES: Final = 200
_FIELD: Final = re.compile(r"\A([\w-]+):\s*(.*)")
_ITEM: Final = re.compile(r"\A\s*+-\s+(.*)")
_DATE_KEYS: Final = ("date", "created", "created_at")
_TITLE_KEY: Final = "title"


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is a text with the suffix of a text file."""
    return probe.is_text and probe.source.suffix in TEXT_SUFFIXES


def parse(source: SourceFile, add_notice: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the notes in the file, chunk by chunk. Raises ImportRefused."""
    encoding = detect_encoding(source)
    front, first_line = parse_front_matter(source, encoding)
    title = front.get(_TITLE_KEY) or PurePath(source.name).stem or source.name
    at = find_date(front, add_notice) or get_modified_at(source)
    ids = ContentIds()
    flattened = ((1, f"{key}: {value}") for key, value in front.items())
    body = (numbered for numbered in read_lines(source, encoding) if numbered[0] >= first_line)
    for lines in (flattened, body):
        for chunk in split_chunks(lines):
            text = sanitize_text(chunk.text)
            yield ParsedMessage(
                line=chunk.line,
                chat=sanitize_text(source.key),
                chat_title=sanitize_text(title),
                speaker="",
                role="person",
                text=text,
                at=at,
                details={"file": sanitize_text(source.name)},
                external_id=ids.derive(time="", speaker="", text=text),
            )


def parse_front_matter(source: SourceFile, encoding: str) -> tuple[dict[str, str], int]:
    """Return the fields of the front matter, flattened, and the line where the text begins."""
    fields: dict[str, str] = {}
    key = ""
    for number, line in read_lines(source, encoding):
        if (
            number == 1
            and line.rstrip() == FRONT_MATTER_FENCE
            and source.suffix in {".md", ".markdown"}
        ):
            continue
        if number == 1 or number > MAX_FRONT_MATTER_LINES:
            break
        if line.rstrip() in {FRONT_MATTER_FENCE, "..."}:
            return {name: value for name, value in fields.items() if value}, number + 1
        field, item = _FIELD.fullmatch(line), _ITEM.fullmatch(line)
        if field is not None:
            key = field[1]
            fields[key] = field[2].strip().strip("\"'[]")
        elif key:
            more = item[1] if item is not None else line.strip()
            fields[key] = ", ".join(part for part in (fields[key], more) if part)
    return {}, 1


def find_date(front: dict[str, str], add_notice: AddNotice) -> datetime | None:
    """Return the date in the front matter, or None with a notice if it is invalid."""
    stated = next((front[key] for key in _DATE_KEYS if front.get(key)), None)
    if stated is None:
        return None
    try:
        return datetime.fromisoformat(stated)
    except ValueError:
        add_notice(
            localizable(
                "notice_date_unknown",
                f"The date {stated[:40]!r} was not understood; the file's own date is used.",
                date=stated[:40],
            )
        )
        return None


NOTES: Final = ChatFormat(
    name="notes", title="notes: .txt or .md", chats_have_ids=False, can_parse=can_parse, parse=parse
)
