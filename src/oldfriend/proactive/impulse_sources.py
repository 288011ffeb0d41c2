"""Impulse sources: what could be said unasked, now or later, from what is known of a person.

Promises and expectations that fall due, what is on today, anniversaries, thoughts, and a silence.
Impulses hold no words. One that is not found again has lost its ground, and is dropped.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import COMMITMENT, FUTURE_KINDS, THOUGHT
from oldfriend.domain.belief_times import get_deadline, get_told_zone, is_whole_day
from oldfriend.domain.clock import DAY, HOUR, Micros, from_micros, get_start_of_day
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Person
from oldfriend.memory.belief_views import list_memories, list_memories_by_key
from oldfriend.memory.calendar_days import list_events_between, list_grave_events
from oldfriend.memory.expiry import GRACE_PERIOD
from oldfriend.proactive.checklist import Checklist, collect_checklist, load_checklist
from oldfriend.proactive.diary_impulses import (
    KeptDiary,
    collect_diary,
    find_entry_of_day,
    find_kept_diary,
)
from oldfriend.proactive.goal_impulses import WatchedGoal, collect_goals, list_watched_goals
from oldfriend.proactive.number_impulses import (
    NumberAlert,
    collect_numbers,
    list_number_alerts,
)
from oldfriend.proactive.person_state import (
    DueTask,
    LastMessage,
    count_session_messages,
    find_last_message,
    list_due_tasks,
    list_reminded_beliefs,
    list_undone_reminders,
)
from oldfriend.proactive.policy import PACES, Impulse, ImpulseKind
from oldfriend.proactive.proactive_settings import ProactiveSettings
from oldfriend.proactive.quiet_hours import get_local_time
from oldfriend.proactive.watch_impulses import SeenWatch, collect_watches, list_seen_watches
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases

MORNING: Final = (9, 0)
"""When it speaks of what falls due on a day, at the earliest."""
FOLLOW_UP: Final = (10, 0)
"""When it asks how something went, on the day after."""
OPENING: Final = (8, 0)
OPENING_ENDS: Final = (12, 0)
ANNIVERSARY: Final = (12, 0)
EVENING: Final = (18, 0)
EVENING_ENDS: Final = (21, 0)
RECAP_ENDS: Final = (12, 0)
"""On Monday, until when the recap of the week may be told that ended on Sunday."""
FRIDAY: Final = 4
SUNDAY: Final = 6
STILL_NAMED: Final = 2 * DAY
"""How long a delivered reminder that is not done is named in the overview of the day."""
NOTICE: Final = HOUR
"""So long before its hour somebody is told of a promise."""
SILENCE: Final = 48 * HOUR
SILENCE_ENDS: Final = 7 * DAY
PAUSE: Final = 4 * HOUR
"""So long after a long talk it may come back to it."""
PAUSE_ENDS: Final = 8 * HOUR
LONG_TALK: Final = 10
"""Messages; a session with more of them was a long talk."""
THOUGHT_WAITS: Final = 3 * HOUR
THOUGHT_ENDS: Final = 3 * DAY
MIN_IMPACT: Final = 5
"""Of a past event, to be thought of on its day; only good ones are."""
GRAVE_IMPACT: Final = 8
"""The impact, good or bad, from which an event is asked about on the day after it was told."""
GRAVE_FOR: Final = 3 * DAY
"""How long after the event was told it is asked about."""
GRAVE_FRESH: Final = 14 * DAY
"""What happened longer before it was told is a story of the past."""
MAX_YEARS: Final = 10
BIRTHDAY: Final = "birthday"
DAY_NUMBER: Final = re.compile(r"(?<!\d)\d{1,2}(?!\d)", re.ASCII)
ISO_DATE: Final = re.compile(r"(?:\d{4}-)?(\d{2})-(\d{2})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasions:
    """What a person's impulses are made from."""

    due: tuple[StoredBelief, ...] = ()  # open promises and expectations with a due time
    tasks: tuple[DueTask, ...] = ()  # reminders and to-dos to come, of today and later
    undone: tuple[str, ...] = ()  # reminders of the last days that came, and were not done
    goals: tuple[WatchedGoal, ...] = ()
    watches: tuple[SeenWatch, ...] = ()
    checklist: Checklist = field(default_factory=Checklist)
    numbers: tuple[NumberAlert, ...] = ()
    diary: KeptDiary | None = None
    birthdays: tuple[StoredBelief, ...] = ()
    past_events: tuple[StoredBelief, ...] = ()  # of this day in earlier years
    past_entry: str | None = None  # of the diary, on this day in an earlier year
    thoughts: tuple[StoredBelief, ...] = ()
    grave: tuple[StoredBelief, ...] = ()  # events of great weight that were told lately
    last_message: LastMessage | None = None
    session_messages: int = 0  # in the session of the last message


