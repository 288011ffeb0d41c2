"""Claim builder: turns rule matches in a sentence into claims in the third person."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Final

from oldfriend.domain.clock import TimeGrain
from oldfriend.domain.memories import Subject
from oldfriend.domain.profile_attributes import SAFETY_KEYS
from oldfriend.domain.time_zones import is_known_place
from oldfriend.lang.chinese_variants import is_traditional, to_traditional
from oldfriend.lang.glossing import is_adjective, is_common_word
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.datetimes import (
    Due,
    Period,
    behind_times,
    due_in,
    past_in,
    without_times,
)
from oldfriend.learning.rule_extraction.entity_mentions import quote_of
from oldfriend.learning.rule_extraction.rule_loader import Rule, RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, is_hidden
from oldfriend.turn.attribution.orders import has_order

LONGEST_VALUE: Final = 70
MOST_WORDS: Final = 9
COMING: Final = "coming"
"""The sort of whatever is to come."""
_ENDS: Final = " .!?…。！？"
_DATE: Final = re.compile(r"\s?[(（]\{date\}[)）]")
_MORE: Final = re.compile(r" (?:and|und|y|et) |，")
_ASIDE: Final = re.compile(r"\s?[,，;–-]\s+([^\W\d_]+)$")
_KEYS_OF_OTHERS: Final = {"dietary": "diet"}
"""Where a category of the person's preferences is a fact about somebody else."""
_SAID_WHOLE: Final = frozenset({"who", "did", "verb", "how", "said"})
"""Groups that the rule itself limits to a few words, or that stand in quotation marks."""


def claims_in(sentence: Sentence, book: RuleBook, known: Collection[str]) -> Iterator[Claim]:
    """What a sentence tells: at each place where a statement begins, one claim of each kind.

    What is told only because of its date is told once, for the date may stand before another
    beginning; and not where the words tell more: "three years ago I lost my father". Nor has
    happened what is to come: "my flight was moved to Friday".
    """
    rules = _binding(book.language, is_companion=sentence.message.role == "companion")
    told: set[tuple[int, str]] = set()
    for place in sentence.starts:
        behind = behind_times(sentence.plain, place, book)
        for rule, sort in rules:
            is_open = rule.when != "dated" and not _is_told(rule, sort, place, told)
            if is_open and (
                claims := _claims_at(place, rule, sentence, book, known)
                or (
                    _claims_at(behind, rule, sentence, book, known)
                    if rule.is_coming and behind > place  # "tomorrow at three I have …"
                    else ()
                )
            ):
                told.add((place, sort))
                yield from claims
    told |= {(led, sort) for at, sort in told for led in _led_from(sentence, at, book)}
    dated: set[str] = set()
    for place in sentence.starts:
        for rule, sort in rules:
            is_open = rule.when == "dated" and told.isdisjoint({(place, sort), (place, COMING)})
            is_open = is_open and sort not in dated
            if is_open and (claims := _claims_at(place, rule, sentence, book, known)):
                dated.add(sort)
                yield from claims


@cache
def _binding(language: str, *, is_companion: bool) -> tuple[tuple[Rule, str], ...]:
    """The rules for whoever speaks, each with the sort of what it tells.

    The companion is bound by its vows, and tells nothing else. What is to come is told once.
    """
    return tuple(
        (rule, COMING if rule.is_coming and rule.kind != "triple" else rule.kind)
        for rule in load_rule_book(language).rules
        if rule.is_vow or not is_companion
    )


def _claims_at(
    place: int, rule: Rule, sentence: Sentence, book: RuleBook, known: Collection[str]
) -> tuple[Claim, ...]:
    is_person = sentence.message.role == "person"
    speaker = "" if is_person else sentence.message.speaker
    for said in rule.said:
        found = said.match(sentence.plain, place)
        if found and (claims := _claims(found, rule, sentence, book, speaker)):
            return claims
    for told in rule.told if is_person else ():
        found = told.match(sentence.plain, place)
        if found and found["who"] in known:
            return _claims(found, rule, sentence, book, found["who"])
    return ()


