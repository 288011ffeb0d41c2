"""Promises and plans: which are carried out or called off, and the companion's to ask again.

"I called the dentist" fulfills "remind me to call the dentist": same action, same object. "The trip
is off" ends the only trip that is to be. In doubt everything stays open. In the companion's "I'll
ask you about it on Monday", "it" is taken from the person's preceding message, which is quoted.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.clock import Micros, get_start_of_day
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.domain.messages import MAX_SENTENCE_CHARS
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.learning.extraction import Claim, ClaimEffect
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.datetimes import day_written, due_in, without_times
from oldfriend.learning.rule_extraction.ended_states import once_reworded
from oldfriend.learning.rule_extraction.entity_mentions import by_quote, quote_of
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, tokenize
from oldfriend.turn.quotes import extract_excerpt

Read = tuple[Sentence, RuleBook]

HOME: Final = "location"
CLAUSE_END: Final = re.compile(r"[,.;:!，。；：！]|\s[-–—]\s")
LONGEST: Final = 160
"""Characters of what is to be asked about."""
_CONFIDENCE: Final = 0.9
_KEPT: Final = 1_024
_DATED: Final = r"(?:\s?[(（][^()（）]*[)）])?\W*"
_FIELD: Final = re.compile(r"\\\{(\w+)\\\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody says they have done."""

    verb: str  # its stem; "" where any will do, for they say that it is done
    objects: frozenset[str]
    told: str = ""  # what is said of it beside its verb


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


def ended_plans(sentences: Iterable[Read], known: Sequence[MemoryState]) -> Iterator[Claim]:
    """What was to be, and is said not to be or to have been, where only one can be meant."""
    open_ = [e for e in known if e.memory.kind in FUTURE_KINDS and e.memory.is_live]
    for sentence, book in sentences:
        if sentence.message.role != "person" or sentence.is_question:
            continue
        ended = [
            (each.memory, effect)
            for each in open_
            if each.memory.language == book.language
            and each.stats.last_seen < sentence.message.at
            and (effect := find_ending(plan_of(each.memory), sentence, book)) is not None
        ]
        if len(ended) == 1:
            ((memory, effect),) = ended
            open_ = [each for each in open_ if each.memory.id != memory.id]
            yield replace(fulfilled(memory, sentence), effect=effect)


def without_ended(claims: Iterable[Claim], sentences: Sequence[Read]) -> Iterator[Claim]:
    """The claims, without the plans that end further on in the same talk."""
    said = {quote_of(sentence): number for number, (sentence, _) in enumerate(sentences)}
    claims = list(claims)
    plans = [each for each in claims if each.kind in FUTURE_KINDS and each.effect == "new"]
    ended: list[Claim] = []
    for number, (sentence, book) in enumerate(sentences):
        if sentence.message.role != "person" or sentence.is_question:
            continue
        about = [
            each
            for each in plans
            if each not in ended
            and said.get(each.quotes[0], number) < number
            and find_ending(plan_of(each), sentence, book) is not None
        ]
        ended += about if len(about) == 1 else []
    return (each for each in claims if each not in ended)


def plan_of(awaited: StoredBelief | Claim) -> tuple[str, Micros | None]:
    """The text of something that is to be, and when it is due."""
    return awaited.text, awaited.due_at


def find_ending(
    plan: tuple[str, Micros | None], sentence: Sentence, book: RuleBook
) -> ClaimEffect | None:
    """How a sentence ends something that is to be: it has been, or will not be."""
    text, due_at = plan
    if len(text) > MAX_SENTENCE_CHARS:
        return None
    for part in CLAUSE_END.split(sentence.plain):
        told = without_times(part, book)
        if (off := book.instead.called_off.search(told)) is not None:
            rest = f"{told[: off.start()]} {told[off.end() :]}"
            if is_about_plan(rest, text, book):
                return "cancels"
        if (went := book.instead.went.search(told)) is not None:
            objects = matter_of(told[: went.start()], book.language)
            if objects and objects <= matter_of(text, book.language):
                return "fulfils"
    return "cancels" if denies_plan(text, due_at, sentence, book) else None


