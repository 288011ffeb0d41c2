"""Unicode text: ASCII numbers, normal forms computed in linear time, and look-alike names."""

import re
import unicodedata
from typing import Final, Literal

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

MAX_MARKS: Final = 30
"""Combining marks in a row, as in the Stream-Safe Text Format of UAX #15."""
JOINER: Final = "\u034f"
"""The combining grapheme joiner: marks are not reordered across it."""
ACCENTS: Final = re.compile(r"[\u0300-\u036f]")
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


def strip_accents(text: str) -> str:
    """Return a text without accents and other combining marks."""
    if text.isascii():
        return text
    decomposed = normalize("NFKD", text)
    marks = {ord(each): None for each in set(decomposed) if unicodedata.combining(each)}
    return normalize("NFC", decomposed.translate(marks) if marks else decomposed)


def fold_text(text: str) -> str:
    """Fold case, accents, character widths and apostrophes."""
    decomposed = normalize("NFKD", text).lower().replace("’", "'")
    return normalize("NFC", ACCENTS.sub("", decomposed))


def is_ascii_number(text: str) -> bool:
    """Return whether a text is all ASCII digits: no other script, no superscripts."""
    return text.isascii() and text.isdecimal()


CONFUSABLE_LETTERS: Final = str.maketrans(
    "аеорсухѕіјһԁԛԝгвкмнт" + "АЕОРСУХЅІЈВКМНТ" + "οαρνυικταεβη" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "ոօսհցɑɡıɩ0",
    "aeopcyxsijhdqwrbkmht" + "AEOPCYXSIJBKMHT" + "oapvuiktaebn" + "ABEZHIKMNOPTYX" + "nouhgagiio",
)
"""Letters of other scripts, and zero, that look Latin; those used in names, not all."""
CONFUSABLE_STROKES: Final = str.maketrans("I1|", "lll")
"""Characters that look like a lowercase l in most typefaces."""
INVISIBLE_CHARS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef]"
)
"""Characters that are drawn as nothing, though they count as letters or symbols."""
SEPARATORS: Final = re.compile(r"[\W_]+")
GROUP_SUFFIX: Final = re.compile(r"[^\w\s]\s*group\s*[^\w\s]\W*$")
"""How groups are marked after their title, such as "Family (group)"."""


def has_visible(text: str) -> bool:
    """Return whether a text shows anything: not only blanks and characters drawn as nothing."""
    return any(unicodedata.category(each)[0] not in "CZ" for each in INVISIBLE_CHARS.sub("", text))


def is_confusable(one: str, other: str) -> bool:
    """Return whether somebody may mistake one name for the other."""
    return any(
        each == theirs
        for each, theirs in zip(build_skeletons(one), build_skeletons(other), strict=True)
    )


def build_skeletons(name: str) -> tuple[str, str]:
    """Return what is left of a name without script, blanks and symbols: caseless, and with case.

    With case, a capital I is a lowercase l; without this, Ian and Lan would be the same.
    """
    drawn = to_latin_look(name)
    without_case, with_case = drawn.casefold(), drawn.translate(CONFUSABLE_STROKES)
    return strip_separators(without_case), strip_separators(with_case)


def strip_separators(name: str) -> str:
    """Return a name without blanks and symbols; unchanged if it has nothing else."""
    return SEPARATORS.sub("", name) or name


def is_group_like(name: str) -> bool:
    """Return whether a name ends like those of groups do."""
    return GROUP_SUFFIX.search(to_latin_look(name).casefold()) is not None


def to_latin_look(name: str) -> str:
    """Return a name in Latin letters, where its letters look Latin."""
    return normalize("NFKC", INVISIBLE_CHARS.sub("", name)).translate(CONFUSABLE_LETTERS)
