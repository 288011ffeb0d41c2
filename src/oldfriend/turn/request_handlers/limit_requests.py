"""Limit requests: keeps bare numbers that are told while a limit stands: "5.1 this morning".

A number is only taken for a value of what is watched if nothing says that it is of somebody else or
of something else, and if it fits one measure alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, HOUR
from oldfriend.domain.ids import new_id
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    OTHER_CLASS,
    MeasureLexicon,
    Token,
    fold,
    get_lexicon,
)
from oldfriend.measurements.measurement_corrections import (
    MeasurementCorrection,
    find_marks,
)
from oldfriend.measurements.measurement_reader import ClauseReader, Moment
from oldfriend.measurements.measurement_store import Measurement, list_told_lately
from oldfriend.measurements.measures import Measure, is_plausible, to_compared
from oldfriend.measurements.number_source import NumberSource
from oldfriend.measurements.quantities import Quantity, choose_values
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.measurement_changes import decide_correction, is_value
from oldfriend.turn.request_handlers.measurement_records import record_with_limits
from oldfriend.turn.request_handlers.measurement_requests import confirm_measurement
from oldfriend.turn.request_handlers.measurement_texts import (
    MeasurementTexts,
    load_measurement_texts,
)
from oldfriend.watches.number_limits import SPENDING, load_number_phrases
from oldfriend.watches.watch import Watch
from oldfriend.watches.watch_store import list_watches

NAME: Final = "limit values"
MAX_CHARS: Final = 120
BESIDE: Final = ("me", "my", "fill", "it", "times", "months", "last_night", "joints", BREAK_CLASS)
"""Words that may stand before a bare number of the person's own, and right behind it."""
MAX_RATIO: Final = 2.0
"""How far a bare number may be from the limit, as a factor of it."""
MAX_RATIO_OF_DAY: Final = 20.0
"""The same for what grows over a day."""
TOLD_WITHIN: Final = DAY
QUESTION_MARKS: Final = ("?", "\uff1f")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedNumber:
    """A measure with a limit, and the words in which it was asked for."""

    source: NumberSource
    limit: float
    counted: str  # the word behind its number, such as a slang word for money

    @property
    def measure(self) -> Measure:
        """What is measured."""
        return self.source.measure

    def find_value(self, told: Quantity) -> float | None:
        """Return the value of the measure that a number is; None if it can hardly be one."""
        measure, unit = self.measure, told.unit or self.source.unit
        if told.pair_value is not None and not measure.is_pair:
            return None
        values = choose_values(measure, told, unit)
        value = next((each for each in values if is_plausible(measure, each, unit)), None)
        shown = None if value is None else to_compared(measure, value, unit)
        bound = to_compared(measure, self.limit, self.source.unit)
        if measure.is_growing and told.unit is not None:
            return value
        if not shown or not bound:
            return None
        most = MAX_RATIO_OF_DAY if measure.is_growing else MAX_RATIO
        return value if bound / most <= shown <= bound * most else None


async def handle_limit_value(context: HandlerContext) -> HandledRequest | None:
    """Keep a number that a message hardly tells more than, if it is one that a limit is for."""
    message = context.utterance.message
    text = context.text.strip()
    if not any(map(str.isdigit, text)) or len(text) > MAX_CHARS or text[0] == "/":
        return None
    if text.endswith(QUESTION_MARKS):
        return None
    async with context.db.begin_read() as tx:
        active = await list_watches(tx, context.utterance.person.id)
        numbers = [each for each in active if each.number is not None]
        if not numbers:
            return None
        languages = [each.language for each in reversed(numbers)]
        for language in dict.fromkeys((context.perception.language, *languages)):
            spoken = choose_language_with("measurements", language)
            desk = LimitDesk(
                tx=tx,
                message=message,
                moment=Moment(at=message.at, zone=message.zone),
                lexicon=get_lexicon(spoken),
                watched=[build_watched(each, spoken) for each in numbers],
            )
            handled = await desk.handle(text, context.perception.fixed_language or spoken)
            if handled is not None:
                return handled
    return None


def build_watched(watch: Watch, language: str) -> WatchedNumber:
    """Return what a limit is for, as its words are read in a language."""
    assert watch.number is not None
    assert watch.threshold is not None
    lexicon = get_lexicon(language)
    tokens = lexicon.split_tokens(watch.text)
    places = [at for at, each in enumerate(tokens) if each.text[0].isdecimal()]
    behind = tokens[places[-1] + 1 : places[-1] + 2] if places else []
    return WatchedNumber(
        source=watch.number,
        limit=watch.threshold,
        counted="".join(each.text for each in behind if each.unit is None),
    )


