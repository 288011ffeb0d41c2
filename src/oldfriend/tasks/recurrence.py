"""Recurrence: when a series goes on, by its rule (RFC 5545), in the zone of a person.

A local time that a change of the clock skips comes as much later as the clock is moved forward, and
one that happens twice comes the first time. Series of hours or minutes count elapsed time.
"""

from collections.abc import Iterator, Set
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Final

from dateutil.rrule import rrule, rrulestr

from oldfriend.domain.clock import Micros, from_micros, get_zone, to_micros
from oldfriend.domain.errors import InvalidInput

MAX_RULE_CHARS: Final = 200
MIN_STEP: Final = timedelta(minutes=5)
MAX_COUNT: Final = 10_000
MAX_EXCEPTIONS: Final = 1_000
"""So many days of a series can be left out."""
EXCEPTIONS: Final = "EXDATE"
"""The part of our rules that names what is left out: days, or local times of a day with several."""
MAX_LOOKS: Final = 20_000
"""Days and months that are looked at for one time of a series."""
STEPS: Final = {
    "MINUTELY": timedelta(minutes=1),
    "HOURLY": timedelta(hours=1),
    "DAILY": timedelta(days=1),
    "WEEKLY": timedelta(weeks=1),
}
_ENDS: Final = frozenset({"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST"})
_IN_DAY: Final = frozenset({"BYDAY", "BYHOUR", "BYMINUTE", EXCEPTIONS})
_IN_YEAR: Final = frozenset({"BYMONTHDAY", "BYMONTH", "BYSETPOS"})
ALLOWED_PARTS: Final = {
    "MINUTELY": _ENDS,  # more would make a rule that never comes slow to search
    "HOURLY": _ENDS,
    "DAILY": _ENDS | _IN_DAY,
    "WEEKLY": _ENDS | _IN_DAY,
    "MONTHLY": _ENDS | _IN_DAY | _IN_YEAR,
    "YEARLY": _ENDS | _IN_DAY | _IN_YEAR,
}


def to_utc(moment: datetime, zone: str) -> datetime:
    """Return the moment of a local time without zone."""
    return moment.replace(tzinfo=get_zone(zone)).astimezone(UTC)


class SearchLimit:
    """What a rule asks while it looks at days: always false, and the end of a search in vain.

    It stands for parts that our rules never have (weeks of the year, Easter).
    """

    def __init__(self) -> None:
        """Begin to count."""
        self.looks = 0

    def __bool__(self) -> bool:
        """Count a look. Raises SearchedInVain."""
        self.looks += 1
        if self.looks > MAX_LOOKS:
            raise SearchedInVain
        return False


class SearchedInVain(Exception):
    """A rule of which nothing comes for very long."""


def find_next(rule: str, start: datetime, zone: str, *, after: Micros) -> Micros | None:
    """Return the first time of a series after a moment; None if it is over.

    ``start`` is the local time from which the rule counts.
    """
    if is_counted_in_elapsed_time(rule):
        begin = to_utc(start, zone).replace(tzinfo=None)
        moment = from_micros(after).replace(tzinfo=None)
        timed = end_in_utc(rule, zone)
        later = (each for each in iterate_times(timed, begin, since=moment) if each > moment)
        found = next(later, None)
        return None if found is None else to_micros(found.replace(tzinfo=UTC))
    local = from_micros(after, zone).replace(tzinfo=None)
    since = local - timedelta(hours=3)  # a clock may be set back meanwhile
    for each in iterate_times(rule, start, since=since):
        if each >= since and (at := to_micros(to_utc(each, zone))) > after:
            return at
    return None


def end_in_utc(rule: str, zone: str) -> str:
    """Return a rule whose end, which is told in local time, is told in UTC."""
    head, is_ended, tail = rule.partition("UNTIL=")
    if not is_ended:
        return rule
    end, mark, rest = tail.partition(";")
    moment = to_utc(datetime.fromisoformat(end.removesuffix("Z")), zone)
    return f"{head}{is_ended}{moment:%Y%m%dT%H%M%S}{mark}{rest}"


def iterate_times(rule: str, start: datetime, *, since: datetime) -> Iterator[datetime]:
    """Yield the times of a rule, beginning with some before a moment; not all of a long past."""
    rule, left_out = split_exceptions(rule)
    parsed = move_start(parse_rule(rule, start), rule, start, since=since)
    if parsed is None:
        return
    limit = SearchLimit()
    vars(parsed).update(_byweekno=limit, _byeaster=limit)
    with suppress(SearchedInVain):
        for each in parsed:
            limit.looks = 0
            if left_out.isdisjoint({f"{each:%Y%m%d}", f"{each:%Y%m%dT%H%M%S}"}):
                yield each


