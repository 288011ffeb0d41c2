"""Measurement corrections: what a message changes of a number that was told, or takes back.

"No, 71 not 17", "sorry, 71.5", "change yesterday's weight to 71", "delete yesterday's weight". Each
word must be known, so that nothing else is taken for a correction.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final, Literal

from oldfriend.lang.language_pack import load_language_pack
from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    NUMBER_CLASS,
    MeasureLexicon,
    Token,
    fold,
    is_whole_word,
)
from oldfriend.measurements.measurement_reader import ClauseReader, Moment
from oldfriend.measurements.quantities import Quantity, find_quantities

MarkKind = Literal["corrects", "not_that", "but_that", "takes_back", "entry"]
MARKS: Final[Sequence[MarkKind]] = ("takes_back", "entry", "corrects", "not_that", "but_that")
MAX_CHARS: Final = 120
POSSESSIVE: Final = re.compile(r"(?<=[^\W\d_])['\u2019]s\b")
KNOWN: Final = ("my", "fill", "it", "of", "times", "months", "joints", "last_night", BREAK_CLASS)
IN_NUMBERS: Final = (NUMBER_CLASS, "and_half", "thousand", "half_of", "slash")


@dataclass(frozen=True, slots=True)
class Mark:
    """Words that say what a correction does with the numbers beside them."""

    start: int
    end: int
    kinds: frozenset[MarkKind]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementCorrection:
    """What is right, what was wrong, and what else tells which number is meant."""

    right: Quantity | None  # None: the number is taken back
    wrong: Quantity | None  # None: it is not said
    names: frozenset[str]  # of measures; empty: not said
    day: date | None  # None: not said


def read_correction(
    text: str, moment: Moment, lexicon: MeasureLexicon
) -> MeasurementCorrection | None:
    """Read a message that only corrects or takes back a number; None for any other message."""
    stripped = text.strip()
    if len(stripped) > MAX_CHARS or stripped.endswith(("?", "\uff1f")):
        return None
    folded = fold(stripped)
    marks = find_marks(folded, lexicon.language)
    if not marks:
        return None
    plain = blank(POSSESSIVE.sub("  ", folded), marks)
    tokens = lexicon.split_tokens(plain)
    takes_back = any("takes_back" in each.kinds for each in marks)
    known = KNOWN if takes_back else (*KNOWN, "me")
    is_only_undo = len(marks) == 1 and not plain.strip(" .!")
    if not tokens and takes_back and (is_only_undo or any("entry" in e.kinds for e in marks)):
        return MeasurementCorrection(right=None, wrong=None, names=frozenset(), day=None)
    if not tokens or not all(is_known(each, known) for each in tokens):
        return None
    clause = ClauseReader(text=plain, tokens=tokens, moment=moment, lexicon=lexicon)
    quantities = clause.find_quantities()
    day = clause.read_day(quantities)
    pair = (
        choose_gone(clause, quantities, marks)
        if takes_back
        else choose_right(quantities, tokens, marks)
    )
    if day is None or pair is None:
        return None
    return MeasurementCorrection(
        right=pair[0],
        wrong=pair[1],
        names=frozenset(name for each in tokens for name in each.cues),
        day=day if clause.is_dated else None,
    )


def is_bare_undo(text: str, moment: Moment, lexicon: MeasureLexicon) -> bool:
    """Tell whether a message only takes back, and names neither a number nor a day: "undo"."""
    asked = read_correction(text, moment, lexicon)
    nothing = MeasurementCorrection(right=None, wrong=None, names=frozenset(), day=None)
    return asked == nothing


def choose_gone(
    clause: ClauseReader, quantities: Sequence[Quantity], marks: Sequence[Mark]
) -> tuple[None, Quantity | None] | None:
    """Return the number that is taken back, if it is told; None if nothing like it is named."""
    is_named = any(each.cues for each in clause.tokens) or bool(quantities)
    if len(quantities) > 1 or not (is_named or any("entry" in each.kinds for each in marks)):
        return None
    return None, quantities[0] if quantities else None


def is_bare_number(text: str, lexicon: MeasureLexicon) -> bool:
    """Tell whether a text is only a number, perhaps corrected or with its unit and time.

    Nothing in it says whose it is or of what.
    """
    plain = text.strip()
    if len(plain) > MAX_CHARS or not any(map(str.isdigit, plain)):
        return False
    folded = fold(plain)
    tokens = lexicon.split_tokens(blank(folded, find_marks(folded, lexicon.language)))
    known = [each for each in KNOWN if each != "my"]
    is_plain = all(is_known(each, known) and not each.cues for each in tokens)
    return is_plain and bool(find_quantities(tokens, lexicon))


def is_known(token: Token, known: Sequence[str]) -> bool:
    """Tell whether a word may stand in a correction."""
    return token.is_any(*known, *IN_NUMBERS) or bool(token.cues) or token.unit is not None


def find_numbers(text: str, lexicon: MeasureLexicon) -> list[Quantity]:
    """Return the numbers of a text, each with its unit if it has one."""
    folded = fold(text.strip())[:MAX_CHARS]
    return find_quantities(lexicon.split_tokens(folded), lexicon)


def choose_right(
    quantities: Sequence[Quantity], tokens: Sequence[Token], marks: Sequence[Mark]
) -> tuple[Quantity, Quantity | None] | None:
    """Return the right number and the wrong one, if both or the right one are told."""
    if len(quantities) == 1:
        kinds = [each.kinds for each in marks]
        is_denied = any("not_that" in each and "corrects" not in each for each in kinds)
        is_corrected = any("corrects" in each for each in kinds)
        return (quantities[0], None) if is_corrected and not is_denied else None
    if len(quantities) != len(("right", "wrong")):
        return None
    first, second = quantities
    place = tokens[first.end - 1].end, tokens[second.first].start
    between = {kind for each in marks if place[0] <= each.start < place[1] for kind in each.kinds}
    before = {
        kind for each in marks if each.start < tokens[first.first].start for kind in each.kinds
    }
    if "not_that" in between:
        return first, second
    return (second, first) if "but_that" in between and "not_that" in before else None


def find_marks(text: str, language: str) -> list[Mark]:
    """Return the marks in a folded text, the longest of each place, in order."""
    found: dict[tuple[int, int], set[MarkKind]] = {}
    for kind, words in load_marks(language).items():
        for word in words:
            for match in re.finditer(re.escape(word), text):
                if is_whole_word(text, *match.span()):
                    found.setdefault(match.span(), set()).add(kind)
    chosen: list[Mark] = []
    for (start, end), kinds in sorted(found.items(), key=lambda item: item[0][0] - item[0][1]):
        if all(end <= each.start or each.end <= start for each in chosen):
            chosen.append(Mark(start, end, frozenset(kinds)))
    return sorted(chosen, key=lambda each: each.start)


def blank(text: str, marks: Sequence[Mark]) -> str:
    """Return a text of the same length without its marks."""
    for each in marks:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return text


@cache
def load_marks(language: str) -> Mapping[MarkKind, Sequence[str]]:
    """Load the words of a language that correct a number. Raises KeyError."""
    words = load_language_pack(language).read("measurements")["corrections"]
    return {kind: [fold(each) for each in words[kind]] for kind in MARKS}
