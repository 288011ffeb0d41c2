"""JSON Lines messages: Oldfriend's own format, one JSON object per line.

``{"id", "session", "speaker", "role": "person|companion|other", "at", "text"}``; ``text`` and
``at`` are required, and either ``speaker`` or ``role``. ``forwarded`` (true) or ``forwarded_from``
(a name) marks text that is not the speaker's own. Unknown fields are ignored.
"""

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

import numpy as np

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import MAX_TEXT_CHARS, Role, sanitize_text
from oldfriend.transfer.formats.json_stream import (
    ARRAY_STEP,
    Fields,
    describe_kind,
    parse_iso,
    parse_object,
    stream_values,
)
from oldfriend.transfer.formats.parsed_message import (
    AddNotice,
    ChatFormat,
    ContentIds,
    ParsedMessage,
)
from oldfriend.transfer.formats.source import FormatProbe, SourceFile, detect_encoding, read_lines

EXPECTED: Final = (
    'a message such as {"id": "m1", "session": "s1", "speaker": "Ana", "role": "person", '
    '"at": "2024-05-03T18:30:00+02:00", "text": "hello"}'
)
FORWARDED_FIELDS: Final = ("forwarded", "forwarded_from")
KNOWN_FIELDS: Final = frozenset(
    {"id", "session", "speaker", "role", "at", "text", *FORWARDED_FIELDS}
)
ROLES: Final[dict[object, Role | None]] = {
    "person": "person",
    "companion": "companion",
    "other": "other",
    None: None,
    "": None,
}
COMPANION_NAME: Final = "companion"


@dataclass(slots=True)
class SeenIds:
    """The unknown fields of a file so far, and hashes of its ids and messages."""

    unknown_fields: set[str] = field(default_factory=set)
    id_hashes: "array[int]" = field(default_factory=lambda: array("q"))
    message_hashes: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, fields: Fields, parsed: ParsedMessage) -> None:
        """Record a message if it has an id of its own."""
        if fields.get("id") is not None:
            self.id_hashes.append(hash(parsed.external_id))
            self.message_hashes.append(hash((parsed.external_id, parsed.text, parsed.at)))

    def has_conflict(self) -> bool:
        """Return whether two different messages have the same id."""
        return count_distinct(self.id_hashes) != count_distinct(self.message_hashes)


def count_distinct(hashes: "array[int]") -> int:
    """Return how many different numbers there are."""
    return len(np.unique(np.frombuffer(hashes, np.int64)))


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is JSON with our fields, one object a line or a list, or is named so."""
    required = {"text", "at"}
    listed = {f".{name}" for name in required}
    is_named = probe.source.suffix in {".jsonl", ".ndjson"}
    return probe.is_text and (is_named or required <= probe.keys or listed <= probe.keys)


def parse(source: SourceFile, add_notice: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the messages in the order of the file. Raises ImportRefused."""
    seen = SeenIds()
    for fields, message in parse_messages(source):
        seen.add(fields, message)
        for name in sorted(fields.keys() - KNOWN_FIELDS - seen.unknown_fields):
            seen.unknown_fields.add(name)
            add_notice(
                localizable(
                    "notice_unknown_field",
                    f"The unknown field {name[:40]!r} was left out (first on line {message.line}).",
                    name=name[:40],
                    line=message.line,
                )
            )
        yield message
    if seen.has_conflict():
        raise_id_conflict(source)


def raise_id_conflict(source: SourceFile) -> None:
    """Raise ImportRefused for the second message with an id that is already taken."""
    seen: dict[str, ParsedMessage] = {}
    for fields, message in parse_messages(source):
        first = seen.setdefault(message.external_id, message)
        if fields.get("id") is not None and (first.text, first.at) != (message.text, message.at):
            raise ImportRefused(
                localizable(
                    "import_id_twice",
                    f"the id {message.external_id[:40]!r} is already used on line {first.line}.",
                    id=message.external_id[:40],
                    other=first.line,
                ),
                line=message.line,
                expected="a different id for each message",
            )


