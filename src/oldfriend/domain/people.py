"""Who is talking, and where? Persons, the companion, chats and sessions, as values."""

from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import ChatId, CompanionId, PersonId, SessionId

SESSION_IDLE = 30 * MINUTE
"""A pause longer than this ends a session (ACCEPTANCE C7)."""

SESSION_MESSAGES = 200
SESSION_TOKENS = 20_000
"""A session that has grown to either ends as well (ACCEPTANCE C8)."""

CloseTrigger = Literal["idle", "max_length", "explicit", "imported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One human whose memory is kept here."""

    id: PersonId
    name: str
    is_owner: bool
    language: str | None
    zone: str


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A stretch of talk in one chat without a long pause."""

    id: SessionId
    chat: ChatId
    opened_at: Micros
    closed_at: Micros | None
