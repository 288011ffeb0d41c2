"""What does a WhatsApp export say? ``.txt``, or the ``.zip`` as the phone made it.

Times are local to the phone that made it. Who owns the memory is not in the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import MAX_TEXT, storable
from oldfriend.domain.sayings import saying
from oldfriend.transfer.formats.derived_ids import DerivedIds
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import Glimpse, Source, encoding_of, lines_of
from oldfriend.transfer.formats.whatsapp_dates import DateOrder, DateTrials, moment_of
from oldfriend.transfer.formats.whatsapp_heads import Head, Style, find_head
from oldfriend.transfer.formats.whatsapp_phrases import (
    is_notice,
    is_placeholder,
    media_in,
    split_speaker,
    without_edit_mark,
)

EXPECTED: Final = 'a date, a time and a name, such as "31/12/2023, 21:05 - Ana: hello"'
_FILE_NAME: Final = re.compile(r"^_chat\.txt$|whatsapp", re.I)
NAMELESS: Final = "_chat.txt"
_TITLE: Final = re.compile(
    r".*whatsapp[\s-]*(?:chat)?\s*(?:with|con|mit|avec|com|met|-|–)?\s+(?P<name>.+)", re.I
)
_COPY: Final = re.compile(r"\s*\(\d+\)$")


@dataclass(slots=True)
class Draft:
    """A message whose last line may not have come yet."""

    line: int
    head: Head
    at: datetime
    lines: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, line: str, number: int) -> None:
        """Take one more line. Raises ImportRefused when it is no message any more."""
        self.length += len(line) + 1
        if self.length > MAX_TEXT:
            raise ImportRefused(
                saying("import_message_endless", "the message does not end."),
                line=number,
                expected=EXPECTED,
            )
        self.lines.append(line)


def recognise(glimpse: Glimpse) -> bool:
    """A text that begins with a head, or that WhatsApp named."""
    if not glimpse.is_text or glimpse.source.suffix not in {".txt", ".text", ""}:
        return False
    first = next((line for line in glimpse.text.splitlines() if line.strip()), "")
    named = _FILE_NAME.search(glimpse.source.name) is not None
    return named or find_head(first, None) is not None


def read(source: Source, note: Note) -> Iterator[ParsedMessage]:
    """The messages of the chat, in the order of the file. Raises ImportRefused."""
    encoding = encoding_of(source)
    style, order = settle(source, encoding, note)
    title = title_of(source)
    ids = DerivedIds()
    for draft in drafts(source, encoding, style, order, note):
        yield message_of(draft, title, ids)


def settle(source: Source, encoding: str, note: Note) -> tuple[Style, DateOrder]:
    """How this file writes its heads, from all of them."""
    style: Style | None = None
    trials = DateTrials()
    same_day = "\n"  # how a line begins that tells nothing new; at first none does
    for number, line in lines_of(source, encoding):
        if line.startswith(same_day):
            continue
        head = find_head(line, style)
        if head is not None:
            style, same_day = head.style, head.opening
            trials.see(head)
        elif style is None and line.strip("\ufeff\u200e \t"):
            raise ImportRefused(
                saying("import_no_message_here", "no message begins here."),
                line=number,
                expected=EXPECTED,
            )
    if style is None:
        raise ImportRefused(
            saying("import_file_empty", "the file is empty."), line=1, expected=EXPECTED
        )
    order, is_sure = trials.settle()
    if not is_sure:
        note(saying(
            "notice_dates_ambiguous",
            f"The dates can be read in more than one way; they are taken as {order.name} "
            f"(as in {order.example}).",
            order=order.name, example=order.example,
        ))  # fmt: skip
    return style, order


def drafts(
    source: Source, encoding: str, style: Style, order: DateOrder, note: Note
) -> Iterator[Draft]:
    """The messages with their lines joined again."""
    draft: Draft | None = None
    for number, line in lines_of(source, encoding):
        head = find_head(line, style)
        at = None if head is None else moment_of(head, order)
        if head is not None and at is not None:
            if draft is not None:
                yield draft
            draft = Draft(line=number, head=head, at=at)
            draft.add(head.rest, number)
        elif draft is not None:
            draft.add(line, number)
            if head is not None:
                note(saying(
                    "notice_line_kept",
                    f"Line {number} begins like a message, but its date is not {order.name}; "
                    "it is kept as part of the message before it.",
                    line=number, order=order.name, example=order.example,
                ))  # fmt: skip
        elif head is not None:
            raise ImportRefused(
                saying("import_no_such_day", "there is no such day."),
                line=number,
                expected=f"a date, {order.name}",
            )
    if draft is not None:
        yield draft


def message_of(draft: Draft, title: str, ids: DerivedIds) -> ParsedMessage:
    """A draft as a message: somebody's, or WhatsApp's own."""
    whole = "\n".join(draft.lines).rstrip()
    said = split_speaker(whole)
    if said is None or is_notice(said[1]):
        speaker, text, is_system = "", whole.replace("\u200e", ""), True
    else:
        (speaker, text), is_system = said, False
    plain, was_edited = without_edit_mark(text)
    details = {} if is_system else dict(media_in(plain))
    if was_edited:
        details["edited"] = "yes"
    plain = plain.removeprefix("\u200e")
    return ParsedMessage(
        line=draft.line, chat=title, chat_title=title, speaker=speaker,
        role="system" if is_system else None, text=plain, at=draft.at, details=details,
        external_id=ids.next(moment=draft.head.moment(), speaker=speaker, text=plain),
        is_placeholder=is_placeholder(plain, details),
    )  # fmt: skip


def title_of(source: Source) -> str:
    """With whom the chat is, from the name that WhatsApp gave the file."""
    name = source.name
    if name.lower() == NAMELESS:  # the iPhone names only the zip, or the folder in it
        above = source.path if source.member else source.path.parent
        name = PurePath(source.key).parent.name or above.name
    stem = _COPY.sub("", storable(PurePath(name).stem))
    named = _TITLE.fullmatch(stem)
    return named["name"].strip() if named else stem


WHATSAPP: Final = Format(
    name="whatsapp", title="WhatsApp: the exported .txt or .zip", chats_have_ids=False,
    recognise=recognise, read=read,
)  # fmt: skip
