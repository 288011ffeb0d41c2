"""Unicode text: ASCII numbers, and normal forms computed in linear time."""

import re
import unicodedata
from typing import Final, Literal

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

MAX_MARKS: Final = 30
"""Combining marks in a row, as in the Stream-Safe Text Format of UAX #15."""
JOINER: Final = "\u034f"
"""The combining grapheme joiner: marks are not reordered across it."""
_MARK_RUN: Final = re.compile(rf"[^\w\s\x00-\u02ff]{{{MAX_MARKS + 1},}}+")


def normalize(form: NormalForm, text: str) -> str:
    """Return the normal form of a text, with a joiner after each 30 marks in a row.

    ``unicodedata`` sorts runs of marks in time that grows with the square of their length.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _MARK_RUN.sub(_insert_joiners, text))


def _insert_joiners(found: re.Match[str]) -> str:
    written: list[str] = []
    marks = 0
    for character in found[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > MAX_MARKS:
            written.append(JOINER)
            marks = 1
        written.append(character)
    return "".join(written)


def is_ascii_number(text: str) -> bool:
    """Return whether a text is all ASCII digits: no other script, no superscripts."""
    return text.isascii() and text.isdecimal()
