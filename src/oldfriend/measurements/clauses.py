"""Clauses: where in a message one number with what it is of ends, and the next begins."""

from collections.abc import Iterator, Sequence
from typing import Final

from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    CLAUSE_BREAKS,
    NUMBER_CLASS,
    SENTENCE_BREAKS,
    Token,
)
from oldfriend.measurements.measures import MEASURES
from oldfriend.measurements.units import convert_float

OF_TIME: Final = ("fill", "times", "months", "last_night")


def split_clauses(tokens: Sequence[Token]) -> Iterator[tuple[bool, list[Token]]]:
    """Yield the clauses, and for each whether a sentence begins with it."""
    gathered: list[Token] = []
    is_new_sentence = True
    for at, token in enumerate(tokens):
        is_end = token.is_any(BREAK_CLASS) and token.text != "?"
        if token.text in CLAUSE_BREAKS and all(each.is_any(*OF_TIME) for each in gathered):
            continue  # "Yesterday, 5 km"
        is_joint = token.is_any("joints") and not continues_list(gathered, tokens[at + 1 :])
        if is_end or (is_joint and gathered and begins_clause(gathered, tokens, at + 1)):
            if gathered:
                yield is_new_sentence, gathered
                is_new_sentence = False
            is_new_sentence = is_new_sentence or token.text in SENTENCE_BREAKS
            gathered = []
        else:
            gathered.append(token)
    if gathered:
        yield is_new_sentence, gathered


def begins_clause(before: Sequence[Token], tokens: Sequence[Token], at: int) -> bool:
    """Tell whether what follows a joint is a clause of its own, such as a wish or a request."""
    is_other = at < len(tokens) and tokens[at].is_any("not_told") and not tokens[at].cues
    return is_other or has_own_number(tokens, at) or is_of_other_time(before, tokens[at:])


def is_of_other_time(before: Sequence[Token], after: Sequence[Token]) -> bool:
    """Tell whether a number and its time stand on both sides: "5 km yesterday and 6 km today"."""
    end = next((at for at, each in enumerate(after) if each.is_any(BREAK_CLASS, "joints")), None)
    return all(
        any(each.is_any(NUMBER_CLASS) for each in side) and names_time(side)
        for side in (before, after[:end])
    )


def names_time(tokens: Sequence[Token]) -> bool:
    """Tell whether some words say when."""
    return any(each.is_any("times", "months") for each in tokens)


def has_own_number(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a clause with a measure or a subject of its own begins at a place."""
    for token in tokens[at:]:
        if token.is_any(BREAK_CLASS, "joints"):
            return False
        if token.cues or token.is_any("me"):
            return True
        if token.unit is not None and not any(each.cues for each in tokens[at:]):
            return False
    return False


def continues_list(before: Sequence[Token], after: Sequence[Token]) -> bool:
    """Tell whether a joint stands between two amounts of one verb: "5 km und 3 Meilen gelaufen"."""
    if not before or len(after) <= 1 or any(each.cues for each in before):
        return False
    one, other = before[-1].unit, after[1].unit
    is_alike = one is not None and other is not None and convert_float(1, other, one) is not None
    return is_alike and after[0].is_any(NUMBER_CLASS)


def is_nearly_done(tokens: Sequence[Token]) -> bool:
    """Tell whether it was not done at all: "almost ran 5 km", but not "ran almost 5 km"."""
    for at, token in enumerate(tokens):
        behind = tokens[at + 1 :]
        if token.is_any("nearly"):
            known = (each for each in behind if each.cues or each.is_any(NUMBER_CLASS))
            named = next(known, None)
            if named is not None and named.cues:
                return True
        if token.is_any("nearly_apart") and behind[2:] and behind[0].is_any(NUMBER_CLASS):
            cues = behind[2].cues if behind[1].unit else frozenset()
            if any(MEASURES[each].second_unit for each in cues):
                return True
    return False
