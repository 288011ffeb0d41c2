"""Told amounts: numbers with a unit or a counted noun, such as 5 km, 40 push-ups or 24节."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import choose_language_with, get_traits, load_language_pack
from oldfriend.lang.number_words import write_digits
from oldfriend.measurements.lexicon import BREAK_CLASS, NUMBER_CLASS, Token, get_lexicon
from oldfriend.measurements.quantities import find_quantities
from oldfriend.measurements.units import UNITS
from oldfriend.search.tokenizer import is_stop_word, stem_word

ADDED_UP: Final = frozenset({"mass", "length", "duration", "volume", "energy", "money"})
"""Dimensions whose amounts add up over days; a speed or a temperature does not."""
CALENDAR_UNITS: Final = frozenset({"d", "wk", "mo", "y"})
"""Units of how long something goes on, and of ages."""
NO_NOUN: Final = (
    BREAK_CLASS,
    NUMBER_CLASS,
    "times",
    "months",
    "joints",
    "thousand",
    "not_told",
    "me",
    "my",
)
"""Classes of the words of which none is a thing that is counted."""
HALF_MORE: Final = 1.5
CURRENCY: Final = r"$\u00a2-\u00a5\u20a0-\u20cf\uffe5"
"""Signs of currencies, as a character class."""
BELOW_ZERO: Final = re.compile(rf"(?<![^\s({CURRENCY}\u3400-\u9fff])[-\u2212][{CURRENCY}]?(?=\d)")
"""A sign that is joined to its number: "-20", "-€20"."""
APART: Final = rf"(?<!\d)(?<!\d\s)[-\u2212]\s{{1,3}}(?=[{CURRENCY}]?\d)"
"""A sign apart from its number, which may as well be a dash: "- 20"."""
WRITTEN: Final = re.compile(r"(?<![\d.,])\d(?:[\d.,]*\d)?(?:e[+-]?\d{1,9})?", re.IGNORECASE)
"""A run of digits, with what may stand in a number."""
CLEAN: Final = re.compile(
    r"""
    \d+(?:[.,]\d+)?                          # 5, 3.5, 3,5
    | \d{1,3}(?P<mark>[.,])\d{3}(?:(?P=mark)\d{3})*(?:[.,]\d+)?  # 1,000, 1.234.567,5
    | \d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?    # 1,00,000
    """,
    re.VERBOSE,
)
"""One number that can be read in one way; "3.5.5" and "1e9" are none."""
SIGNS: Final = " -\u2212"
AMOUNT: Final = rf"\s{{0,3}}[{CURRENCY}]?\d[\d.,]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAmount:
    """A number that a text tells, and what it is of."""

    value: float  # below zero behind a sign that is joined to it
    unit: str | None  # one that adds up; None: none is named
    noun: str  # the stem of what is counted; empty for a unit, or where nothing is named
    word: str  # as it stands in the text
    first: int
    end: int  # of the tokens, behind the unit or the noun


def spell_digits(text: str, language: str) -> str:
    """Return a text with its numbers in digits, in simplified characters.

    A number is left out that may be below zero or not, "- 20", "minus twenty", or that is no clean
    one: "3.5.5".
    """
    spelled = load_doubtful(language).sub(" ", write_digits(to_simplified(text), language))
    return WRITTEN.sub(lambda found: found[0] if CLEAN.fullmatch(found[0]) else " ", spelled)


@cache
def load_doubtful(language: str) -> re.Pattern[str]:
    """Return the pattern of a number behind a dash, or behind a word of the language for minus."""
    minus = load_language_pack(choose_language_with("goals", language)).read("goals")["minus"]
    return re.compile(f"(?:{APART}|{minus}){AMOUNT}", re.IGNORECASE)


def split_amount_tokens(text: str, language: str) -> list[Token]:
    """Return the tokens of a text from `spell_digits`."""
    return get_lexicon(language).split_tokens(text)


def read_amounts(text: str, tokens: Sequence[Token], language: str) -> list[ToldAmount]:
    """Return the amounts that the tokens of a text from `spell_digits` tell, in order."""
    lexicon = get_lexicon(language)
    negative = {each.end() for each in BELOW_ZERO.finditer(text)}
    found: list[ToldAmount] = []
    for each in find_quantities(tokens, lexicon):
        unit, end, value = each.unit, each.end, each.value
        if unit is not None and (unit not in UNITS or UNITS[unit].dimension not in ADDED_UP):
            unit, end = None, end - 1
        word = "" if unit is not None else find_counted_noun(tokens, end, language)
        if each.pair_value is not None or unit in CALENDAR_UNITS:
            continue
        is_below = any(one.start in negative for one in tokens[each.first : each.end])
        found.append(
            ToldAmount(
                value=-abs(value) if is_below else abs(value),
                unit=unit,
                noun=stem_word(word, language) if word else "",
                word=word,
                first=each.first,
                end=end + 1 if word else end,
            )
        )
    return sorted([*found, *read_halves(tokens)], key=lambda each: each.first)


def read_halves(tokens: Sequence[Token]) -> list[ToldAmount]:
    """Return the amounts of one unit and a half, as in "an hour and a half", "hora y media"."""
    return [
        ToldAmount(value=HALF_MORE, unit=unit, noun="", word="", first=at, end=at + 2)
        for at, (one, other) in enumerate(pairwise(tokens))
        if (unit := one.unit) is not None
        and unit in UNITS
        and UNITS[unit].dimension in ADDED_UP
        and other.is_any("and_half")
        and not (at and tokens[at - 1].is_any(NUMBER_CLASS))
    ]


def find_counted_noun(tokens: Sequence[Token], at: int, language: str) -> str:
    """Return the noun, or the Chinese measure word, right behind a number; empty if none is."""
    if at >= len(tokens):
        return ""
    token = tokens[at]
    is_near = token.start - tokens[at - 1].end <= 1
    is_other = token.is_any(*NO_NOUN)
    if is_other or not is_near or not token.text.isalpha():
        return ""
    if get_traits(language).is_han:
        return token.text if len(token.text) == 1 and token.start == tokens[at - 1].end else ""
    is_small = is_stop_word(token.text, language) or token.is_any("fill")
    return "" if is_small else token.text