def _claims(
    found: re.Match[str], rule: Rule, sentence: Sentence, book: RuleBook, who: str
) -> tuple[Claim, ...]:
    groups = third_person(found, rule, book)
    if groups is None:
        return ()
    groups = in_exact_words(groups, sentence)
    each_alone = told_apart(groups, book) if rule.is_several else [groups]
    if rule.key in SAFETY_KEYS:
        each_alone = [
            each for each in each_alone if not has_order(each.get("value", ""), book.language)
        ]
    if rule.is_uncommon and is_common_word(groups["value"], book.language):
        return ()
    if groups.get("origin") and not any(map(is_known_place, (groups["origin"], found["value"]))):
        return ()  # "moved from Windows to Linux"
    told = (_claim(found, one, rule, sentence, book, who) for one in each_alone)
    return tuple(claim for claim in told if claim is not None)


def in_exact_words(groups: Mapping[str, str], sentence: Sentence) -> Mapping[str, str]:
    """The words, with what is quoted as it was said: all of it, where it was read otherwise."""
    if groups.get("said", "") in sentence.words:
        return groups
    return {**groups, "said": sentence.words.rstrip(_ENDS)}


def told_apart(groups: Mapping[str, str], book: RuleBook) -> list[Mapping[str, str]]:
    """Each of the things that a value lists; "bee and wasp stings" are none without the rest."""
    value = without_aside(groups["value"], book)
    things = (each.strip() for each in book.apart.split(value))
    return [{**groups, "value": each} for each in things if each]


def without_aside(value: str, book: RuleBook) -> str:
    """A list without what only says how it is: "penicillin, important"."""
    aside = _ASIDE.search(value)
    return value[: aside.start()] if aside and is_adjective(aside[1], book.language) else value


def _claim(
    found: re.Match[str],
    groups: Mapping[str, str],
    rule: Rule,
    sentence: Sentence,
    book: RuleBook,
    who: str,
) -> Claim | None:
    message = sentence.message
    is_person = message.role == "person"
    due = _due(found, sentence, book) if rule.is_coming else None
    if rule.when == "due" and due is None:
        return None
    is_dated = rule.when in {"past", "dated"} or rule.is_change
    within = found[0] if rule.when == "dated" else _until_more(found)
    past = past_in(within, message, book) if is_dated else None
    if rule.when == "dated" and past is None:
        return None
    if is_dated and past is None:
        past = past_in(led_in_by(sentence, found.start(), book), message, book)
    text = rendered(rule.text, groups, who, due, book)
    value = rendered(rule.value, groups, "", due, book, is_sentence=False)
    is_other = bool(who) and message.role != "companion"
    kin = groups.get("kin", "") if "{kin}" in rule.key else ""
    is_preference = rule.kind == "preference"
    return Claim(
        kind="fact" if is_other and is_preference else rule.kind,
        text=text,
        quotes=(quote_of(sentence),),
        confidence=rule.confidence,
        subject=_subject(sentence, kin or (who if rule.kind != "event" or not is_person else "")),
        key=_others_key(who, rule) if is_other else rule.key.format(kin=kin),
        value=value,
        pattern=rule.pattern,
        impact=rule.impact,
        tags=rule.tags,
        relational=rule.relational,
        importance=rule.importance,
        happened_at=past.begins if past and rule.kind == "event" else None,
        happened_until=past.ends if past and rule.kind == "event" else None,
        holds_from=_since(rule, past or due, sentence),
        holds_until=_until(rule, past, due) or _told_until(found, rule, sentence, book),
        due_at=due.at if due and rule.kind != "triple" else None,
        grain=_grain(rule, past, due),
    )


def _grain(rule: Rule, past: Period | None, due: Due | None) -> TimeGrain:
    """How precisely the times of a claim were said; a change told without one is of that day."""
    said = past or (due if rule.is_coming else None)
    return said.grain if said is not None else ""


def _until_more(found: re.Match[str]) -> str:
    """What was found and the words behind it, but not what else is told with an "and"."""
    more = _MORE.search(found.string, found.end())
    return found.string[found.start() : more.start() if more else None]