@dataclass(frozen=True, kw_only=True)
class LimitDesk:
    """Reads one message in one language, in one transaction."""

    tx: Transaction
    message: Message
    moment: Moment
    lexicon: MeasureLexicon
    watched: Sequence[WatchedNumber]

    async def handle(self, text: str, answered_in: str) -> HandledRequest | None:
        """Keep the number of a text, or correct the last one by it."""
        folded = fold(text)
        tokens = self.lexicon.split_tokens(folded)
        clause = ClauseReader(text=folded, tokens=tokens, moment=self.moment, lexicon=self.lexicon)
        told = clause.find_quantities() if tokens else []
        texts = load_measurement_texts(answered_in)
        if len(told) == len(("wrong", "right")):
            return await self.correct(folded, told, texts)
        if len(told) != 1:
            return None
        marks = find_marks(folded[: tokens[told[0].first].start], self.lexicon.language)
        if marks:  # "no, 4 hours" corrects; "4 hours oh no" does not
            return None
        new = await self.read_value(clause, told[0])
        if new is None:
            return None
        person = self.message.person
        said = await confirm_measurement(self.tx, person, new, texts)
        change, passed = await record_with_limits(self.tx, person, [new], texts.lexicon.language)
        return HandledRequest(
            name=NAME,
            text="\n".join([said, *passed]),
            records=(new.id,),
            changes=(change,),
        )

    async def correct(
        self, text: str, told: Sequence[Quantity], texts: MeasurementTexts
    ) -> HandledRequest | None:
        """Correct a number that was told lately and is denied, by the other one."""
        marks = find_marks(text, self.lexicon.language)
        if not any("not_that" in each.kinds for each in marks) or self.names_somebody(text):
            return None
        person, since = self.message.person, self.moment.at - TOLD_WITHIN
        names = {each.source.name for each in self.watched}
        lately = await list_told_lately(self.tx, person, since=since)
        kept = [each for each in lately if each.name in names]
        wrong = [each for each in told if any(is_value(one, each) for one in kept)]
        right = [each for each in told if each not in wrong]
        if len(wrong) != 1 or len(right) != 1:
            return None
        named = next(each.name for each in kept if is_value(each, wrong[0]))
        asked = MeasurementCorrection(
            right=right[0], wrong=wrong[0], names=frozenset({named}), day=None
        )
        decided = await decide_correction(self.tx, self.message, self.moment, asked, texts)
        if decided is None:
            return None
        return HandledRequest(
            name=NAME,
            text=decided.text,
            records=tuple(each.id for each in decided.change.measured),
            changes=(decided.change,),
        )

    async def read_value(self, clause: ClauseReader, told: Quantity) -> Measurement | None:
        """Return the value that a number is; None unless it is the person's, and of one measure."""
        end = find_clause_end(clause.tokens, told.end)
        part = ClauseReader(
            text=clause.text,
            tokens=clause.tokens[:end],
            moment=self.moment,
            lexicon=self.lexicon,
        )
        said = clause.text[: part.tokens[-1].end]
        day = None if self.names_somebody(said) else part.read_day([told])
        fitting = {
            each.source.name: (each, value)
            for each in self.watched
            if self.is_of(part.tokens, told, each) and (value := each.find_value(told)) is not None
        }
        if day is None or len(fitting) != 1 or await self.was_asked(told):
            return None
        ((watched, value),) = fitting.values()
        unit = told.unit or watched.source.unit or watched.measure.unit
        second = None if told.pair_value is None else told.pair_value * value / told.value
        return Measurement(
            id=new_id(self.moment.at),
            person=self.message.person,
            name=watched.source.name,
            day=day,
            measured_at=self.moment.at,
            zone=self.moment.zone,
            value=value,
            unit=unit,
            second_value=second,
            second_unit="" if second is None else unit,
            message=self.message.id,
            message_seq=self.message.seq,
        )

    def is_of(self, tokens: Sequence[Token], told: Quantity, watched: WatchedNumber) -> bool:
        """Whether no word around a number says that it is of something else than is watched."""
        name = watched.source.name
        spends = load_number_phrases(self.lexicon.language).spends
        is_known = [
            each.is_any(*BESIDE)
            or name in each.cues
            or (name == SPENDING and spends.fullmatch(each.text) is not None)
            for each in tokens
        ]
        if not all(is_known[: told.first]):
            return False
        is_alone = told.end == len(tokens) or is_known[told.end]
        is_counted = is_alone or tokens[told.end].text == watched.counted
        is_of_day = told.unit is not None and watched.measure.is_growing
        return is_counted or is_of_day or not tokens[told.end].is_any(OTHER_CLASS)

    def names_somebody(self, text: str) -> bool:
        """Whether a text speaks of somebody else."""
        cues = load_cues(self.lexicon.language)
        plain = fold_punctuation(text)
        return any(each.search(plain) is not None for each in (cues.kin, cues.other, cues.theirs))

    async def was_asked(self, told: Quantity) -> bool:
        """Whether a bare number may answer what was just asked."""
        last = await list_recent_messages(
            self.tx,
            self.message.person,
            self.message.chat,
            limit=1,
            before=self.message.seq,
            role="companion",
        )
        is_near = bool(last) and self.message.at - last[0].at <= HOUR
        return told.unit is None and is_near and last[0].text.rstrip().endswith(QUESTION_MARKS)


def find_clause_end(tokens: Sequence[Token], start: int) -> int:
    """Return the place of the first break from a place on, else the end."""
    breaks = (at for at in range(start, len(tokens)) if tokens[at].is_any(BREAK_CLASS))
    return next(breaks, len(tokens))


LIMIT_VALUES: Final = RequestHandler(name=NAME, handle=handle_limit_value)
