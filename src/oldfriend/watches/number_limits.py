"""Number limits: "tell me when my weight goes above 80", read from words of any measure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from oldfriend.lang.language_pack import load_language_pack
from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    OTHER_CLASS,
    MeasureLexicon,
    Token,
    fold,
    get_lexicon,
)
from oldfriend.measurements.measures import MEASURES, Measure, build_own_measure, is_plausible
from oldfriend.measurements.number_source import NumberSource
from oldfriend.measurements.quantities import Quantity, choose_values, find_quantities
from oldfriend.measurements.units import CONCENTRATIONS, CURRENCIES
from oldfriend.watches.watch import Condition

MAX_CHARS: Final = 200
COMMAND: Final = re.compile(r"(?P<name>\D{1,40}?)\s(?P<side>below|above)\s", re.IGNORECASE)
SENTENCE_END: Final = re.compile(r"[!?;\n]|\.(?!\d)|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
"""A space between Chinese characters ends a sentence, too."""
OF_UNIT: Final = {
    **dict.fromkeys(("kg", "lb", "st", "jin"), "weight"),
    **dict.fromkeys(CONCENTRATIONS, "glucose"),
    "mmHg": "blood_pressure",
    "bpm": "heart_rate",
    "kcal": "calories",
}
"""The measure of the person's own that a unit tells by itself."""
MONEY_OF_WEIGHT: Final = {"lb": "GBP"}
SPENDING: Final = "spending"
OWN: Final = ("me", "my", "fill", "it", "of", "times")
MAX_BETWEEN: Final = 2
"""Words between a side and its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberLimit:
    """A measure and the value below or above which it is to be told of."""

    measure: Measure
    condition: Condition
    value: float
    unit: str  # as it was told; empty: it was not

    def to_source(self, usual_unit: str) -> str:
        """Return what is watched, in the unit that was told, or the one that the person uses."""
        return str(NumberSource(name=self.measure.name, unit=self.unit or usual_unit))


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberPhrases:
    """The words of one language for the sides of a limit, its condition, and its end."""

    when: re.Pattern[str]
    beside: re.Pattern[str]  # of the condition, which say nothing more
    past: re.Pattern[str]
    above: re.Pattern[str]
    below: re.Pattern[str]
    above_behind: re.Pattern[str]  # right behind a number
    below_behind: re.Pattern[str]
    person: re.Pattern[str]  # who measures
    spends: re.Pattern[str]
    daily: re.Pattern[str]
    stop: re.Pattern[str]


@cache
def load_number_phrases(language: str) -> NumberPhrases:
    """Load the phrases of a language that has some."""
    pack: dict[str, Any] = load_language_pack(language).read("watches")["numbers"]
    return NumberPhrases(**{name: re.compile(each, re.IGNORECASE) for name, each in pack.items()})


def read_number_limit(text: str, language: str, kept: Sequence[str] = ()) -> NumberLimit | None:
    """Read the one limit of a person's own number that a text names; None for any other text.

    Whether it asks to be told of it, it does not say. ``kept``: names that the person has given
    to numbers.
    """
    if len(text) > MAX_CHARS:
        return None
    phrases, lexicon = load_number_phrases(language), get_lexicon(language)
    sentences = [" ".join(each.split()) for each in SENTENCE_END.split(fold(text))]
    found = [
        limit
        for each in sentences
        if each and (limit := read_limit(each, phrases, lexicon, kept)) is not None
    ]
    return found[0] if len(found) == 1 else None


def read_limit_command(words: str, kept: Sequence[str] = ()) -> NumberLimit | None:
    """Read what stands behind "/watch": "weight below 70 kg"; None for any other."""
    found = COMMAND.match(words.strip())
    return None if found is None else read_number_limit(words.strip(), "en", kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class SidedNumber:
    """A number with the side on which it is passed."""

    quantity: Quantity
    condition: Condition
    start: int  # of the side's words, or of the number where they stand behind it


def read_limit(
    sentence: str, phrases: NumberPhrases, lexicon: MeasureLexicon, kept: Sequence[str]
) -> NumberLimit | None:
    """Read a condition: a measure, a side and a number, and nothing of anybody else's."""
    own = max((each for each in kept if fold(each) in sentence), key=len, default=None)
    if own is not None and own not in MEASURES:
        sentence = sentence.replace(fold(own), " " * len(own))
    tokens = lexicon.split_tokens(sentence)
    sided = find_sided(sentence, tokens, phrases, lexicon)
    if len(sided) != 1:
        return None
    (limit,) = sided
    conditions = [each.end() for each in phrases.when.finditer(sentence[: limit.start])]
    start = conditions[-1] if conditions else 0
    span = sentence[start : tokens[limit.quantity.first].start]
    before: Sequence[Token] = [
        each for each in tokens if start <= each.start and each.end <= limit.start
    ]
    known = find_known(sentence, phrases)
    if not conditions:
        before = begin_with_measure(before)
    if phrases.past.search(span) or any(is_foreign(each, known) for each in before):
        return None
    named = find_named(before, tokens[limit.quantity.end :], known)
    measure, value = choose_measure(named, limit, sentence, span, phrases)
    if measure is None and not named and own is not None:
        measure, value = build_own_measure(own, limit.quantity.unit or ""), limit.quantity.value
    if measure is None:
        return None
    quantity = as_money(limit.quantity) if measure.is_money else limit.quantity
    unit = quantity.unit or ("" if not measure.sizes else measure.choose_unit(value))
    return NumberLimit(measure=measure, condition=limit.condition, value=value, unit=unit)