def parse_messages(source: SourceFile) -> Iterator[tuple[Fields, ParsedMessage]]:
    """Yield each object with its message."""
    ids = ContentIds()
    for line, value in stream_objects(source):
        fields = parse_object(value, line=line, expected=EXPECTED)
        yield fields, parse_message(fields, line, source, ids)


def stream_objects(source: SourceFile) -> Iterator[tuple[int, object]]:
    """Yield the objects with their lines, from a list or from one object a line."""
    encoding = detect_encoding(source)
    opening = next((line.strip() for _, line in read_lines(source, encoding) if line.strip()), "")
    if opening.startswith("["):
        yield from (
            (line, value) for line, _, value in stream_values(source, frozenset({(ARRAY_STEP,)}))
        )
        return
    for number, line in read_lines(source, encoding):
        if line.strip():
            yield number, parse_line(line, number)


def parse_line(line: str, number: int) -> object:
    """Parse the JSON on one line. Raises ImportRefused."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "not readable"
        raise ImportRefused(
            localizable("import_no_json", f"this is not JSON ({reason}).", reason=reason),
            line=number,
            expected=EXPECTED,
        ) from error
    return value


def parse_message(fields: Fields, line: int, source: SourceFile, ids: ContentIds) -> ParsedMessage:
    """Parse one message. Raises ImportRefused."""
    text = parse_text(fields.get("text"), line)
    role = parse_role(fields.get("role"), line)
    speaker = parse_name(fields, "speaker", line) or (COMPANION_NAME if role == "companion" else "")
    if not speaker and role != "person":
        raise ImportRefused(
            localizable("import_nobody_says", "the speaker is missing."),
            line=line,
            expected='"speaker" or "role": "person"',
        )
    at = parse_iso(fields.get("at"), line=line, what='"at"')
    own_id = parse_name(fields, "id", line)
    return ParsedMessage(
        line=line,
        chat=sanitize_text(source.key),
        chat_title=sanitize_text(PurePath(source.name).stem),
        session=parse_name(fields, "session", line) or None,
        speaker=speaker,
        role=role,
        text=text,
        at=at,
        has_own_id=bool(own_id),
        outside=any(fields.get(name) for name in FORWARDED_FIELDS),
        external_id=own_id or ids.derive(time=at.isoformat(), speaker=speaker, text=text),
    )


def parse_text(value: object, line: int) -> str:
    """Parse the text of a message. Raises ImportRefused."""
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS:
        found = (
            describe_kind(value)
            if not isinstance(value, str)
            else f"{len(value):,} characters long"
        )
        raise ImportRefused(
            localizable(
                "import_text_unfit", f'"text" is {found}.', found=found, most=MAX_TEXT_CHARS
            ),
            line=line,
            expected=f"a text of at most {MAX_TEXT_CHARS:,} characters",
        )
    return sanitize_text(value)


def parse_role(value: object, line: int) -> Role | None:
    """Parse the role of the speaker, if there is one. Raises ImportRefused."""
    if not isinstance(value, str | None) or value not in ROLES:
        raise ImportRefused(
            localizable(
                "import_role_unfit", f'"role" is {str(value)[:40]!r}.', role=str(value)[:40]
            ),
            line=line,
            expected="person, companion or other",
        )
    return ROLES[value]


def parse_name(fields: Fields, key: str, line: int) -> str:
    """Parse a name or number used as an identifier; empty if it is missing.

    Raises ImportRefused.
    """
    value = fields.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ImportRefused(
            localizable(
                "import_name_unfit",
                f'"{key}" is {describe_kind(value)}.',
                key=key,
                kind=describe_kind(value),
            ),
            line=line,
            expected="a text or a number",
        )
    return sanitize_text(str(value)).strip()


JSONL: Final = ChatFormat(
    name="jsonl",
    title="messages as JSON lines (.jsonl), as in docs/how-to",
    chats_have_ids=False,
    can_parse=can_parse,
    parse=parse,
)
