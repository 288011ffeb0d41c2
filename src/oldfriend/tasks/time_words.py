"""Time words: finds the words of a request that name times, by the packs' `time_phrases.toml`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final, Literal

from oldfriend.domain.unicode_text import strip_accents
from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import choose_language_with, get_traits, load_language_pack

WordKind = Literal["amount", "clock", "part", "day", "every", "until", "vague", "offset"]
PartOfDay = Literal["am", "pm", "early", "morning", "noon", "afternoon", "evening", "night"]
Unit = Literal["minute", "hour", "day", "week", "month", "year"]

AFTER: Final[Mapping[str, Any]] = {"after": True}
"""Of an amount after something, "an hour after that"."""
BARE: Final[Mapping[str, Any]] = {"bare": True}
"""Of an amount that no word leads, "20 minutes"."""
FORMAL: Final[Mapping[str, Any]] = {"style": "formal"}
"""Of an hour that is counted to 24."""
MINUTES_A_DAY: Final = 24 * 60
MAX_REQUEST_CHARS: Final = 600
"""Longer texts are told, not asked."""
KINDS: Final[Mapping[str, WordKind]] = {
    "clocks": "clock",
    "parts": "part",
    "days": "day",
    "every": "every",
    "until": "until",
    "vague": "vague",
    "offsets": "offset",
}
MIN_BARE_MINUTES: Final = 5
"""So many minutes at least may be told as a mere number."""
_GOES_ON: Final = frozenset(".,:/")
LOOSE_KINDS: Final[Mapping[str, WordKind]] = {
    "loose_clocks": "clock",
    "loose_days": "day",
    "loose_every": "every",
    "loose_until": "until",
    "loose_parts": "part",
}
"""What tells a time only where a time is told, and else may be a mere number."""
_ACCENTED: Final = re.compile(r"\\.|[\[\]]|[^\x00-\x7f]")
"""What letters with accents are told by in a pattern: those, and where a class begins and ends."""
_LOOKAROUND: Final = re.compile(r"\(\?<?[=!](?:[^()]|\([^()]*\))*\)")
_GROUP_NAME: Final = re.compile(r"\(\?P<([a-z]+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWord:
    """Words from `start` to `end` that name a time, or a part of one."""

    start: int
    end: int
    kind: WordKind
    entry: Mapping[str, Any]  # as the pack has it
    groups: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[Unit, float] = field(default_factory=dict)  # of an amount


@dataclass(frozen=True, slots=True)
class WordPattern:
    """One way to say a time."""

    said: re.Pattern[str]
    kind: WordKind
    entry: Mapping[str, Any]


class TimeBook:
    """The ways of one language to say times."""

    def __init__(self, language: str) -> None:
        """Compile the patterns of a language's pack."""
        pack = load_language_pack(language).read("time_phrases")
        self.language = language
        self.is_spaced = get_traits(language).spaces
        self.numbers = fold_numbers({**pack["hours"], **pack["numbers"]})
        self.ordinals = fold_numbers(pack["ordinals"])
        self.day_month_order: str = pack["numeric_dates"]
        self._weekdays = [self._compile_name(each) for each in pack["weekdays"]]
        self._months = [self._compile_name(each) for each in pack["months"]]
        self._units = {name: self._compile(f"(?:{each})") for name, each in pack["units"].items()}
        self._macros = build_macros(pack)
        self._fixed = [(self._say(each["said"]), each) for each in pack["amounts"]]
        self._amount = self._say("{n}(?:[.,](?P<tenths>\\d))?{gap}{unit}")
        self._half_before = self._say("{n}{gap}(?:" + pack["half_before"] + "){gap}{unit}")
        self._half_after = self._say("{gap}(?:" + pack["half_after"] + ")", is_inner=True)
        self._and = self._say("{gap}(?:(?:" + pack["and"] + "){gap})?", is_inner=True)
        self._rest = self._say("(?P<n>\\d{1,2})", is_inner=True)
        self._lead = self._say(self._bound(pack["amount_lead"]) + "{gap}", is_inner=True)
        self._tail = self._say("{gap}" + self._close(pack["amount_tail"]), is_inner=True)
        self._before, self._after = (
            self._say("{gap}" + self._close(pack[name]), is_inner=True)
            for name in ("amount_before", "amount_after")
        )
        self._either = self._say(f"(?:{pack['either']})")
        self._ahead, self._behind = (
            self._say("(?:" + pack[name] + "){gap}", is_inner=True)
            for name in ("offset_lead", "after_lead")
        )
        self.glue = self._compile("[\\s,;:、，。.–-]*+(?:(?:" + pack["glue"] + ")[\\s,，]*+){0,3}")
        self.patterns = tuple(self._list_patterns(pack))
        self._told = [each for each in self.patterns if not is_open_end(each)]
        self._loose = tuple(self._list_patterns(pack, LOOSE_KINDS))
        self._following, self._until_lead, self._except_lead = (
            self._say(self._close(self._bound(pack[name])), is_inner=True)
            for name in ("day_after", "until_lead", "except_lead")
        )
        self._soft, self._those_days, self.refers, self.past, self.no_clock = (
            self._say(f"(?:{pack[name]})")
            for name in ("soft", "those_days", "refers", "past", "no_clock")
        )
        self.start_lead, self._start_tail, self.recurring, self.loose_hour = (
            self._say(f"(?:{pack[name]})")
            for name in ("start_lead", "start_tail", "recurring", "loose_hour")
        )
        self.significant = self._say(f"(?:{pack['significant']}|{{day}}|{{month}}|{{unit}}|\\d+)")

    @cached_property
    def _early(self) -> re.Pattern[str]:
        """An hour of four digits that begins with zero."""
        return self._say(
            "(?:(?P<at>{at}){gap})?(?P<h>(?<![\\d.,:/+-])0\\d)(?P<m>[0-5][05])(?!{gap}[\\d.,:/-]\\d)"
        )

    def _bound(self, said: str) -> str:
        """Return a source that begins with a word, where a language has spaces."""
        return f"(?<![^\\W_])(?:{said})" if self.is_spaced else f"(?:{said})"

    def _close(self, said: str) -> str:
        """Return a source that ends with a word, where a language has spaces."""
        return f"(?:{said})(?![^\\W\\d_])" if self.is_spaced else f"(?:{said})"

    def _list_patterns(
        self, pack: Mapping[str, Any], kinds: Mapping[str, WordKind] = KINDS
    ) -> Iterator[WordPattern]:
        """Yield the patterns of clocks, parts of the day, days, series, ends and vague times."""
        for name, kind in kinds.items():
            for entry in pack.get(name, ()):
                for said in [entry["said"]] if isinstance(entry["said"], str) else entry["said"]:
                    yield WordPattern(self._say(said), kind, entry)

    def _compile(self, source: str) -> re.Pattern[str]:
        return re.compile(loosen_accents(source), re.IGNORECASE)

    def _compile_name(self, source: str) -> re.Pattern[str]:
        """Compile a name that was found already, whatever stood beside it."""
        edges = ("(?<![^\\W_])", "(?![^\\W\\d_])") if self.is_spaced else ("", "")
        return self._compile(f"{edges[0]}(?:{_LOOKAROUND.sub('', source)}){edges[1]}")

    def _say(self, said: str, *, is_inner: bool = False) -> re.Pattern[str]:
        """Compile a pattern of the pack: macros filled in, and whole words unless inside more."""
        for name, source in self._macros.items():
            said = said.replace(name, source)
        said = number_groups(said)
        edges = ("(?<![^\\W_])", "(?![^\\W\\d_])") if self.is_spaced and not is_inner else ("", "")
        return self._compile(f"{edges[0]}(?:{said}){edges[1]}")

    def find(self, text: str) -> list[TimeWord]:
        """Return the words of a text that name times, in order; the longest of each place."""
        text = to_simplified(text[:MAX_REQUEST_CHARS])
        found = [*self._find_amounts(text), *self._find_offsets(text)]
        found += find_matches(self.patterns, text)
        found += self._find_early(text, found)
        return choose_words([*found, *self._find_following(text, found)])

    def find_loosely(self, text: str) -> list[TimeWord]:
        """Return the words of what tells only a time, in which a bare number is one, too."""
        text = to_simplified(text[:MAX_REQUEST_CHARS])
        found = [*self._find_amounts(text), *self._find_offsets(text)]
        found += [
            TimeWord(start=start, end=end, kind="amount", entry=BARE, units=units)
            for start, end, units in self._list_amounts(text)
        ]
        found += self._find_bare_minutes(text)
        found += find_matches((*self._told, *self._loose), text)
        found += self._find_early(text, found)
        found += self._find_following(text, found)
        chosen = choose_words(found)
        if any(each.kind == "every" for each in chosen):  # "from 8 to 20" is no choice then
            return choose_words([each for each in found if each.kind != "vague"])
        return chosen

    def find_events(self, text: str) -> list[TimeWord]:
        """Return the words of what tells only when something else is: nothing is before that."""
        text = to_simplified(text[:MAX_REQUEST_CHARS])
        patterns = [each for each in (*self._told, *self._loose) if each.kind != "offset"]
        return choose_words([*self._find_amounts(text), *find_matches(patterns, text)])

    def find_until(self, text: str) -> list[tuple[int, int]]:
        """Return where words stand that lead to an end, "until"."""
        return [each.span() for each in self._until_lead.finditer(to_simplified(text))]

    def find_except(self, text: str) -> list[tuple[int, int]]:
        """Return where words stand that lead to what a series leaves out, "except"."""
        return [each.span() for each in self._except_lead.finditer(to_simplified(text))]

    def is_start(self, text: str, start: int, end: int) -> bool:
        """Whether words before or behind a day in a text say that something begins on it."""
        text = to_simplified(text)
        leads = self.start_lead.finditer(text, 0, start)
        is_led = any(not text[each.end() : start].strip(" ,:，：") for each in leads)
        return is_led or self._start_tail.match(text[end:].lstrip()) is not None

    def is_either(self, text: str) -> bool:
        """Whether a text, but for marks, is a word that offers a choice: "or"."""
        return self._either.fullmatch(to_simplified(text).strip(" ,、，")) is not None

    def find_those_days(self, text: str) -> list[tuple[int, int]]:
        """Return where words stand that point to several days told elsewhere: "those days"."""
        return [each.span() for each in self._those_days.finditer(to_simplified(text))]

    def drop_soft(self, text: str) -> str:
        """Return a text without words that change no time that they stand beside."""
        return self._soft.sub(" ", self.refers.sub(" ", to_simplified(text)))

    def drop_joints(self, text: str) -> str:
        """Return a text, without anything if it only joins times."""
        return "" if self.glue.fullmatch(f"{text} ") else text

    def _find_amounts(self, text: str) -> Iterator[TimeWord]:
        """Yield amounts of time from now: led by "in", or followed by "from now"."""
        leads = {match.end(): match.start() for match in self._lead.finditer(text)}
        for place, begin in leads.items():
            read = self.read_amount(text, place)
            if read is not None:
                end, units = read
                tail = self._tail.match(text, end)
                yield TimeWord(
                    start=begin,
                    end=tail.end() if tail else end,
                    kind="amount",
                    entry={},
                    units=units,
                )
        for start, end, units in self._list_amounts(text):
            if tail := self._tail.match(text, end):
                yield TimeWord(start=start, end=tail.end(), kind="amount", entry={}, units=units)

    def _find_bare_minutes(self, text: str) -> Iterator[TimeWord]:
        """Yield amounts of time from now without a unit, which are minutes: "in 20"."""
        for lead in self._lead.finditer(text):
            count = self._rest.match(text, lead.end())
            if count is not None and int(count["n"]) >= MIN_BARE_MINUTES:
                units: dict[Unit, float] = {"minute": int(count["n"])}
                after = text[count.end() : count.end() + 1]
                if not (after.isalnum() or after in _GOES_ON):
                    yield TimeWord(
                        start=lead.start(), end=count.end(), kind="amount", entry={}, units=units
                    )

    def _find_offsets(self, text: str) -> Iterator[TimeWord]:
        """Yield amounts of time before or after something: "an hour before", "an hour after"."""
        for start, end, units in self._list_amounts(text):
            for pattern, entry in ((self._before, {}), (self._after, AFTER)):
                if found := pattern.match(text, end):
                    yield TimeWord(
                        start=start, end=found.end(), kind="offset", entry=entry, units=units
                    )
        for pattern, entry in ((self._ahead, {}), (self._behind, AFTER)):
            for lead in pattern.finditer(text):
                if read := self.read_amount(text, lead.end()):
                    yield TimeWord(
                        start=lead.start(), end=read[0], kind="offset", entry=entry, units=read[1]
                    )

    def _find_following(self, text: str, found: Sequence[TimeWord]) -> Iterator[TimeWord]:
        """Yield the days after days that are named: "the day after Easter Monday"."""
        leads = {match.end(): match.start() for match in self._following.finditer(text)}
        for each in found:
            is_named = {"holiday", "iso"} & set(each.entry) or {"month", "mo"} & set(each.groups)
            start = len(text[: each.start].rstrip())
            if each.kind == "day" and is_named and start in leads:
                yield TimeWord(
                    start=leads[start], end=each.end, kind="day", entry={"follows": each}
                )

    def _find_early(self, text: str, found: Sequence[TimeWord]) -> Iterator[TimeWord]:
        """Yield hours of four digits that begin with zero, "0700": led by "at" or beside a day."""
        days = [each for each in found if each.kind == "day"]
        for match in self._early.finditer(text):
            gaps = [text[each.end : match.start()] for each in days if each.end < match.start()]
            gaps += [text[match.end() : each.start] for each in days if each.start > match.end()]
            if match["at"] or any(not each.strip() for each in gaps):
                start, end = match.span()
                groups = {"h": match["h"], "m": match["m"]}
                yield TimeWord(start=start, end=end, kind="clock", entry=FORMAL, groups=groups)

    def _list_amounts(self, text: str) -> Iterator[tuple[int, int, dict[Unit, float]]]:
        """Yield where amounts of time begin and end, and their units."""
        starts = {match.start() for match in self._amount.finditer(text)}
        starts |= {match.start() for said, _ in self._fixed for match in said.finditer(text)}
        starts |= {match.start() for match in self._half_before.finditer(text)}
        for start in sorted(starts):
            if read := self.read_amount(text, start):
                yield start, *read

    def read_amount(self, text: str, place: int) -> tuple[int, dict[Unit, float]] | None:
        """Return the end and the units of an amount of time that begins at a place."""
        for said, entry in self._fixed:
            if match := said.match(text, place):
                minutes = int(entry["minutes"])
                is_days = minutes % MINUTES_A_DAY == 0
                return match.end(), {"day": minutes / MINUTES_A_DAY} if is_days else {
                    "minute": minutes
                }
        if match := self._half_before.match(text, place):
            unit = self.read_unit(match["unit"])
            return match.end(), {unit: self.read_number(match["n"]) + 0.5}
        match = self._amount.match(text, place)
        if match is None:
            return None
        unit, end = self.read_unit(match["unit"]), match.end()
        count = self.read_number(match["n"]) + int(match["tenths"] or 0) / 10
        units: dict[Unit, float] = {unit: count}
        if half := self._half_after.match(text, end):
            return half.end(), {unit: count + 0.5}
        joint = self._and.match(text, end)
        after = joint.end() if joint else end
        more = self._amount.match(text, after)
        if more is not None and self.read_unit(more["unit"]) != unit:
            units[self.read_unit(more["unit"])] = self.read_number(more["n"])
            return more.end(), units
        rest = self._rest.match(text, end) if unit == "hour" else None
        if rest is not None:  # "1h30"
            units["minute"] = int(rest["n"])
            return rest.end(), units
        return end, units

    def read_number(self, said: str) -> int:
        """Return the number that digits or a word say."""
        return int(said) if said.isdecimal() else self.numbers[fold_number(said)]

    def read_ordinal(self, said: str) -> int:
        """Return the number that an ordinal says."""
        digits = "".join(each for each in said if each.isdecimal())
        if digits:
            return int(digits)
        word = fold_number(said)
        return self.ordinals[word] if word in self.ordinals else self.numbers[word]

    def read_unit(self, said: str) -> Unit:
        """Return the unit that a word names."""
        names: tuple[Unit, ...] = ("minute", "hour", "day", "week", "month", "year")
        return next(each for each in names if self._units[each].fullmatch(said))

    def read_weekday(self, said: str) -> int:
        """Return the weekday that a word names; Monday is 0."""
        return next(day for day, each in enumerate(self._weekdays) if each.fullmatch(said))

    def read_weekdays(self, said: str) -> list[int]:
        """Return the weekdays that words name, in order, also by their last characters alone."""
        names = {said}
        if not self.is_spaced:
            names |= {said[:size] + each for size in (1, 2) for each in said}
        return [
            day
            for day, each in enumerate(self._weekdays)
            if any(each.search(name) for name in names)
        ]

    def read_month(self, said: str) -> int:
        """Return the month that a word names, from 1."""
        return next(at for at, each in enumerate(self._months, 1) if each.fullmatch(said))


