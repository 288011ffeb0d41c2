"""Measurement requests: keeps the numbers that a message tells, and answers what it asks of them.

"71.4 kg this morning", "/log coffee 3 cups", "what did I weigh in spring?".
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Self

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import choose_language_with, list_languages
from oldfriend.lang.number_words import write_digits
from oldfriend.measurements.lexicon import MAX_TEXT_CHARS, MeasureLexicon, fold, list_lexicons
from oldfriend.measurements.log_command import LogRequest, read_log_command, read_own_number
from oldfriend.measurements.measurement_corrections import (
    MeasurementCorrection,
    find_numbers,
    is_bare_number,
    read_correction,
)
from oldfriend.measurements.measurement_questions import (
    MeasurementQuestion,
    find_names,
    read_question,
)
from oldfriend.measurements.measurement_reader import (
    Moment,
    ReadMeasurement,
    ReadMessage,
    read_message,
)
from oldfriend.measurements.measurement_store import (
    Measurement,
    find_latest,
    list_kept_measures,
)
from oldfriend.measurements.measures import MEASURES, is_plausible, to_compared
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.search.tokenizer import collect_content_terms
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.time_words import MAX_REQUEST_CHARS
from oldfriend.turn.attribution.quoted_spans import blank_spans, find_borrowed_spans
from oldfriend.turn.question_parts import split_question
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.handler import (
    WORD,
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.measurement_answers import answer_question
from oldfriend.turn.request_handlers.measurement_changes import (
    build_likely_correction,
    decide_correction,
)
from oldfriend.turn.request_handlers.measurement_records import record_with_limits
from oldfriend.turn.request_handlers.measurement_texts import (
    MeasurementTexts,
    load_measurement_texts,
)
from oldfriend.turn.request_handlers.request_kinds import classify_request, find_request

NAME: Final = "measurement"
RECENT_DAYS: Final = 60
"""A bare number is taken for a weight only if one was kept this lately."""
MAX_CHANGE: Final = 0.15
"""By how much a bare number may differ from the last weight, as a share of it."""
MAX_CHANGE_WITH_UNIT: Final = 0.3
QUESTION_MARK: Final = re.compile(r"[?\uff1f]")
DIGIT: Final = re.compile(r"\d")
WORDS: Final = re.compile(r"[^\W\d_]{2,}")
MAX_OTHER_TERMS: Final = 3
QUOTED: Final = re.compile('["\u201c\u201d\u201e\u00ab\u00bb\u300c]')
MAYBE_FIX: Final = 0.24
"""How likely a bare number right after one that was told must be to correct it."""
SURELY_NUMBER: Final = 0.9
MAX_SOURCES: Final = 100
"""Messages with values that a receipt names."""


async def handle_measurement(context: HandlerContext) -> HandledRequest | None:
    """Keep the numbers that a message tells, or answer its question about them."""
    text, language = context.text, context.perception.language
    command = read_log_command(text)
    async with context.db.begin_read() as tx:
        desk = MeasurementDesk.open_for(tx, context)
        if command is not None:
            return await desk.handle_command(command, desk.load_texts(language), language)
        return await desk.handle_words(find_own_words(text, language), language)


async def handle_numbers_first(context: HandlerContext) -> HandledRequest | None:
    """Correct a number that was told, or keep those in front of a request for a reminder.

    It is asked before reminders are read, which would take the number for a part of theirs.
    """
    text, language = context.text, context.perception.language
    if read_log_command(text) is not None or QUOTED.search(text):
        return None
    async with context.db.begin_read() as tx:
        desk = MeasurementDesk.open_for(tx, context)
        corrected = await desk.correct(text, language)
        return corrected or await desk.record_before_request(text, language)


def find_own_words(text: str, language: str) -> str:
    """Return a text without what it quotes or says that somebody else said, as far as it is read.

    Several lines that each begin with a name and a colon may be numbers: "Sleep: 7 h".
    """
    read, unread = text[:MAX_TEXT_CHARS], text[MAX_TEXT_CHARS:]
    spans = find_borrowed_spans(read, language)
    is_list = "\n" in text.strip()
    kept = [each for each in spans if not (is_list and each.kind == "logged")]
    return blank_spans(read, kept) + unread


@dataclass(frozen=True, kw_only=True)
class MeasurementDesk:
    """Handles one message about numbers, reading in one transaction."""

    tx: Transaction
    person: PersonId
    message: Message
    moment: Moment
    fixed_language: str | None = None  # in which the person has chosen to be answered

    @classmethod
    def open_for(cls, tx: Transaction, context: HandlerContext) -> Self:
        """Open the desk for what was said."""
        said = context.utterance
        return cls(
            tx=tx,
            person=said.person.id,
            message=said.message,
            moment=Moment(at=said.message.at, zone=said.message.zone),
            fixed_language=context.perception.fixed_language,
        )

    def load_texts(self, language: str) -> MeasurementTexts:
        """Load the texts of the chosen language, else of the one in which was read."""
        return load_measurement_texts(self.fixed_language or language)

    async def handle_words(self, text: str, language: str) -> HandledRequest | None:
        """Handle what is told or asked in plain words, in the likeliest language that reads it."""
        told = await self.record_told(text, language) or self.refuse(text, language)
        if told is not None:
            return told
        if len(split_question(text, language)) > 1:
            return None  # each is answered by itself
        question = read_question_in_any(text, self.moment, language)
        is_asked = question is None and find_request(text, language, "number_ask") is not None
        if question is None and (is_asked or QUESTION_MARK.search(text) is not None):
            kept = await list_kept_measures(self.tx, self.person)
            own_names = [name for name, _, _ in kept if name not in MEASURES]
            question = read_question_in_any(
                text, self.moment, language, own_names=own_names, is_surely_asked=is_asked
            )
        if question is None:
            return None
        return await self.answer(question[0], self.load_texts(question[1]))

    async def record_told(self, text: str, language: str) -> HandledRequest | None:
        """Keep what is told in plain words; None if no number of the person's own is."""
        for lexicon in list_lexicons(language):
            await asyncio.sleep(0)  # others are served between
            read = read_message(text, self.moment, lexicon)
            if read is not None:
                request = await self.record(read, self.load_texts(lexicon.language))
                if request is not None:
                    return request
        return await self.record_likely(text, language)

    async def record_likely(self, text: str, language: str) -> HandledRequest | None:
        """Keep a number that a message most likely tells, whatever its other words."""
        found = find_request(text, language, "number_log")
        if found is None:
            return None
        moment, lexicon = replace(self.moment, is_surely_told=True), list_lexicons(language)[0]
        said = in_digits(found.said, language)
        read = read_message(said, moment, lexicon) or read_own_number(said, moment, lexicon)
        if read is None:
            return None
        request = await self.record(read, self.load_texts(read.lexicon.language))
        return request and replace(request, is_whole_message=not found.rest, rest=found.rest)

    def refuse(self, text: str, language: str) -> HandledRequest | None:
        """Say of which number of the person's own none is kept, since it cannot be right."""
        lenient = replace(self.moment, takes_impossible=True)
        for lexicon in list_lexicons(language) if DIGIT.search(text) else ():
            read = read_message(text, lenient, lexicon)
            told = read.measured if read else ()
            impossible = [each for each in told if not self.is_possible(each)]
            if impossible and not is_bare_number(text, lexicon):  # "3pm" names no weight
                said = tell_impossible(impossible, self.load_texts(lexicon.language))
                return HandledRequest(name=NAME, text=said, rest=text, comes_last=True)
        return None

    async def record_before_request(self, text: str, language: str) -> HandledRequest | None:
        """Keep numbers if they are all that stands before a request: "Slept 7 h and remind me"."""
        phrases = load_task_phrases(choose_language_with("tasks", language))
        for cue in phrases.list_cues(text[:MAX_REQUEST_CHARS]):
            told = find_own_words(text[: cue.start], language)
            for lexicon in list_lexicons(language) if WORD.search(told) else ():
                read = read_message(told, self.moment, lexicon)
                if read is None or not read.is_whole:
                    continue
                request = await self.record(read, self.load_texts(lexicon.language))
                if request is not None:
                    return replace(request, is_whole_message=False, rest=text[cue.start :])
        return None

    async def correct(self, text: str, language: str) -> HandledRequest | None:
        """Correct or take out a number that was told; None if the text asks for nothing like it."""
        for lexicon in list_lexicons(language):
            await asyncio.sleep(0)
            asked = await self.find_correction(text, language, lexicon)
            if asked is None:
                continue
            texts = self.load_texts(lexicon.language)
            decided = await decide_correction(self.tx, self.message, self.moment, asked, texts)
            if decided is not None:
                earlier = dict.fromkeys(each.message for each in decided.changed if each.message)
                items = tuple(build_listed_item("message", each, 1) for each in earlier)
                return HandledRequest(
                    name=NAME,
                    text=decided.text,
                    changes=(decided.change,),
                    items=items,
                    records=list_ids((*decided.changed, *decided.change.measured)),
                )
        return None

    async def find_correction(
        self, text: str, language: str, lexicon: MeasureLexicon
    ) -> MeasurementCorrection | None:
        """Read a correction: by words that each are known, or one that is most likely meant."""
        asked = read_correction(text, self.moment, lexicon)
        if asked is None and lexicon.language == choose_language_with("measurements", language):
            found = find_request(text, language, "number_fix")
            is_near = found is None and may_be_correction(text, language)
            said = in_digits(text if found is None else found.told, language)
            told = find_numbers(said, lexicon) if found is not None or is_near else []
            if 1 <= len(told) <= 2:
                kept = await list_kept_measures(self.tx, self.person)
                own_names = [name for name, _, _ in kept if name not in MEASURES]
                names = find_names(said, lexicon, own_names)
                is_alone = tells_number_alone(said, language)
                if is_near and (names or not is_alone):
                    return None
                return await build_likely_correction(
                    self.tx,
                    self.message,
                    self.moment,
                    told,
                    names=names,
                    is_alone=is_alone,
                )
        return asked

    async def handle_command(
        self, command: LogRequest, texts: MeasurementTexts, language: str
    ) -> HandledRequest:
        """Handle "/log": keep what it tells, or list what is kept."""
        if not command.text:
            question = MeasurementQuestion(action="list", name="")
            request = await self.answer(question, texts)
            assert request is not None
            return replace(request, is_command=True)
        refused = self.refuse(command.text, language)
        if refused is not None:
            return HandledRequest(name=NAME, text=refused.text, is_command=True)
        for lexicon in list_lexicons(language):
            read = command.read(self.moment, lexicon)
            if read is not None and all(self.is_possible(each) for each in read.measured):
                request = await self.record(read, texts, is_asked=True)
                if request is not None:
                    return replace(request, is_command=True, is_whole_message=True)
        return HandledRequest(name=NAME, text=texts.say("usage"), is_command=True)

    def is_possible(self, read: ReadMeasurement) -> bool:
        """Tell whether a value can be right."""
        return is_plausible(read.measure, read.value, read.unit)

    async def answer(
        self, question: MeasurementQuestion, texts: MeasurementTexts
    ) -> HandledRequest | None:
        """Answer a question from the rows; None if there is no row of that kind."""
        used: list[Measurement] = []
        text = await answer_question(self.tx, self.person, question, texts, used=used)
        if text is None:
            return None
        sources = dict.fromkeys(each.message for each in used if each.message is not None)
        items = tuple(build_listed_item("message", each, 1) for each in [*sources][-MAX_SOURCES:])
        return HandledRequest(name=NAME, text=text, items=items, records=list_ids(used))

    async def record(
        self, read: ReadMessage, texts: MeasurementTexts, *, is_asked: bool = False
    ) -> HandledRequest | None:
        """Keep the numbers of a message; None if a bare number is likely none of a weight."""
        measured: list[Measurement] = []
        lines: list[str] = []
        for each in read.measured:
            latest = await find_latest(self.tx, self.person, each.measure.name)
            is_sure = each.is_named or is_asked or fits_history(each, latest)
            if not is_sure and not (latest is None and await self.was_asked(each)):
                is_first = latest is None and not (each.has_unit and self.tells_more(read))
                return ask_weight(each, texts) if is_first else None
            new = self.build(with_usual_unit(each, latest))
            measured.append(new)
            lines.append(await self.confirm(new, texts))
        change, passed = await record_with_limits(
            self.tx, self.person, measured, texts.lexicon.language
        )
        return HandledRequest(
            name=NAME,
            text="\n".join([*lines, *passed]),
            records=list_ids(measured),
            changes=(change,),
            is_whole_message=read.is_whole,
            rest=read.rest,
        )

    def tells_more(self, read: ReadMessage) -> bool:
        """Tell whether the message says of what its number may be: "25 kg of flour"."""
        tokens = read.lexicon.split_tokens(fold(self.message.text[:MAX_TEXT_CHARS]))
        beside = [each.text for each in tokens if each.unit is None and not DIGIT.search(each.text)]
        return bool(collect_content_terms(" ".join(beside), read.lexicon.language))

    async def was_asked(self, read: ReadMeasurement) -> bool:
        """Tell whether the last reply asked for this number with its unit, in any language."""
        last = await list_recent_messages(
            self.tx,
            self.person,
            self.message.chat,
            limit=1,
            before=self.message.seq,
            role="companion",
        )
        known = map(self.load_texts, list_languages("measurements"))
        asked = (each.say("ask_weight", value=each.number(read.value)) for each in known)
        return read.has_unit and bool(last) and any(each in last[0].text for each in asked)

    def build(self, read: ReadMeasurement) -> Measurement:
        """Build the row of a number."""
        return Measurement(
            id=new_id(self.moment.at),
            person=self.person,
            name=read.measure.name,
            day=read.day,
            measured_at=self.moment.at,
            zone=self.moment.zone,
            value=read.value,
            unit=read.unit,
            second_value=read.second_value,
            second_unit=read.second_unit,
            origin="told",
            message=self.message.id,
            message_seq=self.message.seq,
        )

    async def confirm(self, new: Measurement, texts: MeasurementTexts) -> str:
        """Confirm in one line what is kept: the value, the day and the change since the last."""
        return await confirm_measurement(self.tx, self.person, new, texts)


