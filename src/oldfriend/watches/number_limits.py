"""Number limits: "tell me when my weight goes above 80", read from words of any measure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from oldfriend.lang.language_pack import load_language_pack
from oldfriend.measurements.lexicon import OTHER_CLASS, MeasureLexicon, Token, fold, get_lexicon
from oldfriend.measurements.measures import MEASURES, Measure, build_own_measure, is_plausible
from oldfriend.measurements.number_source import NumberSource
from oldfriend.measurements.quantities import Quantity, find_quantities
from oldfriend.watches.watch import Condition

MAX_CHARS: Final = 160
COMMAND: Final = re.compile(r"(?P<name>\D{1,40}?)\s(?P<side>below|above)\s", re.IGNORECASE)


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
    """How one language asks to be told of a number, or no more."""

    asks: re.Pattern[str]
    beside: re.Pattern[str]  # of the condition, which say nothing more
    past: re.Pattern[str]
    above: re.Pattern[str]
    below: re.Pattern[str]
    stop: re.Pattern[str]


@cache
def load_number_phrases(language: str) -> NumberPhrases:
    """Load the phrases of a language that has some."""
    pack: dict[str, Any] = load_language_pack(language).read("watches")["numbers"]
    return NumberPhrases(**{name: re.compile(each, re.IGNORECASE) for name, each in pack.items()})


def read_number_limit(text: str, language: str, kept: Sequence[str] = ()) -> NumberLimit | None:
    """Read the one limit of a text that asks to be told of it; None for any other.

    ``kept``: names that the person has given to numbers.
    """
    plain = " ".join(fold(text).split())
    phrases, lexicon = load_number_phrases(language), get_lexicon(language)
    if len(plain) > MAX_CHARS or not phrases.asks.search(plain) or phrases.past.search(plain):
        return None
    return read_limit(phrases.asks.sub(" ", plain, count=1), phrases, lexicon, kept)


def read_limit_command(words: str, kept: Sequence[str] = ()) -> NumberLimit | None:
    """Read what stands behind "/watch": "weight below 70 kg"; None for any other."""
    found = COMMAND.match(words.strip())
    language = "en"
    if found is None or len(words) > MAX_CHARS:
        return None
    return read_limit(
        fold(words.strip()), load_number_phrases(language), get_lexicon(language), kept
    )


def read_limit(
    text: str, phrases: NumberPhrases, lexicon: MeasureLexicon, kept: Sequence[str]
) -> NumberLimit | None:
    """Read a condition: a measure, a side and a number, and nothing of anybody else's."""
    is_above, is_below = phrases.above.search(text), phrases.below.search(text)
    if (is_above is None) == (is_below is None):
        return None
    text = phrases.beside.sub(" ", phrases.below.sub(" ", phrases.above.sub(" ", text)))
    own = max((each for each in kept if fold(each) in text), key=len, default=None)
    if own is not None and own not in MEASURES:
        text = text.replace(fold(own), " ")
    tokens = lexicon.split_tokens(text)
    quantities = find_quantities(tokens, lexicon)
    if len(quantities) != 1:
        return None
    (quantity,) = quantities
    rest = [*tokens[: quantity.first], *tokens[quantity.end :]]
    measure = find_measure(rest, quantity)
    if measure is None and own is not None:
        measure = build_own_measure(own, quantity.unit or "")
    if measure is None or any(is_foreign(each) for each in rest):
        return None
    return NumberLimit(
        measure=measure,
        condition="above" if is_above else "below",
        value=quantity.value,
        unit=quantity.unit or "",
    )


def find_measure(tokens: Sequence[Token], quantity: Quantity) -> Measure | None:
    """Return the one measure that tokens name, and of which a quantity can be a value."""
    named = {name for each in tokens for name in each.cues}
    fitting = [
        MEASURES[each]
        for each in named
        if is_plausible(MEASURES[each], quantity.value, quantity.unit or "")
    ]
    return fitting[0] if len(fitting) == 1 else None


def is_foreign(token: Token) -> bool:
    """Whether a word is none that may stand beside a number of one's own."""
    return token.classes == {OTHER_CLASS}


def is_ended(text: str, name: str, language: str) -> bool:
    """Whether a text asks to hear no more of a measure that is watched."""
    plain = " ".join(fold(text).split())
    lexicon = get_lexicon(language)
    is_named = fold(name) in plain or any(name in each.cues for each in lexicon.split_tokens(plain))
    is_short = len(plain) <= MAX_CHARS and not any(each.isdigit() for each in plain)
    return is_short and is_named and load_number_phrases(language).stop.search(plain) is not None
