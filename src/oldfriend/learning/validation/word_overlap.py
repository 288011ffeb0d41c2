"""Word overlap: compares the words of a claim with those of its evidence, in any language."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.domain.unicode_text import strip_accents
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.critical_tokens import load_critical_token_words, parse_number_word
from oldfriend.search.synonyms import get_role_words
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word

CACHE_SIZE: Final = 4_096
WORD: Final = re.compile(r"[^\W_]+")
TOKEN: Final = re.compile(r"[\u30a1-\u30ff]+|[0-9A-Za-z]+|[^\u3041-\u309f]")
"""Katakana and Latin letters form words; of the rest each character is one."""
DIGITS: Final = re.compile(r"\d+")
MIN_ROOT_LENGTH: Final = 4
"""Initial letters that two forms of a word share."""
MIN_ROOT_SHARE: Final = 0.6
MIN_ROOT_SHARE_LONGER: Final = 0.4
"""Minimum shared beginning, as a share of the shorter and of the longer of two forms."""
MIN_ABBREVIATION: Final = 2
"""Letters of a word that is cut short."""
MIN_COMPOUND_PART: Final = 5
"""Letters of a word that is part of a compound."""
PARTICLES: Final = frozenset(
    "的了着著过過在是有和与與跟之里裡我你您他她它们們很都也就还還又会會要能去来來到上下这這那个個一得地吗嗎呢吧啊呀"
    "被把给給对對从從为為因所以只没沒不人其让讓再真太最"
)
"""Chinese characters without content of their own."""


@dataclass(frozen=True, slots=True)
class Term:
    """Term: a content word, or a character of a script without spaces."""

    word: str  # lower case, without accents
    start: int
    end: int
    is_name: bool  # capitalized inside a sentence, or contains a digit


@text_lru_cache(CACHE_SIZE)
def extract_terms(text: str, language: str) -> tuple[Term, ...]:
    """Return the terms of a text in order, with their positions."""
    found: list[Term] = []
    for each in WORD.finditer(text):
        if any(map(is_unspaced, each.group())):
            found += _iter_character_terms(each.group(), each.start())
        else:
            found += _iter_word_terms(text, each, language)
    return tuple(found)


def find_shared_terms(terms: Iterable[Term], others: Iterable[Term], language: str) -> list[Term]:
    """Return those terms that are among the others, in some form, by a synonym or in part.

    A term matches with the same stem or beginning, the same relative or number, or as part of a
    compound.
    """
    told = [*terms]
    words = {each.word for each in others} if told else set[str]()
    if all(each.word in words for each in told):
        return told
    senses = frozenset[str]().union(*(_get_senses(each, language) for each in words))
    roots: dict[str, list[str]] = {}
    for word in words:
        roots.setdefault(word[:MIN_ROOT_LENGTH], []).append(word)
    long = [each for each in words if len(each) >= MIN_COMPOUND_PART]
    return [
        each
        for each in told
        if each.word in words
        or not senses.isdisjoint(_get_senses(each.word, language))
        or any(
            _has_common_root(each.word, one) for one in roots.get(each.word[:MIN_ROOT_LENGTH], ())
        )
        or _is_compound_part(each.word, long)
    ]


@text_lru_cache(4 * CACHE_SIZE)
def _get_senses(word: str, language: str) -> frozenset[str]:
    """Return what a word may stand for: its stem, number, relative, and synonyms."""
    if len(word) == 1 or word.isdecimal():
        return frozenset({word})
    stem = stem_word(word, language)
    number = parse_number_word(word, language)
    relation = _load_kin_words(language).get(word)
    alike = (f"alike {at}" for at, each in enumerate(_load_synonyms(language)) if stem in each)
    named = [f"number {number}"] if number else []
    named += [f"relation {relation}"] if relation else []
    return frozenset({f"stem {stem}", *([number] if number else []), *named, *alike})


def _is_compound_part(word: str, others: Iterable[str]) -> bool:
    """Return whether a long word is part of another, or contains one."""
    return len(word) >= MIN_COMPOUND_PART and any(
        word in other or other in word for other in others
    )


@text_lru_cache(CACHE_SIZE)
def find_relatives(text: str, language: str) -> frozenset[str]:
    """Return the family roles that the words of a text name."""
    relations, plain = _load_kin_words(language), text.casefold()
    if any(map(is_unspaced, plain)):
        return frozenset(relation for word, relation in relations.items() if word in plain)
    words = (_strip_accents(each) for each in WORD.findall(plain))
    return frozenset(relations[word] for word in words if word in relations)


def is_abbreviation(short: str, word: str) -> bool:
    """Return whether letters are short for a word: "rd", "ave", "mt". They keep its order."""
    letters = iter(word)
    is_shorter = MIN_ABBREVIATION <= len(short) < len(word) and short.isalpha()
    return is_shorter and short[0] == word[0] and all(each in letters for each in short)


def is_date_word(word: str, language: str) -> bool:
    """Return whether a word names a month, a weekday, or a time of day."""
    return _strip_accents(word.lower()) in _load_date_words(language)


@cache
def _load_date_words(language: str) -> frozenset[str]:
    tables = load_critical_token_words(language)
    words = (*tables.months, *tables.weekdays, *tables.time_words)
    return frozenset(map(_strip_accents, words))


def _iter_character_terms(run: str, start: int) -> Iterable[Term]:
    """Yield the content characters, and whole words of other letters.

    Japanese hiragana, which connect the words, are left out.
    """
    for found in TOKEN.finditer(run):
        piece, begin = found.group(), start + found.start()
        if len(piece) > 1 or not is_unspaced(piece):
            yield Term(piece.lower(), begin, begin + len(piece), is_name=piece.isascii())
        elif piece not in PARTICLES:
            yield Term(piece, begin, begin + 1, is_name=False)


def _iter_word_terms(text: str, found: re.Match[str], language: str) -> Iterable[Term]:
    word = found.group()
    plain = word.lower()
    if is_stop_word(plain, language):
        return
    is_first = not any(map(str.isalnum, text[: found.start()])) or text[
        : found.start()
    ].rstrip().endswith((".", "!", "?", ":"))
    is_capital = word[0].isupper() and get_traits(language).name_capitals != "nouns"
    is_name = (is_capital and not is_first) or word[0].isdecimal()
    digits = DIGITS.match(plain)
    yield Term(
        digits.group() if digits else _strip_accents(plain), found.start(), found.end(), is_name
    )


def _strip_accents(word: str) -> str:
    return strip_accents(word).replace("ß", "ss")


def _has_common_root(one: str, other: str) -> bool:
    shorter, longer = sorted((len(one), len(other)))
    shared = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    is_root = shared >= MIN_ROOT_SHARE * shorter and shared >= MIN_ROOT_SHARE_LONGER * longer
    return shared >= MIN_ROOT_LENGTH and is_root


@cache
def _load_synonyms(language: str) -> tuple[frozenset[str], ...]:
    return tuple(map(frozenset, load_critical_token_words(language).synonyms))


@cache
def _load_kin_words(language: str) -> dict[str, str]:
    relations = {
        _strip_accents(word.lower()): part for word, part in get_role_words(language).items()
    }
    doubled = {word[0]: part for word, part in relations.items() if word == 2 * word[:1]}
    return {**doubled, **relations}