def in_digits(text: str, language: str) -> str:
    """Return a text that holds no digits with its numbers in digits."""
    return text if DIGIT.search(text) else write_digits(text, language)


def may_be_correction(text: str, language: str) -> bool:
    """Whether a text tells a number beside words, and may well correct one: "nah wait 73.5"."""
    if QUESTION_MARK.search(text) or WORDS.search(text) is None:
        return False
    likely = classify_request(text, language)
    is_number = likely["number_fix"] + likely["number_log"] >= SURELY_NUMBER
    return is_number and likely["number_fix"] >= MAYBE_FIX


def tells_number_alone(text: str, language: str) -> bool:
    """Whether a text has hardly a word beside its number, and names nobody."""
    words = WORDS.findall(text)
    names = [each for each in words[1:] if each[0].isupper() and language != "de"]
    return (
        not names and len(collect_content_terms(DIGIT.sub(" ", text), language)) <= MAX_OTHER_TERMS
    )


def list_ids(measured: Sequence[Measurement]) -> tuple[str, ...]:
    """Return the ids of the last of some numbers."""
    return tuple(dict.fromkeys(each.id for each in measured))[-MAX_SOURCES:]


def read_question_in_any(
    text: str,
    moment: Moment,
    language: str,
    *,
    own_names: Sequence[str] = (),
    is_surely_asked: bool = False,
) -> tuple[MeasurementQuestion, str] | None:
    """Read a question in the likeliest language that can, and return that language."""
    for lexicon in list_lexicons(language)[: 1 if is_surely_asked else None]:
        question = read_question(
            text, moment, lexicon, own_names=own_names, is_surely_asked=is_surely_asked
        )
        if question is not None:
            return question, lexicon.language
    return None