def loosen_accents(source: str) -> str:
    """Return the source of a pattern that matches its letters without their accents, too."""
    is_in_class = False

    def loosen(match: re.Match[str]) -> str:
        nonlocal is_in_class
        letter = match[0]
        if letter in "[]":
            is_in_class = letter == "["
            return letter
        plain = strip_accents(letter)
        if len(letter) != 1 or plain == letter or len(plain) != 1:
            return letter
        return letter + plain if is_in_class else f"[{letter}{plain}]"

    return _ACCENTED.sub(loosen, source)


def fold_numbers(named: Mapping[str, int]) -> Mapping[str, int]:
    """Return numbers by their words, as these are looked up."""
    return {fold_number(said): number for said, number in named.items()}


def fold_number(said: str) -> str:
    """Return a number's word in small letters, without accents and with single spaces."""
    return strip_accents(" ".join(said.lower().split()))


def is_open_end(pattern: WordPattern) -> bool:
    """Whether a pattern finds words after "until" without reading them."""
    return pattern.kind == "until" and "n" not in pattern.said.groupindex


def find_matches(patterns: Sequence[WordPattern], text: str) -> Iterator[TimeWord]:
    """Yield the words of a text that patterns find."""
    for pattern in patterns:
        for match in pattern.said.finditer(text):
            if match.end() > match.start():
                yield TimeWord(
                    start=match.start(),
                    end=match.end(),
                    kind=pattern.kind,
                    entry=pattern.entry,
                    groups=read_groups(match),
                )


