"""WhatsApp exports: ``.txt``, or the ``.zip`` as the phone made it.

Times are local to the phone that made it. The file does not say who owns the memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import PurePath
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import MAX_TEXT_CHARS, sanitize_text
from oldfriend.transfer.formats.parsed_message import (
    AddNotice,
    ChatFormat,
    ContentIds,
    ParsedMessage,
)
from oldfriend.transfer.formats.source import FormatProbe, SourceFile, detect_encoding, read_lines
from oldfriend.transfer.formats.whatsapp_lines import (
    HeaderStyle,
    MessageHeader,
    find_header,
    find_media,
    is_forwarded,
    is_placeholder,
    is_system_notice,
    split_speaker,
    strip_edit_mark,
)

CENTURY: Final = 2000  # WhatsApp began in 2009


@dataclass(frozen=True, slots=True, kw_only=True)
class DateOrder:
    """Which position holds the year, the month and the day."""

    name: str
    example: str
    year: int
    month: int
    day: int


DAY_FIRST: Final = DateOrder(name="day first", example="31/12/2023", year=2, month=1, day=0)
MONTH_FIRST: Final = DateOrder(name="month first", example="12/31/2023", year=2, month=0, day=1)
YEAR_FIRST: Final = DateOrder(name="year first", example="2023/12/31", year=0, month=1, day=2)
ORDERS: Final = (DAY_FIRST, MONTH_FIRST, YEAR_FIRST)


@dataclass(slots=True)
class DateOrderScore:
    """How well one order fits the headers so far."""

    order: DateOrder
    impossible: int = 0
    backward: int = 0
    day_changes: int = 0
    year_changes: int = 0
    last: date | None = None

    def add(self, header: MessageHeader) -> None:
        """Count one more header."""
        day = build_date(header, self.order)
        if day is None:
            self.impossible += 1
            return
        if self.last is not None:
            self.backward += day < self.last
            self.day_changes += day.day != self.last.day
            self.year_changes += day.year != self.last.year
        self.last = day


@dataclass(slots=True)
class DateOrderDetector:
    """The scores of all orders for one file."""

    scores: tuple[DateOrderScore, ...] = field(
        default_factory=lambda: tuple(DateOrderScore(order) for order in ORDERS)
    )
    has_dots: bool = False
    is_american: bool = False
    last: tuple[int, int, int] | None = None

    def add(self, header: MessageHeader) -> None:
        """Count one more header; one with the same date as the last is skipped."""
        if header.numbers == self.last:
            return
        self.last = header.numbers
        self.has_dots |= header.has_dots()
        self.is_american |= header.is_american()
        for score in self.scores:
            score.add(header)

    def choose(self) -> tuple[DateOrder, bool]:
        """Return the order that fits best, and whether the dates leave no doubt."""
        by_dates = {trial.order.name: (trial.impossible, trial.backward) for trial in self.scores}
        best = min(by_dates.values())
        candidates = [trial for trial in self.scores if by_dates[trial.order.name] == best]
        if len(candidates) > 1:  # nobody writes 31/12/23 for a day in 2031
            candidates = [trial for trial in candidates if trial.order != YEAR_FIRST]
        if len(candidates) == 1:
            return candidates[0].order, True
        if self.has_dots != self.is_american:
            preferred = MONTH_FIRST if self.is_american else DAY_FIRST
            by_style = [trial for trial in candidates if trial.order == preferred]
            if by_style:
                return preferred, True
        likely = min(candidates, key=lambda trial: (trial.year_changes, -trial.day_changes))
        return likely.order, False


def build_date(header: MessageHeader, order: DateOrder) -> date | None:
    """Return the date of a header read in an order; None if there is no such day."""
    if header.year_position not in {None, order.year}:
        return None
    year = header.numbers[order.year]
    try:
        return date(
            year + CENTURY if year < 100 else year,
            header.numbers[order.month],
            header.numbers[order.day],
        )
    except ValueError:
        return None


def build_datetime(header: MessageHeader, order: DateOrder) -> datetime | None:
    """Return the local time of a header read in an order; None if there is no such day."""
    day = build_date(header, order)
    return (
        None
        if day is None
        else datetime.combine(day, time(header.hour, header.minute, header.second))
    )


EXPECTED: Final = 'a date, a time and a name, such as "31/12/2023, 21:05 - Ana: hello"'
_FILE_NAME: Final = re.compile(r"^_chat\.txt$|whatsapp", re.I)
IPHONE_CHAT_FILE: Final = "_chat.txt"
_TITLE: Final = re.compile(
    r"\A.*whatsapp[\s-]*(?:chat)?\s*(?:with|con|mit|avec|com|met|-|–)?\s+(?P<name>.+)", re.I
)
_COPY: Final = re.compile(r"(?<!\s)\s*\(\d+\)$")


@dataclass(slots=True)
class PendingMessage:
    """A message whose last line may not have been read yet."""

    line: int
    header: MessageHeader
    sent_at: datetime
    lines: list[str] = field(default_factory=list)
    length: int = 0

    def add_line(self, line: str, number: int) -> None:
        """Add one more line. Raises ImportRefused when the message gets too long."""
        self.length += len(line) + 1
        if self.length > MAX_TEXT_CHARS:
            raise ImportRefused(
                localizable("import_message_endless", "the message does not end."),
                line=number,
                expected=EXPECTED,
            )
        self.lines.append(line)


def can_parse(probe: FormatProbe) -> bool:
    """Return whether a text begins with a message header or has a WhatsApp file name."""
    if not probe.is_text or probe.source.suffix not in {".txt", ".text", ""}:
        return False
    first = next((line for line in probe.text.splitlines() if line.strip()), "")
    named = _FILE_NAME.search(probe.source.name) is not None
    return named or find_header(first, None) is not None


def parse(source: SourceFile, add_notice: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the messages of the chat in the order of the file. Raises ImportRefused."""
    encoding = detect_encoding(source)
    style, order = detect_layout(source, encoding, add_notice)
    title = parse_title(source)
    ids = ContentIds()
    for pending in join_lines(source, encoding, style, order, add_notice):
        yield parse_message(pending, title, ids)


