"""What in a sentence must agree before another says the same? Numbers, times, names, negation.

Told by its words, in five languages; in others by what any script shows. Errs towards seeing a
difference: whoever asks can look again. Knows no vectors.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.background.mark_words import (
    DAYS,
    EACH,
    HARMLESS,
    MONTHS,
    NEGATING,
    NEGATING_ONCE,
    NUMBERS,
    SIDES,
    VERBS_AFTER_NAMES,
    WEEKDAYS,
    Table,
)
from oldfriend.domain.stop_words import STOP_WORDS

Words: TypeAlias = frozenset[str] | str
Places: TypeAlias = Mapping[str, Mapping[str, int]]
"""For each language the place of each word in a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What of a sentence must agree."""

    numbers: frozenset[str]
    times: frozenset[str]  # months, weekdays, days, parts of the day
    names: tuple[str, ...]  # folded, in their order
    sides: Mapping[str, frozenset[int]]  # of each axis that it is about, where it stands
    is_negated: bool


def marks_of(text: str, language: str, names: Collection[str] = ()) -> Marks:
    """The marks of a sentence; ``names`` are those that are known, wherever they stand."""
    plain = folded(text)
    words = words_to_look_up(plain, language)
    return Marks(
        numbers=frozenset(numbers_in(plain, words, language)),
        times=frozenset(times_in(plain, words, language)),
        names=tuple(names_in(text, language, names)),
        sides=sides_in(plain, words, language),
        is_negated=is_negated(plain, language),
    )


def numbers_of(text: str, language: str) -> frozenset[str]:
    """The numbers in a sentence, where nothing else of it matters."""
    plain = folded(text)
    return frozenset(numbers_in(plain, words_to_look_up(plain, language), language))


def is_turned_round(text: str, language: str) -> bool:
    """Does a sentence say that something is not so?"""
    return is_negated(folded(text), language)


def folded(text: str) -> str:
    """A text as it is compared: one form of each character, small letters, plain apostrophes."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def words_to_look_up(plain: str, language: str) -> Words:
    """The words of a text; a Chinese text is looked through as it is."""
    return plain if language == "zh" else frozenset(_WORD.findall(_JOINED.sub("", plain)))


def numbers_in(plain: str, words: Words, language: str) -> Iterator[str]:
    """The numbers, whether in digits or in words; times of day with their half of the day."""
    undated = _HAN_MONTH.sub(" ", _ISO_DATE.sub(" ", plain))
    yield from map(number_from, _NUMBER.findall(undated))
    yield from (str(place + 2) for place in places_in(_NUMBERS, words, language))
    for year, _, day in _ISO_DATE.findall(plain):
        yield from (year, str(int(day)))
    if language == "zh":
        counted = map(han_number, _HAN_NUMBER.findall(plain))
        yield from (str(number) for number in counted if number > 1)  # 1 is an article
    if language == "en":
        yield from (f"{half}m" for half in _HALF_OF_DAY.findall(plain))


def number_from(written: str) -> str:
    """A number as others write it, too: "1,000" as "1000", "7:00" as "7", "2,5" as "2.5"."""
    plain = _THOUSANDS.sub("", written).removesuffix(":00").replace(",", ".")
    return plain.lstrip("0") or "0"


def with_digits(plain: str) -> str:
    """A Chinese text with its counts and months in digits."""
    counted = _HAN_NUMBER.sub(lambda found: str(han_number(found[0])), plain)
    return _HAN_MONTH.sub(lambda found: f"{month_number(found[1])}月", counted)


def month_number(written: str) -> int:
    """The number of a month, in digits or in Chinese."""
    return int(written) if written.isdecimal() else han_number(written)


def number_of_word(word: str, language: str) -> str:
    """The number that a word is, in digits; "" for another word."""
    place = _NUMBERS.get(language, {}).get(word)
    return "" if place is None else str(place + 2)


def han_number(written: str) -> int:
    """A Chinese number below a thousand."""
    total = digit = 0
    for character in written:
        if character in _HAN_UNITS:
            total += (digit or 1) * _HAN_UNITS[character]
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return total + digit


def times_in(plain: str, words: Words, language: str) -> Iterator[str]:
    """The months, weekdays, days and parts of the day."""
    for _, month, _ in _ISO_DATE.findall(plain):
        yield f"month {int(month)}"
    for month in _HAN_MONTH.findall(plain):
        yield f"month {month_number(month)}"
    for label, table in _TIMES.items():
        yield from (f"{label} {place + 1}" for place in places_in(table, words, language))