def find_start(ends: re.Pattern[str], text: str, first: int, place: int) -> int:
    """Return where the sentence or clause of a place begins, behind the last mark that ends one."""
    return max((each.end() for each in ends.finditer(text, first, place)), default=first)


def choose_words(found: Sequence[TimeWord]) -> list[TimeWord]:
    """Return words of which no two overlap, in order; the longest of each place."""
    chosen: list[TimeWord] = []
    for each in sorted(found, key=rank_word):
        if all(each.end <= other.start or other.end <= each.start for other in chosen):
            chosen.append(each)
    return sorted(chosen, key=lambda word: word.start)


def rank_word(word: TimeWord) -> tuple[bool, int, bool, int]:
    """Rank words that overlap: how long before something, then the longest, then the clearest."""
    is_unclear = word.kind == "vague" or bool({"bare", "ask"} & set(word.entry))
    return word.kind != "offset", word.start - word.end, is_unclear, word.start


def number_groups(source: str) -> str:
    """Return a source in which no two groups have one name: the second "day" is "day_2"."""
    counts: dict[str, int] = {}

    def rename(match: re.Match[str]) -> str:
        name = match[1]
        counts[name] = counts.get(name, 0) + 1
        return f"(?P<{name}>" if counts[name] == 1 else f"(?P<{name}_{counts[name]}>"

    return _GROUP_NAME.sub(rename, source)