async def load_occasions(
    tx: Transaction, person: Person, proactive_settings: ProactiveSettings, *, now: Micros
) -> Occasions:
    """Load what a level may speak of."""
    kinds = PACES[proactive_settings.level].kinds
    if proactive_settings.level == "off" and proactive_settings.digest == "off":
        return Occasions(
            watches=await list_seen_watches(tx, person.id, now=now),
            checklist=await load_checklist(tx, person.id),
        )
    due = [each.memory for each in await list_memories(tx, person.id, kinds=FUTURE_KINDS)]
    due = [each for each in due if each.due_at is not None and may_be_told(each)]
    reminded = await list_reminded_beliefs(tx, person.id) if due else frozenset()
    due = [each for each in due if each.id not in reminded]
    last = await find_last_message(tx, person.id, now=now)
    seen = await list_seen_watches(tx, person.id, now=now)
    occasions = Occasions(
        due=tuple(due),
        grave=await load_grave_events(tx, person, now=now) if "follow_up" in kinds else (),
        last_message=last,
        watches=seen,
        checklist=await load_checklist(tx, person.id),
    )
    if "goal" in kinds:
        occasions = replace(occasions, goals=await list_watched_goals(tx, person.id))
    if "day_opening" in kinds or proactive_settings.digest != "off":
        birthdays = await list_memories_by_key(tx, person.id, "fact", BIRTHDAY)
        midnight = get_start_of_day(now, person.zone)
        occasions = replace(
            occasions,
            tasks=tuple(await list_due_tasks(tx, person.id, since=midnight)),
            undone=await list_undone_reminders(
                tx, person.id, since=midnight - STILL_NAMED, until=midnight
            ),
            birthdays=tuple(each.memory for each in birthdays if may_be_told(each.memory)),
        )
    if {"number", "diary"} & kinds:
        occasions = replace(
            occasions,
            numbers=await list_number_alerts(tx, person, now=now),
            diary=await find_kept_diary(tx, person, now=now),
        )
    if "anniversary" in kinds:
        today = from_micros(now, person.zone).date()
        occasions = replace(
            occasions,
            past_events=await load_past_events(tx, person, now=now),
            past_entry=await find_entry_of_day(tx, person.id, today),
        )
    if "thought" in kinds:
        thoughts = [
            each.memory for each in await list_memories(tx, person.id, kinds=[THOUGHT.name])
        ]
        occasions = replace(occasions, thoughts=tuple(filter(may_be_told, thoughts)))
    if "moment" in kinds and last is not None:
        count = await count_session_messages(tx, last, person.id)
        occasions = replace(occasions, session_messages=count)
    return occasions


async def load_past_events(
    tx: Transaction, person: Person, *, now: Micros
) -> tuple[StoredBelief, ...]:
    """Return the good events of this day in earlier years."""
    today = from_micros(now, person.zone).date()
    found: list[StoredBelief] = []
    for years in range(1, MAX_YEARS + 1):
        day = move_to_year(today, today.year - years)
        if day is None:
            continue
        noon = get_local_time(now, person.zone, days=(day - today).days, hour=12)
        events = await list_events_between(
            tx, person.id, since=noon - DAY // 2, until=noon + DAY // 2
        )
        found.extend(each for each in events if may_be_told(each) and each.impact >= MIN_IMPACT)
    return tuple(found)


async def load_grave_events(
    tx: Transaction, person: Person, *, now: Micros
) -> tuple[StoredBelief, ...]:
    """Return what somebody has told of themselves lately that weighs much, and was fresh then."""
    events = await list_grave_events(tx, person.id, since=now - GRAVE_FOR, impact=GRAVE_IMPACT)
    return tuple(
        each
        for each in events
        if each.is_live
        and each.trust == "person"
        and each.learned_at - (each.happened_at or each.learned_at) < GRAVE_FRESH
    )


def may_be_told(memory: StoredBelief) -> bool:
    """Whether it is believed, and from the person's own words or ours: never from outside ones."""
    return memory.is_live and memory.trust not in {"outside", "other"}


def collect_impulses(
    person: Person, proactive_settings: ProactiveSettings, occasions: Occasions, *, now: Micros
) -> list[Impulse]:
    """Return every impulse that is open, also those whose time is still to come."""
    found = [
        *collect_due(person, occasions.due),
        *collect_grave_events(person, occasions.grave),
        *collect_goals(person, occasions.goals),
        *collect_watches(person, occasions.watches),
        *collect_day_openings(person, proactive_settings, occasions, now=now),
        *collect_recaps(person, proactive_settings, now=now),
        *collect_anniversaries(person, occasions, now=now),
        *collect_checklist(person, occasions.checklist, now=now),
        *collect_numbers(person, occasions.numbers),
        *collect_diary(person, occasions.diary, now=now),
        *collect_thoughts(person, occasions.thoughts),
        *collect_silence(person, occasions.last_message),
        *collect_moments(person, occasions, now=now),
    ]
    kinds = PACES[proactive_settings.level].kinds - proactive_settings.muted
    return [each for each in found if each.kind in kinds and each.expires_at > now]