def is_about_plan(words: str, text: str, book: RuleBook) -> bool:
    """Whether words name a plan: all of them stand in it, or all of what is to be among them.

    A trip may be named without its place.
    """
    language = book.language
    said, place = matter_of(words, language), place_to_go(text, language)
    journeys = " ".join(found[0] for found in book.instead.journey.finditer(words))
    if place and said and said <= matter_of(journeys, language):
        return True
    planned = matter_of(place or promised_in(text, language), language)
    return bool(said and planned) and (
        said <= matter_of(text, language) or (bool(place) and planned <= said)
    )


def denies_plan(text: str, due_at: Micros | None, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence would tell a plan if it denied nothing: "we are not moving there"."""
    plain = once_reworded(sentence.plain, book.over)
    for words, put in book.instead.affirmed:
        plain = words.sub(put, plain)
    plain = " ".join(plain.split())
    if plain == sentence.plain or due_at is None:
        return False
    dated = f"{plain.rstrip(' .!')} {day_written(due_at, sentence.message.zone, book)}"
    affirmed = replace(sentence, plain=dated, starts=tuple(starts_in(dated, book)))
    return any(
        is_same_plan(each.text, text, book)
        for each in claims_in(affirmed, book, ())
        if each.kind in FUTURE_KINDS
    )


def is_same_plan(one: str, other: str, book: RuleBook) -> bool:
    """Whether two texts tell the same plan: to the same place, or of the same matter."""
    places = place_to_go(one, book.language), place_to_go(other, book.language)
    if any(places):
        return places[0] == places[1]
    matters = [matter_of(promised_in(each, book.language), book.language) for each in (one, other)]
    return bool(matters[0]) and matters[0] == matters[1]


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


def fulfilled(promise: StoredBelief, sentence: Sentence) -> Claim:
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


def is_own_promise(memory: StoredBelief) -> bool:
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
                yield Deed(verb=verb_stem(verb, book), objects=objects, told=found["what"])
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


def promised_questions(sentences: Iterable[tuple[Sentence, RuleBook]]) -> Iterator[Claim]:
    """What the companion will ask about on a day that it names."""
    told: Sentence | None = None
    for sentence, book in sentences:
        if sentence.message.role == "person" and not sentence.is_question:
            told = sentence
        if sentence.message.role != "companion" or told is None:
            continue
        due = due_in(sentence.plain, sentence.message, book)
        if due is not None and book.will_ask.search(sentence.plain):
            said = extract_excerpt(told.words, (), max_chars=LONGEST)
            yield Claim(
                kind="commitment",
                text=book.ask_text.format(date=due.text, said=said),
                quotes=(quote_of(sentence),),
                confidence=_CONFIDENCE,
                subject="companion",
                relational=("commitment",),
                importance=0.6,
                due_at=due.at,
            )


def asked_questions(
    sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[MemoryState]
) -> Iterator[Claim]:
    """What the companion had promised to ask and has asked by now, on the day or after it."""
    open_ = [each for each in known if is_to_be_asked(each)]
    for sentence, book in sentences:
        asked = [each for each in open_ if is_asked(each, sentence, book)]
        open_ = [each for each in open_ if each not in asked]
        for each in asked:
            memory = each.memory
            yield Claim(
                kind="commitment",
                text=memory.text,
                quotes=(quote_of(sentence),),
                effect="fulfils",
                target=memory.id,
                confidence=_CONFIDENCE,
                subject="companion",
                due_at=memory.due_at,
            )


def is_to_be_asked(known: MemoryState) -> bool:
    """Whether it is an open promise of the companion."""
    memory = known.memory
    return memory.kind == "commitment" and memory.subject == "companion" and memory.is_live


def is_asked(known: MemoryState, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence is the question that was promised."""
    message, due = sentence.message, known.memory.due_at
    if message.role != "companion" or not sentence.is_question or due is None:
        return False
    if message.at < get_start_of_day(due, message.zone) or message.at <= known.stats.last_seen:
        return False
    matter = extract_content_terms(known.memory.text, book.language)
    return not matter.isdisjoint(extract_content_terms(sentence.words, book.language))
