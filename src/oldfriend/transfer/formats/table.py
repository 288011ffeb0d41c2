"""What does a table say? ``.csv``, eight rows a piece (ACCEPTANCE O2), as something read."""

import csv
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.transfer.formats.derived_ids import DerivedIds
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import Glimpse, Source, changed_at, encoding_of, lines_of

ROWS_A_PIECE: Final = 8
SEPARATORS: Final = ",;\t"


def recognise(glimpse: Glimpse) -> bool:
    """A text whose name says that it is a table."""
    return glimpse.is_text and glimpse.source.suffix == ".csv"


def read(source: Source, _: Note) -> Iterator[ParsedMessage]:
    """The rows, each value with the name of its column. Raises ImportRefused."""
    at, ids = changed_at(source), DerivedIds()
    for line, rows in pieces_of(source):
        text = storable("\n".join(rows))
        yield ParsedMessage(
            line=line, chat=storable(source.key), speaker="", role="person", text=text,
            chat_title=storable(PurePath(source.name).stem), at=at, outside=True,
            details={"file": storable(source.name)},
            external_id=ids.next(moment="", speaker="", text=text),
        )  # fmt: skip


def pieces_of(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Eight rows at a time, flattened, with the line where they end."""
    encoding = encoding_of(source)
    header: list[str] = []
    rows: list[str] = []
    lines = (f"{line}\n" for _, line in lines_of(source, encoding))
    reader = csv.reader(lines, delimiter=separator_of(source, encoding))
    try:
        for row in reader:
            if not header:
                header = row
            elif any(row):
                rows.append(flattened(header, row))
            if len(rows) == ROWS_A_PIECE:
                yield reader.line_num, rows
                rows = []
    except csv.Error as error:
        raise ImportRefused(
            saying("import_table_broken", f"the table cannot be read ({error}).", error=str(error)),
            line=reader.line_num,
            expected="rows of values",
        ) from error
    if rows or header:
        yield reader.line_num, rows or [", ".join(header)]


def separator_of(source: Source, encoding: str) -> str:
    """What stands between the values: what the first line has most of."""
    _, first = next(lines_of(source, encoding), (1, ""))
    return max(SEPARATORS, key=first.count)


def flattened(header: list[str], row: list[str]) -> str:
    """A row as words."""
    names = [*header, *("" for _ in row[len(header) :])]
    named = [(name, value) for name, value in zip(names, row, strict=False) if value]
    return ", ".join(f"{name}: {value}" if name else value for name, value in named)


TABLE: Final = Format(
    name="table", title="tables: .csv", chats_have_ids=False, recognise=recognise, read=read
)
