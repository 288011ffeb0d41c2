"""Watch: a page that is read until it changes, or a number of one's own until it passes a limit."""

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal, get_args

from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.ids import SHORT_ID_CHARS, ChatId, MessageId, PersonId
from oldfriend.measurements.number_source import NumberSource
from oldfriend.watches.amounts import find_amount

Condition = Literal["changes", "below", "above"]
WatchStatus = Literal["active", "fired", "lost", "ended"]
"""Fired: it changed. Lost: it could not be read for long. Both end it (ACCEPTANCE L21).

A number's limit stays active while it is passed, and is told of each time until it is ended.
"""
CONDITIONS: Final[tuple[Condition, ...]] = get_args(Condition)
STATUSES: Final[tuple[WatchStatus, ...]] = get_args(WatchStatus)
CHECK_EVERY: Final = 6 * HOUR
MAX_FAILURES: Final = 8
"""So many in a row, and it is given up, which is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A watch."""

    id: str
    person: PersonId
    chat: ChatId | None = None
    message: MessageId | None = None
    message_seq: int | None = None
    text: str
    language: str
    url: str
    condition: Condition = "changes"
    threshold: float | None = None
    status: WatchStatus = "active"
    seen: str = ""
    amount: float | None = None
    failures: int = 0
    next_check_at: Micros
    created_at: Micros
    changed_at: Micros

    @property
    def short_id(self) -> str:
        """The id as people see and say it."""
        return self.id[:SHORT_ID_CHARS]

    @property
    def number(self) -> NumberSource | None:
        """The measure that is watched; None for a page."""
        return NumberSource.parse(self.url)

    @property
    def has_seen(self) -> bool:
        """Whether it has something to tell: what ended it, or that its limit is passed."""
        is_passed = self.status == "active" and self.number is not None and bool(self.seen)
        return self.status in {"fired", "lost"} or is_passed

    def after_reading(self, text: str, *, now: Micros) -> "Watch":
        """Return the watch after its page was read."""
        seen = sha256(" ".join(text.split()).encode()).hexdigest()
        amount = find_amount(text)
        after = replace(self, seen=seen, amount=amount, failures=0, changed_at=now)
        if self.threshold is None:
            is_fired = bool(self.seen) and seen != self.seen
        elif amount is None:
            return self.after_failure(now=now)
        else:
            is_below = amount < self.threshold
            is_fired = is_below if self.condition == "below" else amount > self.threshold
        status: WatchStatus = "fired" if is_fired else "active"
        return replace(after, status=status, next_check_at=now + CHECK_EVERY)

    def after_failure(self, *, now: Micros) -> "Watch":
        """Return the watch after its page, or the price on it, could not be read."""
        failures = self.failures + 1
        return replace(
            self,
            failures=failures,
            status="lost" if failures >= MAX_FAILURES else "active",
            next_check_at=now + CHECK_EVERY,
            changed_at=now,
        )

    def postponed(self, at: Micros) -> "Watch":
        """Return the watch with its next look at a time."""
        return replace(self, next_check_at=at)
