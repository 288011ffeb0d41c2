"""Confusable names: names that cannot be told apart by eye."""

import re
from typing import Final

from oldfriend.domain.unicode_text import normalize

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
