"""Clause splitting: splits a text at its marks, and long sentences at commas and dashes, too."""

import re
from collections.abc import Iterator
from typing import Final

SENTENCE: Final = re.compile(
    r"(?:[^.!?\n;\u2026\u3002\uff01\uff1f\uff1b]|(?<=\w)[.](?=\w))+[.!?\u2026\u3002\uff01\uff1f]*"
)
PAUSE: Final = re.compile(r"[,:] | [-\u2013\u2014] |\uff0c")
MAX_WORDS: Final = 12
"""Words of a sentence that is not split at its pauses."""
MIN_WORDS: Final = 3
"""Words that stand on either side of a pause."""
EDGE: Final = re.compile("[\\s,;:\u2013\u2014\uff0c-]")


def split_clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each clause of a text starts and ends, in characters."""
    for sentence in SENTENCE.finditer(text):
        start, end = sentence.span()
        if len(sentence.group().split()) > MAX_WORDS:
            for pause in PAUSE.finditer(text, start, end):
                before, after = text[start : pause.start()], text[pause.end() : end]
                if len(before.split()) >= MIN_WORDS and len(after.split()) >= MIN_WORDS:
                    yield from _strip(text, start, pause.start())
                    start = pause.end()
        yield from _strip(text, start, end)


def _strip(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a part without blanks and commas at its edges, if anything is left."""
    while start < end and EDGE.fullmatch(text[start]):
        start += 1
    while start < end and EDGE.fullmatch(text[end - 1]):
        end -= 1
    if start < end:
        yield start, end
