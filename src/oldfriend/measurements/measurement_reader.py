"""Measurement reader: the person's own numbers in what they tell, read clause by clause.

A clause is only read if every word before its number is known to be about the person, so that
neither another's number nor a thing's is taken for theirs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.measurements.lexicon import (
    NUMBER_CLASS,
    OTHER_CLASS,
    MeasureLexicon,
    Token,
)
from oldfriend.measurements.measures import MEASURES, Measure, is_plausible
from oldfriend.measurements.quantities import (
    LOW_PRESSURE,
    OF_TIME,
    Quantity,
    add_joined,
    choose_values,
    find_quantities,
    fits,
    is_in_date,
    is_meant_too,
    is_nearly_done,
    is_of_something,
    is_year,
    names_time,
    split_clauses,
)
from oldfriend.measurements.units import convert_float
from oldfriend.search.date_parser import DateSpan, parse_date_spans

OWN: Final = ("me", "my", *OF_TIME)
RELATED: Final = {"steps": ("walking", "running")}
"""Measures whose words may stand beside the word of another: "walked 8,400 steps"."""
CALENDAR_UNITS: Final = frozenset({"d", "wk", "mo", "y"})
MAX_MEASURED: Final = 12
"""Numbers that are read from one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMeasurement:
    """A number of the person's own, as it was told."""

    measure: Measure
    value: float
    unit: str
    day: date
    second_value: float | None = None
    second_unit: str = ""
    is_named: bool = True  # its measure is named; else its unit or only its size tells it
    has_unit: bool = True
    has_time: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """The numbers in a message, and whether it tells anything beside them."""

    measured: tuple[ReadMeasurement, ...]
    is_whole: bool
    lexicon: MeasureLexicon
    rest: str = ""  # its clauses without such numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When and where a message was said."""

    at: Micros
    zone: str
    takes_impossible: bool = False  # reads also what cannot be right, so that it can be said
    is_surely_told: bool = False  # a number of the person's own, whatever other words are said

    @property
    def today(self) -> date:
        """The day on which it was said."""
        return from_micros(self.at, self.zone).date()

    @property
    def offset_s(self) -> int:
        """The seconds by which the clocks of the zone are ahead of UTC."""
        offset = from_micros(self.at, self.zone).utcoffset()
        return int(offset.total_seconds()) if offset else 0


def read_message(text: str, moment: Moment, lexicon: MeasureLexicon) -> ReadMessage | None:
    """Read the numbers that a message tells in one language; None if it tells none."""
    measured: list[ReadMeasurement] = []
    left: list[MeasureClause] = []
    is_whole, is_own_sentence = True, True
    announced: tuple[Measure, date] | None = None
    latest: ReadMeasurement | None = None  # of the clause before
    all_tokens = lexicon.split_tokens(text)
    if any(each.is_any("long_ago") for each in all_tokens):
        return None
    for each in list_clauses(text, all_tokens, moment, lexicon):
        clause = each.reader
        is_own_sentence = each.begins_sentence or is_own_sentence
        is_told = (is_own_sentence or clause.names_person) and not each.is_of_other_time
        found = latest = read_clause(clause, announced, latest, is_told=is_told)
        is_announced = found is None and (is_own_sentence or clause.names_person)
        announced = clause.find_announced() if is_announced else None
        second = clause.read_second(measured[-1]) if found is None and measured else None
        is_own_sentence = found is not None or clause.is_of_person or second is not None
        if second is not None:
            measured[-1] = second
        elif found is None:
            left.append(each)
        else:
            measured.extend([*read_earlier(left, each, found), found])
            is_whole = is_whole and not clause.has_more
    is_whole = is_whole and all(each.tells_nothing for each in left)
    is_alone = is_whole and len(measured) == 1
    kept = tuple(each for each in measured if each.is_named or is_alone)
    rest = "" if is_whole else " ".join(text[each.start : each.end].strip() for each in left)
    if not kept or len(measured) > MAX_MEASURED:
        return None
    return ReadMessage(measured=kept, is_whole=is_whole, lexicon=lexicon, rest=rest)


def read_clause(
    clause: "ClauseReader",
    announced: tuple[Measure, date] | None,
    before: ReadMeasurement | None,
    *,
    is_told: bool,
) -> ReadMeasurement | None:
    """Return the number of a clause: its own, or one of what the clause before it names."""
    found = clause.read() if is_told else None
    if found is not None and found.is_named:
        return found
    if announced is not None:
        return clause.read_announced(*announced) or found
    continued = clause.read_continued(before) if is_told and before is not None else None
    return continued or found


