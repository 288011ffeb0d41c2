"""What does Oldfriend's own format for messages say? One JSON object a line.

``{"id", "session", "speaker", "role": "person|companion|other", "at", "text"}``; text and at
have to be there, and a speaker or a role. Fields that are not ours are left out.
"""

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

import numpy as np

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import MAX_TEXT, storable
from oldfriend.domain.sayings import saying
from oldfriend.domain.trust import Role
from oldfriend.transfer.formats.derived_ids import DerivedIds
from oldfriend.transfer.formats.json_pieces import ARRAY, pieces
from oldfriend.transfer.formats.json_values import Fields, as_object, kind_of
from oldfriend.transfer.formats.moments import moment_of_iso
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import Glimpse, Source, encoding_of, lines_of

EXPECTED: Final = (
    'a message such as {"id": "m1", "session": "s1", "speaker": "Ana", "role": "person", '
    '"at": "2024-05-03T18:30:00+02:00", "text": "hello"}'
)
FIELDS: Final = frozenset({"id", "session", "speaker", "role", "at", "text"})
SPOKEN_ROLES: Final[dict[object, Role | None]] = {
    "person": "person", "companion": "companion", "other": "other", None: None, "": None,
}  # fmt: skip
COMPANION_NAME: Final = "companion"


@dataclass(slots=True)
class Told:
    """What was seen of a file so far: unknown fields, and a print of each id and its message."""

    unknown: set[str] = field(default_factory=set)
    ids: "array[int]" = field(default_factory=lambda: array("q"))
    messages: "array[int]" = field(default_factory=lambda: array("q"))

    def see(self, fields: Fields, message: ParsedMessage) -> None:
        """Note one more message that has an id of its own."""
        if fields.get("id") is not None:
            self.ids.append(hash(message.external_id))
            self.messages.append(hash((message.external_id, message.text, message.at)))

    def has_conflict(self) -> bool:
        """Whether one id was given to two messages."""
        return distinct_in(self.ids) != distinct_in(self.messages)


def distinct_in(prints: "array[int]") -> int:
    """How many different numbers there are."""
    return len(np.unique(np.frombuffer(prints, np.int64)))


def recognise(glimpse: Glimpse) -> bool:
    """JSON objects with our fields, a line each or in a list, or a name that promises it."""
    ours = {"text", "at"}
    listed = {f".{name}" for name in ours}
    is_named = glimpse.source.suffix in {".jsonl", ".ndjson"}
    return glimpse.is_text and (is_named or ours <= glimpse.keys or listed <= glimpse.keys)


def read(source: Source, note: Note) -> Iterator[ParsedMessage]:
    """The messages, in the order of the file. Raises ImportRefused."""
    told = Told()
    for fields, message in messages_of(source):
        told.see(fields, message)
        for name in sorted(fields.keys() - FIELDS - told.unknown):
            told.unknown.add(name)
            note(saying(
                "notice_unknown_field",
                f"The unknown field {name[:40]!r} was left out (first on line {message.line}).",
                name=name[:40], line=message.line,
            ))  # fmt: skip
        yield message
    if told.has_conflict():
        refuse_conflict(source)


def refuse_conflict(source: Source) -> None:
    """Raise ImportRefused for the second message that has the same id as another."""
    seen: dict[str, ParsedMessage] = {}
    for fields, message in messages_of(source):
        first = seen.setdefault(message.external_id, message)
        if fields.get("id") is not None and (first.text, first.at) != (message.text, message.at):
            raise ImportRefused(
                saying(
                    "import_id_twice",
                    f"the id {message.external_id[:40]!r} is also that of line {first.line}.",
                    id=message.external_id[:40], other=first.line,
                ),
                line=message.line, expected="an id of its own for each message",
            )  # fmt: skip


def messages_of(source: Source) -> Iterator[tuple[Fields, ParsedMessage]]:
    """Each object with the message that it tells."""
    ids = DerivedIds()
    for line, value in objects_of(source):
        fields = as_object(value, line=line, expected=EXPECTED)
        yield fields, message_of(fields, line, source, ids)


def objects_of(source: Source) -> Iterator[tuple[int, object]]:
    """The objects with their lines: from a list, or one a line."""
    encoding = encoding_of(source)
    opening = next((line.strip() for _, line in lines_of(source, encoding) if line.strip()), "")
    if opening.startswith("["):
        yield from ((line, value) for line, _, value in pieces(source, frozenset({(ARRAY,)})))
        return
    for number, line in lines_of(source, encoding):
        if line.strip():
            yield number, parsed_line(line, number)


def parsed_line(line: str, number: int) -> object:
    """The JSON on one line. Raises ImportRefused."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "not readable"
        raise ImportRefused(
            saying("import_no_json", f"this is no JSON ({reason}).", reason=reason),
            line=number,
            expected=EXPECTED,
        ) from error
    return value


def message_of(fields: Fields, line: int, source: Source, ids: DerivedIds) -> ParsedMessage:
    """One message. Raises ImportRefused."""
    text = checked_text(fields.get("text"), line)
    role = checked_role(fields.get("role"), line)
    speaker = name_in(fields, "speaker", line) or (COMPANION_NAME if role == "companion" else "")
    if not speaker and role != "person":
        raise ImportRefused(
            saying("import_nobody_says", "nobody says this."),
            line=line,
            expected='"speaker" or "role": "person"',
        )
    at = moment_of_iso(fields.get("at"), line=line, what='"at"')
    own_id = name_in(fields, "id", line)
    return ParsedMessage(
        line=line, chat=storable(source.key), chat_title=storable(PurePath(source.name).stem),
        session=name_in(fields, "session", line) or None, speaker=speaker, role=role, text=text,
        at=at, has_own_id=bool(own_id),
        external_id=own_id or ids.next(moment=at.isoformat(), speaker=speaker, text=text),
    )  # fmt: skip


def checked_text(value: object, line: int) -> str:
    """The words. Raises ImportRefused."""
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        found = kind_of(value) if not isinstance(value, str) else f"{len(value):,} characters long"
        raise ImportRefused(
            saying("import_text_unfit", f'"text" is {found}.', found=found, most=MAX_TEXT),
            line=line,
            expected=f"a text of at most {MAX_TEXT:,} characters",
        )
    return storable(value)


def checked_role(value: object, line: int) -> Role | None:
    """Who says it, if told. Raises ImportRefused."""
    if not isinstance(value, str | None) or value not in SPOKEN_ROLES:
        raise ImportRefused(
            saying("import_role_unfit", f'"role" is {str(value)[:40]!r}.', role=str(value)[:40]),
            line=line,
            expected="person, companion or other",
        )
    return SPOKEN_ROLES[value]


def name_in(fields: Fields, key: str, line: int) -> str:
    """A name or number that tells things apart; nothing where there is none."""
    value = fields.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ImportRefused(
            saying(
                "import_name_unfit", f'"{key}" is {kind_of(value)}.', key=key, kind=kind_of(value)
            ),
            line=line,
            expected="a text or a number",
        )
    return storable(str(value)).strip()


JSONL: Final = Format(
    name="jsonl", title="messages as JSON lines (.jsonl), as in docs/how-to", chats_have_ids=False,
    recognise=recognise, read=read,
)  # fmt: skip
