"""What does a program hand over? Messages and moments as it has them, checked and made ours."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from oldfriend.domain.clock import Micros, parse_moment, place_in_zone
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import MAX_TEXT, Spoken, storable
from oldfriend.domain.people import Person
from oldfriend.domain.trust import TRUST_OF_ROLE, Role
from oldfriend.memory.bringing import Told
from oldfriend.transfer.casting import same_name

Given = Mapping[str, Any] | object
"""A message to add: a mapping or an object with the fields of our JSONL (see ``Memory.add``)."""

SPOKEN_ROLES: dict[str, Role] = {"person": "person", "companion": "companion", "other": "other"}


def told_from(given: Given, number: int, person: Person, *, now: Micros) -> Told:
    """A given message, checked. Raises InvalidInput, naming the message."""
    text = field_of(given, "text")
    if not isinstance(text, str):
        raise InvalidInput(f'Message {number} has no text. Give it a field "text" that is a str.')
    if not text.strip():
        raise InvalidInput(f"Message {number} is empty. Leave it out.")
    if len(text) > MAX_TEXT:
        raise InvalidInput(
            f"Message {number} has {len(text):,} characters; {MAX_TEXT:,} fit. Split it."
        )
    speaker = name_of(given, "speaker", number)
    role = role_of(given, speaker, number, person)
    at, zone = moment_of(given, number, now=now, zone=person.zone)
    spoken = Spoken(
        role=role, speaker=speaker or (person.name if role == "person" else role),
        text=storable(text), at=at, zone=zone, trust=TRUST_OF_ROLE[role],
        external_id=name_of(given, "id", number) or None,
    )  # fmt: skip
    return Told(spoken=spoken, session=name_of(given, "session", number) or None)


def field_of(given: Given, name: str) -> object:
    """A field of a mapping or an object; None where it is missing."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def name_of(given: Given, name: str, number: int) -> str:
    """A name or id as it can be stored; empty where it is missing. Raises InvalidInput."""
    value = field_of(given, name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"Message {number} has a {name!r} that is neither str nor int.")
    return storable(str(value))


def role_of(given: Given, speaker: str, number: int, person: Person) -> Role:
    """The role that is given, else by whose name it is. Raises InvalidInput."""
    role = name_of(given, "role", number)
    if not role:
        is_own = not speaker or same_name(speaker, person.name)
        return "person" if is_own else "other"
    if role not in SPOKEN_ROLES:
        raise InvalidInput(
            f"Message {number} has the role {role!r}. Use person, companion or other."
        )
    return SPOKEN_ROLES[role]


def moment_of(given: Given, number: int, *, now: Micros, zone: str) -> tuple[Micros, str]:
    """When a given message was said, and in which zone. Raises InvalidInput."""
    at = field_of(given, "at")
    if at is None:
        return now, zone
    try:
        return placed(at, "at", zone)
    except InvalidInput as error:
        raise InvalidInput(f"Message {number}: {error}") from error


def bound(moment: object, name: str, zone: str) -> Micros | None:
    """Where a span of time begins or ends; None where it does not. Raises InvalidInput."""
    return None if moment is None else placed(moment, name, zone)[0]


def placed(moment: object, name: str, zone: str) -> tuple[Micros, str]:
    """A given moment, and its zone. Raises InvalidInput."""
    if isinstance(moment, datetime):
        return place_in_zone(moment, zone)
    if isinstance(moment, str):
        return parse_moment(moment, zone)
    raise InvalidInput(f"{name!r} is neither datetime nor ISO 8601 text.")
