"""What does a text or a Markdown file say? The person's own notes, at the file's date.

A date in the front matter is the date; else the file's own. Nothing of the words is lost.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePath
from typing import Final

from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.transfer.formats.chunks import chunks_of
from oldfriend.transfer.formats.derived_ids import DerivedIds
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import Glimpse, Source, changed_at, encoding_of, lines_of

TEXT_SUFFIXES: Final = frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".org", ""})
FENCE: Final = "---"
MOST_FRONT_LINES: Final = 200
_FIELD: Final = re.compile(r"([\w-]+):\s*(.*)")
_ITEM: Final = re.compile(r"\s*-\s+(.*)")
_DATE_KEYS: Final = ("date", "created", "created_at")
_TITLE_KEY: Final = "title"


def recognise(glimpse: Glimpse) -> bool:
    """Any text that says by its name that it is one."""
    return glimpse.is_text and glimpse.source.suffix in TEXT_SUFFIXES


def read(source: Source, note: Note) -> Iterator[ParsedMessage]:
    """The notes in the file, piece by piece. Raises ImportRefused."""
    encoding = encoding_of(source)
    front, first_line = front_matter_of(source, encoding)
    title = front.get(_TITLE_KEY) or PurePath(source.name).stem or source.name
    at = date_in(front, note) or changed_at(source)
    ids = DerivedIds()
    flattened = ((1, f"{key}: {value}") for key, value in front.items())
    body = (numbered for numbered in lines_of(source, encoding) if numbered[0] >= first_line)
    for lines in (flattened, body):
        for chunk in chunks_of(lines):
            text = storable(chunk.text)
            yield ParsedMessage(
                line=chunk.line, chat=storable(source.key), chat_title=storable(title), speaker="",
                role="person", text=text, at=at, details={"file": storable(source.name)},
                external_id=ids.next(moment="", speaker="", text=text),
            )  # fmt: skip


def front_matter_of(source: Source, encoding: str) -> tuple[dict[str, str], int]:
    """The fields above the text, flattened, and the line where the text begins."""
    fields: dict[str, str] = {}
    key = ""
    for number, line in lines_of(source, encoding):
        if number == 1 and line.rstrip() == FENCE and source.suffix in {".md", ".markdown"}:
            continue
        if number == 1 or number > MOST_FRONT_LINES:
            break
        if line.rstrip() in {FENCE, "..."}:
            return {name: value for name, value in fields.items() if value}, number + 1
        field, item = _FIELD.fullmatch(line), _ITEM.fullmatch(line)
        if field is not None:
            key = field[1]
            fields[key] = field[2].strip().strip("\"'[]")
        elif key:
            more = item[1] if item is not None else line.strip()
            fields[key] = ", ".join(part for part in (fields[key], more) if part)
    return {}, 1


def date_in(front: dict[str, str], note: Note) -> datetime | None:
    """The date that the front matter gives, if it is one."""
    told = next((front[key] for key in _DATE_KEYS if front.get(key)), None)
    if told is None:
        return None
    try:
        return datetime.fromisoformat(told)
    except ValueError:
        note(saying(
            "notice_date_unknown",
            f"The date {told[:40]!r} was not understood; the file's own date is used.",
            date=told[:40],
        ))  # fmt: skip
        return None


NOTES: Final = Format(
    name="notes", title="notes: .txt or .md", chats_have_ids=False, recognise=recognise, read=read
)
