"""Small letters: names of people and places in a sentence that is written without capitals.

"im lena, moved from hamburg to leeds". A word gets its capital only where a rule then reads a name
or a place in it, and it is no common word of the language.
"""

import re
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from oldfriend.domain.time_zones import is_known_place
from oldfriend.lang.glossing import (
    fold,
    gloss_word,
    has_glossary,
    is_common_word,
    is_listed_name,
)
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence, plain_sentence, starts_in
from oldfriend.search.spelling import find_lexicon
from oldfriend.search.tokenizer import is_stop_word

NAME: Final = "name"
PLACES: Final = frozenset({"location", "birthplace"})
WORKPLACE: Final = "workplace"
MIN_CHARS: Final = 3
MIN_SAME_LETTERS: Final = 0.54
"""Share of letters from which a word and its gloss are one name: "köln", "Cologne"."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_ENGLISH_I: Final = re.compile(r"\bI\b")


def with_capitals(sentence: Sentence, book: RuleBook) -> Sentence:
    """Return a sentence with capitals where it names the speaker or a place in small letters."""
    if not is_without_capitals(sentence.words, book.language) or sentence.is_question:
        return sentence
    written = _WORD.sub(lambda found: capitalized(found[0], book.language), sentence.words)
    if written == sentence.words:
        return sentence
    plain = plain_sentence(written, book)
    whole = replace(sentence, plain=plain, starts=tuple(starts_in(plain, book)))
    told = [each for each in claims_in(whole, book, ()) if each.key in {NAME, WORKPLACE, *PLACES}]
    is_all = bool(told) and all(fits(each.key, each.value, book.language) for each in told)
    return whole if is_all else sentence


def is_without_capitals(words: str, language: str) -> bool:
    """Return whether a sentence is written in small letters, but perhaps for its first one."""
    traits = get_traits(language)
    is_latin = traits.script == "latin" and traits.spaces
    return is_latin and not any(each.isupper() for each in _ENGLISH_I.sub("", words[1:]))


def capitalized(word: str, language: str) -> str:
    """Return a word with its capital, if it may be a name."""
    may_be = is_name_like(word, language) or is_place_like(word, language)
    return word[:1].upper() + word[1:] if may_be else word


def fits(key: str, value: str, language: str) -> bool:
    """Return whether all words of a value may be the name that a key asks for."""
    words = _WORD.findall(value)
    if key == NAME:
        return all(is_name_like(each, language) for each in words)
    if key in PLACES:
        return all(is_place_like(each, language) for each in words)
    return key == WORKPLACE and not any(is_common_word(each, language) for each in words)


def may_be_any_name(word: str, language: str) -> bool:
    """Return whether a word is long enough for a name and no small word of the language."""
    return len(word) >= MIN_CHARS and not is_stop_word(word.lower(), language)


def is_name_like(word: str, language: str) -> bool:
    """Return whether a word may be what somebody is called: a known name, or no known word."""
    lower = word.lower()
    if not may_be_any_name(lower, language) or is_common_word(lower, language):
        return False
    lexicon = find_lexicon(language)
    return is_listed_name(lower) or lexicon is None or lower not in lexicon


def is_place_like(word: str, language: str) -> bool:
    """Return whether a word may be a place: no common one, or much the same in English."""
    lower = word.lower()
    if not may_be_any_name(lower, language):
        return False
    if not is_common_word(lower, language) or is_known_place(lower):
        return True
    return has_glossary(language) and is_spelled_alike(lower, language)


@cache
def is_spelled_alike(word: str, language: str) -> bool:
    """Return whether a word's gloss has much the same letters, as names have."""
    gloss = gloss_word(word, language).lower()
    ratio = SequenceMatcher(None, fold(word), gloss).ratio()
    return " " not in gloss and ratio >= MIN_SAME_LETTERS
