"""Critical tokens: numbers, times, names and negations that must agree in duplicate sentences.

Recognized by the word lists of the language, and in others by what any script shows. Errs towards
reporting a difference, because the caller can check again. Uses no vectors.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from oldfriend.domain.unicode_text import normalize
from oldfriend.lang.language_pack import get_traits, load_language_pack

WordIndex = Mapping[str, int]
"""The position of each word in a table, in an order that all languages share."""

NO_WORDS: Final[WordIndex] = {}
LIKING: Final = "liking"
"""The axis of love and hate; words of hate are among the negations, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalTokenWords:
    """Critical token words of one language; ``critical_tokens.toml`` of English says more."""

    months: WordIndex
    weekdays: WordIndex
    time_words: WordIndex
    numbers: WordIndex
    polarity_axes: Mapping[str, WordIndex]
    every_unit: re.Pattern[str] | None
    negations: re.Pattern[str] | None
    single_negations: re.Pattern[str] | None
    may_negate: re.Pattern[str] | None
    non_negating: re.Pattern[str] | None
    synonyms: tuple[tuple[str, ...], ...]
    synonym_index: WordIndex
    name_following_verbs: frozenset[str]


@lru_cache(maxsize=32)
def load_critical_token_words(language: str) -> CriticalTokenWords:
    """Load the critical token words of a language; where it lacks some, none match."""
    data = load_language_pack(language).read("critical_tokens")

    def compile_if_any(name: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str] | None:
        return re.compile(data[name], flags) if name in data else None

    return CriticalTokenWords(
        months=build_word_index(data.get("months", "")),
        weekdays=build_word_index(data.get("weekdays", "")),
        time_words=build_word_index(data.get("time_words", "")),
        numbers=build_word_index(data.get("numbers", "")),
        polarity_axes={
            axis: build_word_index(words) for axis, words in data.get("polarity_axes", {}).items()
        },
        every_unit=compile_if_any("every_unit"),
        negations=compile_if_any("negations", re.VERBOSE),
        single_negations=compile_if_any("single_negations"),
        may_negate=compile_if_any("may_negate"),
        non_negating=compile_if_any("non_negating", re.VERBOSE),
        synonyms=split_forms(data.get("synonyms", "")),
        synonym_index=build_word_index(data.get("synonyms", "")),
        name_following_verbs=frozenset(data.get("name_following_verbs", "").split()),
    )


def build_word_index(words: str) -> WordIndex:
    """Convert a table for lookup by word."""
    return {form: place for place, forms in enumerate(split_forms(words)) for form in forms}


def split_forms(words: str) -> tuple[tuple[str, ...], ...]:
    """Split a table into tokens, and each into its forms, which "/" separates."""
    return tuple(tuple(forms.split("/")) for forms in words.split())


LookupWords: TypeAlias = frozenset[str] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalTokens:
    """Critical tokens: the parts of a sentence that must agree."""

    numbers: frozenset[str]
    times: frozenset[str]  # months, weekdays, days, parts of the day
    names: tuple[str, ...]  # case-folded, in order
    polarities: Mapping[str, frozenset[int]]  # for each axis mentioned, the sides mentioned
    is_negated: bool


def extract_critical_tokens(
    text: str, language: str, names: Collection[str] = ()
) -> CriticalTokens:
    """Extract the critical tokens; ``names`` are known names, recognized anywhere."""
    plain = fold_case(text)
    words = tokenize_for_lookup(plain, language)
    return CriticalTokens(
        numbers=frozenset(iter_numbers(plain, words, language)),
        times=frozenset(iter_times(plain, words, language)),
        names=tuple(iter_names(text, language, names)),
        polarities=extract_polarities(plain, words, language),
        is_negated=has_odd_negations(plain, language),
    )


def extract_numbers(text: str, language: str) -> frozenset[str]:
    """Extract the numbers of a sentence, if nothing else matters."""
    plain = fold_case(text)
    return frozenset(iter_numbers(plain, tokenize_for_lookup(plain, language), language))


def is_text_negated(text: str, language: str) -> bool:
    """Return whether a sentence says that something is not so."""
    return has_odd_negations(fold_case(text), language)


def fold_case(text: str) -> str:
    """Normalize a text for comparison: NFKC, case-folded, plain apostrophes."""
    return normalize("NFKC", text).casefold().replace("’", "'")


def tokenize_for_lookup(plain: str, language: str) -> LookupWords:
    """Return the words of a text; Chinese text is searched as it is."""
    if get_traits(language).is_han:
        return plain
    return frozenset(_WORD.findall(_HYPHENATED.sub("", plain)))


def iter_numbers(plain: str, words: LookupWords, language: str) -> Iterator[str]:
    """Yield the numbers, in digits or in words; times of day with their half of the day."""
    tables = load_critical_token_words(language)
    undated = _HAN_MONTH.sub(" ", _ISO_DATE.sub(" ", plain))
    yield from map(normalize_number, _NUMBER.findall(undated))
    yield from (str(place + 2) for place in iter_word_positions(tables.numbers, words))
    for year, _, day in _ISO_DATE.findall(plain):
        yield from (year, str(int(day)))
    if get_traits(language).is_han:
        counted = map(parse_han_number, _HAN_NUMBER.findall(plain))
        yield from (str(number) for number in counted if number > 1)  # 1 is an article
    if language == "en":
        yield from (f"{half}m" for half in _HALF_OF_DAY.findall(plain))


def normalize_number(written: str) -> str:
    """Normalize a number's notation: "1,000" to "1000", "7:00" to "7", "2,5" to "2.5"."""
    plain = _THOUSANDS.sub("", written).removesuffix(":00").replace(",", ".")
    return plain.lstrip("0") or "0"


