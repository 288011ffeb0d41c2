"""Proactive wording: the text of an impulse, by phrases that quote what it rests on, or a model.

A model may word it or advise to keep silent. What it writes is used only if its numbers stand in
what it was shown; else the phrase is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.app.recorded_models import build_background_model
from oldfriend.db.database import Transaction
from oldfriend.domain.belief_times import get_deadline
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import EmbeddingFailed, ModelError
from oldfriend.domain.ids import TurnId
from oldfriend.domain.messages import Person
from oldfriend.goals.goal_store import list_goals
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.memory.belief_views import (
    list_memories,
    list_written_summaries,
)
from oldfriend.memory.chat_language import find_chat_language
from oldfriend.memory.core_blocks import get_block_text, get_global_persona_text
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.limitation_store import list_limitations
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_companion_name
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.proactive.checklist import load_checklist
from oldfriend.proactive.impulse_sources import (
    find_next_birthday,
    is_due_all_day,
    may_be_told,
)
from oldfriend.proactive.impulse_store import StoredImpulse
from oldfriend.proactive.number_impulses import NUMBER_KEY, find_number_alert
from oldfriend.proactive.person_state import find_last_message
from oldfriend.proactive.policy import ASKED
from oldfriend.proactive.proactive_phrases import ProactivePhrases, load_proactive_phrases
from oldfriend.proactive.quiet_hours import get_local_time
from oldfriend.prompts.locale_phrases import LocalePhrases, choose_language, load_phrases
from oldfriend.prompts.prompt import get_prompt
from oldfriend.replies.source_records import (
    SourceRecord,
    build_memory_record,
    load_patterns,
    load_source_records,
)
from oldfriend.replies.unprompted_messages import REMINDER_KEY, build_external_id
from oldfriend.tasks.task_store import list_tasks
from oldfriend.turn.prompt_labels import sanitize
from oldfriend.turn.quotes import format_date, format_day, format_moment
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.reply_stream import filter_output
from oldfriend.turn.request_handlers.agenda_requests import DAYS_PER_WEEK, MAX_LINES, start_of
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts
from oldfriend.turn.request_handlers.recap_requests import list_told
from oldfriend.usage.model_calls import CallContext

PROMPT: Final = "proactive/2"
CHECKLIST_PROMPT: Final = "checklist/2"
OVERVIEWS: Final = frozenset({"day_opening", "digest"})
MAX_LISTED: Final[Mapping[str, int]] = MappingProxyType({"day_opening": 10, "digest": 25})
"""Entries of an overview; the rest is counted."""
MAX_WORDED: Final = 5
"""A model words no overview with more entries: it would leave some out."""
MAX_KNOWN: Final = 20
MAX_AGENDA: Final = 10
"""Reminders, goals and limitations, of each, that are shown with the checklist."""
MAX_DIARY_DAYS: Final = 3
"""Of a recap."""
MAX_SUMMARIES: Final = 3
"""Beliefs and summaries by which a model looks at the checklist."""
NO_REPLY: Final = "NO_REPLY"
NOTHING: Final = "HEARTBEAT_OK"
"""The answer to a look at the checklist of which nothing needs a word."""
MAX_WORDS: Final = 50
MAX_CHARS: Final = 500
MAX_OUTPUT_TOKENS: Final = 300
MAX_SAID: Final = 5_000
"""Messages of a week among which its reminders are counted."""
NUMBER_PATTERN: Final = re.compile(r"\d+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What is said of an impulse. An empty text: nothing is."""

    text: str
    reason: str
    language: str
    records: tuple[SourceRecord, ...]
    is_by_model: bool = False
    checklist: tuple[str, ...] = ()  # what is looked at, if that is why
    summaries: tuple[str, ...] = ()  # of the last conversations, to look at it by
    # Reminders, goals and limitations to look at it by: the id and the text of each.
    agenda: tuple[tuple[str, str], ...] = ()

    @property
    def items(self) -> tuple[ReceiptItem, ...]:
        """What it rests on, for its receipt."""
        return tuple(each.item for each in self.records if each.item is not None)


