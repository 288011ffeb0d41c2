"""Recap requests: what a week or a day was like ("what happened this week").

It is told from what is stored: what was done, what goals it served, what happened, the numbers and
the diary.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any, Final, Literal, get_args

from oldfriend.db.database import Transaction
from oldfriend.diary.diary_store import DiaryFilter
from oldfriend.diary.diary_store import list_entries as list_diary_entries
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.goals.goal_store import list_goals
from oldfriend.lang.language_pack import choose_language_with, list_languages, load_language_pack
from oldfriend.measurements.measurement_store import (
    Measurement,
    list_kept_measures,
    list_measurements,
)
from oldfriend.measurements.measures import get_measure, to_compared
from oldfriend.memory.calendar_days import list_events_between
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.tasks.task_store import list_tasks
from oldfriend.tasks.task_wording import TaskWording
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.agenda_requests import (
    DAYS_PER_WEEK,
    EDGES,
    MAX_CHARS,
    MAX_LINES,
    start_of,
)
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.measurement_texts import (
    MeasurementTexts,
    find_usual_unit,
    load_measurement_texts,
)

NAME: Final = "recap"
Period = Literal["this_week", "last_week", "today", "yesterday"]
PERIODS: Final[tuple[Period, ...]] = get_args(Period)
MAX_DONE: Final = 5_000
"""Tasks that were done ever, among which those of the week are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapLine:
    """A line of a recap, and what it rests on."""

    text: str
    source: ReceiptItem | None = None


async def handle_recap(context: HandlerContext) -> HandledRequest | None:
    """Tell what the week or day was like that a message asks about."""
    perception, message = context.perception, context.utterance.message
    likely = choose_language_with("agenda", perception.language)
    for language in dict.fromkeys((likely, *list_languages("agenda"))):
        period = read_period(context.text, language)
        if period is not None:
            break
    else:
        return None
    replied = perception.reply_language if language == likely else perception.fixed_language
    reply_language = choose_language_with("agenda", replied or language)
    say = load_recap(reply_language)["say"]
    today = from_micros(context.clock(), message.zone).date()
    first, last = find_days(period, today)
    async with context.db.begin_read() as tx:
        told = await list_told(
            tx,
            context.utterance.person.id,
            (first, last),
            zone=message.zone,
            language=reply_language,
            now=context.clock(),
        )
    if not told:
        # What was said of a day, or of what is asked about, is found like anything else.
        if first == last or context.text.rstrip().endswith(("?", "？")):
            return None
        return HandledRequest(name=NAME, text=say[f"nothing_{period}"])
    head = say[f"head_{period}"]
    lines = [each.text for each in told[:MAX_LINES]]
    items = tuple(each.source for each in told[:MAX_LINES] if each.source is not None)
    return HandledRequest(
        name=NAME,
        text="\n".join([head, *lines]),
        items=items,
        # What was said of a day is quoted, too.
        is_whole_message=first != last,
    )


def find_days(period: Period, today: date) -> tuple[date, date]:
    """Return the first and the last day of a period, up to today."""
    if period in {"today", "yesterday"}:
        day = today - timedelta(days=period == "yesterday")
        return day, day
    weeks_back = period == "last_week"
    first = today - timedelta(days=today.weekday() + weeks_back * DAYS_PER_WEEK)
    return first, min(first + timedelta(days=DAYS_PER_WEEK - 1), today)


async def list_told(
    tx: Transaction,
    person: PersonId,
    days: tuple[date, date],
    *,
    zone: str,
    language: str,
    now: Micros,
) -> list[RecapLine]:
    """List what is told of some days, both included: tasks, goals, events, numbers, the diary."""
    (first, last), say = days, load_recap(language)["say"]
    since, until = start_of(first, zone), start_of(last + timedelta(days=1), zone)
    wording = TaskWording(language, zone=zone, now=now)
    done = [
        each
        for each in await list_tasks(tx, person, statuses=("done",), limit=MAX_DONE)
        if since <= each.changed_at < until
    ]
    told = [
        RecapLine(text=say["done"].format(text=each.text), source=cite(each.message))
        for each in done
    ]
    for state in await list_goals(tx, person):
        count = sum(since <= each.at < until for each in state.progress)
        if count:
            text = say["goal"].format(text=state.goal.text, count=count)
            told.append(RecapLine(text=text, source=cite(state.goal.message)))
    for event in await list_events_between(tx, person, since=since, until=until):
        day = format_day(wording, event.happened_at, zone)
        text = say["event"].format(day=day, text=event.text.rstrip(".。"))
        told.append(RecapLine(text=text, source=build_listed_item("memory", event.id, 1)))
    told += await list_numbers(tx, person, days, language)
    entries = await list_diary_entries(tx, person, DiaryFilter(first=first, last=last))
    if entries:
        told.append(RecapLine(text=say["diary"].format(count=len(entries))))
    return told


async def list_numbers(
    tx: Transaction, person: PersonId, days: tuple[date, date], language: str
) -> list[RecapLine]:
    """List the numbers of some days: what adds up in sum, else the first and the last."""
    (first, last), say = days, load_recap(language)["say"]
    texts = load_measurement_texts(language)
    told: list[RecapLine] = []
    for name, _, newest in await list_kept_measures(tx, person):
        measured = (
            await list_measurements(tx, person, name, first=first, last=last)
            if newest >= first
            else []
        )
        if measured:
            text = say["number"].format(name=texts.name(name), value=sum_up(texts, measured))
            told.append(RecapLine(text=text, source=cite(measured[-1].message)))
    return told


def sum_up(texts: MeasurementTexts, measured: Sequence[Measurement]) -> str:
    """Return what values of one measure were together, or how they changed."""
    measure = get_measure(measured[0].name)
    values = [to_compared(measure, each.value, each.unit) for each in measured]
    known = [each for each in values if each is not None]
    if measure.is_summed and len(known) == len(measured) > 1:
        return texts.compared(measure, sum(known), find_usual_unit(measure, measured))
    ends = dict.fromkeys(texts.told(each) for each in (measured[0], measured[-1]))
    return " \u2192 ".join(ends)


def cite(message_id: MessageId | None) -> ReceiptItem | None:
    """Return the receipt's entry for the message that asked for something, if one did."""
    return None if message_id is None else build_listed_item("message", message_id, 1)


def format_day(wording: TaskWording, at: Micros | None, zone: str) -> str:
    """Format the day of a moment."""
    return "" if at is None else wording.format_date(from_micros(at, zone).date())


def read_period(text: str, language: str) -> Period | None:
    """Return the week or day that a whole text asks to look back on."""
    plain = " ".join(text.replace("\u2019", "'").split()).strip(EDGES).lower()
    if not plain or len(plain) > MAX_CHARS:
        return None
    for period, patterns in load_asks(language).items():
        if any(each.fullmatch(plain) for each in patterns):
            return period
    return None


@cache
def load_asks(language: str) -> Mapping[Period, Sequence[re.Pattern[str]]]:
    """Compile how somebody asks what each period was like."""
    pack = load_recap(language)
    return {
        name: [re.compile(each.replace("WHEN", f"(?:{pack[name]})")) for each in pack["asks"]]
        for name in PERIODS
    }


def load_recap(language: str) -> dict[str, Any]:
    """Load how a recap is asked for and told in a language."""
    words: dict[str, Any] = load_language_pack(language).read("agenda")["recap"]
    return words


RECAP: Final = RequestHandler(name=NAME, handle=handle_recap, reads_questions=True)
