"""What was chosen, where, and is it of the right kind? Readers of single values.

A reader takes what was given and returns the value, or raises InvalidInput with the place and
what should stand there. It does not know which settings there are.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NewType, TypeVar

from oldfriend.app.choices.database_url import shown_url
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying

T = TypeVar("T")
Choice = TypeVar("Choice", bound=str)

Microdollars = NewType("Microdollars", int)
"""Millionths of a dollar; written in dollars."""

YES_OR_NO: Final = saying("expected_yes_or_no", "true or false")
NONE: Final = "none"
"""Written where a setting that has a default is to have no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value as somebody wrote it."""

    value: object
    where: str  # such as "limits.lease_s in /home/ada/oldfriend.toml"
    is_text: bool  # from the environment or the command line, where everything is text

    def refused(self, expected: str) -> InvalidInput:
        """The error that says where, and what should stand there."""
        value = shown_url(self.value) if isinstance(self.value, str) else self.value
        return InvalidInput(saying(
            "setting_unfit", f"{self.where} must be {expected}, not {value!r}.", where=self.where,
            expected=expected, given=str(value),
        ))  # fmt: skip


Reader = Callable[[Given], T]


def number(*, least: float = -math.inf, most: float = math.inf) -> Reader[float]:
    """A number."""
    within = bounds(least, most)
    expected = saying("expected_number", f"a number{within}", within=within)

    def read(given: Given) -> float:
        value = given.value
        if given.is_text:
            try:
                value = float(str(value))
            except ValueError:
                raise given.refused(expected) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise given.refused(expected)
        if not least <= value <= most or math.isinf(value):  # NaN is not between any two
            raise given.refused(expected)
        return float(value)

    return read


def yes_or_no(given: Given) -> bool:
    """true or false."""
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    value = given.value
    if isinstance(value, bool):
        return value
    if given.is_text and isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise given.refused(YES_OR_NO)


def whole(*, least: int, most: int = 1 << 62) -> Reader[int]:
    """A whole number."""
    within = bounds(least, most if most < 1 << 62 else math.inf)
    expected = saying("expected_whole", f"a whole number{within}", within=within)

    def read(given: Given) -> int:
        value = given.value
        if given.is_text and re.fullmatch(r"[+-]?\d{1,19}", str(value)):
            value = int(str(value))
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise given.refused(expected)
        return value

    return read


def dollars(given: Given) -> Microdollars:
    """An amount of money."""
    return Microdollars(round(number(least=0, most=1e9)(given) * 1_000_000))


def text(expected: str, like: str) -> Reader[str]:
    """Text of a certain form."""

    def read(given: Given) -> str:
        if not isinstance(given.value, str) or not re.fullmatch(like, given.value):
            raise given.refused(expected)
        return given.value

    return read


def one_of(choices: Sequence[Choice]) -> Reader[Choice]:
    """One of a few words."""
    words = [f'"{choice}"' for choice in choices]
    expected = saying("expected_one_of", " or ".join(words), choices=", ".join(words))

    def read(given: Given) -> Choice:
        for choice in choices:
            if given.value == choice:
                return choice
        raise given.refused(expected)

    return read


def several(read_one: Reader[str]) -> Reader[tuple[str, ...]]:
    """One text or a list of them; in a variable they stand with commas between."""

    def read(given: Given) -> tuple[str, ...]:
        value = given.value
        parts: Sequence[object] = [value]
        if given.is_text:
            parts = [part.strip() for part in str(value).split(",") if part.strip()]
        elif isinstance(value, list):
            parts = value
        return tuple(
            read_one(Given(value=part, where=given.where, is_text=given.is_text)) for part in parts
        )

    return read


def or_none(read_one: Reader[T]) -> Reader[T | None]:
    """A value, or the word "none"."""

    def read(given: Given) -> T | None:
        return None if given.value == NONE else read_one(given)

    return read


def bounds(least: float, most: float) -> str:
    """The bounds of a number in words."""
    if math.isinf(most):
        return (
            "" if math.isinf(least) else saying("at_least", f" of at least {least:g}", least=least)
        )
    return saying("from_to", f" from {least:g} to {most:g}", least=least, most=most)
