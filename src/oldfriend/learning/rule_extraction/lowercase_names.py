"""Lowercase names: people and places in a sentence that is written without capitals.

"im lena, moved from hamburg to leeds". A word gets its capital only where a rule then reads a name
or a place in it, and it is no common word of the language.
"""

import re
from collections.abc import Sequence
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
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import (
    NAMING_CHARS,
    Sentence,
    plain_sentence,
    starts_in,
)
from oldfriend.memory.restatement_detection import load_restatement_words
from oldfriend.search.tokenizer import is_stop_word

NAME: Final = "name"
PLACES: Final = frozenset({"location", "birthplace"})
WORKPLACE: Final = "workplace"
MIN_CHARS: Final = 3
MIN_SAME_LETTERS: Final = 0.8
"""Share of letters from which a word and its gloss are one name: "sevilla", "Seville"."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_ENGLISH_I: Final = re.compile(r"\bI\b")


def with_capitals(sentence: Sentence, book: RuleBook) -> Sentence:
    """Return a sentence with capitals where it names the speaker or a place in small letters."""
    if not is_without_capitals(sentence.words, book.language) or sentence.is_question:
        return sentence
    small = frozenset[str]()
    for _ in range(2):
        whole = rewritten(sentence, book, small)
        if whole is sentence:
            return sentence
        every = list(claims_in(whole, book, ()))
        told = [each for each in every if each.key in {NAME, WORKPLACE, *PLACES}]
        unfit = [each.value for each in told if not fits(each, whole, book.language)]
        if not unfit:
            return whole if told and not names_twice(every) else sentence
        small = frozenset(_WORD.findall(" ".join(unfit).lower()))
    return sentence


def rewritten(sentence: Sentence, book: RuleBook, small: frozenset[str]) -> Sentence:
    """Return a sentence with the capitals of what may be a name, but for some small words."""
    written = _WORD.sub(
        lambda found: found[0] if found[0] in small else capitalized(found[0], book.language),
        sentence.words,
    )
    if written == sentence.words:
        return sentence
    plain = plain_sentence(written, book)
    return replace(sentence, plain=plain, starts=tuple(starts_in(plain, book)))


def names_twice(claims: Sequence[Claim]) -> bool:
    """Return whether what would be a name is told as something else, such as a diet."""
    names = {each.value.casefold() for each in claims if each.key == NAME}
    return any(each.key != NAME and each.value.casefold() in names for each in claims)


def is_without_capitals(words: str, language: str) -> bool:
    """Return whether a sentence is written in small letters, but perhaps for its first one."""
    traits = get_traits(language)
    is_latin = traits.script == "latin" and traits.spaces
    return is_latin and not any(each.isupper() for each in _ENGLISH_I.sub("", words[1:]))


def capitalized(word: str, language: str) -> str:
    """Return a word with its capital, if it may be a name."""
    is_any = may_be_any_name(word, language) and not is_common_word(word, language)
    may_be = is_any or is_place(word, language)
    return word[:1].upper() + word[1:] if may_be else word


def fits(claim: Claim, sentence: Sentence, language: str) -> bool:
    """Return whether all words of a value may be the name that its key asks for.

    Whoever says "I'm" may go on with what they are; only a listed name is one there.
    """
    words = _WORD.findall(claim.value)
    if claim.key == NAME:
        is_naming = tells_name(sentence.plain.partition(claim.value)[0], language)
        return is_naming or all(map(is_listed_name, words))
    if claim.key in PLACES:
        return is_known_place(claim.value) or all(is_place(each, language) for each in words)
    return not any(is_common_word(each, language) for each in words)


def tells_name(before: str, language: str) -> bool:
    """Return whether words go on with nothing but a name, as "my name is"."""
    restated = load_restatement_words(language)
    naming = frozenset[str]() if restated is None else restated.framing_words
    begins = {each[:NAMING_CHARS] for each in naming}
    return any(each[:NAMING_CHARS] in begins for each in _WORD.findall(before.casefold()))


def may_be_any_name(word: str, language: str) -> bool:
    """Return whether a word is long enough for a name and no small word of the language."""
    return len(word) >= MIN_CHARS and not is_stop_word(word.lower(), language)


def is_place(word: str, language: str) -> bool:
    """Return whether a word is a known place, or glossed as much the same in English."""
    lower = word.lower()
    if is_known_place(lower):
        return True
    is_glossed = has_glossary(language) and is_common_word(lower, language)
    return is_glossed and may_be_any_name(lower, language) and is_spelled_alike(lower, language)


@cache
def is_spelled_alike(word: str, language: str) -> bool:
    """Return whether a word's gloss is a known place, or has much the same letters."""
    gloss = gloss_word(word, language).lower()
    ratio = SequenceMatcher(None, fold(word), gloss).ratio()
    return " " not in gloss and (is_known_place(gloss) or ratio >= MIN_SAME_LETTERS)