def collect_due(person: Person, due: Sequence[StoredBelief]) -> Iterator[Impulse]:
    """Yield the promises that fall due, and the expectations to be followed up."""
    for memory in due:
        deadline = get_deadline(memory, person.zone)
        if deadline is None or memory.grain or memory.learned_at >= deadline:
            continue
        is_promise = memory.kind == COMMITMENT.name
        kind: ImpulseKind = "promise" if is_promise else "follow_up"
        yield Impulse(
            person=person.id,
            kind=kind,
            key=f"{kind}:{memory.id}:{memory.due_at}",
            sources=(memory.id,),
            not_before=find_promise_time(memory, deadline, person.zone)
            if is_promise
            else get_local_time(deadline, person.zone, days=1, hour=FOLLOW_UP[0]),
            expires_at=deadline + GRACE_PERIOD,
            urgency=0.9 if is_promise else 0.7,
            relevance=0.5 + memory.importance / 2,
        )


def collect_grave_events(person: Person, events: Sequence[StoredBelief]) -> Iterator[Impulse]:
    """Yield how somebody is on the day after they told of something grave, or of great joy."""
    for memory in events:
        yield Impulse(
            person=person.id,
            kind="follow_up",
            key=f"follow_up:{memory.id}:told",
            sources=(memory.id,),
            not_before=get_local_time(memory.learned_at, person.zone, days=1, hour=FOLLOW_UP[0]),
            expires_at=memory.learned_at + GRAVE_FOR,
            urgency=0.7,
            relevance=min(1.0, abs(memory.impact) / 10),
        )


def find_promise_time(memory: StoredBelief, deadline: Micros, zone: str) -> Micros:
    """Return when to speak of a promise: in the morning of its day, or before its hour."""
    if is_due_all_day(memory, deadline, zone):
        return get_local_time(deadline, zone, hour=MORNING[0])
    return deadline - NOTICE


def is_due_all_day(memory: StoredBelief, deadline: Micros, zone: str) -> bool:
    """Whether a belief is due on a day, and at no hour of it."""
    return any(is_whole_day(deadline, each) for each in (zone, get_told_zone(memory, zone)))


def collect_day_openings(
    person: Person, proactive_settings: ProactiveSettings, occasions: Occasions, *, now: Micros
) -> Iterator[Impulse]:
    """Yield the opening of today and of the next day on which there is something.

    A digest that was ordered takes its place: daily, or on Mondays of the whole week.
    """
    today = from_micros(now, person.zone).date()
    by_day = group_by_day(person, occasions, today)
    kind: ImpulseKind = "day_opening" if proactive_settings.digest == "off" else "digest"
    if proactive_settings.digest == "weekly":
        by_day = group_by_week(by_day)
    elif today in by_day:
        by_day[today].extend(occasions.undone)
    for day in sorted(day for day in by_day if day >= today):
        days = (day - today).days
        yield Impulse(
            person=person.id,
            kind=kind,
            key=f"{kind}:{day}",
            sources=tuple(dict.fromkeys(by_day[day])),
            not_before=get_local_time(now, person.zone, days=days, hour=OPENING[0]),
            expires_at=get_local_time(now, person.zone, days=days, hour=OPENING_ENDS[0]),
            urgency=1.0 if kind == "digest" else 0.8,
        )


def group_by_day(person: Person, occasions: Occasions, today: date) -> dict[date, list[str]]:
    """Return what is on by its day."""
    by_day: dict[date, list[str]] = {}
    for task in occasions.tasks:
        by_day.setdefault(from_micros(task.due_at, person.zone).date(), []).append(task.id)
    for memory in occasions.due:
        deadline = get_deadline(memory, person.zone)
        if deadline is not None and not memory.grain:
            by_day.setdefault(from_micros(deadline, person.zone).date(), []).append(memory.id)
    for memory in occasions.birthdays:
        day = find_next_birthday(memory.value, today)
        if day is not None:
            by_day.setdefault(day, []).append(memory.id)
    return by_day


def collect_recaps(
    person: Person, proactive_settings: ProactiveSettings, *, now: Micros
) -> Iterator[Impulse]:
    """Yield the recaps of last week, of this and of the next, each on Sunday evening.

    What was done is read when it is told.
    """
    if proactive_settings.recap == "off":
        return
    today = from_micros(now, person.zone).date()
    for weeks in (-1, 0, 1):
        days = SUNDAY - today.weekday() + weeks * (SUNDAY + 1)
        yield Impulse(
            person=person.id,
            kind="recap",
            key=f"recap:{today + timedelta(days=days)}",
            sources=(),
            not_before=get_local_time(now, person.zone, days=days, hour=EVENING[0]),
            expires_at=get_local_time(now, person.zone, days=days + 1, hour=RECAP_ENDS[0]),
            urgency=1.0,
        )


