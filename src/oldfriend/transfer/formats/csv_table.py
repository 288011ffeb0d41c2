"""CSV tables: ``.csv`` files as documents, eight rows to a chunk."""

import csv
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from oldfriend.domain.errors import ImportRefused
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

ROWS_PER_MESSAGE: Final = 8
DELIMITERS: Final = ",;\t"


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is a text with the suffix of a table."""
    return probe.is_text and probe.source.suffix == ".csv"


def parse(source: SourceFile, _: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the rows, each value with the name of its column. Raises ImportRefused."""
    at, ids = get_modified_at(source), ContentIds()
    for line, rows in group_rows(source):
        text = sanitize_text("\n".join(rows))
        yield ParsedMessage(
            line=line,
            chat=sanitize_text(source.key),
            speaker="",
            role="person",
            text=text,
            chat_title=sanitize_text(PurePath(source.name).stem),
            at=at,
            outside=True,
            details={"file": sanitize_text(source.name)},
            external_id=ids.derive(time="", speaker="", text=text),
        )


def group_rows(source: SourceFile) -> Iterator[tuple[int, list[str]]]:
    """Yield eight formatted rows at a time, with the line where they end. Raises ImportRefused."""
    encoding = detect_encoding(source)
    header: list[str] = []
    rows: list[str] = []
    lines = (f"{line}\n" for _, line in read_lines(source, encoding))
    reader = csv.reader(lines, delimiter=detect_delimiter(source, encoding))
    try:
        for row in reader:
            if not header:
                header = row
            elif any(row):
                rows.append(format_row(header, row))
            if len(rows) == ROWS_PER_MESSAGE:
                yield reader.line_num, rows
                rows = []
    except csv.Error as error:
        raise ImportRefused(
            localizable(
                "import_table_broken", f"the table cannot be read ({error}).", error=str(error)
            ),
            line=reader.line_num,
            expected="rows of values",
        ) from error
    if rows or header:
        yield reader.line_num, rows or [", ".join(header)]


def detect_delimiter(source: SourceFile, encoding: str) -> str:
    """Return the delimiter that occurs most often in the first line."""
    _, first = next(read_lines(source, encoding), (1, ""))
    return max(DELIMITERS, key=first.count)


def format_row(header: list[str], row: list[str]) -> str:
    """Format a row as text."""
    names = [*header, *("" for _ in row[len(header) :])]
    named = [(name, value) for name, value in zip(names, row, strict=False) if value]
    return ", ".join(f"{name}: {value}" if name else value for name, value in named)


TABLE: Final = ChatFormat(
    name="table", title="tables: .csv", chats_have_ids=False, can_parse=can_parse, parse=parse
)