async def word_by_phrase(
    tx: Transaction,
    person: Person,
    stored: StoredImpulse,
    *,
    now: Micros,
    shown: Sequence[str] = (),
) -> Wording | None:
    """Word an impulse without a model; None if what it rests on is gone.

    A look at the checklist rests on what a model was shown for it, once one was.
    """
    if stored.impulse.kind == "recap":
        return await word_recap(tx, person, stored, now=now)
    if stored.impulse.kind == "checklist":
        return await word_checklist(tx, person, shown, now=now)
    if stored.impulse.kind == "number":
        return await word_number(tx, person, stored, now=now)
    records = await load_source_records(tx, person, stored.impulse.sources)
    if records is None:
        return None
    language = await find_spoken_language(tx, person, now=now)
    book = load_phrases(language)
    phrases = load_proactive_phrases(language)
    if stored.impulse.kind in OVERVIEWS:
        return word_overview(stored, records, person, phrases, book)
    return Wording(
        text=compose(stored, records, person, phrases, book, now=now),
        reason=phrases.reasons["follow_up_told" if is_about_grave(stored) else stored.impulse.kind],
        language=phrases.language,
        records=tuple(records),
    )


async def find_spoken_language(tx: Transaction, person: Person, *, now: Micros) -> str:
    """Return the language in which somebody last talked, as far as it is known."""
    last = await find_last_message(tx, person.id, now=now)
    spoken = None if last is None else await find_chat_language(tx, person.id, last.chat)
    return choose_language(spoken, person.language)


async def word_recap(
    tx: Transaction, person: Person, stored: StoredImpulse, *, now: Micros
) -> Wording | None:
    """Word what the week was like on whose Sunday the recap falls; None if nothing was."""
    phrases = load_proactive_phrases(await find_spoken_language(tx, person, now=now))
    sunday = from_micros(stored.impulse.not_before, person.zone).date()
    days = (sunday - timedelta(days=DAYS_PER_WEEK - 1), sunday)
    told = await list_told(
        tx, person.id, days, zone=person.zone, language=phrases.language, now=now
    )
    counts = await count_unseen(tx, person, days)
    lines = [*(each.text for each in told[:MAX_LINES])]
    lines += [phrases.phrases[name].format(count=count) for name, count in counts.items() if count]
    if not lines:
        return None
    patterns = await load_patterns(tx, person)
    book = load_phrases(phrases.language)
    lines += [word_pattern(each, phrases, book) for each in patterns]
    return Wording(
        text="\n".join([phrases.phrases["recap"], *lines]),
        reason=phrases.reasons["recap"],
        language=phrases.language,
        records=tuple(
            SourceRecord(item=each.source, quote=each.text, said_at=now, zone=person.zone)
            for each in told[:MAX_LINES]
        )
        + tuple(patterns),
    )


async def word_number(
    tx: Transaction, person: Person, stored: StoredImpulse, *, now: Micros
) -> Wording | None:
    """Word what has become of a number, with what it was before; None if it is so no more."""
    today = from_micros(now, person.zone).date()
    name = stored.impulse.key.removeprefix(NUMBER_KEY).rsplit(":", maxsplit=2)[0]
    alert = await find_number_alert(tx, person.id, name, today)
    if alert is None or alert.key != stored.impulse.key:
        return None
    phrases = load_proactive_phrases(await find_spoken_language(tx, person, now=now))
    texts, newest = load_measurement_texts(phrases.language), alert.newest
    title = texts.name(name)
    text = phrases.phrases[f"number_{alert.kind}"].format(
        name=title[:1].upper() + title[1:],
        value=texts.compared(alert.measure, alert.value, newest.unit),
        before=texts.compared(alert.measure, alert.before, newest.unit),
        when=texts.day(newest.day),
    )
    record = SourceRecord(
        item=None
        if newest.message is None or newest.message_seq is None
        else build_listed_item("message", newest.message, newest.message_seq),
        quote=text,
        said_at=newest.measured_at,
        zone=newest.zone,
    )
    return Wording(
        text=text,
        reason=phrases.reasons["number"],
        language=phrases.language,
        records=(record,),
    )