def find_sided(
    sentence: str, tokens: Sequence[Token], phrases: NumberPhrases, lexicon: MeasureLexicon
) -> list[SidedNumber]:
    """Return the numbers that stand behind words for a side, or right before such as "or more"."""
    found: list[SidedNumber] = []
    sides: tuple[tuple[Condition, re.Pattern[str], re.Pattern[str]], ...] = (
        ("above", phrases.above, phrases.above_behind),
        ("below", phrases.below, phrases.below_behind),
    )
    for each in find_quantities(tokens, lexicon):
        first, end = tokens[each.first].start, tokens[each.end - 1].end
        starts: dict[Condition, int] = {}
        for condition, ahead, behind in sides:
            near = [one for one in ahead.finditer(sentence[:first]) if is_near(tokens, one, first)]
            if near:
                starts[condition] = near[-1].start()
            elif behind.match(sentence[end:].lstrip()):
                starts[condition] = first
        found.extend(
            SidedNumber(quantity=each, condition=condition, start=start)
            for condition, start in starts.items()
        )
    return found


def is_near(tokens: Sequence[Token], side: re.Match[str], place: int) -> bool:
    """Whether hardly a word stands between the words for a side and a place behind them."""
    between = [each for each in tokens if side.end() <= each.start < place]
    return len(between) <= MAX_BETWEEN and all(each.is_any("fill", "my", "of") for each in between)


def find_known(sentence: str, phrases: NumberPhrases) -> list[tuple[int, int]]:
    """Return the places of words that may stand in a condition of one's own."""
    patterns = (phrases.beside, phrases.person, phrases.spends, phrases.daily)
    return [found.span() for each in patterns for found in each.finditer(sentence)]


def is_in(token: Token, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a token stands in one of some places."""
    return any(start <= token.start and token.end <= end for start, end in places)


def is_foreign(token: Token, known: Sequence[tuple[int, int]]) -> bool:
    """Whether a word is none that may stand beside a number of one's own."""
    is_known = token.is_any(*OWN) or bool(token.cues) or is_in(token, known)
    return not is_known and token.is_any(OTHER_CLASS, "not_told", BREAK_CLASS)


def begin_with_measure(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return tokens from the first that tells of the person or a measure, and the one before."""
    telling = (at for at, each in enumerate(tokens) if each.cues or each.is_any("me", "my"))
    first = next(telling, 0)
    is_begun = first == 0 or tokens[first - 1].is_any(BREAK_CLASS)
    return tokens[first if is_begun else first - 1 :]


def find_named(
    before: Sequence[Token], after: Sequence[Token], known: Sequence[tuple[int, int]]
) -> set[str]:
    """Return the measures that are named before a number, else right behind it."""
    named = {name for each in before for name in each.cues}
    if named:
        return named
    for each in after:
        if is_foreign(each, known):
            break
        named.update(each.cues)
    return named


def choose_measure(
    named: set[str], limit: SidedNumber, sentence: str, span: str, phrases: NumberPhrases
) -> tuple[Measure | None, float]:
    """Return the one measure that is named or that a unit tells, and the limit as its value."""
    is_daily = limit.condition == "above" and phrases.daily.search(sentence) is not None
    spends = phrases.spends.search(sentence) is not None
    quantity = as_money(limit.quantity) if spends else limit.quantity
    unit, names = quantity.unit, named
    if unit in CURRENCIES:
        names = {SPENDING} if spends or is_daily else set()
    elif not named and unit is None:
        names = {SPENDING} if spends else set()
    elif not named and not spends and phrases.person.search(span):
        names = {OF_UNIT[unit]} if unit in OF_UNIT else set()
    fitting = [
        (MEASURES[each], value)
        for each in names
        if (value := find_value(MEASURES[each], quantity)) is not None
    ]
    return fitting[0] if len(fitting) == 1 else (None, 0.0)


def as_money(quantity: Quantity) -> Quantity:
    """Return an amount that is spent in the money that shares its word with a weight: pounds."""
    money = MONEY_OF_WEIGHT.get(quantity.unit or "")
    return quantity if money is None else replace(quantity, unit=money)


def find_value(measure: Measure, quantity: Quantity) -> float | None:
    """Return the value of a measure that a quantity is; None if it can be none."""
    unit = quantity.unit or measure.choose_unit(quantity.value)
    values = choose_values(measure, quantity, unit)
    return next((each for each in values if is_plausible(measure, each, unit)), None)


def is_named(text: str, name: str, language: str) -> bool:
    """Tell whether a text names a measure, or a number by the name that the person gave it."""
    lexicon, plain = get_lexicon(language), fold(text)
    names = (fold(name), fold(lexicon.names.get(name, name)))
    is_said = any(each in plain for each in names)
    return is_said or any(name in each.cues for each in lexicon.split_tokens(plain))


def is_ended(text: str, name: str, language: str) -> bool:
    """Whether a text asks to hear no more of a measure that is watched."""
    plain = " ".join(fold(text).split())
    is_short = len(plain) <= MAX_CHARS and not any(each.isdigit() for each in plain)
    is_stop = load_number_phrases(language).stop.search(plain) is not None
    return is_short and is_stop and is_named(plain, name, language)
