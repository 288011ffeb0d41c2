"""Agenda requests: what is on today, on Thursday or this week.

"What's on this week?" is answered from reminders, promises and dates of those days.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Any, Final

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_times import get_told_zone, is_whole_day
from oldfriend.domain.clock import Micros, from_micros, to_micros
from oldfriend.domain.memories import StoredBelief
from oldfriend.lang.language_pack import choose_language_with, list_languages, load_language_pack
from oldfriend.memory.calendar_days import list_due_between, list_events_between
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.search.shared_topics import extract_meaning_terms
from oldfriend.search.tokenizer import collect_content_terms
from oldfriend.tasks.day_parts import find_month_end
from oldfriend.tasks.recurrence import find_next, to_utc
from oldfriend.tasks.task import Task, find_end, list_about
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.task_store import list_begun_times, list_tasks
from oldfriend.tasks.task_wording import TaskWording
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.told_time import Resolved
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.task_events import TaskEvent, find_event

NAME: Final = "agenda"
EDGES: Final = " \t\n.,;:!?¡¿。，；：！？…"
MAX_CHARS: Final = 120
WHEN: Final = r"(?P<when>.{2,40}?)"
MAX_LINES: Final = 30
MAX_TIMES_A_DAY: Final = 3
"""Times of one day that are listed one by one."""
DAYS_PER_WEEK: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Days that are asked about, and what they are called in a heading."""

    name: str
    first: date
    last: date
    is_named_day: bool = False  # by its weekday or date


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something of a day."""

    at: Micros
    when: str
    text: str
    source: ReceiptItem | None = None
    record: str | None = None  # the id of a task


async def handle_agenda(context: HandlerContext) -> HandledRequest | None:
    """Tell what is on in the days that a message asks about."""
    message, perception = context.utterance.message, context.perception
    now, zone = message.at, message.zone
    likely = choose_language_with("agenda", perception.language)
    for language in dict.fromkeys((likely, *list_languages("agenda"))):
        span = read_span(context.text, language, now=now, zone=zone)
        if span is not None:
            break
    else:
        return await tell_when(context)
    replied = perception.reply_language if language == likely else perception.fixed_language
    reply_language = choose_language_with("agenda", replied or language)
    say = load_language_pack(reply_language).read("agenda")["say"]
    async with context.db.begin_read() as tx:
        wording = TaskWording(reply_language, zone=zone, now=now)
        entries = await list_entries(tx, context, wording, span.first, span.last)
    return HandledRequest(
        name=NAME,
        text=format_entries(entries, say, span.name, day=wording.format_date(span.first)),
        items=tuple(each.source for each in entries if each.source is not None),
        records=tuple(dict.fromkeys(each.record for each in entries if each.record is not None)),
        # What was said of a day, and is on no list, is looked for.
        is_whole_message=bool(entries) or not span.is_named_day,
    )


def read_span(text: str, language: str, *, now: Micros, zone: str) -> Span | None:
    """Return which days a whole text asks about; None for any other text."""
    plain = " ".join(text.replace("\u2019", "'").split()).strip(EDGES).lower()
    if not plain or len(plain) > MAX_CHARS:
        return None
    today = from_micros(now, zone).date()
    asks, spans = load_patterns(language)
    for ask in asks:
        found = ask.fullmatch(plain)
        if found is None:
            continue
        for name, words in spans.items():
            if words.fullmatch(found["when"]):
                first, last = find_days(name, today)
                return Span(name=name, first=first, last=last)
        day = find_day(found["when"], language, now=now, zone=zone)
        if day is not None and day >= today:
            name = ("today", "tomorrow", "day")[min((day - today).days, 2)]
            return Span(name=name, first=day, last=day, is_named_day=True)
    return None


def find_day(words: str, language: str, *, now: Micros, zone: str) -> date | None:
    """Return the day that words tell and nothing else; of two that they may mean, the first."""
    phrases = load_task_phrases(language)
    told = phrases.read_time(words)
    if told is None or told.day is None or told.clock is not None or told.every is not None:
        return None
    if not phrases.is_only_time(words):
        return None
    resolved = TimeResolver(phrases.book, now, zone).resolve(replace(told, part=None))
    if isinstance(resolved, Resolved):
        return from_micros(resolved.due_at, zone).date()
    return date.fromisoformat(resolved.options[0]) if resolved.question == "week" else None


@cache
def load_patterns(
    language: str,
) -> tuple[Sequence[re.Pattern[str]], Mapping[str, re.Pattern[str]]]:
    """Compile how it is asked in a language what is on, and how spans are called."""
    pack: dict[str, Any] = load_language_pack(language).read("agenda")
    asks = [re.compile(each.replace("WHEN", WHEN)) for each in pack["asks"]]
    return asks, {name: re.compile(words) for name, words in pack["spans"].items()}


def find_days(span: str, today: date) -> tuple[date, date]:
    """Return the first and last day of a span."""
    sunday = today + timedelta(days=DAYS_PER_WEEK - 1 - today.weekday())
    days = {
        "today": (today, today),
        "tomorrow": (today + timedelta(days=1), today + timedelta(days=1)),
        "week": (today, sunday),
        "weekend": (max(today, sunday - timedelta(days=1)), sunday),
        "month": (today, find_month_end(today)),
        "next_week": (sunday + timedelta(days=1), sunday + timedelta(days=DAYS_PER_WEEK)),
    }
    return days[span]


async def list_entries(
    tx: Transaction, context: HandlerContext, wording: TaskWording, first: date, last: date
) -> list[Entry]:
    """List reminders, promises and events of some days in order, each once."""
    person, zone = context.utterance.person.id, context.utterance.message.zone
    since, until = start_of(first, zone), start_of(last + timedelta(days=1), zone)
    entries = [
        entry
        for each in await list_tasks(tx, person)
        for entry in list_task_entries(each, wording, since, until)
    ]
    due = await list_due_between(tx, person, since=since, until=until)
    events = await list_events_between(tx, person, since=since, until=until)
    times = [(each, each.due_at) for each in due if each.ended_at is None]
    times += [(each, each.happened_at) for each in events]
    entries += [build_entry(each, at, wording, zone) for each, at in times if at is not None]
    return sorted(entries, key=lambda each: (each.at, each.text))


def list_task_entries(
    task: Task, wording: TaskWording, since: Micros, until: Micros
) -> list[Entry]:
    """List when a task is due in a span; a series of many times a day only once, in its words."""
    times = list_times(task, since, until)
    days = Counter(from_micros(at, task.zone).date() for at in times)
    is_dense = bool(days) and max(days.values()) > MAX_TIMES_A_DAY
    named = task.time_words if is_dense and task.rrule else ""
    source = None if task.message is None else build_listed_item("message", task.message, 1)
    return [
        Entry(
            at=at,
            when=named or wording.format_task_time(replace(task, due_at=at)),
            text=task.text,
            source=source,
            record=task.id,
        )
        for at in (times[:1] if is_dense else times)
    ]


async def tell_when(context: HandlerContext) -> HandledRequest | None:
    """Tell when something on the list is due that a message asks about; None if it is not there."""
    message, perception = context.utterance.message, context.perception
    asked = read_when(context.text, perception.language)
    if asked is None:
        return None
    what, language = asked
    reply_language = choose_language_with("agenda", perception.fixed_language or language)
    async with context.db.begin_read() as tx:
        tasks = await list_tasks(tx, context.utterance.person.id, now=context.clock())
        events = {each.id: await find_event(tx, each) for each in tasks if each.time_words}
    named = load_task_phrases(language).content_words(what)
    words = collect_content_terms(named, language)
    timed = [each for each in tasks if each.due_at is not None and each.status == "open"]
    found = (
        [each for each in timed if is_about(each, words, language)]
        or list_about(timed, named, language)
        or list_appointments(timed, named, language)
    )
    if not found:
        return None
    wording = TaskWording(reply_language, zone=message.zone, now=context.clock())
    say = load_language_pack(reply_language).read("agenda")["say"]
    lines = [format_due(each, events.get(each.id), wording, say) for each in found[:MAX_LINES]]
    return HandledRequest(
        name=NAME,
        text="\n".join([say["listed"], *lines]),
        records=tuple(each.id for each in found),
        is_fallback=True,
    )


def format_due(
    task: Task, event: TaskEvent | None, wording: TaskWording, say: Mapping[str, str]
) -> str:
    """Format when a task is due; of one that comes before something, also when that is."""
    due = wording.format_task_time(task)
    if event is None or not event.lead:
        return say["line"].format(when=due, text=task.text)
    when = wording.format_when(event.at.due_at, is_date_only=event.at.is_date_only)
    return say["line_before"].format(when=when, text=task.text, due=due)


def read_when(text: str, language: str) -> tuple[str, str] | None:
    """Return of what a whole text asks when it is, and the language of the question."""
    plain = " ".join(text.replace("\u2019", "'").split()).strip(EDGES).lower()
    if not plain or len(plain) > MAX_CHARS:
        return None
    likely = choose_language_with("agenda", language)
    for code in dict.fromkeys((likely, *list_languages("agenda"))):
        for pattern in load_when_patterns(code):
            if found := pattern.fullmatch(plain):
                return found["what"], code
    return None


@cache
def load_when_patterns(language: str) -> Sequence[re.Pattern[str]]:
    """Compile how it is asked in a language when something is."""
    return [re.compile(each) for each in load_language_pack(language).read("agenda")["when"]]


def is_about(task: Task, words: frozenset[int], language: str) -> bool:
    """Tell whether a task is about what some words name: they are half of its own at least."""
    own = collect_content_terms(task.text, language)
    return bool(words) and words <= own and 2 * len(words) >= len(own)


def list_appointments(tasks: Sequence[Task], words: str, language: str) -> list[Task]:
    """Return the tasks that an appointment which words name is: "Zahnarzt Dr. Klee".

    Nobody writes into a calendar that it is an appointment; its title is in any language.
    """
    terms, called = extract_meaning_terms(words, language), load_appointment_terms()
    named = terms - called
    if not named or named == terms:
        return []
    codes = list_languages("agenda")
    return [
        each
        for each in tasks
        if named
        <= frozenset[int]().union(*(extract_meaning_terms(each.text, code) for code in codes))
    ]


@cache
def load_appointment_terms() -> frozenset[int]:
    """Return what is meant by the words that call something an appointment, in any language."""
    return frozenset[int]().union(
        *(
            extract_meaning_terms(load_language_pack(code).read("agenda")["appointment"], code)
            for code in list_languages("agenda")
        )
    )


def build_entry(memory: StoredBelief, at: Micros, wording: TaskWording, zone: str) -> Entry:
    """Build the entry of something that is believed to come."""
    is_day = bool(memory.grain) or is_whole_day(at, get_told_zone(memory, zone))
    return Entry(
        at=at,
        when=wording.format_when(at, is_date_only=is_day),
        text=memory.text.rstrip(".。"),
        source=build_listed_item("memory", memory.id, 1),
    )


def start_of(day: date, zone: str) -> Micros:
    """Return when a day begins."""
    return to_micros(to_utc(datetime.combine(day, time()), zone))


def list_times(task: Task, since: Micros, until: Micros) -> list[Micros]:
    """List when a task is due or goes on in a span; a series more than once."""
    first = task.begins_at
    if first is None:
        return []
    begun = [each for each in list_begun_times(task, since=since) if each < until]
    if first >= until:
        return begun
    is_on = first >= since or (find_end(task) or 0) > since
    if not task.rrule or task.starts_at is None:
        return [first] if is_on else []
    times = begun
    start = from_micros(task.starts_at, task.zone).replace(tzinfo=None)
    at: Micros | None = first
    while at is not None and at < until and len(times) < MAX_LINES:
        if at >= since or (find_end(task, at) or 0) > since:
            times.append(at)
        at = find_next(task.rrule, start, task.zone, after=at)
    return times


def format_entries(entries: Sequence[Entry], say: Mapping[str, str], span: str, *, day: str) -> str:
    """Format what is on, or that nothing is known to be."""
    if not entries:
        return say[f"nothing_{span}"].format(day=day)
    lines = [say["line"].format(when=each.when, text=each.text) for each in entries[:MAX_LINES]]
    return "\n".join([say[f"head_{span}"].format(day=day), *lines])


AGENDA: Final = RequestHandler(name=NAME, handle=handle_agenda, reads_questions=True)