def word_pattern(record: SourceRecord, phrases: ProactivePhrases, book: LocalePhrases) -> str:
    """Word a pattern, with the newest days of the diary that it is seen on."""
    line = phrases.phrases["recap_pattern"].format(text=record.quote)
    days = [format_date(book, each) for each in record.diary_days[-MAX_DIARY_DAYS:]]
    if not days:
        return line
    return f"{line} {phrases.phrases['recap_pattern_days'].format(days='; '.join(days))}"


async def word_checklist(
    tx: Transaction, person: Person, shown: Sequence[str], *, now: Micros
) -> Wording | None:
    """Return what is looked at, and what a model was shown for it; a phrase says nothing of it."""
    checklist = await load_checklist(tx, person.id)
    records = await load_source_records(tx, person, shown)
    if not checklist.lines or records is None:
        return None
    phrases = load_proactive_phrases(await find_spoken_language(tx, person, now=now))
    return Wording(
        text="",
        reason=phrases.reasons["checklist"],
        language=phrases.language,
        records=tuple(records),
        checklist=checklist.lines,
    )


async def add_known(app: AppContext, person: Person, look: Wording) -> Wording:
    """Add to a look at the checklist by what a model is to look at it.

    All beliefs are read for it, so nobody who writes is kept waiting.
    """
    async with app.db.begin_read() as tx:
        known = [each for each in await list_memories(tx, person.id) if may_be_told(each.memory)]
        known.sort(key=lambda each: (each.memory.importance, each.memory.learned_at), reverse=True)
        known = known[:MAX_KNOWN]
        evidence = await list_object_evidence(tx, person.id, [each.memory.id for each in known])
        summaries = await list_written_summaries(tx, person.id)
        agenda = await list_agenda(tx, person, now=app.clock())
    return replace(
        look,
        agenda=tuple(agenda),
        records=tuple(
            build_memory_record(
                each.memory, each.base_seq, evidence.get(each.memory.id, []), person
            )
            for each in known
        ),
        summaries=tuple(each.text for each in summaries[-MAX_SUMMARIES:]),
    )


async def list_agenda(tx: Transaction, person: Person, *, now: Micros) -> list[tuple[str, str]]:
    """Return the open reminders and to-dos, the goals and the limitations, the foremost of each."""
    tasks = [each for each in await list_tasks(tx, person.id, now=now) if each.is_active]
    goals = await list_goals(tx, person.id)
    limitations = [each for each in await list_limitations(tx, person.id) if each.is_open]
    return [
        *(
            (each.id, each.text)
            if each.due_at is None
            else (each.id, f"{from_micros(each.due_at, person.zone):%Y-%m-%d %H:%M} {each.text}")
            for each in tasks[:MAX_AGENDA]
        ),
        *((each.goal.id, each.goal.text) for each in goals[:MAX_AGENDA]),
        *((each.id, each.title) for each in limitations[:MAX_AGENDA]),
    ]


async def count_unseen(tx: Transaction, person: Person, days: tuple[date, date]) -> dict[str, int]:
    """Count the reminders that came on some days, and the beliefs that were learned."""
    since = start_of(days[0], person.zone)
    until = start_of(days[1] + timedelta(days=1), person.zone)
    said = await list_messages(
        tx, person.id, since=since, until=until, role="companion", limit=MAX_SAID
    )
    begins = build_external_id(REMINDER_KEY)
    known = await list_memories(tx, person.id)
    return {
        "recap_reminders": sum((each.external_id or "").startswith(begins) for each in said),
        "recap_learned": sum(since <= each.memory.learned_at < until for each in known),
    }


def compose(
    stored: StoredImpulse,
    records: Sequence[SourceRecord],
    person: Person,
    phrases: ProactivePhrases,
    book: LocalePhrases,
    *,
    now: Micros,
) -> str:
    """Put an impulse into plain phrases that quote what it rests on."""
    kind, record = stored.impulse.kind, records[0]
    day = record.said_at
    if kind == "anniversary" and record.memory is not None:
        day = record.memory.happened_at or day
    return phrases.phrases[choose_phrase(stored, record, person, now=now)].format(
        when=format_day(book, record.said_at, record.zone),
        day=format_day(book, day, person.zone),
        found=record.found,
        quote=record.memory.text if kind == "thought" and record.memory else record.quote,
    )


