"""Input validation: checks what a program passes to the library, and parses messages and times."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from oldfriend.domain.clock import Micros, parse_timestamp, to_micros_with_zone
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import (
    MAX_TEXT_CHARS,
    TRUST_BY_ROLE,
    Person,
    Role,
    UnloggedMessage,
    is_single_line,
    sanitize_json,
    sanitize_text,
)
from oldfriend.memory.import_writer import ImportedMessage
from oldfriend.memory.message_metadata import Metadata, format_metadata
from oldfriend.transfer.role_inference import find_assistant
from oldfriend.transfer.speaker_mapping import MAX_NAME_CHARS, is_same_name

TimeInput = datetime | str
"""A datetime, aware or in the person's time zone, or ISO 8601 text."""
MessageInput = Mapping[str, Any] | object
"""A message to add: a text, or a mapping or an object with fields (see ``Memory.add``)."""

MAX_COUNT: Final = 2**31
"""More results or tokens than any memory holds; a larger number asks for all."""
MAX_AMOUNT: Final = 10**12
MAX_NUMBER: Final = 2**63 - 1
"""The largest number that a database stores."""
ROLES: Final[Mapping[str, Role]] = {
    "person": "person",
    "user": "person",
    "human": "person",
    "companion": "companion",
    "assistant": "companion",
    "ai": "companion",
    "model": "companion",
    "other": "other",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
"""Our roles, and what the interfaces of models call them."""
FIELD_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text", "content"),
    "speaker": ("speaker", "name"),
    "role": ("role", "type"),
    "at": ("at", "timestamp", "created_at"),
}
"""Our fields, and what the messages of models call them."""
MAX_METADATA_CHARS: Final = 262_144


def parse_message_inputs(messages: object, person: Person, *, now: Micros) -> list[ImportedMessage]:
    """Parse given messages; where none has a role, an assistant among two speakers is inferred.

    Raises InvalidInput, naming the message by its number.
    """
    if isinstance(messages, str | Mapping):
        messages = [messages]
    if not isinstance(messages, Iterable) or isinstance(messages, bytes):
        raise InvalidInput(
            f"Give messages as a list, not as {type(messages).__name__}: "
            '[{"role": "user", "content": "..."}].'
        )
    given = [{"text": each} if isinstance(each, str) else each for each in messages]
    has_roles = any(find_field(each, "role") is not None for each in given)
    assistant = None if has_roles else infer_assistant(given, person)
    return [
        parse_message_input(each, number, person, now=now, assistant=assistant)
        for number, each in enumerate(given)
    ]


def infer_assistant(given: Sequence[MessageInput], person: Person) -> str | None:
    """Return the speaker who writes like an assistant, if that is not the person's own name.

    Raises InvalidInput, naming the message by its number.
    """
    assistant = find_assistant(
        (
            parse_name(each, "session", number),
            parse_speaker(each, number),
            parse_message_text(each, number),
        )
        for number, each in enumerate(given)
    )
    is_person = assistant is None or is_same_name(assistant, person.name)
    return None if is_person else assistant


def parse_count(given: object, name: str, *, least: int = 1) -> int:
    """Parse a number of results or tokens. Raises InvalidInput."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise build_type_error(given, name, "a whole number")
    if given < least:
        raise InvalidInput(f"{name} is too small; ask for at least {least}.")
    return min(given, MAX_COUNT)


def parse_number(given: object, name: str) -> int:
    """Parse the number of something that has been stored. Raises InvalidInput."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise build_type_error(given, name, "a whole number")
    if abs(given) > MAX_NUMBER:
        raise InvalidInput(f"{name} is too large; give a number that Oldfriend has shown.")
    return given


def parse_amount(given: object, name: str) -> float | None:
    """Parse an amount, such as a price; None: none. Raises InvalidInput."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise build_type_error(given, name, "a number")
    if not abs(given) <= MAX_AMOUNT:
        raise InvalidInput(f"{name} is too large; give at most {MAX_AMOUNT:,}.")
    return float(given)


def parse_seconds(given: object, name: str) -> float:
    """Parse a duration. Raises InvalidInput."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise build_type_error(given, name, "seconds, 0 for none")
    try:
        seconds = float(given)
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < math.inf:
        raise InvalidInput(f"{name} is {seconds}; give seconds, 0 for none.")
    return seconds


