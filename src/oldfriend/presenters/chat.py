"""Chat pages: what was said, page by page, with the turns that have no answer."""

from dataclasses import dataclass, field
from typing import Self

from oldfriend.presenters.messages import MessageShape
from oldfriend.presenters.schema import Schema, describe
from oldfriend.replies.retry_reply import UnansweredReason, UnansweredTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredShape(Schema):
    """That something said has no answer."""

    turn: str
    ending: UnansweredReason = field(
        metadata=describe("All but a turn that waits can be asked for again.")
    )

    @classmethod
    def from_domain(cls, turn: UnansweredTurn) -> Self:
        """Present a turn without an answer."""
        return cls(turn=turn.turn, ending=turn.ending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages(Schema):
    """A page of what was said, oldest first."""

    items: tuple[MessageShape, ...]
    earlier: str | None = field(
        metadata=describe("The cursor of the page before; None: there is none.")
    )
    later: str | None = field(
        metadata=describe("The cursor of the page after; None: this is the newest.")
    )
    unanswered: tuple[UnansweredShape, ...]
    position: str = field(metadata=describe("For /events?after=: nothing that follows is missed."))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessages(Schema):
    """A page of what was sought in the talk, the newest first."""

    items: tuple[MessageShape, ...]
    next: str | None = field(
        metadata=describe("The cursor of the next page; None: this is the last.")
    )