def detect_layout(
    source: SourceFile, encoding: str, add_notice: AddNotice
) -> tuple[HeaderStyle, DateOrder]:
    """Return the header style and date order of a file, detected from all its headers.

    Raises ImportRefused.
    """
    style: HeaderStyle | None = None
    detector = DateOrderDetector()
    # A line with this prefix repeats the date of the last header. Initially none matches.
    same_day = "\n"
    for number, line in read_lines(source, encoding):
        if line.startswith(same_day):
            continue
        header = find_header(line, style)
        if header is not None:
            style, same_day = header.style, header.prefix
            detector.add(header)
        elif style is None and line.strip("\ufeff\u200e \t"):
            raise ImportRefused(
                localizable("import_no_message_here", "no message begins here."),
                line=number,
                expected=EXPECTED,
            )
    if style is None:
        raise ImportRefused(
            localizable("import_file_empty", "the file is empty."), line=1, expected=EXPECTED
        )
    order, is_sure = detector.choose()
    if not is_sure:
        add_notice(
            localizable(
                "notice_dates_ambiguous",
                f"The dates can be read in more than one way; they are taken as {order.name} "
                f"(as in {order.example}).",
                order=order.name,
                example=order.example,
            )
        )
    return style, order


def join_lines(
    source: SourceFile, encoding: str, style: HeaderStyle, order: DateOrder, add_notice: AddNotice
) -> Iterator[PendingMessage]:
    """Yield the messages with their lines joined again. Raises ImportRefused."""
    pending: PendingMessage | None = None
    for number, line in read_lines(source, encoding):
        header = find_header(line, style)
        sent_at = None if header is None else build_datetime(header, order)
        if header is not None and sent_at is not None:
            if pending is not None:
                yield pending
            pending = PendingMessage(line=number, header=header, sent_at=sent_at)
            pending.add_line(header.body, number)
        elif pending is not None:
            pending.add_line(line, number)
            if header is not None:
                add_notice(
                    localizable(
                        "notice_line_kept",
                        f"Line {number} begins like a message, but its date is not {order.name}; "
                        "it is kept as part of the message before it.",
                        line=number,
                        order=order.name,
                        example=order.example,
                    )
                )
        elif header is not None:
            raise ImportRefused(
                localizable("import_no_such_day", "there is no such day."),
                line=number,
                expected=f"a date, {order.name}",
            )
    if pending is not None:
        yield pending


def parse_message(pending: PendingMessage, title: str, ids: ContentIds) -> ParsedMessage:
    """Parse a pending message, by a speaker or by WhatsApp itself."""
    full_text = "\n".join(pending.lines).rstrip()
    speaker_and_text = split_speaker(full_text)
    if speaker_and_text is None or is_system_notice(speaker_and_text[1]):
        speaker, text, is_system = "", full_text.replace("\u200e", ""), True
    else:
        (speaker, text), is_system = speaker_and_text, False
    plain, was_edited = strip_edit_mark(text)
    details = {} if is_system else dict(find_media(plain))
    if was_edited:
        details["edited"] = "yes"
    plain = plain.removeprefix("\u200e")
    return ParsedMessage(
        line=pending.line,
        chat=title,
        chat_title=title,
        speaker=speaker,
        role="system" if is_system else None,
        text=plain,
        at=pending.sent_at,
        details=details,
        external_id=ids.derive(time=pending.header.format_time_key(), speaker=speaker, text=plain),
        is_placeholder=is_placeholder(plain, details),
        outside=not is_system and is_forwarded(plain),
    )


def parse_title(source: SourceFile) -> str:
    """Return the chat partner or group, from the file name given by WhatsApp."""
    name = source.name
    # The iPhone puts the name only on the zip, or on the folder in it.
    if name.lower() == IPHONE_CHAT_FILE:
        container = source.path if source.member else source.path.parent
        name = PurePath(source.key).parent.name or container.name
    stem = _COPY.sub("", sanitize_text(PurePath(name).stem))
    named = _TITLE.fullmatch(stem)
    return named["name"].strip() if named else stem


WHATSAPP: Final = ChatFormat(
    name="whatsapp",
    title="WhatsApp: the exported .txt or .zip",
    chats_have_ids=False,
    can_parse=can_parse,
    parse=parse,
)
