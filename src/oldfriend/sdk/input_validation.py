"""Input validation: checks messages and times from a program and converts them to domain types."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from oldfriend.domain.clock import Micros, parse_timestamp, to_micros_with_zone
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import (
    MAX_TEXT_CHARS,
    TRUST_BY_ROLE,
    Person,
    Role,
    UnloggedMessage,
    sanitize_text,
)
from oldfriend.memory.import_writer import ImportedMessage
from oldfriend.transfer.role_inference import find_assistant
from oldfriend.transfer.speaker_mapping import MAX_NAME_CHARS, is_same_name

TimeInput = datetime | str
"""A datetime, aware or in the person's time zone, or ISO 8601 text."""
MessageInput = Mapping[str, Any] | object
"""A message to add: a mapping or an object with the fields of our JSONL (see ``Memory.add``)."""

SPOKEN_ROLES: dict[str, Role] = {"person": "person", "companion": "companion", "other": "other"}


def parse_message_inputs(messages: object, person: Person, *, now: Micros) -> list[ImportedMessage]:
    """Parse given messages; where none has a role, an assistant among two speakers is inferred.

    Raises InvalidInput, naming the message by its number.
    """
    if not isinstance(messages, Iterable) or isinstance(messages, str | bytes | Mapping):
        raise InvalidInput(
            f"Give messages as a list, not as {type(messages).__name__}. Put one in a list, too."
        )
    given = list(messages)
    has_roles = any(find_field(each, "role") is not None for each in given)
    assistant = None if has_roles else infer_assistant(given, person)
    return [
        parse_message_input(each, number, person, now=now, assistant=assistant)
        for number, each in enumerate(given)
    ]


def infer_assistant(given: Sequence[MessageInput], person: Person) -> str | None:
    """Return the speaker who writes like an assistant, if that is not the person's own name."""
    spoken = [
        [str(find_field(each, name) or "") for name in ("session", "speaker", "text")]
        for each in given
    ]
    assistant = find_assistant((session, speaker, text) for session, speaker, text in spoken)
    is_person = assistant is None or is_same_name(assistant, person.name)
    return None if is_person else assistant


def parse_count(given: object, name: str, *, least: int = 1) -> int:
    """Parse a number of results or tokens. Raises InvalidInput."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise InvalidInput(f"{name} is {given!r}; give a whole number.")
    if given < least:
        raise InvalidInput(f"{name} is {given}; ask for at least {least}.")
    return given


def parse_query(given: object) -> str:
    """Parse what is asked for. Raises InvalidInput."""
    if not isinstance(given, str):
        raise InvalidInput(f"The query is {given!r}; give the question as a str.")
    return given


def parse_message_input(
    given: MessageInput, number: int, person: Person, *, now: Micros, assistant: str | None
) -> ImportedMessage:
    """Parse a given message; with an ``assistant``, all others' messages are the person's.

    Raises InvalidInput, naming the message by its number.
    """
    text = find_field(given, "text")
    if not isinstance(text, str):
        raise InvalidInput(f'Message {number} has no text. Give it a field "text" that is a str.')
    if not text.strip():
        raise InvalidInput(f"Message {number} is empty. Leave it out.")
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidInput(
            f"Message {number} has {len(text):,} characters; {MAX_TEXT_CHARS:,} fit. Split it."
        )
    speaker = parse_name(given, "speaker", number)
    role = parse_role(given, speaker, number, person)
    if assistant is not None:
        role = "companion" if speaker == sanitize_text(assistant) else "person"
    at, zone = parse_message_time(given, number, now=now, zone=person.zone)
    spoken = UnloggedMessage(
        role=role,
        speaker=speaker or (person.name if role == "person" else role),
        text=sanitize_text(text),
        at=at,
        zone=zone,
        trust=TRUST_BY_ROLE[role],
        external_id=parse_name(given, "id", number) or None,
    )
    return ImportedMessage(message=spoken, session=parse_name(given, "session", number) or None)


def find_field(given: MessageInput, name: str) -> object:
    """Return a field of a mapping or an object; None if it is missing."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def parse_name(given: MessageInput, name: str, number: int) -> str:
    """Parse a name or id; empty if it is missing. Raises InvalidInput."""
    value = find_field(given, name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"Message {number} has a {name!r} that is neither str nor int.")
    plain = sanitize_text(str(value))
    if len(plain) > MAX_NAME_CHARS:
        raise InvalidInput(
            f"Message {number} has a {name!r} of {len(plain):,} characters; {MAX_NAME_CHARS:,} fit."
        )
    return plain


def parse_role(given: MessageInput, speaker: str, number: int, person: Person) -> Role:
    """Return the given role, else derive it from the speaker's name. Raises InvalidInput."""
    role = parse_name(given, "role", number)
    if not role:
        is_own = not speaker or is_same_name(speaker, person.name)
        return "person" if is_own else "other"
    if role not in SPOKEN_ROLES:
        raise InvalidInput(
            f"Message {number} has the role {role!r}. Use person, companion or other."
        )
    return SPOKEN_ROLES[role]


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
