"""Zone words: the time zone that is named beside an hour, and that hour in the person's own."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Protocol

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.time_zones import resolve_named_zone
from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.series_phrases import DayResolver
from oldfriend.tasks.time_words import TimeBook, TimeWord
from oldfriend.tasks.told_time import Ambiguous, Resolved, Told, ToldZone, encode_guess

MAX_PLACE_WORDS: Final = 3
MAX_PLACE_CHARS: Final = 6
"""Of a place before its "time", where no spaces are written."""
_WORD: Final = re.compile(r"[ '’-]?[^\W\d_]+\.?")
_GAP: Final = re.compile(r"[ \u00a0(]{0,3}")
_OFFSET: Final = re.compile(
    r"(?:utc|gmt) ?[+\-−] ?(?:1[0-4]|0?\d)(?::?[0-5]\d)?(?![\d:])\)?", re.IGNORECASE
)
_SHORT: Final = re.compile(r"[^\W\d_]{3,4}(?![^\W_])\)?")
_TIMED: Final = frozenset({"clock", "part", "day"})


@dataclass(frozen=True, slots=True)
class ZoneWords:
    """Where words stand that name a zone, and which."""

    start: int
    end: int
    zone: ToldZone


class ZoneBook:
    """The ways of one language to name the zone of an hour."""

    def __init__(self, language: str) -> None:
        """Compile the patterns of a language's pack."""
        pack = load_language_pack(language).read("time_phrases")["zones"]
        self.time_lead, self.time_tail, self.in_lead, self.other_words = (
            re.compile(pack[name], re.IGNORECASE)
            for name in ("time_lead", "time_tail", "in_lead", "other_words")
        )
        self.is_before: bool = pack["before"]

    def find(self, book: TimeBook, text: str) -> list[ZoneWords]:
        """Return the words that name zones, each beside the time that it is of."""
        text = to_simplified(text)
        words = book.find(text)
        if not any(each.kind == "clock" for each in words):
            return []
        places = (self.read_before if self.is_before else self.read_behind)(text, words)
        found: list[ZoneWords] = []
        for each in sorted(places, key=lambda zone: zone.start):
            if not found or found[-1].end <= each.start:
                found.append(each)
        return found

    def read_behind(self, text: str, words: Sequence[TimeWord]) -> list[ZoneWords]:
        """Return the zones named directly behind words of time."""
        found = []
        for word in words:
            if word.kind not in _TIMED:
                continue
            gap = _GAP.match(text, word.end)
            start = gap.end() if gap else word.end
            read = self.read_at(text, start, is_hour=word.kind == "clock")
            if read is not None:
                found.append(ZoneWords(word.end, *read))
        return found

    def read_before(self, text: str, words: Sequence[TimeWord]) -> list[ZoneWords]:
        """Return the zones named directly before or behind words of time, without spaces."""
        starts, ends = {each.start for each in words}, {each.end for each in words}
        found = []
        for tail in self.time_tail.finditer(text):
            for size in range(min(MAX_PLACE_CHARS, tail.start()), 1, -1):
                start = tail.start() - size
                if tail.end() not in starts and start not in ends:
                    continue
                zone = resolve_named_zone(text[start : tail.start()])
                if zone is not None:
                    told = ToldZone(zone[0], is_sure=zone[1])
                    found.append(ZoneWords(start, tail.end(), told))
                    break
        return found

    def read_at(self, text: str, start: int, *, is_hour: bool) -> tuple[int, ToldZone] | None:
        """Return where the words that name a zone at a place end, and the zone."""
        if match := _OFFSET.match(text, start):
            zone = resolve_named_zone(match[0].rstrip(")"))
            return None if zone is None else (match.end(), ToldZone(zone[0], is_sure=zone[1]))
        match = _SHORT.match(text, start)
        name = "" if match is None else match[0].rstrip(")")
        if match is not None and (name.isupper() or not self.other_words.fullmatch(name)):
            zone = resolve_named_zone(name, is_short=True)
            if zone is not None:
                return match.end(), ToldZone(zone[0], is_sure=zone[1])
        if lead := self.time_lead.match(text, start):
            read = self.read_place(text, lead.end(), self.time_tail)
            if read is not None:
                return read
        lead = self.in_lead.match(text, start) if is_hour else None
        read = None if lead is None else self.read_place(text, lead.end(), None)
        return None if read is None else (read[0], replace(read[1], is_sure=False))

    def read_place(
        self, text: str, start: int, tail: re.Pattern[str] | None
    ) -> tuple[int, ToldZone] | None:
        """Return the end of a place's name and its zone; the longest name that is one."""
        ends = [start]
        while len(ends) <= MAX_PLACE_WORDS and (word := _WORD.match(text, ends[-1])):
            ends.append(word.end())
        sizes = [*reversed(ends[1:])]
        tries = [(end, False) for end in sizes] + [(end, True) for end in sizes if tail]
        for end, is_like in tries:
            behind = tail.match(text, end) if tail is not None else None
            if tail is not None and behind is None:
                continue
            zone = resolve_named_zone(text[start:end], is_like=is_like)
            if zone is not None:
                last = end if behind is None else behind.end()
                return last, ToldZone(zone[0], is_sure=zone[1])
        return None


