"""Quotations: the words between quotation marks of any style."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.turn.attribution.spans import BorrowedSpan

CLOSING: Final[Mapping[str, str]] = {
    "“": "”“",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "‘": "’",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    "｢": "｣",
    "＂": "＂",
    '"': '"”“',
    "'": "'",
    "`": "`´",
    "*": "*",
    "_": "_",
    "〝": "〞〟",
    "❝": "❞",
    "″": "″",
    "~": "~",
}
"""The marks that may end a quotation, by the mark that begins it."""
LIKE_APOSTROPHES: Final = frozenset("'‘‚`*_~\"»›")
"""Marks with other uses as well: they quote only next to blanks."""
EMPHASIS: Final = frozenset("*_~")
LEFT_OPEN: Final = frozenset("“„«「『")
"""Marks that quote to the end of the paragraph if nothing closes the quotation."""
LONGEST: Final = 3_000
LONGEST_EMPHASIS: Final = 3
"""The most words between asterisks that are emphasis; more are a quotation."""
LONGEST_EMPHASIS_WIDE: Final = 8
LONGEST_NAME: Final = 3
"""The most words in quotation marks that are a name."""
LONG: Final = 25
"""Words; nobody repeats this much of what somebody said to them, so it is pasted."""
LONG_WIDE: Final = 50
"""Characters of scripts without spaces that count as long, as LONG does for words."""
PARAGRAPH: Final = re.compile(r"\n\n")
REMEMBERED: Final = 16
"""Texts; each is looked up once for every sentence."""
MARKS: Final = "".join({*CLOSING, *"".join(CLOSING.values())}) + " "


@text_lru_cache(REMEMBERED)
def list_quotations(text: str) -> tuple[BorrowedSpan, ...]:
    """Return the quotations of a text, in order."""
    return tuple(find_quotations(text))


def find_quotations(text: str) -> Iterator[BorrowedSpan]:
    """Yield the quotations of a text, except names and emphasis."""
    ends = _Ends(text)
    at = 0
    while at < len(text):
        end = ends.behind(at) if text[at] in CLOSING and _may_begin(text, at) else -1
        if end < 0:
            at += 1
            continue
        quoted = text[at:end]
        if not is_quoted_name(quoted) and not _is_emphasis(quoted):
            yield BorrowedSpan(at, end, kind="pasted" if _is_long(quoted) else "quoted")
        at = end


def find_quotation_end(text: str, start: int) -> int:
    """Return where a quotation that begins at a position ends, also a name; -1 if none does."""
    is_begun = text[start : start + 1] in CLOSING and _may_begin(text, start)
    return _Ends(text).behind(start) if is_begun else -1


def is_quoted_name(quoted: str) -> bool:
    """Tell whether a few quoted words are a name: each begins with a capital letter."""
    words = quoted.strip(MARKS).split()
    return 0 < len(words) <= LONGEST_NAME and all(word[0].isupper() for word in words)


def _may_begin(text: str, at: int) -> bool:
    before, behind = text[at - 1 : at], text[at + 1 : at + 2]
    if not behind or (behind.isspace() and text[at] in LIKE_APOSTROPHES - {"»", "›"}):
        return False
    return text[at] not in LIKE_APOSTROPHES or not before.isalnum() or _is_wide(before)


class _Ends:
    """The possible ends of quotations in a text, collected once per opening mark."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._of: dict[str, list[int]] = {}
        self._breaks = [found.start() for found in PARAGRAPH.finditer(text)]

    def behind(self, at: int) -> int:
        """Return the position after the quotation that begins at a position; -1 if none ends."""
        mark = self._text[at]
        if mark not in self._of:
            self._of[mark] = [
                end
                for end, each in enumerate(self._text)
                if each in CLOSING[mark] and _may_end(self._text, mark, end)
            ]
        ends = self._of[mark]
        following = bisect_right(ends, at + 1)
        broken = bisect_right(self._breaks, at)
        last = self._breaks[broken] if broken < len(self._breaks) else len(self._text)
        last = min(last, at + LONGEST)
        if following < len(ends) and ends[following] < last:
            return ends[following] + 1
        return last if mark in LEFT_OPEN else -1


def _may_end(text: str, mark: str, end: int) -> bool:
    if mark not in LIKE_APOSTROPHES:
        return True
    before, behind = text[end - 1 : end], text[end + 1 : end + 2]
    if before.isspace() and mark not in '»›"':
        return False
    return not behind.isalnum() or _is_wide(behind)


def _is_wide(character: str) -> bool:
    return WIDE_CHARS.match(character) is not None


def _is_emphasis(quoted: str) -> bool:
    words = quoted[1:-1]
    is_short = len(words.split()) <= LONGEST_EMPHASIS
    return (
        quoted[0] in EMPHASIS
        and is_short
        and len(WIDE_CHARS.findall(words)) <= LONGEST_EMPHASIS_WIDE
    )


def _is_long(text: str) -> bool:
    return len(text.split()) >= LONG or len(WIDE_CHARS.findall(text)) >= LONG_WIDE
