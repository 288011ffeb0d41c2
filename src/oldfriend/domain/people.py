"""Who is talking, and where? Persons, the companion and chats, as values."""

from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import ChatId, CompanionId, PersonId

SESSION_IDLE = 30 * MINUTE
"""A pause longer than this ends a session (ACCEPTANCE C7)."""

SESSION_MESSAGES = 200
SESSION_TOKENS = 20_000
"""A session that has grown to either ends as well (ACCEPTANCE C8)."""

CloseTrigger = Literal["idle", "max_length", "imported", "asked", "shutdown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One human whose memory is kept here."""

    id: PersonId
    name: str
    is_owner: bool
    language: str | None
    zone: str
    has_said_zone: bool = False  # they chose it; else it is that of the machine they talk at


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """The one who remembers."""

    id: CompanionId
    name: str
    introduced_at: Micros | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A place where a person and others talk: a channel and an address on it."""

    id: ChatId
    person: PersonId
    companion: CompanionId
    channel: str
    address: str
    title: str
