"""Setting parsers: the values of single settings as they are typed.

A parser takes a raw setting and returns its value, or raises InvalidInput that names the source and
what is expected there. Which settings exist is defined in ``config.settings_schema``, and for
each channel in its folder.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final, NewType, TypeVar

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable

T = TypeVar("T")
ChoiceT = TypeVar("ChoiceT", bound=str)

Microdollars = NewType("Microdollars", int)
"""Millionths of a dollar; written in dollars."""

EXPECTED_BOOL: Final = localizable("expected_yes_or_no", "true or false")
NO_VALUE: Final = "none"
"""The word that removes the value of a setting with a default."""


SECRET_PARAMETER: Final = re.compile(r"((?:password|passwd|pwd|secret|token|key)=).*", re.I | re.S)
CREDENTIALS: Final = re.compile(r"\A(\w[\w+.-]*://)?.*@", re.S)
"""Up to the last "@": an "@" in a password is often not escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSection:
    """A section of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSetting:
    """A setting's value as it was written."""

    value: object
    source: str  # such as "limits.lease_s in /home/ada/oldfriend.toml"
    is_text: bool  # from the environment or the command line, where everything is text

    def build_error(self, expected: str) -> InvalidInput:
        """Build the error that names the source and the expected value."""
        value = redact_url(self.value) if isinstance(self.value, str) else self.value
        return InvalidInput(
            localizable(
                "setting_unfit",
                f"{self.source} must be {expected}, not {value!r}.",
                where=self.source,
                expected=expected,
                given=str(value),
            )
        )


MAX_NUMBER: Final = 1e12
"""The limit of any number: as seconds it still fits into a database, in microseconds."""

SettingParser = Callable[[RawSetting], T]


def number_parser(*, ge: float = -math.inf, le: float = math.inf) -> SettingParser[float]:
    """Return a parser of numbers within bounds."""
    within = format_bounds(ge, le)
    expected = localizable("expected_number", f"a number{within}", within=within)

    def read(given: RawSetting) -> float:
        value = given.value
        if given.is_text:
            try:
                value = float(str(value))
            except ValueError:
                raise given.build_error(expected) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise given.build_error(expected)
        if not ge <= value <= min(le, MAX_NUMBER):  # NaN is not between any two
            raise given.build_error(expected)
        return float(value)

    return read


def parse_bool(raw: RawSetting) -> bool:
    """Parse true or false."""
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    value = raw.value
    if isinstance(value, bool):
        return value
    if raw.is_text and isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise raw.build_error(EXPECTED_BOOL)


def int_parser(*, ge: int, le: int = 1 << 62) -> SettingParser[int]:
    """Return a parser of whole numbers within bounds."""
    within = format_bounds(ge, le if le < 1 << 62 else math.inf)
    expected = localizable("expected_whole", f"a whole number{within}", within=within)

    def read(given: RawSetting) -> int:
        value = given.value
        if given.is_text and re.fullmatch(r"[+-]?[0-9]{1,19}", str(value)):
            value = int(str(value))
        if isinstance(value, bool) or not isinstance(value, int) or not ge <= value <= le:
            raise given.build_error(expected)
        return value

    return read


def parse_dollars(raw: RawSetting) -> Microdollars:
    """Parse an amount of money in dollars."""
    return Microdollars(round(number_parser(ge=0, le=1e9)(raw) * 1_000_000))


def text_parser(expected: str, pattern: str) -> SettingParser[str]:
    """Return a parser of text that matches a pattern."""
    form = re.compile(rf"\A(?:{pattern})")

    def read(given: RawSetting) -> str:
        if not isinstance(given.value, str) or not form.fullmatch(given.value):
            raise given.build_error(expected)
        return given.value

    return read


parse_url: Final = text_parser(
    localizable(
        "expected_address",
        'an address such as http://localhost:11434/v1, without ".." or "?" or "#"',
    ),
    r"https?:/(?=/[^/])(?:(?!/(?:\.|%2[Ee]){2}(?:/|\Z))[^\s@?#])+",
)


def parse_network(raw: RawSetting) -> str:
    """Parse an address or a network."""
    try:
        return str(ip_network(str(raw.value), strict=False))
    except ValueError as error:
        raise raw.build_error("an address or a network, such as 192.168.1.0/24") from error


def parse_ip_address(raw: RawSetting) -> str:
    """Parse an address to listen at."""
    try:
        return str(ip_address(str(raw.value)))
    except ValueError as error:
        raise raw.build_error("an address of this machine, such as 192.168.1.5") from error


def choice_parser(choices: Sequence[ChoiceT]) -> SettingParser[ChoiceT]:
    """Return a parser of one of a few words."""
    words = [f'"{choice}"' for choice in choices]
    expected = localizable("expected_one_of", " or ".join(words), choices=", ".join(words))

    def read(given: RawSetting) -> ChoiceT:
        for choice in choices:
            if given.value == choice:
                return choice
        raise given.build_error(expected)

    return read


def list_parser(parse_item: SettingParser[str]) -> SettingParser[tuple[str, ...]]:
    """Return a parser of one text or a list; a variable separates them by commas."""

    def read(given: RawSetting) -> tuple[str, ...]:
        value = given.value
        parts: Sequence[object] = [value]
        if given.is_text:
            parts = [part.strip() for part in str(value).split(",") if part.strip()]
        elif isinstance(value, list):
            parts = value
        return tuple(
            parse_item(RawSetting(value=part, source=given.source, is_text=given.is_text))
            for part in parts
        )

    return read


def optional_parser(parse_value: SettingParser[T]) -> SettingParser[T | None]:
    """Return a parser of a value or the word "none"."""

    def read(given: RawSetting) -> T | None:
        return None if given.value == NO_VALUE else parse_value(given)

    return read


def format_bounds(ge: float, le: float) -> str:
    """Return the bounds of a number in words."""
    if math.isinf(le):
        return "" if math.isinf(ge) else localizable("at_least", f" of at least {ge:g}", least=ge)
    return localizable("from_to", f" from {ge:g} to {le:g}", least=ge, most=le)


def redact_url(url: str) -> str:
    """Return a URL without its password, in whatever form it is written."""
    if url.startswith(("sqlite:///", "json:///")):
        return url
    unnamed = SECRET_PARAMETER.sub(r"\1…", url)
    return CREDENTIALS.sub(lambda found: f"{found[1] or ''}…@", unnamed)