def choose_phrase(
    stored: StoredImpulse, record: SourceRecord, person: Person, *, now: Micros
) -> str:
    """Return the name of the phrase for an impulse."""
    kind, memory = stored.impulse.kind, record.memory
    if kind == "moment":
        return "moment_friday" if ":friday:" in stored.impulse.key else "moment"
    if kind == "goal":
        return "goal_due" if ":due:" in stored.impulse.key else "goal"
    if is_about_grave(stored) and memory is not None:
        return "follow_up_joy" if memory.impact > 0 else "follow_up_grief"
    if kind != "promise" or memory is None:
        return kind
    if record.is_by_companion or memory.subject == "companion":
        return "promise_of_companion"
    deadline = get_deadline(memory, person.zone) or now
    return "promise" if now <= deadline else "promise_late"


def is_about_grave(stored: StoredImpulse) -> bool:
    """Whether it asks about something grave that was told, and not about what was expected."""
    return stored.impulse.kind == "follow_up" and stored.impulse.key.endswith(":told")


def word_overview(
    stored: StoredImpulse,
    records: Sequence[SourceRecord],
    person: Person,
    phrases: ProactivePhrases,
    book: LocalePhrases,
) -> Wording:
    """Word what is on, in its order, and what came and was not done; the rest is counted."""
    kind, opens_at = stored.impulse.kind, stored.impulse.not_before
    entries = [(each, *find_moment(each, person, opens_at)) for each in records]
    entries.sort(key=lambda each: order_entry(*each, zone=person.zone))
    more = len(entries) - MAX_LISTED[kind]
    entries = entries[: MAX_LISTED[kind]]
    today = from_micros(opens_at, person.zone).date()
    has_days = any(
        from_micros(at, person.zone).date() != today
        for record, at, _ in entries
        if not record.is_delivered
    )
    lines: list[str] = []
    for record, at, has_hour in entries:
        when = f"{from_micros(at, person.zone):%H:%M}" if has_hour else ""
        if has_days and has_hour:
            when = format_moment(book, at, person.zone)
        elif has_days:
            when = format_day(book, at, person.zone)
        name = "still_open" if record.is_delivered else "line" if when else "line_of_day"
        lines.append(phrases.phrases[name].format(when=when, quote=record.quote))
    if more > 0:
        lines.append(phrases.phrases["more"].format(count=more))
    return Wording(
        text="\n".join([phrases.phrases[kind], *lines]),
        reason=phrases.reasons[kind],
        language=phrases.language,
        records=tuple(record for record, *_ in entries),
    )


def find_moment(record: SourceRecord, person: Person, opens_at: Micros) -> tuple[Micros, bool]:
    """Return when something of an overview is, and whether its hour is known."""
    if record.due_at is not None:
        return record.due_at, not record.is_date_only
    if record.memory is None:
        return opens_at, False
    deadline = get_deadline(record.memory, person.zone)
    if deadline is not None:
        return deadline, not is_due_all_day(record.memory, deadline, person.zone)
    today = from_micros(opens_at, person.zone).date()
    birthday = find_next_birthday(record.memory.value, today) or today
    return get_local_time(opens_at, person.zone, days=(birthday - today).days, hour=0), False


def order_entry(
    record: SourceRecord, at: Micros, has_hour: bool, *, zone: str
) -> tuple[bool, date, bool, Micros]:
    """Return the place of an entry: by day, what has no hour first, what came before at the end."""
    return record.is_delivered, from_micros(at, zone).date(), has_hour, at