def read_groups(match: re.Match[str]) -> dict[str, str]:
    """Return what the groups of a match hold, by the names in the pack."""
    return {
        name.partition("_")[0]: value
        for name, value in match.groupdict().items()
        if value is not None
    }


def build_macros(pack: Mapping[str, Any]) -> dict[str, str]:
    """Return the sources that stand for the macros in the patterns of a pack."""
    day, month = any_of(pack["weekdays"]), any_of(pack["months"])
    numbers, hours = any_word(pack["numbers"]), any_word(pack["hours"])
    ordinals = any_word(pack["ordinals"])
    digits = pack["ordinal_digits"]
    units = any_of(list(pack["units"].values()))
    between = f"(?:\\s?,\\s?|\\s?(?:{pack['and']})\\s?|\\s){{1,2}}"
    # The number patterns are atomic where one may begin another.
    return {
        "{days}": f"(?P<days>(?:{day})(?:{between}(?:{day})){{0,6}})",
        "{day}": f"(?P<day>{day})",
        "{dow}": f"(?P<dow>{day})",  # of a date that is told beside it
        "{weekday}": f"(?P<day>{_LOOKAROUND.sub('', day)})",
        "{month}": f"(?P<month>{month})",
        "{n}": f"(?P<n>(?<![\\d.,:])\\d{{1,3}}(?!\\d)|{numbers})",
        "{h}": f"(?P<h>(?<![\\d.,:/])(?:2[0-4]|1\\d|0?\\d)(?!\\d)|{hours})",
        "{m}": "(?P<m>[0-5]\\d)(?!\\d)",
        "{ord}": f"(?P<ord>(?<!\\d)(?:[12]\\d|3[01]|0?[1-9])(?:{digits})|{ordinals})",
        "{d}": "(?P<d>(?<!\\d)(?:[12]\\d|3[01]|0?[1-9]))(?!\\d)",
        "{dw}": f"(?P<d>(?<!\\d)(?:[12]\\d|3[01]|0?[1-9])(?!\\d)|{numbers})",
        "{mo}": "(?P<mo>1[0-2]|0?[1-9])(?!\\d)",
        "{y}": "(?P<y>(?:19|20)\\d\\d)(?!\\d)",
        "{unit}": f"(?P<unit>{units})",
        "{gap}": "[\\s\N{NO-BREAK SPACE}]{0,3}",
        "{at}": f"(?:{pack['at']})",
    }


def any_of(sources: Sequence[str]) -> str:
    """Return the source of a choice of patterns."""
    return "|".join(f"(?:{each})" for each in sources)


def any_word(words: Mapping[str, int]) -> str:
    """Return the source of a choice of words, the longest first."""
    listed = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(each).replace("\\ ", "\\s") for each in listed)


@cache
def load_time_book(language: str) -> TimeBook:
    """Load the ways of a language to say times; English where it has none."""
    return TimeBook(choose_language_with("time_phrases", language))