def parse_flag(given: object, name: str) -> bool:
    """Parse a choice between two. Raises InvalidInput."""
    if not isinstance(given, bool):
        raise build_type_error(given, name, "True or False")
    return given


def parse_text(given: object, name: str) -> str:
    """Parse a text, such as a query, a name or an id. Raises InvalidInput."""
    if not isinstance(given, str):
        raise build_type_error(given, name, "a str")
    return given


def parse_optional_text(given: object, name: str) -> str | None:
    """Parse a text; None stays None. Raises InvalidInput."""
    return None if given is None else parse_text(given, name)


def parse_ids(given: Iterable[object], name: str) -> tuple[str, ...]:
    """Parse ids, each an argument of its own. Raises InvalidInput."""
    return tuple(parse_text(each, f"One of the {name}") for each in given)


def parse_kind_names(given: object, name: str) -> Collection[str]:
    """Parse the names of kinds. Raises InvalidInput."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Collection):
        raise build_type_error(given, name, "a list of str")
    return [parse_text(each, f"One of the {name}") for each in given]


def build_type_error(given: object, name: str, expected: str) -> InvalidInput:
    """Build the error for a value of a wrong type; the value may be too large to be shown."""
    return InvalidInput(f"{name} cannot be of the type {type(given).__name__}; give {expected}.")


def parse_message_input(
    given: MessageInput, number: int, person: Person, *, now: Micros, assistant: str | None
) -> ImportedMessage:
    """Parse a given message; with an ``assistant``, all others' messages are the person's.

    Raises InvalidInput, naming the message by its number.
    """
    text = parse_message_text(given, number)
    speaker = parse_speaker(given, number)
    role = parse_role(given, speaker, number, person)
    if assistant is not None:
        role = "companion" if speaker == assistant else "person"
    at, zone = parse_message_time(given, number, now=now, zone=person.zone)
    spoken = UnloggedMessage(
        role=role,
        speaker=speaker or (person.name if role == "person" else role),
        text=text,
        at=at,
        zone=zone,
        trust=TRUST_BY_ROLE[role],
        external_id=parse_name(given, "id", number) or None,
        details=parse_metadata_input(given, number),
        is_searchable=role != "system",
    )
    return ImportedMessage(message=spoken, session=parse_name(given, "session", number) or None)


def parse_message_text(given: MessageInput, number: int) -> str:
    """Parse what was said. Raises InvalidInput."""
    text = find_field(given, "text")
    if isinstance(text, Sequence) and not isinstance(text, str | bytes):
        text = join_text_parts(text, number)
    if not isinstance(text, str):
        raise InvalidInput(
            f'Message {number} has no text. Give it a field "text" or "content" that is a str.'
        )
    if not text.strip():
        raise InvalidInput(f"Message {number} is empty. Leave it out.")
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidInput(
            f"Message {number} has {len(text):,} characters; {MAX_TEXT_CHARS:,} fit. Split it."
        )
    return sanitize_text(text)


def find_field(given: MessageInput, name: str) -> object:
    """Return a field of a mapping or an object by any of its names; None if it is missing."""
    for each in FIELD_NAMES.get(name, (name,)):
        value = given.get(each) if isinstance(given, Mapping) else getattr(given, each, None)
        is_other_type = each == "type" and not (isinstance(value, str) and value in ROLES)
        if value is not None and not is_other_type:
            return value
    return None


def join_text_parts(content: Iterable[object], number: int) -> str:
    """Join the texts of a content in parts, as models take it. Raises InvalidInput."""
    parts = [
        find_field({"text": each} if isinstance(each, str) else each, "text") for each in content
    ]
    texts = [each for each in parts if isinstance(each, str)]
    if not texts:
        raise InvalidInput(
            f"Message {number} has no text among the parts of its content. Leave it out."
        )
    return "\n".join(texts)


def parse_metadata_input(given: MessageInput, number: int) -> Mapping[str, str]:
    """Parse what is to be stored with a message, as details of it. Raises InvalidInput."""
    metadata = find_field(given, "metadata")
    if metadata is None:
        return {}
    return format_metadata(
        parse_metadata_values(metadata, f"Message {number} has a 'metadata' that")
    )


def parse_metadata_filter(given: object, name: str) -> Metadata | None:
    """Parse the metadata that is looked for; None for any. Raises InvalidInput."""
    return None if given is None else parse_metadata_values(given, name) or None


def parse_metadata_values(given: object, what: str) -> Metadata:
    """Parse a mapping of names to JSON values; ``what`` begins the text of errors.

    Raises InvalidInput.
    """
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for each in given):
        raise InvalidInput(
            f'{what} is no mapping from str to JSON values, such as {{"project": "boat"}}.'
        )
    try:
        text = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{what} cannot be stored as JSON; use str, numbers, lists and such."
        ) from error
    if len(text) > MAX_METADATA_CHARS:
        raise InvalidInput(
            f"{what} has {len(text):,} characters as JSON; {MAX_METADATA_CHARS:,} fit."
        )
    return {sanitize_text(name): sanitize_json(value) for name, value in json.loads(text).items()}


def parse_name(given: MessageInput, name: str, number: int) -> str:
    """Parse a name or id; empty if it is missing. Raises InvalidInput.

    A character that cannot be stored is refused, not replaced: two ids would become one.
    """
    value = find_field(given, name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"Message {number} has a {name!r} that is neither str nor int.")
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise InvalidInput(f"Message {number} has a {name!r} that is too large a number.")
    text = str(value)
    if len(text) > MAX_NAME_CHARS:
        raise InvalidInput(
            f"Message {number} has a {name!r} of {len(text):,} characters; {MAX_NAME_CHARS:,} fit."
        )
    if sanitize_text(text) != text:
        raise InvalidInput(
            f"Message {number} has a {name!r} with a character that cannot be stored (NUL or half "
            "of a surrogate pair). Leave it out."
        )
    return text


def parse_speaker(given: MessageInput, number: int) -> str:
    """Parse who spoke; empty if it is missing. Raises InvalidInput."""
    speaker = parse_name(given, "speaker", number)
    if not is_single_line(speaker):
        raise InvalidInput(
            f"Message {number} has a 'speaker' with a line break. Give a name on one line."
        )
    return speaker


def parse_role(given: MessageInput, speaker: str, number: int, person: Person) -> Role:
    """Return the given role, else derive it from the speaker's name. Raises InvalidInput."""
    role = parse_name(given, "role", number)
    if not role:
        is_own = not speaker or is_same_name(speaker, person.name)
        return "person" if is_own else "other"
    if role not in ROLES:
        raise InvalidInput(
            f"Message {number} has the role {role!r}. Use person, companion or other, or user, "
            "assistant, tool or system."
        )
    return ROLES[role]


def parse_message_time(
    given: MessageInput, number: int, *, now: Micros, zone: str
) -> tuple[Micros, str]:
    """Return when a message was said, and its zone; now if it is missing. Raises InvalidInput."""
    at = find_field(given, "at")
    if at is None:
        return now, zone
    try:
        return parse_time(at, "at", zone)
    except InvalidInput as error:
        raise InvalidInput(f"Message {number}: {error}") from error


def parse_bound(moment: object, name: str, zone: str) -> Micros | None:
    """Parse one end of a time span; None stays None. Raises InvalidInput."""
    return None if moment is None else parse_time(moment, name, zone)[0]


def parse_time(moment: object, name: str, zone: str) -> tuple[Micros, str]:
    """Parse a time; return it with its zone. Raises InvalidInput."""
    if isinstance(moment, datetime):
        return to_micros_with_zone(moment, zone)
    if isinstance(moment, str):
        return parse_timestamp(moment, zone)
    raise InvalidInput(f"{name!r} is neither datetime nor ISO 8601 text.")
