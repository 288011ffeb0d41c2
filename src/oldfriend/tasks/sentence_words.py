"""Words of time in a sentence: those that stand together, and the sentence without them."""

import re
from collections.abc import Sequence
from typing import Final

from oldfriend.tasks.time_words import TimeWord

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
