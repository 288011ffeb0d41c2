"""People: persons, the companion and their chats."""

from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import ChatId, CompanionId, PersonId

SESSION_IDLE_GAP = 30 * MINUTE
"""A pause longer than this ends a session."""

MAX_SESSION_MESSAGES = 200
MAX_SESSION_TOKENS = 20_000
"""A session that has grown to either limit ends as well."""

SessionCloseReason = Literal["idle", "max_length", "imported", "asked", "shutdown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A human whose memory is kept here."""

    id: PersonId
    name: str
    is_owner: bool
    language: str | None
    zone: str
    has_chosen_zone: bool = False  # chosen by the person; else it is the zone of their machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """The companion, who remembers."""

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