async def word_by_model(
    app: AppContext, person: Person, stored: StoredImpulse, plain: Wording
) -> Wording:
    """Have a model word an impulse, or keep silent; the plain wording if it cannot.

    A call that was made before a crash is not made again.
    """
    asker = CallContext(
        person=person.id,
        turn=TurnId(stored.id),
        answered_versions=stored.impulse.key,
        is_background=True,
    )
    if is_told_plainly(stored, plain):
        return plain
    try:
        model = await build_background_model(app, asker, "main")
        if model is None:
            return plain
        if plain.checklist:
            plain = await add_known(app, person, plain)
        request = await build_wording_request(app, person, plain)
        completion = await model.complete(request)
    except (ModelError, EmbeddingFailed) as error:
        log_warning("proactive", error)
        return plain
    text = filter_output(completion.text, name=await load_companion_name(app))
    is_look = stored.impulse.kind == "checklist"
    is_silent = NO_REPLY in text or not text or (is_look and has_nothing(completion.text))
    if is_silent and stored.impulse.kind in ASKED:
        return plain
    if is_silent:
        return Wording(text="", reason=plain.reason, language=plain.language, records=plain.records)
    if completion.is_truncated or not is_grounded(text, request):
        return plain
    return replace(plain, text=text, is_by_model=True)


def is_told_plainly(stored: StoredImpulse, plain: Wording) -> bool:
    """Whether no model words it: numbers are counted, and of a long overview none may be lost."""
    is_long = stored.impulse.kind in OVERVIEWS and len(plain.records) > MAX_WORDED
    return is_long or stored.impulse.kind in {"recap", "number"}


async def load_companion_name(app: AppContext) -> str:
    """Load what the companion is called."""
    async with app.db.begin_read() as tx:
        return await get_companion_name(tx)


def has_nothing(answer: str) -> bool:
    """Whether an answer says, anywhere but in a line of its own below a message, that nothing is.

    Models end a message with that line as they end their other answers.
    """
    above, _, last = answer.upper().strip().rpartition("\n")
    return NOTHING in above or (NOTHING in last and not (above.strip() and last.strip() == NOTHING))


def is_grounded(text: str, request: CompletionRequest) -> bool:
    """Whether a text is short and names no number that was not shown."""
    shown = "\n".join(each.text for each in request.turns if isinstance(each, PromptTurn))
    numbers = set(NUMBER_PATTERN.findall(text))
    return len(text) <= MAX_CHARS and numbers <= set(NUMBER_PATTERN.findall(shown))


async def build_wording_request(
    app: AppContext, person: Person, plain: Wording
) -> CompletionRequest:
    """Build the request for the words of an impulse."""
    prompt = get_prompt(CHECKLIST_PROMPT if plain.checklist else PROMPT)
    async with app.db.begin_read() as tx:
        name = await get_companion_name(tx)
        soul = await get_global_persona_text(tx)
        persona = await get_block_text(tx, person.id, "persona")
        style = await get_block_text(tx, person.id, "style")
    blocks = [
        prompt.render("core", kind=kind, text=sanitize(text))
        for kind, text in (("soul", soul), ("persona", persona), ("style", style))
        if text
    ]
    told = {
        "now": from_micros(app.clock(), person.zone).strftime("%Y-%m-%d %H:%M (%A)"),
        "zone": person.zone,
        "language": plain.language,
        "most": str(MAX_WORDS),
        "records": "\n".join(
            prompt.render(
                "record",
                day=from_micros(each.said_at, each.zone).date().isoformat(),
                record=sanitize(each.quote),
            )
            for each in plain.records
        ),
    }
    if plain.checklist:
        lines, summaries, agenda = (
            "\n".join(f"- {sanitize(each)}" for each in texts)
            for texts in (plain.checklist, plain.summaries, [text for _, text in plain.agenda])
        )
        ask = prompt.render("ask", **told, lines=lines, summaries=summaries, agenda=agenda)
    else:
        ask = prompt.render("ask", **told, reason=plain.reason, phrase=sanitize(plain.text))
    return CompletionRequest(
        purpose="proactive",
        prompt=prompt.id,
        system_prompt="\n\n".join([prompt.render("system_prompt", name=name), *blocks]),
        turns=(PromptTurn(role="instruction", text=ask),),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        shown=tuple(each.object for each in plain.items),
    )