def split_exceptions(rule: str) -> tuple[str, Set[str]]:
    """Return a rule as the standard has it, and the days and times that are left out of it."""
    parts = rule.split(";")
    kept = [each for each in parts if not each.startswith(f"{EXCEPTIONS}=")]
    left_out = [each.partition("=")[2] for each in parts if each.startswith(f"{EXCEPTIONS}=")]
    return ";".join(kept), {day for each in left_out for day in each.split(",")}


def add_exceptions(rule: str, times: Set[datetime]) -> str:
    """Return a rule that leaves out local times, also when its hour is moved: their whole days.

    Of a day with several times only the one is left out. Raises InvalidInput for a series of hours
    or minutes, and for too many.
    """
    if times and is_counted_in_elapsed_time(rule):
        raise InvalidInput("a series of hours or minutes with exceptions cannot be kept")
    plain, left_out = split_exceptions(rule)
    values = dict(part.split("=") for part in plain.split(";"))
    is_several = any("," in values.get(each, "") for each in ("BYHOUR", "BYMINUTE"))
    form = "%Y%m%dT%H%M%S" if is_several else "%Y%m%d"
    named = sorted(left_out | {f"{each:{form}}" for each in times})
    if len(named) > MAX_EXCEPTIONS:
        raise InvalidInput(f"a series with more than {MAX_EXCEPTIONS} days left out cannot be kept")
    return f"{plain};{EXCEPTIONS}={','.join(named)}" if named else plain


def list_exceptions(rule: str) -> list[str]:
    """List the days and local times that a rule leaves out."""
    return sorted(split_exceptions(rule)[1])


def move_start(parsed: rrule, rule: str, start: datetime, *, since: datetime) -> rrule | None:
    """Let a rule of fixed steps count from a time shortly before a moment; None if it is over."""
    values = dict(part.split("=") for part in rule.split(";"))
    unit = STEPS.get(values["FREQ"])
    if unit is None or since <= start:
        return parsed
    step = unit * int(values.get("INTERVAL", "1"))
    steps = max(0, (since - start) // step - 1)
    if "COUNT" not in values:
        return parsed.replace(dtstart=start + steps * step)
    if not is_counted_in_elapsed_time(rule):
        return parsed  # several may come in a step, or none; there are few
    left = int(values["COUNT"]) - steps
    return parsed.replace(dtstart=start + steps * step, count=left) if left > 0 else None


def is_counted_in_elapsed_time(rule: str) -> bool:
    """Whether a series is one of hours or minutes."""
    return "FREQ=HOURLY" in rule or "FREQ=MINUTELY" in rule


def parse_rule(rule: str, start: datetime) -> rrule:
    """Parse a rule that counts from a time without zone. Raises InvalidInput."""
    try:
        parsed = rrulestr(rule, dtstart=start, cache=False)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise build_rule_error(rule) from error
    if not isinstance(parsed, rrule):
        raise build_rule_error(rule)
    return parsed


def validate_rule(rule: str, start: datetime) -> str:
    """Return a rule as it is stored. Raises InvalidInput for one that is wrong or too frequent."""
    text = rule.strip().upper().removeprefix("RRULE:")
    parts = [part.partition("=") for part in text.split(";")]
    names = [name for name, _, _ in parts]
    values = {name: value for name, _, value in parts}
    allowed = ALLOWED_PARTS.get(values.get("FREQ", ""), frozenset())
    is_known = set(names) <= allowed and len(set(names)) == len(names)
    plain, left_out = split_exceptions(text)
    if len(plain) > MAX_RULE_CHARS or len(left_out) > MAX_EXCEPTIONS or not is_known:
        raise build_rule_error(rule)
    if not all(is_exception(each) for each in left_out):
        raise build_rule_error(rule)
    for name in ("INTERVAL", "COUNT"):
        value = values.get(name, "1")
        if not (value.isascii() and value.isdecimal() and 1 <= int(value) <= MAX_COUNT):
            raise build_rule_error(rule)
    if "UNTIL" in values:  # in the zone of the series, which counts without one
        values["UNTIL"] = values["UNTIL"].removesuffix("Z")
    text = ";".join(f"{name}={values[name]}" for name in names)
    moments = list(islice(iterate_times(text, start, since=start), 12))
    if not moments:
        raise build_rule_error(rule)
    if any(later - earlier < MIN_STEP for earlier, later in pairwise(moments)):
        raise InvalidInput("A reminder can come every five minutes at most.")
    return text


def is_exception(text: str) -> bool:
    """Whether a text names a day or a local time as a rule leaves it out."""
    with suppress(ValueError):
        stated = datetime.fromisoformat(text)
        return text in {f"{stated:%Y%m%d}", f"{stated:%Y%m%dT%H%M%S}"}
    return False


def build_rule_error(rule: str) -> InvalidInput:
    """Build the error for a rule that cannot be used."""
    return InvalidInput(
        f"{rule[:80]!r} is not a rule for repeating. Use RFC 5545, such as FREQ=WEEKLY;BYDAY=FR."
    )
