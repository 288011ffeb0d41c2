"""Goal totals: amounts that goals want in all, such as 100 km by June or 40 push-ups this week."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from oldfriend.goals.goal import Goal
from oldfriend.goals.goal_phrases import DIGIT, load_goal_phrases
from oldfriend.goals.told_amounts import (
    ToldAmount,
    read_amounts,
    spell_digits,
    split_amount_tokens,
)
from oldfriend.measurements.lexicon import BREAK_CLASS, Token
from oldfriend.measurements.units import UNITS, convert_float

PARTS_OF_UNIT: Final = 1_000
MAX_PARTS: Final = 10**15
"""More is told by mistake; whole years of so much can still be added up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalTotal:
    """An amount that is to be reached in several steps, such as 100 km by June, 40 push-ups."""

    value: float
    unit: str  # or the noun that is counted, as the goal names it
    words: str  # of the goal, without the amount
    noun: str = ""  # the stem of what is counted; empty for a unit
    parts: int = PARTS_OF_UNIT  # that a step counts for one of it
    is_bounded: bool = False  # by a day or a period

    @property
    def dimension(self) -> str:
        """What its unit measures; empty for things that are counted."""
        return "" if self.noun else UNITS[self.unit].dimension

    @property
    def is_money(self) -> bool:
        """Whether it is put aside in a currency."""
        return self.dimension == "money"

    def find_amount(self, told: str, language: str, *, takes_bare: bool = False) -> int:
        """Return how much of it words tell, in parts of its unit; 0 for no clear amount.

        It is below zero for an amount that is to be taken off: "-20 euros".

        Several amounts that are only joined add up: "10 km and 3 km". `takes_bare`: the only
        number is one of its unit if it names none: "saved another 30".
        """
        spelled = spell_digits(told, language)
        tokens = split_amount_tokens(spelled, language)
        amounts = read_amounts(spelled, tokens, language)
        if takes_bare and len(amounts) == 1 and amounts[0].unit is None and not amounts[0].noun:
            return self.to_amount(amounts[0].value, self.unit)
        found = [each for each in amounts if self.measure(each)]
        return sum(map(self.measure, found)) if are_joined(found, tokens) else 0

    def measure(self, told: ToldAmount) -> int:
        """Return how much of it an amount is that names its unit or noun; 0 for any other.

        A weight below zero is none: it may tell what was lost, or what was put on.
        """
        if told.value < 0 and self.dimension == "mass":
            return 0
        if self.noun:
            is_same = told.noun == self.noun
            return self.to_amount(told.value, self.unit) if is_same else 0
        return self.to_amount(told.value, told.unit) if told.unit else 0

    def to_amount(self, value: float, unit: str) -> int:
        """Return a value in parts of its unit; 0 if it measures something else, or is too much."""
        own: float | None = value
        if unit != self.unit:
            own = None if self.noun else convert_float(value, unit, self.unit)
        parts = (own or 0) * self.parts
        return round(parts) if abs(parts) <= MAX_PARTS else 0


def are_joined(amounts: Sequence[ToldAmount], tokens: Sequence[Token]) -> bool:
    """Whether amounts are only joined, so that they add up: "10 km and 3 miles"."""
    between = [tokens[one.end : other.first] for one, other in pairwise(amounts)]
    return all(each and all(one.is_any("joints", BREAK_CLASS) for one in each) for each in between)


def find_total(goal: Goal) -> GoalTotal | None:
    """Return the amount that a goal wants in all; None if it wants no such one."""
    if goal.rhythm is not None:
        return None
    return read_total(goal.text, goal.language, has_day=goal.deadline is not None)


def find_countable(goal: Goal) -> GoalTotal | None:
    """Return the amount that a goal wants in all, or its whole things of the running period."""
    pieces = load_goal_phrases(goal.language).find_pieces(goal.text)
    if goal.rhythm is None or pieces is None or not pieces.is_bounded:
        return find_total(goal)
    total = read_total(goal.text, goal.language, has_day=True)
    return None if total is None or not total.noun else replace(total, parts=1)


def read_total(text: str, language: str, *, has_day: bool) -> GoalTotal | None:
    """Return the only amount that the words of a goal want in all, not at once nor at most."""
    phrases = load_goal_phrases(language)
    text = spell_digits(text, language)
    until, whole = phrases.list_until(text), text
    day = ""
    if until:  # up to the amount, where it stands behind the day
        begins = until[-1].start()
        measured = DIGIT.search(text, until[-1].end())
        ends = measured.start() if measured else len(text)
        closed = phrases.until_end.search(text, until[-1].end(), ends)
        ends = closed.end() if closed and closed[0] else ends
        day, text = text[until[-1].end() : ends].strip(), f"{text[:begins]} {text[ends:]}"
    has_period = any(each.search(text) for each in (phrases.running, phrases.in_period))
    text = phrases.in_period.sub(" ", phrases.running.sub(" ", text))
    limits = (
        phrases.at_most.search(text),
        phrases.quits.search(whole),
        phrases.at_once.search(text),
    )
    if any(limits):
        return None
    tokens = split_amount_tokens(text, language)
    found = [each for each in read_amounts(text, tokens, language) if each.value > 0]
    found = [each for each in found if each.unit or each.noun]
    has_day = has_day or bool(day)
    if len(found) != 1 or not phrases.is_total(
        found[0], text, has_day=has_day, has_period=has_period
    ):
        return None
    amount = found[0]
    others = (*tokens[: amount.first], *tokens[amount.end :])
    return GoalTotal(
        value=amount.value,
        unit=amount.unit or amount.word,
        words=" ".join(each.text for each in others),
        noun=amount.noun,
        is_bounded=has_day or has_period,
    )
