"""Which promise has somebody kept? One of which they say that they have done just that.

"I called the dentist" keeps "remind me to call the dentist": the same is done to the same. In
doubt a promise stays open.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import RuleBook, rule_book
from oldfriend.background.rules.moments import without_times
from oldfriend.background.rules.naming import quote_of
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import Known, Memory
from oldfriend.domain.remembered import remembered
from oldfriend.memory.search.words import is_stop_word, is_unspaced, stem_of, words_in
from oldfriend.prompts.phrasebook import SPOKEN

Read = tuple[Sentence, RuleBook]

_CONFIDENCE: Final = 0.9
_KEPT: Final = 1_024
_DATED: Final = r"(?:\s?[(（][^()（）]*[)）])?\W*"
_FIELD: Final = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody says they have done."""

    verb: str  # its stem; "" where any will do, for they say that it is done
    objects: frozenset[str]


def kept_promises(sentences: Iterable[Read], known: Sequence[Known]) -> Iterator[Claim]:
    """What was promised before, and is said to be done."""
    open_ = [each for each in known if is_own_promise(each.memory)]
    for sentence, book in sentences:
        for deed in deeds_in(sentence, book) if open_ else ():
            kept = [
                each
                for each in open_
                if each.standing.last_seen < sentence.message.at
                and is_kept_by(each.memory.text, each.memory.language, deed)
            ]
            if kept:
                promise = min(kept, key=lambda each: (each.memory.due_at is None, each.base)).memory
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


def fulfilled(promise: Memory, sentence: Sentence) -> Claim:
    """That a promise was kept, by what a sentence says."""
    return Claim(
        kind=promise.kind, text=promise.text, quotes=(quote_of(sentence),), bearing="fulfils",
        target=promise.id, confidence=_CONFIDENCE, subject=promise.subject, due_at=promise.due_at,
    )  # fmt: skip


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
    if not deed.objects or language not in SPOKEN:
        return False
    book = rule_book(language)
    promised = promised_in(text, language)
    words = matter_of(promised, language)
    if language == "zh":  # its words do not change; what is done stands among them
        return len(deed.objects & words) > 1 and (deed.objects <= words or words <= deed.objects)
    verbs = {verb_stem(word, book) for word in words_in(promised)}
    shared = deed.objects & words
    left = {word for word in words if word not in shared and word != deed.verb}
    is_same = bool(shared) and (deed.objects <= words or len(left) <= (deed.verb == ""))
    return is_same and (deed.verb == "" or deed.verb in verbs)


@remembered(_KEPT)
def promised_in(text: str, language: str) -> str:
    """What is promised in a belief, without that it is."""
    for rule in rule_book(language).rules:
        if rule.is_coming and "{what}" in rule.text:
            found = framed(rule.text).fullmatch(text)
            if found is not None:
                return found["what"]
    return text


@cache
def framed(template: str) -> re.Pattern[str]:
    """A template as what finds its words again."""
    shape = re.escape(re.sub(r"\s?[(（]\{date\}[)）]\W*$", "", template).rstrip(".。"))
    return re.compile(_FIELD.sub(r"(?P<\1>.*?)", shape) + _DATED, re.IGNORECASE)


def matter_of(text: str, language: str) -> frozenset[str]:
    """The stems of the words that carry matter; of Chinese, its characters."""
    words = words_in(text)
    if language == "zh":
        return frozenset(word for word in words if is_unspaced(word) and len(word) == 1) - _SMALL
    return frozenset(stem_of(each, language) for each in words if not is_stop_word(each, language))


def verb_stem(verb: str, book: RuleBook) -> str:
    """What the forms of a verb share."""
    plain = verb.lower()
    for mark, put in book.verb_marks:
        plain = mark.sub(put, plain)
    return stem_of(plain, book.language)


_SMALL: Final = frozenset("我了过的已经完好刚就给把都也今天昨去")