def read_earlier(
    left: list["MeasureClause"], clause: "MeasureClause", found: ReadMeasurement
) -> Iterator[ReadMeasurement]:
    """Yield, and no longer leave, the number before a clause that alone names what it is of.

    As in "gestern 5 km und heute 6 km gelaufen".
    """
    if left and left[-1].end == clause.start and not clause.begins_sentence:
        earlier = left[-1].reader.read_continued(found)
        if earlier is not None:
            left.pop()
            yield earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureClause:
    """A clause of a message with its place, up to where the next one begins."""

    reader: "ClauseReader"
    start: int
    end: int
    begins_sentence: bool
    is_of_other_time: bool  # its sentence tells of no single day

    @property
    def tells_nothing(self) -> bool:
        """Whether it has neither a word that is not known nor a number."""
        tokens = self.reader.tokens
        is_known = not any(each.is_any(OTHER_CLASS, "not_told") for each in tokens)
        return is_known and not find_quantities(tokens, self.reader.lexicon)


def list_clauses(
    text: str, tokens: Sequence[Token], moment: Moment, lexicon: MeasureLexicon
) -> list[MeasureClause]:
    """Return the clauses of a message, in order."""
    readers: list[tuple[int, bool, ClauseReader]] = []
    for is_new, each in split_clauses(tokens):
        sentence = readers[-1][0] + is_new if readers else 0
        reader = ClauseReader(text=text, tokens=each, moment=moment, lexicon=lexicon)
        readers.append((sentence, is_new, reader))
    others = {sentence for sentence, _, reader in readers if reader.names_other_time}
    starts = [0, *(reader.tokens[0].start for _, _, reader in readers[1:]), len(text)]
    return [
        MeasureClause(
            reader=reader,
            start=starts[at],
            end=starts[at + 1],
            begins_sentence=is_new,
            is_of_other_time=sentence in others,
        )
        for at, (sentence, is_new, reader) in enumerate(readers)
    ]


