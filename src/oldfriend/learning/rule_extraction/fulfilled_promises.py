"""Fulfilled promises: finds promises that the person says they have carried out.

"I called the dentist" fulfills "remind me to call the dentist": same action, same object. In doubt
a promise stays open.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.domain.messages import MAX_SENTENCE_CHARS
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.datetimes import without_times
from oldfriend.learning.rule_extraction.entity_mentions import by_quote, quote_of
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, tokenize

Read = tuple[Sentence, RuleBook]

HOME: Final = "location"
_CONFIDENCE: Final = 0.9
_KEPT: Final = 1_024
_DATED: Final = r"(?:\s?[(（][^()（）]*[)）])?\W*"
_FIELD: Final = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody says they have done."""

    verb: str  # its stem; "" where any will do, for they say that it is done
    objects: frozenset[str]


def kept_promises(sentences: Iterable[Read], known: Sequence[MemoryState]) -> Iterator[Claim]:
    """What was promised before, and is said to be done."""
    open_ = [each for each in known if is_own_promise(each.memory)]
    for sentence, book in sentences:
        for deed in deeds_in(sentence, book) if open_ else ():
            kept = [
                each
                for each in open_
                if each.stats.last_seen < sentence.message.at
                and is_kept_by(each.memory.text, each.memory.language, deed)
            ]
            if kept:
                promise = min(
                    kept, key=lambda each: (each.memory.due_at is None, each.base_seq)
                ).memory
                open_ = [each for each in open_ if each.memory.id != promise.id]
                yield fulfilled(promise, sentence)


def without_kept(claims: Iterable[Claim], sentences: Sequence[Read]) -> Iterator[Claim]:
    """The claims, without the promises that are kept further on in the same talk."""
    deeds = [
        (sentence.message.seq, book.language, deed)
        for sentence, book in sentences
        for deed in deeds_in(sentence, book)
    ]
    said = {sentence.message.id: sentence.message.seq for sentence, _ in sentences}
    for claim in claims:
        promised = said.get(claim.quotes[0].message, 0)
        is_kept = claim.kind == "commitment" and any(
            seq > promised and is_kept_by(claim.text, language, deed)
            for seq, language, deed in deeds
        )
        if not is_kept:
            yield claim


def arrivals(
    claims: Iterable[Claim], read: Sequence[Read], known: Sequence[MemoryState]
) -> Iterator[Claim]:
    """What was to come true by going to live somewhere, where somebody lives by now."""
    awaited = [e for e in known if e.memory.kind == "expectation" and e.memory.is_live]
    sentences = by_quote(read)
    for claim in claims:
        sentence, _ = sentences[claim.quotes[0]]
        is_home = claim.key == HOME and claim.subject == "person" and claim.ended_claim is None
        for each in awaited if is_home and claim.holds_until is None else ():
            is_before = each.stats.last_seen < sentence.message.at
            if is_before and place_to_go(each.memory.text, each.memory.language) == claim.value:
                yield fulfilled(each.memory, sentence)


@text_lru_cache(_KEPT)
def place_to_go(text: str, language: str) -> str:
    """Where somebody is going to, as a belief says; "" where it says nothing of that."""
    is_short = len(text) <= MAX_SENTENCE_CHARS
    for rule in (
        load_rule_book(language).rules if language in list_languages("rules") and is_short else ()
    ):
        if rule.is_coming and rule.kind == "expectation" and "{value}" in rule.text:
            found = framed(rule.text).fullmatch(text)
            if found is not None:
                return found["value"]
    return ""


def fulfilled(promise: Memory, sentence: Sentence) -> Claim:
    """That a promise was kept, by what a sentence says."""
    return Claim(
        kind=promise.kind,
        text=promise.text,
        quotes=(quote_of(sentence),),
        effect="fulfils",
        target=promise.id,
        confidence=_CONFIDENCE,
        subject=promise.subject,
        due_at=promise.due_at,
    )


