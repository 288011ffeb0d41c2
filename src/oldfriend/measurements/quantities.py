"""Quantities: numbers with their units as people write them, the clauses they stand in, and fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.measurements.lexicon import (
    BREAK_CLASS,
    CLAUSE_BREAKS,
    CLOCK_CLASS,
    NEGATIVE_CLASS,
    NUMBER_CLASS,
    SENTENCE_BREAKS,
    MeasureLexicon,
    Token,
)
from oldfriend.measurements.measures import MEASURES, Measure, is_plausible, to_compared
from oldfriend.measurements.units import CURRENCIES, convert_float

OF_TIME: Final = ("fill", "times", "months", "last_night")
HALF: Final = 0.5
THOUSAND: Final = 1000
LOW_PRESSURE: Final = 30
"""A blood pressure below this is told in centimeters, as 12/8."""
DIGITS_OF_THOUSANDS: Final = 3
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2100


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with its unit, and the tokens that it takes."""

    value: float
    other_value: float  # if the separator in it means the other thing, as in 8.400
    unit: str | None
    first: int
    end: int  # of the tokens
    is_thousands: bool = False  # written with a "k"
    pair_value: float | None = None  # 80 in 120/80, or 10 in 7/10


def add_joined(quantity: Quantity, others: Sequence[Quantity], tokens: Sequence[Token]) -> Quantity:
    """Return a quantity with those of its dimension that are only joined to it, in its unit.

    "5 km and 3 miles" are 9.83 km.
    """
    total, end = quantity.value, quantity.end
    for each in others:
        between = tokens[end : each.first]
        is_joined = bool(between) and all(one.is_any("joints") for one in between)
        if not is_joined or quantity.unit is None or each.unit is None:
            continue
        value = convert_float(each.value, each.unit, quantity.unit)
        if value is not None:
            total, end = round(total + value, 2), each.end
    if end == quantity.end:
        return quantity
    return replace(quantity, value=total, other_value=total, end=end)


def find_quantities(tokens: Sequence[Token], lexicon: MeasureLexicon) -> list[Quantity]:
    """Return the quantities in order; a number that belongs to a date is none."""
    found: list[Quantity] = []
    at = 0
    while at < len(tokens):
        quantity = read_money(tokens, at, lexicon) or read_quantity(tokens, at, lexicon)
        if quantity is not None:
            found.append(quantity)
        at = at + 1 if quantity is None else quantity.end
    return found


def read_money(tokens: Sequence[Token], at: int, lexicon: MeasureLexicon) -> Quantity | None:
    """Read an amount whose currency stands before it, as in "$50"; None for any other."""
    if tokens[at].unit not in CURRENCIES or not is_digits(tokens, at + 1):
        return None
    value, other = read_number(tokens[at + 1], lexicon)
    return Quantity(value=value, other_value=other, unit=tokens[at].unit, first=at, end=at + 2)


def read_quantity(tokens: Sequence[Token], at: int, lexicon: MeasureLexicon) -> Quantity | None:
    """Read the quantity that begins at a token; None if none does."""
    if tokens[at].is_any("half_of") and has_unit(tokens, at + 1):
        return Quantity(
            value=HALF, other_value=HALF, unit=tokens[at + 1].unit, first=at, end=at + 2
        )
    if tokens[at].is_any(CLOCK_CLASS) and has_unit(tokens, at + 1):
        hours, _, minutes = tokens[at].text.partition(":")
        spent = round(int(hours) + int(minutes) / 60, 4)
        return Quantity(
            value=spent, other_value=spent, unit=tokens[at + 1].unit, first=at, end=at + 2
        )
    is_article = tokens[at].text in lexicon.numbers and is_digits(tokens, at + 1)  # "un 4"
    if is_article or not tokens[at].is_any(NUMBER_CLASS) or is_in_date(tokens, at):
        return None
    value, other = read_number(tokens[at], lexicon)
    end, unit, is_thousands, pair = at + 1, None, False, None
    if is_kind(tokens, end, "and_half"):
        value, other, end = value + HALF, other + HALF, end + 1
    if is_kind(tokens, end, "thousand"):
        value, other, end, is_thousands = value * THOUSAND, other * THOUSAND, end + 1, True
    if is_kind(tokens, end, "slash") and is_kind(tokens, end + 1, NUMBER_CLASS):
        pair, end = parse_number(tokens[end + 1].text, lexicon)[0], end + 2
    if has_unit(tokens, end):
        unit, end = tokens[end].unit, end + 1
    quantity = Quantity(
        value=value,
        other_value=other,
        unit=unit,
        first=at,
        end=end,
        is_thousands=is_thousands,
        pair_value=pair,
    )
    return quantity if unit is None else join_smaller_unit(quantity, tokens, lexicon)


