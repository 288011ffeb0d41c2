"""Restatement detection: finds statements that give an earlier one another value.

"My locker code is 4711"; then "no, my locker code is 4712", or "my locker code has changed to
4712", or "my locker code is not 4711 any more". It compares words only, in five languages; in doubt
both statements stand. This module knows nothing of beliefs.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from oldfriend.search.tokenizer import is_stop_word

COPULAS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset({"is", "are", "was", "were", "am"}),
    "es": frozenset({"es", "son", "está", "están", "soy", "estoy", "era"}),
    "fr": frozenset({"est", "sont", "suis", "était"}),
    "de": frozenset({"ist", "sind", "bin", "war", "heißt", "lautet"}),
    "zh": frozenset({"是", "在", "叫", "为"}),
}
CORRECTION_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"^(?:no|nope|wait)\b"
        r"|\b(?:actually|correction|sorry|wrong|mistaken?|meant|changed|instead)\b"
    ),
    "es": re.compile(
        r"^no\b|\b(?:perdona?|perdón|en realidad|corrección|equivoqu\w+|mejor dicho)\b"
        r"|\b(?:cambió|cambiado)\b"
    ),
    "fr": re.compile(r"^non\b|\b(?:pardon|en fait|correction|trompée?|plutôt|erreur|changé)\b"),
    "de": re.compile(
        r"^(?:nein|ne)\b|\b(?:korrektur|entschuldigung|sorry|falsch|eigentlich|geändert)\b"
    ),
    "zh": re.compile("说错|不对|更正|其实|弄错|搞错|记错|改成|改为|变成|换成"),
}
"""Words saying that something was wrong or has changed."""
NOW_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(r"\bnow\b"),
    "es": re.compile(r"\bahora\b"),
    "fr": re.compile(r"\b(?:maintenant|désormais)\b"),
    "de": re.compile(r"\b(?:jetzt|nun|inzwischen)\b"),
    "zh": re.compile("现在"),
}
"""Words saying that something is so now, perhaps in addition to what was said before."""
CHANGE_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset({"now", "has", "have", "been", "changed", "to", "instead"}),
    "es": frozenset({"ahora", "ha", "cambió", "cambiado", "a"}),
    "fr": frozenset({"maintenant", "désormais", "a", "changé"}),
    "de": frozenset({"jetzt", "nun", "inzwischen", "hat", "sich", "geändert", "auf"}),
    "zh": frozenset({"现", "改", "变", "换", "成", "了"}),
}
"""Words of change that have no counterpart in the earlier statement."""
NEGATION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset(
        {
            "not",
            "no",
            "longer",
            "any",
            "more",
            "anymore",
            "do",
            "don",
            "does",
            "doesn",
            "isn",
            "aren",
            "t",
        }
    ),
    "es": frozenset({"no", "ya", "más"}),
    "fr": frozenset({"ne", "n", "plus", "pas"}),
    "de": frozenset({"nicht", "mehr", "kein", "keine", "keinen"}),
    "zh": frozenset({"不", "再", "没", "了", "已", "经"}),
}
CONTRACTIONS: Final = {"'s": "is", "’s": "is", "m": "am", "re": "are", "ve": "have"}
MIN_CONTENT_WORDS: Final = 2
"""Content words needed to identify the subject; with a copula one is enough."""
MAX_VALUE_WORDS: Final = 12
"""Words of a value; anything longer is a story."""

_TOKEN: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+|(?<=\w)['’]s\b")


class StatementToken(NamedTuple):
    """A word as it is compared, as it is written, and its offset."""

    word: str
    written: str
    start: int


def find_restatement(new: str, old: str, language: str) -> str | None:
    """Return the words that restate an earlier statement with another value, or None."""
    if language not in COPULAS:
        return None
    before, after = tokenize_statement(old), tokenize_statement(new)
    for index, token in enumerate(after):
        rest = after[index:]
        if is_negated_restatement(before, rest, language) or is_corrected_value(
            before, rest, new.casefold(), language
        ):
            return new[token.start :].strip()
    return None


def is_corrected_value(
    old: Sequence[StatementToken], said: Sequence[StatementToken], sentence: str, language: str
) -> bool:
    """Whether both begin alike and go on with different values that cannot both hold."""
    new = [each for each in said if each.word not in CHANGE_WORDS[language] or each in old]
    shared = count_common_prefix(old, new)
    frame, old_value, new_value = old[:shared], old[shared:], new[shared:]
    if (
        not (frame and old_value and new_value)
        or max(len(old_value), len(new_value)) > MAX_VALUE_WORDS
    ):
        return False
    copulas = [each for each in frame if each.word in COPULAS[language]]
    content = [each for each in frame if each not in copulas and is_content_word(each, language)]
    if len(content) < (1 if copulas else MIN_CONTENT_WORDS):
        return False
    if CORRECTION_PATTERNS[language].search(sentence):
        return True
    if has_same_value_type(old_value, new_value, language):
        return bool(copulas)
    has_article = frame[-1] not in copulas and not is_content_word(frame[-1], language)  # "is a …"
    return has_article and NOW_PATTERNS[language].search(sentence) is not None


def is_negated_restatement(
    old: Sequence[StatementToken], said: Sequence[StatementToken], language: str
) -> bool:
    """Whether the new statement is the old one with a negation added and nothing else changed."""
    ignored = NEGATION_WORDS[language]
    old_words = [each.word for each in old if each.word not in ignored]
    new_words = [each.word for each in said if each.word not in ignored]
    return old_words == new_words != [] and len(said) - len(new_words) > len(old) - len(old_words)


def has_same_value_type(
    was: Sequence[StatementToken], now: Sequence[StatementToken], language: str
) -> bool:
    """Whether both values are numbers, or both are names; other values may hold together."""
    if all(any(map(has_digit, side)) for side in (was, now)):
        return True
    return language != "de" and all(any(map(is_capitalized, side)) for side in (was, now))


def has_digit(token: StatementToken) -> bool:
    """Whether a token contains a digit."""
    return any(character.isdecimal() for character in token.word)


def is_capitalized(token: StatementToken) -> bool:
    """Whether a token is written like a name."""
    return token.written[:1].isupper()


def is_content_word(token: StatementToken, language: str) -> bool:
    """Whether a token is a content word."""
    return not is_stop_word(token.word, language)


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