class TimeResolver(DayResolver, Protocol):
    """What resolves times by the clock of one zone."""

    def resolve(self, told: Told | None) -> Resolved | Ambiguous:
        """Return the time, or what must be asked."""


@cache
def load_zone_book(language: str) -> ZoneBook:
    """Load the ways of a language to name the zone of an hour."""
    return ZoneBook(language)


def read_with_zones(
    book: TimeBook, text: str, read: Callable[[str], list[AskedTask]]
) -> list[AskedTask]:
    """Return the reminders of a text, each with the zone that is named beside its hour.

    The zone of an hour at which something else is stays where it stands.
    """
    zones = load_zone_book(book.language).find(book, text)
    if not zones:
        return read(text)
    bare = ""
    places: list[tuple[int, ToldZone]] = []
    for each, after in zip(zones, [*zones[1:], None], strict=True):
        bare += text[: each.start] if not places else ""
        places.append((len(bare), each.zone))
        bare += text[each.end : None if after is None else after.start]
    asked = read(bare)
    placed = [place_zone(each, places) for each in asked]
    return read(text) if placed == asked else placed


def place_zone(asked: AskedTask, places: Sequence[tuple[int, ToldZone]]) -> AskedTask:
    """Return a reminder with the zone that stood beside the words of its time."""
    told = asked.told
    if told is None or not (told.clock or told.offset):
        return asked
    words = [each for each in (*told.words, *told.days, *told.clocks) if each.end > each.start]
    beside = [
        zone for place, zone in places if any(each.start <= place <= each.end for each in words)
    ]
    if not beside:
        return asked
    if len({each.name for each in beside}) > 1 or not beside[0].name:
        return replace(asked, told=replace(told, refused="several"))
    return replace(asked, told=replace(told, zone=beside[0]))


def resolve_elsewhere(own: TimeResolver, there: TimeResolver, told: Told) -> Resolved | Ambiguous:
    """Return the time that is told by another zone's clock, or what must be asked.

    A series, and an hour of an open half of the day, are asked for anew; a zone in doubt, and a
    day that is another one there, are asked about with the time that it is here.
    """
    zone = told.zone
    here = replace(told, zone=None)
    found = there.resolve(here)
    if is_same_clock(own.zone, there.zone, own.now) and own.resolve(here) == found:
        return found
    is_doubtful = isinstance(found, Ambiguous) and found.question == "guess"
    if is_doubtful:
        found = there.resolve(replace(here, doubt=None))
    if isinstance(found, Ambiguous) or found.rrule or found.is_date_only:
        return Ambiguous(question="several")
    if is_doubtful or zone is None or not zone.is_sure or own.today != there.today:
        return Ambiguous(question="guess", options=(encode_guess(found, own.zone),))
    return found


def is_same_clock(one: str, other: str, now: Micros) -> bool:
    """Whether the clocks of two zones show the same."""
    return from_micros(now, one).utcoffset() == from_micros(now, other).utcoffset()
