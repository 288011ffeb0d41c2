"""Words of time in a sentence: those that stand together, and the sentence without them."""

import re
from collections.abc import Sequence
from typing import Final

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.tasks.time_words import TimeWord

HEAD_WORDS: Final = 2
HEAD_CHARS: Final = 2
"""So much of what to remind of tells where its request says it, with and without spaces."""

_SENTENCE_END: Final = re.compile(
    r"(?<=[!?。！？])(?![!?。！？])\s*|(?<=[^\W\d_]{3}\.)\s+(?=\w)|\n"
)
_SPACES: Final = re.compile(r"\s+")


def remove_words(text: str, words: Sequence[TimeWord], *, offset: int = 0) -> str:
    """Return a text without some of its words; ``offset`` is where it begins in theirs."""
    for word in sorted(words, key=lambda each: each.start, reverse=True):
        start, end = word.start - offset, word.end - offset
        if start >= 0:
            text = f"{text[:start]} {text[end:]}"
    return _SPACES.sub(" ", text)


def join_words(text: str, words: Sequence[TimeWord]) -> str:
    """Return some words of a text as one."""
    return " ".join(text[each.start : each.end] for each in sorted(words, key=lambda w: w.start))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [each for part in _SENTENCE_END.split(text) if (each := part.strip())]


def remove_run(text: str, said: str) -> str:
    """Return a text without the longest run of some words that it holds."""
    words = said.split()
    runs = [
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
    ]
    held = sorted((each for each in runs if each in text), key=len)
    return text.replace(held[-1], " ", 1) if held else text


def add_negation(what: str, text: str, negated: re.Pattern[str]) -> str:
    """Return what to remind of with the "not to" that stands right before it in its request."""
    simple, text = to_simplified(what), to_simplified(text)
    words = simple.split(" ", HEAD_WORDS)
    head = " ".join(words[:HEAD_WORDS]) if len(words) > 1 else simple[:HEAD_CHARS]
    for each in negated.finditer(text):
        if head and text.startswith(head, each.end()):
            return f"{each[0]}{what}"
    return what
