"""Where does a WhatsApp message begin, and which moment stands there?

A head is the date, time and mark that open a message, in the words and order of the phone's
language. Which of its three numbers is the day is not known here: see ``whatsapp_dates``.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

Style = Literal["dash", "bracket"]  # Android, iPhone

_MORNING: Final = (
    r"a\.?\s?m\.?|上午|凌晨|清晨|早上|早晨|午前|오전|ص|vorm\.|π\.?\s?μ\.?"
    r"|ق\.ظ\.?|पूर्वाह्न|öö|sa|de\."
)
_EVENING: Final = (
    r"p\.?\s?m\.?|下午|晚上|中午|傍晚|夜晚|午後|오후|م|nachm\.|μ\.?\s?μ\.?"
    r"|ب\.ظ\.?|अपराह्न|ös|ch|du\."
)
_MARKS: Final = r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]*"
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
_HEADS: Final[dict[Style, re.Pattern[str]]] = {
    "dash": re.compile(rf"{_MARKS}{_WHEN}\s[-–]\s(?P<rest>.*)", re.I | re.S),
    "bracket": re.compile(rf"{_MARKS}\[{_MARKS}{_WHEN}\]\s(?P<rest>.*)", re.I | re.S),
}
_NOISE: Final = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")
_UNPADDED_AMERICAN: Final = re.compile(r"[1-9]\d?/[1-9]\d?/\d{2,4}, [1-9]\d?:\d\d(:\d\d)?\s[AP]M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What opens a message, before anybody knows which number is the day."""

    style: Style
    written: str  # as in the file
    opening: str  # how the line begins, with its date
    numbers: tuple[int, int, int]
    four_digits: int | None  # which of the numbers is written with four
    hour: int
    minute: int
    second: int
    rest: str  # the speaker and what they said, or what the system said

    def moment(self) -> str:
        """The time as written, without blanks and invisible marks."""
        plain = "".join(self.written.split())
        return plain if plain.isascii() else _NOISE.sub("", plain)

    def is_dotted(self) -> bool:
        """Whether the date is written with dots, as in Germany."""
        return "." in self.written[:6]

    def is_american(self) -> bool:
        """Whether the whole is written as only American phones do."""
        return _UNPADDED_AMERICAN.fullmatch(self.written) is not None


def find_head(line: str, style: Style | None) -> Head | None:
    """The head that a line begins with, if it does; in any style for None."""
    opening = line[:2].lstrip("\u200e\u200f\u202a\u202b\ufeff")
    if style != "dash" and opening.startswith("["):
        return head_from(_HEADS["bracket"].match(line), "bracket")
    if style != "bracket" and (not opening or opening[0].isdecimal()):
        return head_from(_HEADS["dash"].match(line), "dash")
    return None


def head_from(match: re.Match[str] | None, style: Style) -> Head | None:
    """The head that was matched, if it is a possible time."""
    if match is None:
        return None
    hour = hour_of_day(match)
    minute, second = int(match["minute"]), int(match["sec"] or 0)
    if hour is None or minute > 59 or second > 59:
        return None
    first, second_number, third = match["first"], match["second"], match["third"]
    return Head(
        style=style, written=match["written"], rest=match["rest"],
        opening=match.string[: match.end("third") + 1],
        numbers=(int(first), int(second_number), int(third)),
        four_digits=0 if len(first) == 4 else 2 if len(third) == 4 else None,
        hour=hour, minute=minute, second=second,
    )  # fmt: skip


def hour_of_day(match: re.Match[str]) -> int | None:
    """The hour from 0 to 23, from a clock of twelve or of twenty-four hours."""
    hour = int(match["hour"])
    morning = match["before_am"] or match["after_am"]
    evening = match["before_pm"] or match["after_pm"]
    if (morning or evening) and hour <= 12:
        return hour % 12 + (12 if evening else 0)
    return hour % 24 if hour <= 24 else None