async def confirm_measurement(
    tx: Transaction, person: PersonId, new: Measurement, texts: MeasurementTexts
) -> str:
    """Confirm in one line what is kept: the value, the day and the change since the last."""
    measure = MEASURES.get(new.name)
    replaced = None
    if measure is not None and measure.is_daily:
        known = await find_latest(tx, person, new.name, before=new.day + timedelta(days=1))
        replaced = known if known is not None and known.day == new.day else None
    what = texts.say("what", name=texts.name(new.name), value=texts.told(new))
    if replaced is not None and (replaced.value, replaced.unit) != (new.value, new.unit):
        told = texts.say(
            "kept_again", what=what, day=texts.day(new.day), before=texts.told(replaced)
        )
    else:
        told = texts.say("kept", what=what, day=texts.day(new.day))
    earlier = await find_latest(tx, person, new.name, before=new.day)
    return told if earlier is None else f"{told} {tell_change(new, earlier, texts)}".rstrip()


def tell_change(new: Measurement, earlier: Measurement, texts: MeasurementTexts) -> str:
    """Tell the change since an earlier value; empty if they cannot be compared."""
    measure = MEASURES.get(new.name)
    if measure is None or measure.is_summed:
        return ""
    values = [to_compared(measure, each.value, each.unit) for each in (new, earlier)]
    now, before = values
    if now is None or before is None:
        return ""
    change = texts.difference(measure, now - before, new.unit)
    day = texts.day(earlier.day)
    if change == texts.say("compare_same"):
        return texts.say("no_change", day=day)
    return texts.say("change", change=change, day=day)


