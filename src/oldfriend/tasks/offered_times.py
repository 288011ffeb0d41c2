"""Offered times: how an answer changes the time that a question offers."""

import re
from datetime import datetime
from typing import Final

from oldfriend.domain.clock import from_micros
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.time_words import TimeBook
from oldfriend.tasks.told_time import Resolved, Told

CLOCK: Final = re.compile(r"\d{2}:\d{2}")
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def resolve_beside(resolver: TimeResolver, offered: Resolved, told: Told) -> Resolved | None:
    """Return an offered time with its hour or its day replaced; None if the answer does not fit."""
    kinds = {each.kind for each in told.words}
    if offered.rrule is not None:
        return None
    if kinds <= {"clock", "part"}:
        return resolver.resolve_hour_near(offered.due_at, told)
    if kinds != {"day"} or offered.is_date_only:
        return None
    found = resolver.resolve(told)
    if not isinstance(found, Resolved) or not found.is_date_only or found.rrule:
        return None
    hour = from_micros(offered.due_at, resolver.zone).time()
    day = from_micros(found.due_at, resolver.zone).date()
    due_at = resolver.to_micros(datetime.combine(day, hour))
    return Resolved(due_at=due_at) if due_at > resolver.now else None


def add_answer(book: TimeBook, words: str, answer: str) -> str:
    """Return the words of a time with an answer; an hour or day of the clock takes its old place.

    "every Friday at 8" becomes "every Friday 20:00", and not "every Friday at 8 20:00".
    """
    kind = "clock" if CLOCK.fullmatch(answer) else "day" if DAY.fullmatch(answer) else ""
    said = next((each for each in book.find(words) if each.kind == kind), None)
    if said is None:
        return f"{words} {answer}".strip()
    return f"{words[: said.start]}{answer}{words[said.end :]}"
