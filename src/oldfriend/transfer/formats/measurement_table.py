"""Measurement tables: ``.csv`` files with a column of dates and columns of numbers by name."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.measurements.lexicon import list_date_titles, list_lexicons
from oldfriend.measurements.measurement_questions import list_names
from oldfriend.measurements.measures import get_measure
from oldfriend.measurements.quantities import normalize_number
from oldfriend.transfer.formats.csv_table import detect_delimiter
from oldfriend.transfer.formats.health_days import (
    DayReading,
    HealthDays,
    name_lines,
    parse_finite,
    parse_usual_day,
)
from oldfriend.transfer.formats.parsed_message import AddNotice, ChatFormat, ParsedMessage
from oldfriend.transfer.formats.source import (
    FormatProbe,
    SourceFile,
    detect_encoding,
    read_lines,
)

LONG_COLUMNS: Final = ("name", "value")
MAX_COLUMNS: Final = 50


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is a table with dates and at least one measure that is known."""
    if not probe.is_text or probe.source.suffix != ".csv":
        return False
    first = probe.text.lstrip("\ufeff").split("\n", 1)[0].strip()
    delimiter = max(",;\t", key=first.count)
    try:
        header = next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        return False
    return find_date_column(header) is not None and bool(find_columns(header) or is_long(header))


def parse(source: SourceFile, add_notice: AddNotice) -> Iterator[ParsedMessage]:
    """Yield one message for each day. Raises ImportRefused."""
    encoding = detect_encoding(source)
    lines = (f"{line}\n" for _, line in read_lines(source, encoding))
    reader = csv.reader(lines, delimiter=detect_delimiter(source, encoding))
    days, unread = HealthDays(title=source.name), list[int]()
    try:
        columns = read_header([each.lstrip("\ufeff") for each in next(reader, [])])
        for row in reader:
            if any(row) and not read_row(columns, row, days):
                unread.append(reader.line_num)
    except csv.Error as error:
        raise ImportRefused(
            localizable(
                "import_table_broken", f"the table cannot be read ({error}).", error=str(error)
            ),
            line=reader.line_num,
            expected="rows of values",
        ) from error
    if unread:
        add_notice(
            localizable(
                "notice_health_unread",
                f"{len(unread):,} health records could not be read and are left out.",
                count=len(unread),
            )
        )
        add_notice(name_lines(unread))
    yield from days.iterate_messages()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumns:
    """What the header of a table says."""

    titles: Sequence[str]
    date_column: int | None
    measures: dict[int, tuple[str, str]]  # by column; none where each row names its measure
    is_long: bool


def read_header(header: Sequence[str]) -> TableColumns:
    """Read the header once for all rows."""
    return TableColumns(
        titles=fold(header),
        date_column=find_date_column(header),
        measures={} if is_long(header) else find_columns(header),
        is_long=is_long(header),
    )


def read_row(columns: TableColumns, row: Sequence[str], days: HealthDays) -> bool:
    """Add the values of a row to its day; return whether it had any."""
    at = columns.date_column
    day = parse_day(row[at]) if at is not None and at < len(row) else None
    if day is None:
        return False
    if columns.is_long:
        cells = {name: cell.strip() for name, cell in zip(columns.titles, row, strict=False)}
        found = [(cells.get("name", ""), cells.get("value", ""), cells.get("unit", ""))]
    else:
        found = [
            (name, row[column], unit)
            for column, (name, unit) in columns.measures.items()
            if column < len(row)
        ]
    readings = [build_reading(*each) for each in found if each[1].strip()]
    for each in readings:
        if each is not None:
            days.add(day, each)
    return any(each is not None for each in readings)


def build_reading(name: str, cell: str, unit: str) -> DayReading | None:
    """Build a value from a cell; None for one that is no number."""
    likely, _ = normalize_number(cell.strip(), has_decimal_comma="," in cell and "." not in cell)
    known = find_measure(name) or name.strip().casefold()
    measure = get_measure(known, unit)
    try:
        return DayReading(known, parse_finite(likely), unit or measure.unit)
    except ValueError:
        return None


def find_date_column(header: Sequence[str]) -> int | None:
    """Return the column of dates."""
    return next((at for at, name in enumerate(fold(header)) if name in list_date_titles()), None)


def is_long(header: Sequence[str]) -> bool:
    """Tell whether each row names what it measures."""
    return set(LONG_COLUMNS) <= set(fold(header))


def find_columns(header: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return the columns of known measures, with the unit that stands beside the name."""
    found: dict[int, tuple[str, str]] = {}
    for at, title in enumerate(header[:MAX_COLUMNS]):
        name = find_measure(title)
        if name is not None:
            found[at] = name, find_unit(title)
    return found


def find_measure(title: str) -> str | None:
    """Return the measure that a title names in any language."""
    for lexicon in list_lexicons("en"):
        names = list_names(lexicon.split_tokens(title.replace("_", " ")))
        if names:
            return names[0]
    return None


def find_unit(title: str) -> str:
    """Return the unit that a title names, such as kg in "weight (kg)"."""
    for lexicon in list_lexicons("en"):
        units = [each.unit for each in lexicon.split_tokens(title.replace("_", " ")) if each.unit]
        if units:
            return units[-1]
    return ""


def fold(header: Sequence[str]) -> list[str]:
    """Return titles as they are compared."""
    return [each.strip().casefold() for each in header]


def parse_day(text: str) -> date | None:
    """Return the day of a cell; None if it is none."""
    plain = text.strip()[: len("2024-05-03")]
    parts = plain.replace("/", ".").split(".")
    if len(parts) == 3:
        plain = "-".join(each.zfill(2) for each in reversed(parts))
    try:
        return parse_usual_day(plain)
    except ValueError:
        return None


MEASUREMENT_TABLE: Final = ChatFormat(
    name="measurement_table",
    title="numbers by day: .csv with a date column",
    chats_have_ids=True,
    can_parse=can_parse,
    parse=parse,
)
