"""Goal: something that a person wants to reach, in their own words, and how far it is."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import SHORT_ID_CHARS, ChatId, MessageId, PersonId

GoalKind = Literal["trip_plan", "food_search", "price_watch", "recommendation", "general"]
GoalStatus = Literal["active", "completed", "abandoned"]
Period = Literal["day", "week", "month", "year"]
KINDS: Final[tuple[GoalKind, ...]] = get_args(GoalKind)
STATUSES: Final[tuple[GoalStatus, ...]] = get_args(GoalStatus)
PERIODS: Final[tuple[Period, ...]] = get_args(Period)
USUAL_PRIORITY: Final = 5
MAX_PRIORITY: Final = 10
SHOWN_AFTER_DEADLINE: Final = 14 * DAY
"""So long a goal stays on the list after its day, if nobody says what became of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How often something is wanted, such as twice a week."""

    times: int
    period: Period


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """How many whole things are wanted, such as twelve books this year."""

    rhythm: Rhythm
    noun: str
    is_bounded: bool  # in the period that it is, not in each


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal."""

    id: str
    person: PersonId
    chat: ChatId | None = None
    message: MessageId | None = None
    message_seq: int | None = None
    text: str
    language: str
    kind: GoalKind = "general"
    status: GoalStatus = "active"
    priority: int = USUAL_PRIORITY
    rhythm: Rhythm | None = None
    deadline: Micros | None = None
    next_action: str = ""
    zone: str
    created_at: Micros
    changed_at: Micros

    @property
    def short_id(self) -> str:
        """The id as people see and say it."""
        return self.id[:SHORT_ID_CHARS]

    def is_open(self, now: Micros) -> bool:
        """Whether it is active, and its day not long over."""
        is_over = self.deadline is not None and self.deadline + SHOWN_AFTER_DEADLINE <= now
        return self.status == "active" and not is_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """That something was done for a goal, and the message that told of it."""

    id: str
    person: PersonId
    goal: str
    message: MessageId | None = None
    message_seq: int | None = None
    at: Micros
    # How many things were done, for a goal that counts things; thousandths of the unit of a total.
    amount: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalState:
    """A goal with what was done for it, oldest first."""

    goal: Goal
    progress: tuple[Progress, ...] = ()