def join_smaller_unit(
    quantity: Quantity, tokens: Sequence[Token], lexicon: MeasureLexicon
) -> Quantity:
    """Return a quantity with what follows in a smaller unit: 11 st 4 lb, 6 h 30, 1 h and a half."""
    unit, at = quantity.unit or "", quantity.end
    if is_kind(tokens, at, "and_half"):
        value = quantity.value + HALF
        return with_value(quantity, value, at + 1)
    if is_kind(tokens, at, "joints"):
        at += 1
    if not is_kind(tokens, at, NUMBER_CLASS) or unit not in SMALLER_UNITS:
        return quantity
    rest, _ = parse_number(tokens[at].text, lexicon)
    smaller = tokens[at + 1].unit if has_unit(tokens, at + 1) else None
    if smaller is None and (tokens[at].start - tokens[at - 1].end > 1 or at > quantity.end):
        return quantity
    added = convert_float(rest, smaller or SMALLER_UNITS[unit], unit)
    if added is None or smaller == unit or added >= 1:
        return quantity
    end = at + 1 if smaller is None else at + 2
    return with_value(quantity, quantity.value + added, end)


SMALLER_UNITS: Final = {"h": "min", "st": "lb", "min": "s", "ft": "in", "m": "cm", "lb": "oz"}
"""The unit that a second number without one is in."""


def with_value(quantity: Quantity, value: float, end: int) -> Quantity:
    """Return a quantity with a more exact value."""
    return Quantity(
        value=round(value, 4),
        other_value=round(value, 4),
        unit=quantity.unit,
        first=quantity.first,
        end=end,
    )


def is_kind(tokens: Sequence[Token], at: int, kind: str) -> bool:
    """Tell whether there is a token of a class at a place."""
    return at < len(tokens) and tokens[at].is_any(kind)