def sides_in(plain: str, words: Words, language: str) -> dict[str, frozenset[int]]:
    """Of each axis that the sentence is about (buying or selling …), where it stands."""
    found = {axis: set(places_in(table, words, language)) for axis, table in _SIDES.items()}
    for units in re.findall(EACH[language], plain) if language in EACH else ():
        found["often"].add(next(place for place, unit in enumerate(units) if unit))
    return {axis: frozenset(sides) for axis, sides in found.items() if sides}


def is_negated(plain: str, language: str) -> bool:
    """Is it turned round, an odd number of times? "Stopped smoking" is; "never hated it" is not."""
    turns = len(list(negations_in(plain, language)))
    if language in NEGATING_ONCE and re.search(NEGATING_ONCE[language], plain):
        turns += 1
    return turns % 2 == 1


def negations_in(plain: str, language: str) -> Iterator[str]:
    """The words that turn it round, each once."""
    if language in HARMLESS:
        plain = re.sub(HARMLESS[language], " ", plain)
    if language in _NEGATING:
        yield from (found[0] for found in _NEGATING[language].finditer(plain))


def names_in(text: str, language: str, known: Collection[str] = ()) -> Iterator[str]:
    """The names in a text, folded, in their order: known ones, and what is written like one.

    In German every noun has a capital, so that only known names are names there.
    """
    if language == "zh":
        yield from sorted(filter(folded(text).__contains__, map(folded, known)))
    known_words = {word for name in known for word in _WORD.findall(folded(name))}
    starts = {match.end() for match in _SENTENCE.finditer(text)}
    words = list(_WORD.finditer(text))
    for word, following in zip(words, [*(each[0] for each in words), ""][1:], strict=True):
        plain = folded(word[0])
        is_first = word.start() in starts
        if plain in known_words or (
            is_capital(word[0], language)
            and (not is_first or begins_as_name(plain, folded(following), language))
        ):
            yield plain


def is_capital(word: str, language: str) -> bool:
    """Is it written like a name, and no word that always is, nor one for a relation?"""
    if language == "de" or not word[0].isupper() or len(word) == 1:
        return False
    tables = (*_TIMES.values(), _SIDES["kin"])
    return not any(folded(word) in table.get(language, {}) for table in tables)


def begins_as_name(word: str, following: str, language: str) -> bool:
    """Is the first word of a sentence a name? By what follows it."""
    if word in STOP_WORDS.get(language, ()):
        return False
    return following in _VERBS_AFTER_NAMES.get(language, ())


def places_in(table: Places, words: Words, language: str) -> Iterator[int]:
    """The places of those words of a table that stand in a text."""
    yield from (place for word, place in table.get(language, {}).items() if word in words)


def indexed(table: Table) -> Places:
    """The same table, to look words up."""
    return {
        language: {
            form: place for place, forms in enumerate(words.split()) for form in forms.split("/")
        }
        for language, words in table.items()
    }


_WORD = re.compile(r"[^\W\d_]+")
_JOINED = re.compile(r"(?<=grand)-(?=[mp])|(?<=après)-(?=midi)")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_HALF_OF_DAY = re.compile(r"\d\s?([ap])\.?m\b")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_HAN_MONTH = re.compile(r"(\d{1,2}|[一二三四五六七八九十]{1,2})月")
_HAN_NUMBER = re.compile(
    r"([一二两三四五六七八九十百]+)"
    r"(?=[只年号点岁块元本条辆套间米杯件遍日]|个|位|名|场|次|公[斤里]|小时|张|天(?!天)|周)"
)
_SENTENCE = re.compile(r"(?:^|[.!?…:]\s+|[\"“«])\W*")
_HAN_DIGITS: Final = {han: number for number, han in enumerate("一二三四五六七八九", 1)} | {"两": 2}
_HAN_UNITS: Final = {"十": 10, "百": 100}
_NUMBERS: Final = indexed(NUMBERS)
_TIMES: Final = {
    "month": indexed(MONTHS), "weekday": indexed(WEEKDAYS), "day": indexed(DAYS),
}  # fmt: skip
_SIDES: Final = {axis: indexed(table) for axis, table in SIDES.items()}
_VERBS_AFTER_NAMES: Final = {
    language: frozenset(verbs.split()) for language, verbs in VERBS_AFTER_NAMES.items()
}
_NEGATING: Final = {
    language: re.compile(words, re.VERBOSE) for language, words in NEGATING.items()
}  # fmt: skip