def group_by_week(by_day: dict[date, list[str]]) -> dict[date, list[str]]:
    """Return what is on by the Monday of its week, in the order of the days."""
    weeks: dict[date, list[str]] = {}
    for day in sorted(by_day):
        weeks.setdefault(day - timedelta(days=day.weekday()), []).extend(by_day[day])
    return weeks


def find_next_birthday(value: str, today: date) -> date | None:
    """Return the next day with the date that a birthday names, in any language of ours."""
    found = find_month_and_day(value)
    if found is None:
        return None
    month, day = found
    for year in (today.year, today.year + 1):
        try:
            at = date(year, month, day)
        except ValueError:
            at = date(year, month, 28) if (month, day) == (2, 29) else date.min
        if at >= today:
            return at
    return None


def find_month_and_day(value: str) -> tuple[int, int] | None:
    """Return the month and the day that a date in words or in ISO form names."""
    iso = ISO_DATE.search(value)
    if iso is not None:
        return (int(iso[1]), int(iso[2])) if 1 <= int(iso[1]) <= 12 else None
    numbers = [int(each) for each in DAY_NUMBER.findall(value)]
    words = value.casefold()
    for language in OFFLINE_LANGUAGES:
        months = load_phrases(language).date_formats.months
        for month, name in enumerate(months, start=1):
            if len(name) > 2 and not name[0].isdigit() and name.casefold() in words and numbers:
                return (month, numbers[0]) if 1 <= numbers[0] <= 31 else None
    return None


def collect_anniversaries(
    person: Person, occasions: Occasions, *, now: Micros
) -> Iterator[Impulse]:
    """Yield what happened on this day in earlier years; else what the diary has of it."""
    year = from_micros(now, person.zone).year
    weights: dict[str, float] = {each.id: each.impact / 10 for each in occasions.past_events}
    if not weights and occasions.past_entry is not None:
        weights = {occasions.past_entry: MIN_IMPACT / 10}
    for source, weight in weights.items():
        yield Impulse(
            person=person.id,
            kind="anniversary",
            key=f"anniversary:{source}:{year}",
            sources=(source,),
            not_before=get_local_time(now, person.zone, hour=ANNIVERSARY[0]),
            expires_at=get_local_time(now, person.zone, hour=EVENING_ENDS[0]),
            urgency=0.5,
            relevance=min(1.0, weight),
        )


def collect_thoughts(person: Person, thoughts: Sequence[StoredBelief]) -> Iterator[Impulse]:
    """Yield the thoughts of the last days."""
    for memory in thoughts:
        yield Impulse(
            person=person.id,
            kind="thought",
            key=f"thought:{memory.id}",
            sources=(memory.id,),
            not_before=memory.learned_at + THOUGHT_WAITS,
            expires_at=memory.learned_at + THOUGHT_ENDS,
            urgency=0.3,
            relevance=memory.importance,
        )


def collect_silence(person: Person, last: LastMessage | None) -> Iterator[Impulse]:
    """Yield a word into a long silence, once in each."""
    if last is not None:
        yield Impulse(
            person=person.id,
            kind="silence",
            key=f"silence:{last.id}",
            sources=(last.id,),
            not_before=last.said_at + SILENCE,
            expires_at=last.said_at + SILENCE_ENDS,
            urgency=0.4,
        )


def collect_moments(person: Person, occasions: Occasions, *, now: Micros) -> Iterator[Impulse]:
    """Yield a Friday evening, and the hours after a long talk."""
    last = occasions.last_message
    if last is None:
        return
    today = from_micros(now, person.zone).date()
    days = (FRIDAY - today.weekday()) % 7
    base = Impulse(
        person=person.id,
        kind="moment",
        key=f"moment:friday:{today + timedelta(days=days)}",
        sources=(last.id,),
        not_before=get_local_time(now, person.zone, days=days, hour=EVENING[0]),
        expires_at=get_local_time(now, person.zone, days=days, hour=EVENING_ENDS[0]),
        urgency=0.3,
    )
    yield base
    if occasions.session_messages > LONG_TALK:
        yield replace(
            base,
            key=f"moment:pause:{last.id}",
            not_before=last.said_at + PAUSE,
            expires_at=last.said_at + PAUSE_ENDS,
        )


def move_to_year(day: date, year: int) -> date | None:
    """Return the same day of another year; None for 29 February where there is none."""
    try:
        return day.replace(year=year)
    except ValueError:
        return None
