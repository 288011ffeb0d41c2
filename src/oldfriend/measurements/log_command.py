"""Log command: "/log weight 71.4" and "/log coffee 3 cups yesterday"; numbers under own names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    CLOCK_CLASS,
    NUMBER_CLASS,
    OTHER_CLASS,
    MeasureLexicon,
    Token,
    fold,
)
from oldfriend.measurements.measurement_reader import (
    ClauseReader,
    Moment,
    ReadMeasurement,
    ReadMessage,
    list_clauses,
    read_message,
)
from oldfriend.measurements.measurement_store import MAX_NAME_CHARS
from oldfriend.measurements.measures import MEASURES, build_own_measure, is_plausible
from oldfriend.measurements.quantities import find_quantities

COMMAND: Final = re.compile(r"\A\s*+/log(?:@\w{1,64})?(?![\w])", re.IGNORECASE)
MAX_UNIT_CHARS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRequest:
    """What stands behind the command."""

    text: str

    def read(self, moment: Moment, lexicon: MeasureLexicon) -> ReadMessage | None:
        """Read it in one language: known measures, else one under the person's own name."""
        known = read_message(self.text, moment, lexicon)
        if known is not None and known.is_whole:
            named = tuple(replace(each, is_named=True) for each in known.measured)
            return replace(known, measured=named)
        own = self._read_own(moment, lexicon)
        return None if own is None else ReadMessage(measured=(own,), is_whole=True, lexicon=lexicon)

    def _read_own(self, moment: Moment, lexicon: MeasureLexicon) -> ReadMeasurement | None:
        """Read a name, a number and perhaps a unit: "coffee 3 cups"."""
        tokens = lexicon.split_tokens(self.text)
        quantities = find_quantities(tokens, lexicon)
        if len(quantities) != 1 or any(each.cues for each in tokens):
            return None
        quantity = quantities[0]
        name = find_name(self.text, tokens[: quantity.end], quantity.first, quantity.end)
        clause = ClauseReader(text=self.text, tokens=tokens, moment=moment, lexicon=lexicon)
        day = clause.read_day(quantities)
        if not name or len(name) > MAX_NAME_CHARS or day is None:
            return None
        rest = join_words(tokens[quantity.end :])[:MAX_UNIT_CHARS]
        unit = quantity.unit or rest
        return ReadMeasurement(
            measure=build_own_measure(name, unit),
            value=quantity.value,
            unit=unit,
            day=day,
            second_value=quantity.pair_value,
        )


def join_words(tokens: Sequence[Token]) -> str:
    """Join the words that are no times and no fillers."""
    return " ".join(each.text for each in tokens if each.is_any(OTHER_CLASS) or each.unit)


def read_log_command(text: str) -> LogRequest | None:
    """Read the command; None for any other text."""
    found = COMMAND.match(text[:200])
    return None if found is None else LogRequest(text=text[found.end() :].strip())


MAX_OWN_WORDS: Final = 4
BESIDE_NAME: Final = ("fill", "of", "times", "months")
"""What may stand between a name and its number, but does not begin or end the name."""
NO_NAME: Final = (
    "me",
    "my",
    "it",
    "times",
    "months",
    "joints",
    "not_told",
    NUMBER_CLASS,
    CLOCK_CLASS,
    BREAK_CLASS,
)


def read_own_number(text: str, moment: Moment, lexicon: MeasureLexicon) -> ReadMessage | None:
    """Read the one number of a text that surely tells one, under the name that stands beside it.

    As in "blood sugar 6.2 before breakfast, write that down"; None if nothing names it.
    """
    found: ReadMeasurement | None = None
    for clause in list_clauses(text, lexicon.split_tokens(text), moment, lexicon):
        reader = clause.reader
        quantities = reader.find_quantities()
        if not quantities:
            continue
        day = reader.read_day(quantities)
        name = find_name(text, reader.tokens, quantities[0].first, quantities[0].end)
        is_other = any(each.cues or each.is_any("not_told") for each in reader.tokens)
        if found is not None or len(quantities) > 1 or is_other or day is None or not name:
            return None
        quantity = quantities[0]
        known = next((each for each, called in lexicon.names.items() if called == name), None)
        unit = quantity.unit or (MEASURES[known].unit if known else "")
        if known is not None and not is_plausible(MEASURES[known], quantity.value, unit):
            return None
        found = ReadMeasurement(
            measure=MEASURES[known] if known else build_own_measure(name, unit),
            value=quantity.value,
            unit=unit,
            day=day,
            second_value=quantity.pair_value,
            has_unit=quantity.unit is not None,
        )
    if found is None:
        return None
    return ReadMessage(measured=(found,), is_whole=True, lexicon=lexicon)


def find_name(text: str, tokens: Sequence[Token], first: int, end: int) -> str:
    """Return the words right before a number that tell what it is of; else those right behind it.

    Empty if there are some on both sides: "put 22 pages".
    """
    last = first
    while last > 0 and tokens[last - 1].is_any(*BESIDE_NAME):
        last -= 1
    start = last
    while start > 0 and not tokens[start - 1].is_any(*NO_NAME):
        start -= 1
    while start < last and tokens[start].is_any(*BESIDE_NAME):
        start += 1
    behind = end
    while behind < len(tokens) and tokens[behind].is_any(OTHER_CLASS):
        behind += 1
    named = tokens[start:last] or tokens[end:behind]
    if not named or (start < last and end < behind):
        return ""
    is_wide = WIDE_CHARS.match(text[named[0].start]) is not None
    name = fold(text)[named[0].start : named[-1].end]
    is_short = len(named) <= MAX_OWN_WORDS * (2 if is_wide else 1)
    return name if is_short and len(name) <= MAX_NAME_CHARS else ""
