"""Measurement tools: lets a model read a person's numbers, and keep one that they tell."""

import math
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import new_id
from oldfriend.lang.number_words import write_digits
from oldfriend.measurements.lexicon import get_lexicon
from oldfriend.measurements.measurement_corrections import find_numbers
from oldfriend.measurements.measurement_questions import (
    Action,
    DayRange,
    MeasurementQuestion,
    list_names,
    recent,
)
from oldfriend.measurements.measurement_store import (
    MAX_NAME_CHARS,
    Measurement,
    list_kept_measures,
)
from oldfriend.measurements.measures import MEASURES, get_measure, is_plausible
from oldfriend.measurements.quantities import Quantity
from oldfriend.measurements.units import UNITS, convert_float
from oldfriend.turn.prompt_labels import sanitize
from oldfriend.turn.request_handlers.measurement_answers import answer_question
from oldfriend.turn.request_handlers.measurement_records import RecordMeasurements
from oldfriend.turn.request_handlers.measurement_requests import (
    confirm_measurement,
    list_ids,
)
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts
from oldfriend.turn.tools.record_results import (
    build_refusal,
    define_tool,
    get_records_prompt,
    get_today,
    read_day,
    read_span,
    read_text,
)
from oldfriend.turn.tools.task_tools import check_asked
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolOutput, ToolSpec
from oldfriend.turn.tools.tool_groups import RECORDS_GROUP

READ_TOOL: Final = "measurements"
LOG_TOOL: Final = "log_measurement"
MAX_UNIT_CHARS: Final = 20
MAX_ROUNDING: Final = 0.01
"""How much a value may differ by a change of unit: 158 lb are 71.7 kg."""


def build_measurements_tool(context: ToolContext) -> BoundTool:
    """Build the tool that reads the person's numbers."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        async with context.search_deps.db.begin_read() as tx:
            return await read_measurements(tx, context, arguments)

    return BoundTool(
        definition=define_tool(
            READ_TOOL,
            {
                "action": "action",
                "name": "name",
                "other": "other",
                "from_date": "from_date",
                "to_date": "to_date",
            },
        ),
        kind="read",
        run=use,
        is_recorded=False,
    )


async def read_measurements(
    tx: Transaction, context: ToolContext, arguments: ToolArguments
) -> ToolOutput:
    """Return what is asked of the person's numbers. Raises InvalidInput."""
    person, texts = context.utterance.person.id, load_measurement_texts("en")
    used: list[Measurement] = []
    question = build_question(arguments, context)
    text = await answer_question(tx, person, question, texts, used=used)
    if text is None:
        kept = ", ".join(name for name, _, _ in await list_kept_measures(tx, person))
        nothing = get_records_prompt().render("nothing_kept")
        raise build_refusal("none_kept", name=question.name, names=kept or nothing)
    sources = dict.fromkeys(each.message for each in used if each.message is not None)
    return ToolOutput(text=sanitize(text), source_ids=tuple(sources), records=list_ids(used))


def build_question(arguments: ToolArguments, context: ToolContext) -> MeasurementQuestion:
    """Build the question from the arguments. Raises InvalidInput."""
    asked = read_text(arguments, "action")
    actions: tuple[Action, ...] = get_args(Action)
    action = next((each for each in actions if each == asked), None)
    name, other = (find_name(read_text(arguments, each)) for each in ("name", "other"))
    days = read_span(arguments)
    is_open = days.first == date.min
    if not name or action == "list":
        return MeasurementQuestion(action="list", name="")
    if action is None:
        action = "correlate" if other else "latest" if is_open else "range"
    if action == "correlate" and not other:
        raise build_refusal("no_name")
    today = get_today(context)
    if is_open and action in {"weekly", "trend", "compare"}:
        days = DayRange(first=recent(today).first, last=today)
    before = get_span_before(days, today) if action == "compare" else None
    return MeasurementQuestion(action=action, name=name, days=days, other=other, other_days=before)


def get_span_before(days: DayRange, today: date) -> DayRange:
    """Return the span of the same length just before."""
    length = (min(days.last, today) - days.first).days + 1
    last = days.first - timedelta(days=1)
    return DayRange(first=last - timedelta(days=length - 1), last=last)


