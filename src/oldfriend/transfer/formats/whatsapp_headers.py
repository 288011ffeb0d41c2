"""WhatsApp headers: recognizes where a message begins, and its date and time.

A header is the date, time and separator that open a message, in the words and order of the phone's
language. Which of its three numbers is the day is decided in ``whatsapp_dates``.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

HeaderStyle = Literal["dash", "bracket"]  # Android, iPhone

_MORNING: Final = (
    r"a\.?\s?m\.?|上午|凌晨|清晨|早上|早晨|午前|오전|ص|vorm\.|π\.?\s?μ\.?"
    r"|ق\.ظ\.?|पूर्वाह्न|öö|sa|de\."
)
_EVENING: Final = (
    r"p\.?\s?m\.?|下午|晚上|中午|傍晚|夜晚|午後|오후|م|nachm\.|μ\.?\s?μ\.?"
    r"|ب\.ظ\.?|अपराह्न|ös|ch|du\."
)
_MARKS: Final = r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]*+"
_PERIOD: Final = rf"(?:(?P<{{0}}_am>{_MORNING})|(?P<{{0}}_pm>{_EVENING}))"
_BETWEEN: Final = rf"{_MARKS}\s?[./\-年月]\s?{_MARKS}"
_DATE: Final = (
    rf"(?P<first>\d{{1,4}}){_BETWEEN}(?P<second>\d{{1,2}}){_BETWEEN}(?P<third>\d{{1,4}})"
    rf"{_MARKS}[.日]?"
)
_GAP: Final = rf"{_MARKS}[,،、]?{_MARKS}\s+(?:(?:à|at|um|om|a las|às|alle|kl\.?)\s+)?"
_TIME: Final = (
    rf"(?:{_PERIOD.format('before')}\s?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})"
    rf"(?:[:.](?P<sec>\d{{2}}))?(?:{_MARKS}\s?{_PERIOD.format('after')})?(?:\s?Uhr)?"
)
_WHEN: Final = rf"(?P<written>{_DATE}{_GAP}{_TIME}){_MARKS}"
_HEADERS: Final[dict[HeaderStyle, re.Pattern[str]]] = {
    "dash": re.compile(rf"\A{_MARKS}{_WHEN}\s[-–]\s(?P<rest>.*)", re.I | re.S),
    "bracket": re.compile(rf"\A{_MARKS}\[{_MARKS}{_WHEN}\]\s(?P<rest>.*)", re.I | re.S),
}
_INVISIBLE: Final = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")
_UNPADDED_AMERICAN: Final = re.compile(r"[1-9]\d?/[1-9]\d?/\d{2,4}, [1-9]\d?:\d\d(:\d\d)?\s[AP]M")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHeader:
    """The header of a message, before the order of its date is known."""

    style: HeaderStyle
    time_text: str  # as written in the file
    prefix: str  # the line up to the end of its date
    numbers: tuple[int, int, int]
    year_position: int | None  # which of the numbers has four digits
    hour: int
    minute: int
    second: int
    body: str  # the speaker and the text, or a system notice

    def format_time_key(self) -> str:
        """Return the time as written, without whitespace and invisible marks."""
        plain = "".join(self.time_text.split())
        return plain if plain.isascii() else _INVISIBLE.sub("", plain)

    def has_dots(self) -> bool:
        """Return whether the date is written with dots, as in Germany."""
        return "." in self.time_text[:6]

    def is_american(self) -> bool:
        """Return whether date and time are written as only American phones do."""
        return _UNPADDED_AMERICAN.fullmatch(self.time_text) is not None


def find_header(line: str, style: HeaderStyle | None) -> MessageHeader | None:
    """Return the header a line begins with, if it does; None as the style allows any."""
    opening = line[:2].lstrip("\u200e\u200f\u202a\u202b\ufeff")
    if style != "dash" and opening.startswith("["):
        return build_header(_HEADERS["bracket"].match(line), "bracket")
    if style != "bracket" and (not opening or opening[0].isdecimal()):
        return build_header(_HEADERS["dash"].match(line), "dash")
    return None


def build_header(match: re.Match[str] | None, style: HeaderStyle) -> MessageHeader | None:
    """Build the header from a match, if its time is possible."""
    if match is None:
        return None
    hour = parse_hour(match)
    minute, second = int(match["minute"]), int(match["sec"] or 0)
    if hour is None or minute > 59 or second > 59:
        return None
    first, second_number, third = match["first"], match["second"], match["third"]
    return MessageHeader(
        style=style,
        time_text=match["written"],
        body=match["rest"],
        prefix=match.string[: match.end("third") + 1],
        numbers=(int(first), int(second_number), int(third)),
        year_position=0 if len(first) == 4 else 2 if len(third) == 4 else None,
        hour=hour,
        minute=minute,
        second=second,
    )


def parse_hour(match: re.Match[str]) -> int | None:
    """Return the hour from 0 to 23, from a 12-hour or 24-hour clock; None if it is impossible."""
    hour = int(match["hour"])
    morning = match["before_am"] or match["after_am"]
    evening = match["before_pm"] or match["after_pm"]
    if (morning or evening) and hour <= 12:
        return hour % 12 + (12 if evening else 0)
    return hour % 24 if hour <= 24 else None
