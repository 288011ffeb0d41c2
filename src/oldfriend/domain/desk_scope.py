"""Desk scope: for whom, and because of which message, tasks and goals are changed."""

from dataclasses import dataclass

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskScope:
    """Whose records are changed, when, where and because of which message."""

    person: PersonId
    zone: str
    now: Micros
    language: str
    chat: ChatId | None = None
    message: MessageId | None = None
    message_seq: int | None = None
    said_at: Micros | None = None  # None: now

    @property
    def told_at(self) -> Micros:
        """The moment from which the words of time in the message count."""
        return self.now if self.said_at is None else self.said_at