def find_name(text: str) -> str:
    """Return the measure that a name means; the name itself if none is known by it."""
    plain = text.casefold().replace("_", " ")
    known = plain.replace(" ", "_")
    if known in MEASURES:
        return known
    tokens = get_lexicon("en").split_tokens(plain)
    names = list_names(tokens) if len(tokens) == 1 else []
    return names[0] if names else plain[:MAX_NAME_CHARS]


def build_log_tool(context: ToolContext) -> BoundTool:
    """Build the tool that keeps a number; the turn's commit stores it."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        measured = build_measurement(arguments, context)
        async with context.search_deps.db.begin_read() as tx:
            texts = load_measurement_texts(context.utterance.system_language)
            text = sanitize(await confirm_measurement(tx, measured.person, measured, texts))
        change = RecordMeasurements(measured=(measured,))
        return ToolOutput(text=text, changes=(change,), records=(measured.id,), summary=text)

    return BoundTool(
        definition=define_tool(
            LOG_TOOL,
            {"name": "name", "value": "value", "unit": "unit", "day": "day", "words": "words"},
            required=("name", "value", "words"),
        ),
        kind="idempotent",
        run=use,
        is_recorded=False,
    )


def build_measurement(arguments: ToolArguments, context: ToolContext) -> Measurement:
    """Build the row of a number that the person has just told. Raises InvalidInput."""
    check_asked(context, arguments)
    message, person = context.utterance.message, context.utterance.person.id
    name = find_name(read_text(arguments, "name"))
    value, unit = arguments.get("value"), read_text(arguments, "unit")[:MAX_UNIT_CHARS]
    measure = get_measure(name, unit)
    if not name:
        raise build_refusal("no_name")
    number = float(value) if isinstance(value, int | float) else math.nan
    unit = find_unit(unit) or measure.unit
    if not math.isfinite(number) or number <= 0 or not is_plausible(measure, number, unit):
        raise build_refusal("bad_value", given=f"{value} {unit}".strip(), name=name)
    if not is_told(str(arguments["words"]), number, unit, message.language):
        raise build_refusal("not_told", given=f"{value} {unit}".strip())
    today = get_today(context)
    day = read_day(arguments, "day", today)
    if day > today:
        raise build_refusal("bad_day", given=day.isoformat())
    return Measurement(
        id=new_id(message.at),
        person=person,
        name=name,
        day=day,
        measured_at=message.at,
        zone=message.zone,
        value=number,
        unit=unit,
        origin="tool",
        message=message.id,
        message_seq=message.seq,
    )


def is_told(words: str, value: float, unit: str, language: str) -> bool:
    """Tell whether words hold a number, in digits or written out."""
    has_digits = any(map(str.isdecimal, words))
    return any(
        is_value_of(told, value, unit)
        for spoken in (language, "en")
        for told in (
            find_numbers(words, get_lexicon(spoken))
            if has_digits
            else find_spoken_numbers(words, spoken)
        )
    )


def find_spoken_numbers(words: str, language: str) -> list[Quantity]:
    """Return the numbers that are written out; "seventy-one four" is 71.4, too."""
    told = find_numbers(write_digits(words, language), get_lexicon(language))
    pairs = [
        replace(tenths, value=first.value + tenths.value / 10)
        for first, tenths in pairwise(told)
        if first.end == tenths.first and first.value.is_integer() and tenths.value in range(10)
    ]
    return [*told, *pairs]


def is_value_of(told: Quantity, value: float, unit: str) -> bool:
    """Tell whether a value is one of a number that was told, maybe in another unit."""
    values = [told.value, told.other_value, told.pair_value]
    converted = convert_float(told.value, told.unit, unit) if told.unit else None
    return value in values or (
        converted is not None and math.isclose(converted, value, rel_tol=MAX_ROUNDING)
    )


def find_unit(text: str) -> str:
    """Return the symbol of a unit that a text names, else the text."""
    if text in UNITS:
        return text
    tokens = get_lexicon("en").split_tokens(text)
    unit = tokens[0].unit if len(tokens) == 1 else None
    return unit or text


MEASUREMENTS_TOOL: Final = ToolSpec(
    name=READ_TOOL, build=build_measurements_tool, group=RECORDS_GROUP
)
LOG_MEASUREMENT: Final = ToolSpec(name=LOG_TOOL, build=build_log_tool, group=RECORDS_GROUP)