def convert_han_numbers(plain: str) -> str:
    """Convert the counts and months of a Chinese text to digits."""
    counted = _HAN_NUMBER.sub(lambda found: str(parse_han_number(found[0])), plain)
    return _HAN_MONTH.sub(lambda found: f"{parse_month(found[1])}月", counted)


def parse_month(written: str) -> int:
    """Return the number of a month, given in digits or in Chinese."""
    return int(written) if written.isdecimal() else parse_han_number(written)


def parse_number_word(word: str, language: str) -> str:
    """Return a number word in digits; "" for any other word."""
    position = load_critical_token_words(language).numbers.get(word)
    return "" if position is None else str(position + 2)


def parse_han_number(written: str) -> int:
    """Parse a Chinese number below a thousand."""
    total = digit = 0
    for character in written:
        if character in _HAN_UNITS:
            total += (digit or 1) * _HAN_UNITS[character]
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return total + digit


def iter_times(plain: str, words: LookupWords, language: str) -> Iterator[str]:
    """Yield the months, weekdays, days and parts of the day."""
    for _, month, _ in _ISO_DATE.findall(plain):
        yield f"month {int(month)}"
    for month in _HAN_MONTH.findall(plain):
        yield f"month {parse_month(month)}"
    tables = load_critical_token_words(language)
    for label, table in (
        ("month", tables.months),
        ("weekday", tables.weekdays),
        ("day", tables.time_words),
    ):
        yield from (f"{label} {place + 1}" for place in iter_word_positions(table, words))


def extract_polarities(plain: str, words: LookupWords, language: str) -> dict[str, frozenset[int]]:
    """Return for each axis that the sentence mentions (such as buying or selling) its sides."""
    tables = load_critical_token_words(language)
    positions = {
        axis: set(iter_word_positions(table, words)) for axis, table in tables.polarity_axes.items()
    }
    for units in tables.every_unit.findall(plain) if tables.every_unit else ():
        positions.setdefault("often", set()).add(
            next(position for position, unit in enumerate(units) if unit)
        )
    return {axis: frozenset(sides) for axis, sides in positions.items() if sides}


def has_odd_negations(plain: str, language: str) -> bool:
    """Return whether the negations are odd: "stopped smoking" is negated, "never hated it" not."""
    negations = len(list(iter_negations(plain, language)))
    single_negations = load_critical_token_words(language).single_negations
    if single_negations and single_negations.search(plain):
        negations += 1
    return negations % 2 == 1


def iter_negations(plain: str, language: str) -> Iterator[re.Match[str]]:
    """Yield each word that negates the sentence, with its place."""
    tables = load_critical_token_words(language)
    if tables.non_negating:
        plain = tables.non_negating.sub(lambda found: " " * len(found[0]), plain)
    if tables.negations:
        yield from tables.negations.finditer(plain)


def iter_names(text: str, language: str, known: Collection[str] = ()) -> Iterator[str]:
    """Yield the names in a text, case-folded and in order: known ones, and words written like one.

    German capitalizes every noun, so that only known names count there.
    """
    if get_traits(language).is_han:
        yield from sorted(filter(fold_case(text).__contains__, map(fold_case, known)))
    known_words = {word for name in known for word in _WORD.findall(fold_case(name))}
    starts = {match.end() for match in _SENTENCE.finditer(text)}
    words = list(_WORD.finditer(text))
    for word, following in zip(words, [*(each[0] for each in words), ""][1:], strict=True):
        plain = fold_case(word[0])
        is_first = word.start() in starts
        if plain in known_words or (
            is_capitalized_name(word[0], language)
            and (not is_first or is_name_at_start(plain, fold_case(following), language))
        ):
            yield plain


def is_capitalized_name(word: str, language: str) -> bool:
    """Return whether a word is written like a name, but is no time or kinship word."""
    are_nouns_capitalized = get_traits(language).name_capitals == "nouns"
    if are_nouns_capitalized or not word[0].isupper() or len(word) == 1:
        return False
    tables = load_critical_token_words(language)
    kin = tables.polarity_axes.get("kin", NO_WORDS)
    known = (tables.months, tables.weekdays, tables.time_words, kin)
    return not any(fold_case(word) in table for table in known)


def is_name_at_start(word: str, following: str, language: str) -> bool:
    """Return whether the first word of a sentence is a name, judging by the word that follows."""
    if word in get_traits(language).stop_words:
        return False
    return following in load_critical_token_words(language).name_following_verbs


def iter_word_positions(table: WordIndex, words: LookupWords) -> Iterator[int]:
    """Yield the positions of those words of a table that a text contains."""
    yield from (position for word, position in table.items() if word in words)


_WORD = re.compile(r"[^\W\d_]+")
_HYPHENATED = re.compile(r"(?<=grand)-(?=[mp])|(?<=après)-(?=midi)")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_HALF_OF_DAY = re.compile(r"\d\s?([ap])\.?m\b")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_HAN_MONTH = re.compile(r"(\d{1,2}|[一二三四五六七八九十]{1,2})月")
_HAN_NUMBER = re.compile(
    r"(?<![一二两三四五六七八九十百])([一二两三四五六七八九十百]++)"
    r"(?=[只年号点岁块元本条辆套间米杯件遍日]|个|位|名|场|次|公[斤里]|小时|张|天(?!天)|周)"
)
_SENTENCE = re.compile(r"(?:^|[.!?…:]\s+|[\"“«])\W*")
_HAN_DIGITS: Final = {han: number for number, han in enumerate("一二三四五六七八九", 1)} | {"两": 2}
_HAN_UNITS: Final = {"十": 10, "百": 100}
