"""Rule loader: parses the rules of each language into typed rules.

The head of the English ``rules.toml`` describes the format. Knows no messages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Any, Literal, cast

from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.domain.memories import (
    EntityKind,
    MemoryKind,
    PatternKind,
    RelationalTag,
    RelationType,
)
from oldfriend.domain.relations import PET_ROLES
from oldfriend.lang.chinese_variants import load_character_variants, to_simplified
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.search.synonyms import get_role_words

When = Literal["", "past", "dated", "due", "open"]
Rewording = tuple[tuple[LazyPattern, str], ...]
Unit = Literal["day", "week", "weekend", "month", "year", "day_of_month"]

_PIECE = re.compile(r"\{([a-z_]+)\}")
_TOKEN = re.compile(r"(?P<set>\[(?:\\.|[^\]\\])*\])|\\.|.", re.DOTALL)
"""A set of characters, or one, in an expression."""
_DEEPEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that people say plainly, and what it tells."""

    kind: MemoryKind
    pattern: PatternKind | None
    text: str
    said: tuple[LazyPattern, ...]  # by somebody about themselves
    told: tuple[LazyPattern, ...]  # by somebody about a named other
    key: str
    value: str
    confidence: float
    impact: int
    importance: float
    tags: tuple[str, ...]
    relational: tuple[RelationalTag, ...]
    when: When  # "past": dated if it can be; "dated": only then; "due": only with a time to come;
    #             "open": with one or without
    is_change: bool  # holds from the time it speaks of, not from ever
    is_vow: bool  # an explicit promise: binds the companion too
    is_several: bool  # its value may list several things, each of which is told by itself
    is_uncommon: bool  # its value is no common word of the language: "I'm Happy" gives no name

    @property
    def is_coming(self) -> bool:
        """Whether it tells of what is to come."""
        return self.when in {"due", "open"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that somebody plays in a life: the sister, the dog."""

    relation: str  # in English, whatever the language
    kind: EntityKind
    word: str = ""  # for one, where that is not the word it was found by


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeTime:
    """Words for a time that is counted from the day they are said on."""

    said: LazyPattern
    unit: Unit
    ahead: int | None  # in units; None: the number, or the day of the month, is among the words
    is_past: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """What keeps a sentence, or what would be its value, from being taken at its word."""

    question: LazyPattern
    doubt: LazyPattern
    reported: LazyPattern
    joke: LazyPattern
    not_value: LazyPattern
    not_name: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """How it is told that somebody has parted from a partner."""

    former: str  # what they call them since
    values: frozenset[str]  # of a rule, by which they have
    divorced: frozenset[str]  # those of them that only a marriage can end by
    coupled: frozenset[str]  # of others, which hold as long as they have not parted
    named: tuple[LazyPattern, ...]  # from whom, by {name}


@dataclass(frozen=True, slots=True, kw_only=True)
class Along:
    """What else is over, when something is."""

    jobless: frozenset[str]  # values of who works nowhere any more
    one_pet: LazyPattern  # the {part} of an animal, where a value tells of one, and no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Instead:
    """How it is told that something is otherwise than it was said or was to be."""

    moved: LazyPattern  # at another time
    definite: LazyPattern  # a sentence begins with something that is known: "the dentist"
    appointment: LazyPattern  # in "the dentist appointment" adds nothing to "the dentist"
    called_off: LazyPattern  # not at all
    went: LazyPattern  # it has been
    affirmed: Rewording  # of "we are not moving" makes "we are moving": each that fits, in turn
    journey: LazyPattern  # a way to go somewhere, whichever it is
    new_one: LazyPattern  # a new boss, or the like
    put_right: LazyPattern  # it was wrong
    is_called: LazyPattern  # who it is
    denied: Rewording  # of "it isn't this, it's that" makes "it's that"; {denied} is "this"
    by_now: LazyPattern  # it was so before
    meant: LazyPattern  # of what was said last, one word was to be {value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Words before a time: up to when something holds, or is to be done."""

    until: LazyPattern  # behind a statement {when}; {end} where to the end of that time
    deadline: LazyPattern  # all that mean nothing without the time, for which ⌚ stands


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBook:
    """The rules of one language."""

    language: str
    start: LazyPattern  # after what a new statement begins within a sentence
    lead: LazyPattern  # words before a statement that do not change it
    pronoun: LazyPattern  # who was named just before, at the beginning of a statement
    aside: LazyPattern  # words anywhere in it that do not belong to what it tells
    spelled_out: Rewording  # with whom it is about put in: "… is called Ana and lives in Porto"
    aged: str  # that {name} is {age}, behind a sentence that tells it in brackets: "Ella (7)"
    caution: Caution
    third: Rewording  # "my" and the like, said by somebody else
    apart: LazyPattern  # what stands between several things that are told at once
    polish: Rewording  # what to mend in a finished text
    over: Rewording  # of "I no longer live there" makes "I live there"
    over_text: Rewording  # of "Lives there." makes "No longer lives there."
    over_value: str
    became: LazyPattern  # a text that says that something came to be so
    will_ask: LazyPattern  # of the companion: that it will ask about something
    ask_text: str
    done: LazyPattern  # that what was promised is done, whatever it was
    did: tuple[LazyPattern, ...]  # what somebody has done: {verb} and {what}
    verb_marks: Rewording  # what a form of a verb has beside its stem
    infinitives: Mapping[str, str]  # of forms that have another stem
    rules: tuple[Rule, ...]
    parts: Mapping[str, Part]  # by the word for it
    part_text: str
    parting: Parting
    along: Along
    instead: Instead
    title: LazyPattern  # in front of a name, and the space behind it: "Mrs. "
    naming: tuple[LazyPattern, ...]
    listed: tuple[LazyPattern, ...]  # {several} of a part, by their {names}
    several: Mapping[str, Part]  # by the word for more than one
    related: tuple[LazyPattern, ...]  # the first is the {part} of the second, by their names
    pairs: tuple[tuple[LazyPattern, RelationType], ...]  # two who are the same to each other
    nickname: tuple[LazyPattern, ...]
    same: tuple[LazyPattern, ...]
    different: tuple[LazyPattern, ...]
    times: tuple[RelativeTime, ...]
    weekdays: tuple[LazyPattern, ...]  # Monday first
    named_day: LazyPattern  # a date with its small words, as "on the 9th of May"
    clock: LazyPattern
    after_noon: LazyPattern
    before_noon: LazyPattern
    next_day: LazyPattern  # a weekday that may be the nearest, or the one after
    bounds: Bounds
    counts: Mapping[str, int]
    week_text: str
    month_text: str

    def part_called(self, word: str) -> Part:
        """The part that a word stands for, in whichever script."""
        return self.parts[to_simplified(word.lower())]

    def part_of_each(self, word: str) -> Part:
        """The part that each of several plays, by the word for all of them."""
        return self.several[to_simplified(word.lower())]


@cache
def load_rule_book(language: str) -> RuleBook:
    """The rule book of a language, or that of the fallback."""
    source = choose_language_with("rules", language)
    if source != language:
        return load_rule_book(source)
    book = load_language_pack(language).read("rules")
    parts = {word: _part(relation) for word, relation in get_role_words(language).items()}
    several = {word: _part(each, one) for word, (one, each) in book["several"].items()}
    pieces = {**book["pieces"], **_any_of(part=parts, several=several)}
    reading, times = book["reading"], book["times"]
    return RuleBook(
        language=language,
        start=_compiled(reading["start"], pieces),
        lead=_compiled(reading["lead"], pieces),
        pronoun=_compiled(reading["pronoun"], pieces),
        aside=_compiled(reading["aside"], pieces),
        spelled_out=_rewording(reading["spelled_out"], pieces),
        aged=reading["aged"],
        caution=_caution(reading, pieces),
        third=_rewording(reading["third"], pieces),
        apart=_compiled(reading["apart"], pieces),
        polish=_rewording(reading["polish"], pieces),
        over=_rewording(reading["over"], pieces),
        over_text=_rewording(reading["over_text"], pieces),
        over_value=reading["over_value"],
        became=_compiled(reading["became"], pieces),
        will_ask=_compiled(reading["will_ask"], pieces),
        ask_text=reading["ask_text"],
        done=_compiled(reading["done"], pieces),
        did=_all_compiled(reading["did"], pieces),
        verb_marks=_rewording(reading["verb_marks"], pieces),
        infinitives=book["infinitives"],
        rules=tuple(_rule(entry, pieces) for entry in book["rule"]),
        parts=parts,
        part_text=reading["part_text"],
        parting=_parting(reading, pieces),
        along=_along(reading, pieces),
        instead=_instead(reading, pieces),
        title=_compiled(rf"{pieces.get('title', '(?!)')}\.? (?=\w)", pieces),
        naming=_all_compiled(reading["naming"], pieces),
        listed=_all_compiled(reading["listed"], pieces),
        several=several,
        related=_all_compiled(reading["related"], pieces),
        pairs=tuple(
            (_compiled(words, pieces), cast(RelationType, tie)) for words, tie in reading["pairs"]
        ),
        nickname=_all_compiled(reading["nickname"], pieces),
        same=_all_compiled(reading["same"], pieces),
        different=_all_compiled(reading["different"], pieces),
        times=tuple(_time(entry, pieces) for entry in times["relative"]),
        weekdays=tuple(_compiled(words, pieces) for words in times["weekdays"]),
        named_day=_compiled(times["named_day"], pieces),
        clock=_compiled(times["clock"], pieces),
        after_noon=_compiled(times["after_noon"], pieces),
        before_noon=_compiled(times["before_noon"], pieces),
        next_day=_compiled(times["next_day"], pieces),
        bounds=Bounds(**{each: _compiled(times[each], pieces) for each in ("until", "deadline")}),
        counts=times["counts"],
        week_text=times["week"],
        month_text=times["month"],
    )


def precompile_rule_book(language: str) -> None:
    """Open a rule book, and compile all of it: later it takes no time."""
    for pattern in _patterns_in(load_rule_book(language)):
        _ = pattern.compiled


def _patterns_in(part: object) -> Iterator[LazyPattern]:
    if isinstance(part, LazyPattern):
        yield part
    elif is_dataclass(part):
        for each in fields(part):
            yield from _patterns_in(getattr(part, each.name))
    elif isinstance(part, tuple):
        for each in part:
            yield from _patterns_in(each)


def _any_of(**words: Iterable[str]) -> dict[str, str]:
    """Expressions that find any of some words, each under its name."""
    longest_first = {name: sorted(some, key=len, reverse=True) for name, some in words.items()}
    return {name: f"(?P<{name}>{'|'.join(some)})" for name, some in longest_first.items()}


def _rewording(pairs: Sequence[Sequence[str]], pieces: Mapping[str, str]) -> Rewording:
    return tuple((_compiled(words, pieces), put) for words, put in pairs)


def _caution(reading: Mapping[str, Any], pieces: Mapping[str, str]) -> Caution:
    return Caution(
        question=_compiled(reading["question"], pieces),
        doubt=_compiled(reading["doubt"], pieces),
        reported=_compiled(reading["reported"], pieces),
        joke=_compiled(reading["joke"], pieces),
        not_value=_compiled(reading["not_value"], pieces),
        not_name=frozenset(reading["not_name"].split()),
    )


def _instead(reading: Mapping[str, Any], pieces: Mapping[str, str]) -> Instead:
    return Instead(
        moved=_compiled(reading["moved"], pieces),
        definite=_compiled(reading["definite"], pieces),
        appointment=_compiled(reading["appointment"], pieces),
        called_off=_compiled(reading["called_off"], pieces),
        went=_compiled(reading["went"], pieces),
        affirmed=_rewording(reading["affirmed"], pieces),
        journey=_compiled(reading["journey"], pieces),
        new_one=_compiled(reading["new_one"], pieces),
        put_right=_compiled(reading["put_right"], pieces),
        is_called=_compiled(reading["is_called"], pieces),
        denied=_rewording(reading["denied"], pieces),
        by_now=_compiled(reading["by_now"], pieces),
        meant=_compiled(reading["meant"], pieces),
    )


def _along(reading: Mapping[str, Any], pieces: Mapping[str, str]) -> Along:
    jobless = frozenset(reading["jobless"])
    return Along(jobless=jobless, one_pet=_compiled(reading["one_pet"], pieces))


def _parting(reading: Mapping[str, Any], pieces: Mapping[str, str]) -> Parting:
    divorced = frozenset(reading["divorced"])
    return Parting(
        former=reading["former"],
        values=divorced.union(reading["parted"]),
        divorced=divorced,
        coupled=frozenset(reading["coupled"]),
        named=_all_compiled(reading["parted_from"], pieces),
    )


def _rule(entry: Mapping[str, Any], pieces: Mapping[str, str]) -> Rule:
    return Rule(
        kind=entry["kind"],
        pattern=entry.get("pattern"),
        text=entry["text"],
        said=_all_prefiltered(entry["said"], pieces),
        told=_all_prefiltered(entry.get("told", ()), pieces),
        key=entry.get("key", ""),
        value=entry.get("value", "{value}" if entry.get("key") else ""),
        confidence=entry.get("confidence", 0.85),
        impact=entry.get("impact", 0),
        importance=entry.get("importance", 0.5),
        tags=tuple(entry.get("tags", ())),
        relational=tuple(entry.get("relational", ())),
        when=entry.get("when", ""),
        is_change=entry.get("change", False),
        is_vow=entry.get("vow", False),
        is_several=entry.get("several", False),
        is_uncommon=entry.get("uncommon", False),
    )


def _part(relation: str, word: str = "") -> Part:
    return Part(relation=relation, kind="pet" if relation in PET_ROLES else "person", word=word)


def _time(entry: Mapping[str, Any], pieces: Mapping[str, str]) -> RelativeTime:
    return RelativeTime(
        said=_compiled(entry["said"], pieces),
        unit=entry["unit"],
        ahead=entry.get("ahead"),
        is_past=entry.get("past", False),
    )


def _all_compiled(sources: Sequence[str], pieces: Mapping[str, str]) -> tuple[LazyPattern, ...]:
    return tuple(_compiled(source, pieces) for source in sources)


def _all_prefiltered(sources: Sequence[str], pieces: Mapping[str, str]) -> tuple[LazyPattern, ...]:
    """Expressions of which most are never needed: what they tell is rarely said."""
    complete = partial(_completed, pieces=pieces)
    return tuple(LazyPattern(each, complete, re.IGNORECASE, fold=_fold) for each in sources)


def _fold(text: str) -> str:
    """A text, or an expression, without letter case and in simplified characters."""
    return to_simplified(text.lower())


def _compiled(source: str, pieces: Mapping[str, str]) -> LazyPattern:
    """An expression with its pieces put in; letter case matters only where a piece says so."""
    return LazyPattern(source, partial(_completed, pieces=pieces), re.IGNORECASE)


def _completed(source: str, pieces: Mapping[str, str]) -> str:
    for _ in range(_DEEPEST):
        source = _PIECE.sub(lambda found: pieces[found[1]], source)
    return source if source.isascii() else in_both_scripts(source)


def in_both_scripts(source: str) -> str:
    """An expression that finds Chinese in either script; of other languages as it is."""
    variants = load_character_variants()
    return "".join(
        _within(found["set"], variants) if found["set"] else _either(found[0], variants)
        for found in _TOKEN.finditer(source)
    )


def _within(characters: str, variants: Mapping[str, str]) -> str:
    return "".join(variants.get(each, each) for each in characters)


def _either(token: str, variants: Mapping[str, str]) -> str:
    return f"[{variants[token]}]" if token in variants else token