def is_own_promise(memory: Memory) -> bool:
    """Whether the person has promised it, or asked to be reminded of it."""
    return memory.kind == "commitment" and memory.subject == "person" and memory.ended_at is None


def deeds_in(sentence: Sentence, book: RuleBook) -> Iterator[Deed]:
    """What a sentence of the person says they have done."""
    if sentence.message.role != "person" or sentence.is_question:
        return
    told = without_times(sentence.plain, book)
    done = book.done.search(told)
    if done is not None:
        yield Deed(verb="", objects=matter_of(told[done.end() :], book.language))
    for place in (0, *(found.end() for found in book.start.finditer(told))):
        for did in book.did:
            found = did.match(told, place)
            if found is not None:
                verb = book.infinitives.get(found["verb"].lower(), found["verb"])
                objects = matter_of(found["what"], book.language)
                yield Deed(verb=verb_stem(verb, book), objects=objects)
                break


def is_kept_by(text: str, language: str, deed: Deed) -> bool:
    """Whether what was promised is what somebody has done."""
    if not deed.objects or language not in list_languages("rules"):
        return False
    book = load_rule_book(language)
    promised = promised_in(text, language)
    words, whom = matter_of(promised, language), matter_of(promised_to(text, language), language)
    if get_traits(language).is_han:  # its words do not change; what is done stands among them
        objects = deed.objects if deed.objects <= words else deed.objects - (whom - words)
        return len(objects & words) > 1 and (objects <= words or words <= objects)
    verbs = {verb_stem(word, book) for word in tokenize(promised)}
    objects = deed.objects - (whom - words)
    acted = (each for each in tokenize(promised) if verb_stem(each, book) == deed.verb)
    left = words - objects - {stem_word(each, language) for each in acted}
    if not objects:  # done to whom it was promised: "visit her", and nothing besides
        return bool(deed.verb) and deed.verb in verbs and not left
    shared = objects & words
    is_same = bool(shared) and (objects <= words or len(left) <= (deed.verb == ""))
    return is_same and (deed.verb == "" or deed.verb in verbs)


def promised_in(text: str, language: str) -> str:
    """What is promised in a belief, without that it is."""
    return parts_of_promise(text, language)[0]


def promised_to(text: str, language: str) -> str:
    """To whom it is promised, if a belief says so."""
    return parts_of_promise(text, language)[1]


@text_lru_cache(_KEPT)
def parts_of_promise(text: str, language: str) -> tuple[str, str]:
    """What is promised in a belief, and to whom."""
    for rule in load_rule_book(language).rules if len(text) <= MAX_SENTENCE_CHARS else ():
        if rule.is_coming and "{what}" in rule.text:
            found = framed(rule.text).fullmatch(text)
            if found is not None:
                return found["what"], found.groupdict().get("whom") or ""
    return text, ""


@cache
def framed(template: str) -> re.Pattern[str]:
    """A template as what finds its words again."""
    shape = re.escape(re.sub(r"\s?[(（]\{date\}[)）]\W*$", "", template).rstrip(".。"))
    shape = shape.replace(re.escape("{who} "), re.escape("{who}") + " ?")
    return re.compile(_FIELD.sub(r"(?P<\1>.*?)", shape) + _DATED, re.IGNORECASE)


def matter_of(text: str, language: str) -> frozenset[str]:
    """The stems of the words that carry matter; of Chinese, its characters."""
    words = tokenize(text)
    if get_traits(language).is_han:
        return frozenset(word for word in words if is_unspaced(word) and len(word) == 1) - _SMALL
    return frozenset(
        stem_word(each, language) for each in words if not is_stop_word(each, language)
    )


def verb_stem(verb: str, book: RuleBook) -> str:
    """What the forms of a verb share."""
    plain = verb.lower()
    for mark, put in book.verb_marks:
        plain = mark.sub(put, plain)
    return stem_word(plain, book.language)


_SMALL: Final = frozenset("我了过的已经完好刚就给把都也今天昨去")