def fits_history(read: ReadMeasurement, latest: Measurement | None) -> bool:
    """Tell whether a number whose measure is not named is likely one of those kept lately."""
    if latest is None:
        return read.has_unit and read.has_time
    if read.measure.is_pair:
        return is_recent(latest, read.day)
    unit = read.unit if read.has_unit else latest.unit
    value = to_compared(read.measure, read.value, unit)
    before = to_compared(read.measure, latest.value, latest.unit)
    if value is None or before is None:
        return False
    share = MAX_CHANGE_WITH_UNIT if read.has_unit else MAX_CHANGE
    is_near = abs(value - before) <= share * before
    return is_near and (is_recent(latest, read.day) or (read.has_unit and read.has_time))


def ask_weight(read: ReadMeasurement, texts: MeasurementTexts) -> HandledRequest | None:
    """Ask whether a number that does not say of what it is, is the first weight."""
    if read.measure.is_pair or not is_plausible(read.measure, read.value, read.unit):
        return None
    if read.has_unit:
        value = texts.value(read.measure, read.value, read.unit)
        return HandledRequest(name=NAME, text=texts.say("ask_weight_told", value=value))
    text = texts.say("ask_weight", value=texts.number(read.value))
    return HandledRequest(name=NAME, text=text)


def tell_impossible(measured: Sequence[ReadMeasurement], texts: MeasurementTexts) -> str:
    """Tell which numbers are not kept, and that they can be told again."""
    lines = [
        texts.say(
            "impossible",
            name=texts.name(each.measure.name),
            value=texts.value(each.measure, each.value, each.unit),
        )
        for each in measured
    ]
    return "\n".join(dict.fromkeys(lines))


def is_recent(latest: Measurement, day: date) -> bool:
    """Tell whether a value was kept not long before a day, or after it."""
    return day - latest.day <= timedelta(days=RECENT_DAYS)


def with_usual_unit(read: ReadMeasurement, latest: Measurement | None) -> ReadMeasurement:
    """Return a number without a unit in the unit that the person used last."""
    if read.has_unit or latest is None or not is_plausible(read.measure, read.value, latest.unit):
        return read
    return replace(read, unit=latest.unit)


MEASUREMENTS: Final = RequestHandler(name=NAME, handle=handle_measurement, reads_questions=True)
NUMBERS_FIRST: Final = RequestHandler(name=f"{NAME} first", handle=handle_numbers_first)
