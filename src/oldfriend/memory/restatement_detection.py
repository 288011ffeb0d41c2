"""Restatement detection: finds statements that give an earlier one another value.

"My locker code is 4711"; then "no, my locker code is 4712", or "my locker code has changed to
4712", or "my locker code is not 4711 any more". It compares words only; in doubt
both statements stand. This module knows nothing of beliefs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from oldfriend.lang.language_pack import get_traits, load_language_pack
from oldfriend.search.tokenizer import is_stop_word


@dataclass(frozen=True, slots=True, kw_only=True)
class RestatementWords:
    """The words of a language by which one statement restates another."""

    copulas: frozenset[str]
    correction: re.Pattern[str]  # something was wrong or has changed
    now: re.Pattern[str]  # something is so now, perhaps in addition to what was said before
    change_words: frozenset[str]  # have no counterpart in the earlier statement
    negation_words: frozenset[str]
    framing_words: frozenset[str]  # around a value that is put right, and tell nothing themselves


CONTRACTIONS: Final = {"'s": "is", "’s": "is", "m": "am", "re": "are", "ve": "have"}
MIN_CONTENT_WORDS: Final = 2
"""Content words needed to identify the subject; with a copula one is enough."""
MAX_VALUE_WORDS: Final = 12
"""Words of a value; anything longer is a story."""

MAX_OPENING_CHARS: Final = 24
"""Characters in which a correction says that it is one; further on, it is a story of its own."""
MARKED_CORRECTION: Final = re.compile(r"\*\w[^*]*$")
"""In chats an asterisk marks the right word; two of them are emphasis."""
STARRED_OPENING: Final = re.compile(r"\s{0,4}\*([^*\n]{2,24})\*\s")
"""Words between asterisks that a text begins with."""
_TOKEN: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+|(?<=\w)['’]s\b")


class StatementToken(NamedTuple):
    """A word as it is compared, as it is written, and its offset."""

    word: str
    written: str
    start: int


def find_restatement(new: str, old: str, language: str) -> str | None:
    """Return the words that restate an earlier statement with another value, or None."""
    words = load_restatement_words(language)
    if words is None:
        return None
    before, after = tokenize_statement(old), tokenize_statement(new)
    for index, token in enumerate(after):
        rest = after[index:]
        if is_negated_restatement(before, rest, words) or is_corrected_value(
            before, rest, new.casefold(), language, words
        ):
            return new[token.start :].strip()
    return None


def has_correction_words(text: str, language: str) -> bool:
    """Return whether a text begins with words of a correction: "no, wait"."""
    words = load_restatement_words(language)
    opening = text[:MAX_OPENING_CHARS].casefold()
    return words is not None and words.correction.search(opening) is not None


def gives_name(text: str, language: str) -> bool:
    """Return whether a text ends with what somebody is called: "mon chat s'appelle Filou"."""
    words = load_restatement_words(language)
    last = tokenize_statement(text)[-2:]
    if words is None or not last[1:]:
        return False
    return last[0].word in words.framing_words and last[1].written[:1].isupper()


def find_denied_value(text: str, language: str) -> str | None:
    """Return the number or name that a text denies beside the right one: "31, not 30"; else None.

    In small letters.
    """
    words = load_restatement_words(language)
    tokens = tokenize_statement(text) if words is not None else []
    for at, token in enumerate(tokens[:-1]):
        if words is None or token.word not in words.negation_words:
            continue
        denied, beside = tokens[at + 1], [*tokens[max(at - 1, 0) : at], *tokens[at + 2 : at + 4]]
        if any(has_same_value_type([denied], [each], language) for each in beside):
            return denied.word
    return None


def drop_starred_opening(text: str, language: str) -> str:
    """Return a text without words of a correction it begins with in stars: "*oops* …"."""
    found = STARRED_OPENING.match(text)
    is_correction = found is not None and has_correction_words(found[1], language)
    return text[found.end() :] if found is not None and is_correction else text


def is_marked_correction(text: str) -> bool:
    """Return whether a text is the right word with its mark: "*Regina"."""
    return MARKED_CORRECTION.match(text) is not None


@lru_cache(maxsize=32)
def load_restatement_words(language: str) -> RestatementWords | None:
    """Load the words of a language, if it has any."""
    words = load_language_pack(language).read("restatement")
    if not words:
        return None
    return RestatementWords(
        copulas=frozenset(map(str.casefold, words["copulas"])),
        correction=re.compile(words["correction"]),
        now=re.compile(words["now"]),
        change_words=frozenset(map(str.casefold, words["change_words"])),
        negation_words=frozenset(map(str.casefold, words["negation_words"])),
        framing_words=frozenset(map(str.casefold, words.get("framing_words", ()))),
    )


def is_corrected_value(
    old: Sequence[StatementToken],
    said: Sequence[StatementToken],
    sentence: str,
    language: str,
    words: RestatementWords,
) -> bool:
    """Whether both begin alike and go on with different values that cannot both hold."""
    new = [each for each in said if each.word not in words.change_words or each in old]
    shared = count_common_prefix(old, new)
    frame, old_value, new_value = old[:shared], old[shared:], new[shared:]
    if (
        not (frame and old_value and new_value)
        or max(len(old_value), len(new_value)) > MAX_VALUE_WORDS
    ):
        return False
    copulas = [each for each in frame if each.word in words.copulas]
    content = [each for each in frame if each not in copulas and is_content_word(each, language)]
    if len(content) < (1 if copulas else MIN_CONTENT_WORDS):
        return False
    if words.correction.search(sentence):
        return True
    if has_same_value_type(old_value, new_value, language):
        return bool(copulas)
    has_article = frame[-1] not in copulas and not is_content_word(frame[-1], language)  # "is a …"
    return has_article and words.now.search(sentence) is not None


def is_negated_restatement(
    old: Sequence[StatementToken], said: Sequence[StatementToken], words: RestatementWords
) -> bool:
    """Whether the new statement is the old one with a negation added and nothing else changed."""
    ignored = words.negation_words
    old_words = [each.word for each in old if each.word not in ignored]
    new_words = [each.word for each in said if each.word not in ignored]
    return old_words == new_words != [] and len(said) - len(new_words) > len(old) - len(old_words)


def has_same_value_type(
    was: Sequence[StatementToken], new_tokens: Sequence[StatementToken], language: str
) -> bool:
    """Whether both values are numbers, or both are names; other values may hold together."""
    if all(any(map(has_digit, side)) for side in (was, new_tokens)):
        return True
    return get_traits(language).name_capitals != "nouns" and all(
        any(map(is_capitalized, side)) for side in (was, new_tokens)
    )


def has_digit(statement_token: StatementToken) -> bool:
    """Whether a token contains a digit."""
    return any(character.isdecimal() for character in statement_token.word)


def is_capitalized(statement_token: StatementToken) -> bool:
    """Whether a token is written like a name."""
    return statement_token.written[:1].isupper()


def is_content_word(statement_token: StatementToken, language: str) -> bool:
    """Whether a token is a content word."""
    return not is_stop_word(statement_token.word, language)


def count_common_prefix(one: Sequence[StatementToken], other: Sequence[StatementToken]) -> int:
    """Return the number of words at the beginning that two statements share."""
    pairs = zip(one, other, strict=False)
    shared = min(len(one), len(other))
    return next((n for n, (a, b) in enumerate(pairs) if a.word != b.word), shared)


def tokenize_statement(text: str) -> list[StatementToken]:
    """Split a text into words; Chinese into characters."""
    found = _TOKEN.finditer(text)
    return [build_token(each[0], each.start()) for each in found]


def build_token(written: str, start: int) -> StatementToken:
    """Build a token, lowercased and with contractions expanded."""
    word = written.casefold()
    return StatementToken(word=CONTRACTIONS.get(word, word), written=written, start=start)