def _due(found: re.Match[str], sentence: Sentence, book: RuleBook) -> Due | None:
    """When something is to happen: by the time before it, or by those behind."""
    plain, place = sentence.plain, found.start()
    led = (each for each in sentence.starts if behind_times(plain, each, book) == place > each)
    return due_in(plain[next(led, place) :], sentence.message, book)


def led_in_by(sentence: Sentence, place: int, book: RuleBook) -> str:
    """The words before a statement that only lead to it, as "last Saturday"."""
    return next((sentence.plain[start:place] for start in _led_from(sentence, place, book)), "")


def _is_told(rule: Rule, sort: str, place: int, told: Collection[tuple[int, str]]) -> bool:
    """Whether the words say such a thing already; a goal with its day is something to come."""
    return (place, sort) in told or (rule.pattern == "goal" and (place, COMING) in told)


def _led_from(sentence: Sentence, place: int, book: RuleBook) -> Iterator[int]:
    """Where words begin that only lead to a statement."""
    for start in sentence.starts:
        lead = book.lead.match(sentence.plain, start) if start < place else None
        if lead and lead.end() == place:
            yield start


def _others_key(who: str, rule: Rule) -> str:
    return f"{who}:{_KEYS_OF_OTHERS.get(rule.key, rule.key)}" if rule.key else ""


def _subject(sentence: Sentence, who: str) -> Subject:
    if sentence.message.role == "companion":
        return "companion"
    return "other" if who else "person"


def _until(rule: Rule, past: Period | None, due: Due | None) -> int | None:
    if rule.kind != "triple" or rule.is_change:
        return None
    return past.ends if past else due.at if due else None


def _told_until(found: re.Match[str], rule: Rule, sentence: Sentence, book: RuleBook) -> int | None:
    """When a fact will be so no more, as the words directly behind it say: "until June"."""
    rest = sentence.plain[found.end() :]
    until = book.bounds.until.match(rest) if rule.kind == "fact" else None
    due = due_in(until["when"], sentence.message, book) if until else None
    if until is None or due is None:
        return None
    is_before = due.begins > sentence.message.at and until["end"] is None
    return due.begins if is_before else due.at


def _since(rule: Rule, past: Period | Due | None, sentence: Sentence) -> int | None:
    if rule.kind == "triple" and not rule.is_change:
        return past.begins if past else None
    if not rule.is_change or rule.kind == "event":
        return None
    return past.begins if past else sentence.message.at


def third_person(found: re.Match[str], rule: Rule, book: RuleBook) -> Mapping[str, str] | None:
    """The words that were found, as somebody else would say them; nothing if they cannot be."""
    groups: dict[str, str] = {}
    for name, words in found.groupdict().items():
        if not words:
            groups[name] = ""
        elif name in _SAID_WHOLE:
            groups[name] = words
        else:
            groups[name] = _reworded(words, rule, book)
            is_told_whom = name == "what" and "whom" in found.groupdict()  # who "her" is
            if not is_sound(groups[name], book, is_clear=is_told_whom):
                return None
    return groups


def _reworded(words: str, rule: Rule, book: RuleBook) -> str:
    if rule.when or rule.is_change:
        words = without_times(words, book)
    for own, others in book.third:
        words = own.sub(others, words)
    return " ".join(words.split()).strip(" ,，、~!")


def is_sound(words: str, book: RuleBook, *, is_clear: bool = False) -> bool:
    """Whether words can be kept: some, not many, and clear without those around them."""
    if not words or len(words) > LONGEST_VALUE or len(words.split()) > MOST_WORDS:
        return False
    return not is_hidden(words) and (is_clear or not book.caution.not_value.search(words))


def rendered(
    template: str,
    groups: Mapping[str, str],
    who: str,
    due: Due | None,
    book: RuleBook,
    *,
    is_sentence: bool = True,
) -> str:
    gap = "" if not get_traits(book.language).spaces or not who else " "
    parts = {**groups, "who": f"{who}{gap}", "date": due.text if due else ""}
    template = template if due else _DATE.sub("", template)
    if any(map(is_traditional, (who, *groups.values()))):
        template = to_traditional(template)
    text = " ".join(template.format(**parts).split())
    for words, better in book.polish:
        text = words.sub(better, text)
    return text[:1].upper() + text[1:] if is_sentence else text
