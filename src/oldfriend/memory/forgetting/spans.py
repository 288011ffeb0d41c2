"""Which runs of words would give away what was said? Text only: whose it is, is not known here.

A span is the shortest run that weighs enough from where it begins: five words, eight characters
of a script without blanks, or a mixture. A text that holds such a run holds all the spans in it,
so that two texts share a span exactly when they share that much.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

_UNSPACED: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt\"\\/bf])")
_IS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")

_WORD: Final = 8
_CHARACTER: Final = 5
SPAN: Final = 5 * _WORD
"""What a span weighs: five words, or eight characters."""
PHRASE: Final = 3 * _WORD
"""What is shared weighs this much where it is known that one text was made from the other."""
_LONGEST_WORD: Final = 24  # letters; more are a sentence without blanks, or a key


def tokens_of(text: str) -> list[str]:
    """The words of a text, and the single characters of scripts without blanks; letter case and
    width aside."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def words_of(text: str) -> str:
    """A text as its words alone, so that the same words are the same text."""
    return " ".join(tokens_of(text))


def spans_in(text: str, *, weight: int = SPAN) -> frozenset[int]:
    """The spans of a text, hashed; also of what it says inside JSON."""
    spans = frozenset(spans_of(tokens_of(text), weight=weight))
    if "\\" not in text:
        return spans
    return spans.union(spans_of(tokens_of(unescaped(text)), weight=weight))


def spans_of(tokens: Sequence[str], *, weight: int = SPAN) -> Iterator[int]:
    """The spans of a text in tokens, hashed."""
    return map(hash, runs_of(tokens, weight=weight))


def runs_of(tokens: Sequence[str], *, weight: int = SPAN) -> Iterator[str]:
    """The spans of a text in tokens: one for each token from which on there is enough."""
    weights = [weight_of(token) for token in tokens]
    end, held = 0, 0
    for begin, own in enumerate(weights):
        while held < weight and end < len(tokens):
            held += weights[end]
            end += 1
        if held < weight:
            return
        yield " ".join(tokens[begin:end])
        held -= own


def weight_of(token: str) -> int:
    """How much a token tells."""
    if len(token) > _LONGEST_WORD:
        return SPAN
    return _CHARACTER if _IS_UNSPACED.match(token) else _WORD


def is_telling(text: str) -> bool:
    """Whether a text is long enough to be known by its words alone."""
    return sum(map(weight_of, tokens_of(text))) >= SPAN


def unescaped(text: str) -> str:
    """A text that stands in JSON, as it reads."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


def likeness(one: frozenset[int], other: frozenset[int]) -> float:
    """How much of the shorter of two texts, as spans, stands in the other: 0 to 1."""
    return len(one & other) / max(1, min(len(one), len(other)))