def is_digits(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a token is a number in digits."""
    return is_kind(tokens, at, NUMBER_CLASS) and tokens[at].text[0].isdecimal()


def has_unit(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a token names a unit."""
    return at < len(tokens) and tokens[at].unit is not None


def is_in_date(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a number belongs to a date, such as 3 May or 2024-05-03."""
    if not tokens[at].is_any(NUMBER_CLASS):
        return False
    text = tokens[at].text
    near = [*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 3]]
    if has_unit(tokens, at + 1):  # "11 st 4 lb", not "1 st May"
        near.remove(tokens[at + 1])
        if not tokens[at + 1].is_any("months") or not any(each.is_any("months") for each in near):
            return False
    is_year = len(text) == len("2024") and text[:2] in {"19", "20"}
    is_dated = any(each.is_any("months") for each in near)
    return text.isdecimal() and is_dated and (is_year or len(text) <= len("31"))


SPACES: Final = str.maketrans("", "", "' \u00a0\u202f")


def read_number(token: Token, lexicon: MeasureLexicon) -> tuple[float, float]:
    """Return a number with its sign, and what it is if its separator means the other thing."""
    sign = -1 if token.is_any(NEGATIVE_CLASS) else 1
    value, other = parse_number(token.text, lexicon)
    return sign * value, sign * other


def parse_number(text: str, lexicon: MeasureLexicon) -> tuple[float, float]:
    """Return a number, and what it is if its separator means the other thing."""
    if text in lexicon.numbers:
        value = float(lexicon.numbers[text])
        return value, value
    likely, other = normalize_number(text, has_decimal_comma=lexicon.has_decimal_comma)
    return float(likely), float(other)


def normalize_number(text: str, *, has_decimal_comma: bool) -> tuple[str, str]:
    """Return a written number with a decimal point only, and what it is in the other reading."""
    plain = text.translate(SPACES)
    separators = [each for each in plain if each in ".,"]
    if not separators:
        return plain, plain
    last = separators[-1]
    head, _, tail = plain.rpartition(last)
    decimal = f"{head.replace('.', '').replace(',', '') or '0'}.{tail or '0'}"
    whole = plain.replace(".", "").replace(",", "")
    if len(tail) != DIGITS_OF_THOUSANDS:
        return decimal, decimal
    if separators.count(last) > 1:
        return whole, whole
    if len(set(separators)) > 1 or head in {"", "0"}:
        return decimal, decimal
    is_thousands = (last == ".") == has_decimal_comma
    return (whole, decimal) if is_thousands else (decimal, whole)


def is_year(quantity: Quantity) -> bool:
    """Tell whether a bare number may be a year."""
    is_bare = quantity.unit is None and quantity.pair_value is None
    return is_bare and FIRST_YEAR <= quantity.value <= LAST_YEAR


def fits(measure: Measure, quantity: Quantity, cue: int) -> bool:
    """Tell whether a quantity can be of a measure, by its unit and form."""
    if measure.is_pair or measure.scale:
        is_right = quantity.pair_value is not None
        if measure.scale:
            is_right = quantity.pair_value == measure.scale or (
                quantity.pair_value is None and quantity.value <= measure.scale
            )
        points = {"min"} if measure.scale else set()  # "9分" are points or minutes
        return is_right and quantity.unit in {None, measure.unit, *points}
    if quantity.pair_value is not None:
        return False
    if quantity.unit is None:
        is_distance = bool(measure.second_unit)
        return (is_distance and quantity.is_thousands) or not measure.needs_unit
    if not measure.unit:
        return False
    is_next = abs(cue - quantity.end) <= 1
    return to_compared(measure, 1, quantity.unit) is not None or (
        quantity.unit == "min" and measure.unit == "bpm" and is_next
    )


def choose_values(measure: Measure, quantity: Quantity, unit: str) -> tuple[float, ...]:
    """Return the values that a quantity may have, the likelier first."""
    if quantity.is_thousands and unit == "km" and measure.second_unit:
        return (quantity.value / 1000,)  # "10k" is a distance in kilometers
    if measure.is_pair:
        return (quantity.value * (10 if abs(quantity.value) < LOW_PRESSURE else 1),)
    if not (measure.unit or measure.is_money):  # a count is never broken
        return (max(quantity.value, quantity.other_value),)
    return quantity.value, quantity.other_value


def is_meant_too(measure: Measure, one: Quantity, other: Quantity, tokens: Sequence[Token]) -> bool:
    """Tell whether another number may be meant instead or besides, as in "5-6 km"; or is a year."""
    if one.first <= other.first < one.end:
        return False
    if is_year(other):
        return True
    early, late = (one, other) if one.first < other.first else (other, one)
    between = tokens[early.end : late.first]
    if other.unit is not None and fits(measure, other, other.first):
        return not between or any(each.is_any("joints") for each in between)
    is_near = len(between) <= 1 and not any(each.cues for each in between)
    if not is_near or early.unit is not None or late is other:
        return is_near and one.unit is None and is_like(measure, one, other)
    return True


def is_like(measure: Measure, one: Quantity, other: Quantity) -> bool:
    """Tell whether another bare number can be a value of the same measure."""
    unit = one.unit or measure.choose_unit(one.value)
    is_bare = other.unit is None and fits(measure, other, other.first)
    return is_bare and any(
        is_plausible(measure, each, unit) for each in choose_values(measure, other, unit)
    )


def is_of_something(tokens: Sequence[Token], measure: Measure) -> bool:
    """Tell whether a number is of a thing: 4 kg of flour."""
    if not tokens or not tokens[0].is_any("of"):
        return False
    return not (len(tokens) > 1 and measure.name in tokens[1].cues)


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
