"""Offered times: how an answer changes the time that a question offers."""

from datetime import datetime

from oldfriend.domain.clock import from_micros
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.told_time import Resolved, Told


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