@dataclass(slots=True, kw_only=True)
class ClauseReader:
    """Reads one clause."""

    text: str
    tokens: Sequence[Token]
    moment: Moment
    lexicon: MeasureLexicon
    timed: set[int] = field(default_factory=set)  # the places of numbers in dates and times
    has_more: bool = False  # it tells something beside its number
    is_dated: bool = False  # it names a single day, which was read

    @property
    def names_person(self) -> bool:
        """Whether the person is the one who does it."""
        return any(each.is_any("me", "my") for each in self.tokens)

    @property
    def is_of_person(self) -> bool:
        """Whether the person is its subject, who stays the subject of what follows."""
        known = [each for each in self.tokens if not each.is_any(*OF_TIME, "joints")]
        return bool(known) and known[0].is_any("me")

    @property
    def names_other_time(self) -> bool:
        """Whether it only says of what is told beside it that it was not on a single day.

        As in "in 2010", "when we met" or "last summer".
        """
        quantities = self.find_quantities()
        if any(is_year(each) for each in quantities):
            return True
        if quantities:
            return False
        first = next((each for each in self.tokens if not each.is_any("joints")), self.tokens[0])
        is_condition = first.is_any("when") and not first.is_any("times")
        return is_condition or self.read_day([]) is None

    def read(self) -> ReadMeasurement | None:
        """Return the number that it tells; None if it tells none, or not surely the person's."""
        if any(each.is_any("not_told") and not each.cues for each in self.tokens):
            return None
        if is_nearly_done(self.tokens):
            return None
        quantities = self.find_quantities()
        if not quantities:
            return None
        cues = [(at, each.cues) for at, each in enumerate(self.tokens) if each.cues]
        day = self.read_day(quantities)
        if day is None:
            return None
        if not cues:
            return self._read_unnamed(quantities, day)
        found = (
            self._read_cue(at, names, quantities, day)
            for at, names in sorted(cues, key=lambda cue: (cue[0] > quantities[0].first, cue[0]))
        )
        return next((each for each in found if each is not None), None)

    def _read_cue(
        self, at: int, names: frozenset[str], quantities: Sequence[Quantity], day: date
    ) -> ReadMeasurement | None:
        """Return the value of what a word may mean; None for a verb of another time."""
        if self._is_of_other_time(at):
            return None
        found = (
            self._read_named(each, at, quantities, day)
            for each in MEASURES.values()
            if each.name in names
        )
        return next((each for each in found if each is not None), None)

    def find_quantities(self) -> list[Quantity]:
        """Return the quantities that are no times, such as two days ago; note where those are."""
        found = find_quantities(self.tokens, self.lexicon)
        timed = [each for each in found if each.unit in CALENDAR_UNITS]
        self.timed = {at for each in timed for at in range(each.first, each.end)}
        self.timed |= {at for at in range(len(self.tokens)) if is_in_date(self.tokens, at)}
        return [each for each in found if each not in timed]

    def read_second(self, first: ReadMeasurement) -> ReadMeasurement | None:
        """Return a number with the second value that this clause alone tells of it."""
        quantities = self.find_quantities()
        if first.second_value is not None or len(quantities) != 1:
            return None
        quantity = quantities[0]
        rest = [*self.tokens[: quantity.first], *self.tokens[quantity.end :]]
        second = self._find_second(first.measure, None, quantities)
        if second is None or not self._are_all(rest, *OWN):
            return None
        if self.has_time and self.read_day(quantities) != first.day:
            return None
        return replace(first, second_value=second.value, second_unit=second.unit or "")

    def _is_of_other_time(self, cue: int) -> bool:
        """Tell whether a verb tells of a habit, or of long ago."""
        token = self.tokens[cue]
        is_habit = token.is_any("present") and cue > 0 and self.tokens[cue - 1].is_any("me")
        return is_habit or (token.is_any("dated") and not self.has_time)

    def _read_named(
        self, measure: Measure, cue: int, quantities: Sequence[Quantity], day: date
    ) -> ReadMeasurement | None:
        """Return the value of a measure that is named at a place."""
        quantity = next((each for each in quantities if fits(measure, each, cue)), None)
        if quantity is None or self._is_counted_otherwise(measure, quantity):
            return None
        if measure.is_summed:
            quantity = add_joined(quantity, quantities, self.tokens)
        first = min(cue, quantity.first)
        cues = [f"cue:{each}" for each in (measure.name, *RELATED.get(measure.name, ()))]
        inside = self.timed | {at for each in quantities for at in range(each.first, each.end)}
        between = [
            self.tokens[at]
            for at in range(min(quantity.end, cue + 1), max(quantity.first, cue))
            if at not in inside
        ]
        if not self._are_all(self.tokens[:first], *OWN, *cues):
            return None
        if not self._are_all(between, *OWN, *cues, "of", "it", NUMBER_CLASS):
            return None
        rest = self.tokens[max(quantity.end, cue + 1) :]
        if quantity.end > cue and is_of_something(self.tokens[quantity.end :], measure):
            return None
        second = self._find_second(measure, quantity, quantities)
        others = [each for each in quantities if each is not second]
        if any(is_meant_too(measure, quantity, each, self.tokens) for each in others):
            return None
        self.has_more = any(each.is_any(OTHER_CLASS) for each in rest)
        if self.has_more and not self.is_dated and not self.moment.is_surely_told:
            return None  # what is not understood may say when else it was
        return self._build(measure, quantity, day, second=second)

    def _is_counted_otherwise(self, measure: Measure, quantity: Quantity) -> bool:
        """Tell whether the word behind a round number names what it counts: "8.4k steps"."""
        behind = self.tokens[quantity.end : quantity.end + 1]
        is_guessed = quantity.is_thousands and quantity.unit is None
        return is_guessed and any(each.cues and measure.name not in each.cues for each in behind)

    def _read_unnamed(self, quantities: Sequence[Quantity], day: date) -> ReadMeasurement | None:
        """Return the value of a measure that its unit or its size alone tells."""
        quantity = quantities[0]
        rest = [*self.tokens[: quantity.first], *self.tokens[quantity.end :]]
        if len(quantities) > 1 or not self._are_all(rest, *OWN, "it"):
            return None
        measure = MEASURES["blood_pressure" if quantity.pair_value else "weight"]
        if quantity.unit is None and not self.has_time:
            return None
        if not (quantity.unit or quantity.pair_value or self._are_all(rest, *OF_TIME[1:])):
            return None  # "I am 71 today"
        if not fits(measure, quantity, quantity.first):
            return None
        is_own = quantity.unit is not None and any(each.is_any("me") for each in self.tokens)
        return self._build(measure, quantity, day, is_named=is_own)

    def find_announced(self) -> tuple[Measure, date] | None:
        """Return the measure that is named for a number in the next clause, and the day.

        As in "slept badly yesterday, only 5 hours".
        """
        at = next((at for at, each in enumerate(self.tokens) if each.cues), None)
        if at is None or any(each.is_any("not_told") for each in self.tokens):
            return None
        if is_nearly_done(self.tokens):
            return None
        cues, is_known = self.tokens[at].cues, self._are_all(self.tokens[:at], *OWN)
        if not is_known or self._is_of_other_time(at) or self.find_quantities():
            return None
        day = self.read_day([])
        measure = next(each for each in MEASURES.values() if each.name in cues)
        return None if day is None else (measure, day)

    def read_announced(self, measure: Measure, announced_day: date) -> ReadMeasurement | None:
        """Return the value of a measure that the clause before has named."""
        quantities = self.find_quantities()
        if len(quantities) != 1 or not fits(measure, quantities[0], quantities[0].first):
            return None
        quantity = quantities[0]
        rest = [*self.tokens[: quantity.first], *self.tokens[quantity.end :]]
        day = self.read_day(quantities) if self.has_time else announced_day
        if day is None or not self._are_all(rest, *OWN, "it"):
            return None
        return self._build(measure, quantity, day)

    def read_continued(self, other: ReadMeasurement) -> ReadMeasurement | None:
        """Return a value of another time that only the clause beside it names: "and 6 km today"."""
        if not (self.has_time and other.has_time):
            return None
        quantities = self.find_quantities()
        quantity = next(
            (each for each in quantities if fits(other.measure, each, each.first)), None
        )
        if quantity is None:
            return None
        second = self._find_second(other.measure, quantity, quantities)
        inside = {at for each in (quantity, second) if each for at in range(each.first, each.end)}
        rest = [each for at, each in enumerate(self.tokens) if at not in inside]
        day = self.read_day(quantities)
        is_only = len(quantities) == 1 + (second is not None)
        if day is None or not is_only or not self._are_all(rest, *OWN, "it", "of"):
            return None
        return self._build(other.measure, quantity, day, second=second, is_named=other.is_named)

    def _build(
        self,
        measure: Measure,
        quantity: Quantity,
        day: date,
        *,
        second: Quantity | None = None,
        is_named: bool = True,
    ) -> ReadMeasurement | None:
        """Return a value that can be right; None if no reading of its number can."""
        unit = quantity.unit or measure.choose_unit(quantity.value)
        if measure.scale:  # "my mood is a 3" names no scale
            unit = measure.unit if quantity.pair_value or quantity.unit else ""
        values = choose_values(measure, quantity, unit)
        value = next((each for each in values if is_plausible(measure, each, unit)), None)
        if value is None and not self.moment.takes_impossible:
            return None
        if unit == "%" and measure.unit != "%":
            return None
        second_value = second.value if second is not None else None
        second_unit = (second.unit or "") if second is not None else ""
        if measure.is_pair:
            factor = 10 if abs(quantity.value) < LOW_PRESSURE else 1
            second_value, second_unit = factor * (quantity.pair_value or 0), unit
        return ReadMeasurement(
            measure=measure,
            value=values[0] if value is None else value,
            unit=unit,
            day=day,
            second_value=second_value,
            second_unit=second_unit,
            is_named=is_named,
            has_unit=quantity.unit is not None,
            has_time=self.has_time,
        )

    @property
    def has_time(self) -> bool:
        """Whether it says when."""
        return names_time(self.tokens)

    def _find_second(
        self, measure: Measure, quantity: Quantity | None, quantities: Sequence[Quantity]
    ) -> Quantity | None:
        """Return the second value that belongs to one, such as how long a run took."""
        if not measure.second_unit:
            return None
        fitting = (
            each
            for each in quantities
            if each is not quantity
            and each.unit is not None
            and convert_float(1, each.unit, measure.second_unit) is not None
        )
        return next(fitting, None)

    def read_day(self, quantities: Sequence[Quantity]) -> date | None:
        """Return the day that it names, else today; None for no single day, or one ahead."""
        text = list(self.text[self.tokens[0].start : self.tokens[-1].end])
        for quantity in quantities:
            start = self.tokens[quantity.first].start - self.tokens[0].start
            end = self.tokens[quantity.end - 1].end - self.tokens[0].start
            text[start:end] = " " * (end - start)
        today = self.moment.today
        self.is_dated = any(each.is_any("last_night") for each in self.tokens)
        if self.is_dated:
            return today
        spans = find_date_spans("".join(text), self.tokens, self.moment)
        if not spans:
            return today
        if any(each.granularity != "day" for each in spans):
            return None
        day, self.is_dated = spans[0].first, True
        if spans[0].is_any_year and day > today:
            day = last_year(day)
        return day if day <= today else None

    def _are_all(self, tokens: Sequence[Token], *classes: str) -> bool:
        """Tell whether every token may be of one of some classes."""
        timed = [self.tokens[at] for at in self.timed]
        known = (*classes, OTHER_CLASS) if self.moment.is_surely_told else classes
        return all(each.is_any(*known) or each in timed for each in tokens)


def find_date_spans(text: str, tokens: Sequence[Token], moment: Moment) -> tuple[DateSpan, ...]:
    """Return the spans of days that a text names, also by words that no space sets apart."""
    apart = " ".join(each.text for each in tokens if each.is_any("times", "months"))
    for each in (text, apart):
        spans = parse_date_spans(
            each, asked_at=moment.at, zone_offset_s=moment.offset_s, is_past=True
        )
        if spans:
            return spans
    return ()


def last_year(day: date) -> date:
    """Return the same day a year earlier."""
    try:
        return day.replace(year=day.year - 1)
    except ValueError:  # 29 February
        return day - timedelta(days=366)
