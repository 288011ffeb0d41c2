"""Snooze times: when a reminder that is put off by one choice comes again."""

from datetime import datetime, time, timedelta
from typing import Final, Literal, get_args

from oldfriend.domain.clock import MINUTE, from_micros
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.told_time import Resolved

SnoozeChoice = Literal["10m", "evening", "tomorrow"]
SNOOZE_CHOICES: Final[tuple[SnoozeChoice, ...]] = get_args(SnoozeChoice)
EVENING: Final = time(19)
DAY_BEGINS: Final = time(9)
"""When a reminder comes that has a day and no hour."""


def find_choice(word: str) -> SnoozeChoice | None:
    """Return the choice with a name, as commands and programs say it."""
    return next((each for each in SNOOZE_CHOICES if each == word.lower()), None)


def resolve_choice(choice: SnoozeChoice, resolver: TimeResolver) -> Resolved | None:
    """Return when a choice means; None for an evening that has begun."""
    if choice == "10m":
        return Resolved(due_at=resolver.now + 10 * MINUTE)
    today = from_micros(resolver.now, resolver.zone).date()
    if choice == "tomorrow":
        morning = datetime.combine(today + timedelta(days=1), DAY_BEGINS)
        return Resolved(due_at=resolver.to_micros(morning), is_date_only=True)
    evening = resolver.to_micros(datetime.combine(today, EVENING))
    return Resolved(due_at=evening) if evening > resolver.now else None
