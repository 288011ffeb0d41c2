"""Corrections: of notes, and of when something is to be: "it has been moved to Friday".

"The interview has been moved to Friday" needs both a match by words and a word for the change; "not
Thursday any more, it's next Monday" only one thing that was to be that Thursday.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.clock import SECOND, Micros, get_start_of_day
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.learning.extraction import Claim, ClaimEffect
from oldfriend.learning.rule_extraction.datetimes import Due, day_written, due_in
from oldfriend.learning.rule_extraction.entity_mentions import by_quote, quote_of
from oldfriend.learning.rule_extraction.promises import matter_of, promised_in
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.memory.notes import normalize_note
from oldfriend.memory.restatement_detection import (
    find_restatement,
)
from oldfriend.search.question_patterns import has_any_word
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues

_CONFIDENCE: Final = 0.9
PART: Final = re.compile("[,\uff0c\u3001;\uff1b]")
"""Between what a sentence denies and what it tells instead."""
MOVED_CONFIDENCE: Final = 0.8


def notes_put_right(sentences: Iterable[Sentence], known: Sequence[MemoryState]) -> Iterator[Claim]:
    """For each known note the last sentence after it that puts it right, as what is noted now."""
    notes = [each for each in known if each.memory.kind == "note"]
    mended: dict[str, Claim] = {}
    for sentence in sentences:
        for note in notes if is_statement(sentence) else ():
            is_after = sentence.message.at > note.stats.last_seen
            words = find_restatement(sentence.words, note.memory.text, note.memory.language)
            if is_made_of(note, sentence):
                mended[note.memory.id] = claim_about(note, note.memory.text, sentence, "reinforces")
            elif is_after and words:
                mended[note.memory.id] = claim_about(note, words, sentence, "supersedes")
    yield from mended.values()


def is_statement(sentence: Sentence) -> bool:
    """Whether the person tells something in it."""
    return sentence.message.role == "person" and not sentence.is_question


def is_made_of(note: MemoryState, sentence: Sentence) -> bool:
    """Whether a note that has put another right stands in the words of a sentence."""
    is_mended = any(link.kind == "supersedes" for link in note.memory.relations)
    return is_mended and normalize_note(sentence.words).endswith(normalize_note(note.memory.text))


def claim_about(note: MemoryState, text: str, sentence: Sentence, bearing: ClaimEffect) -> Claim:
    """What a sentence says of a note."""
    return Claim(
        kind="note",
        text=text,
        quotes=(quote_of(sentence),),
        effect=bearing,
        target=note.memory.id,
        confidence=_CONFIDENCE,
    )


def put_off(
    claims: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """The claims; what is said to be at another time takes the place of what it was before."""
    open_ = [each for each in known if each.memory.is_live and is_awaited(each)]
    read = by_quote(sentences)
    told: list[Claim] = []
    for claim in claims:
        found = read.get(claim.quotes[0])
        if found is None:
            told.append(claim)
            continue
        moved = instead_of(claim, *found, open_)
        if moved is not claim or not moved_at_once(claim, *found, told):
            told.append(moved)
    for sentence, book in read.values():
        if sentence.message.role == "person" and not sentence.is_question:
            told = moved_from_day(sentence, book, told, open_)
    yield from told


def moved_from_day(
    sentence: Sentence, book: RuleBook, told: Sequence[Claim], open_: Sequence[MemoryState]
) -> list[Claim]:
    """The claims, with what is not on one day, as a sentence says, but on another.

    It must be the only thing that is to be on the day that is denied.
    """
    days = denied_and_told(sentence, book)
    if days is None:
        return list(told)
    before, after = days
    quote, zone = quote_of(sentence), sentence.message.zone
    if any(quote in each.quotes and each.kind in FUTURE_KINDS for each in told):
        return [  # a day that was put right keeps its hour
            replace(each, due_at=after.at)
            if quote in each.quotes
            and has_hour(after, zone)
            and is_on_day(each.due_at, after, zone)
            else each
            for each in told
        ]
    at_once = [
        each for each in told if each.kind in FUTURE_KINDS and is_on_day(each.due_at, before, zone)
    ]
    taken = {each.target for each in told}
    known = [
        each.memory
        for each in open_
        if is_on_day(each.memory.due_at, before, get_told_zone(each.memory, zone))
        and each.memory.id not in taken
    ]
    candidates: list[Claim | StoredBelief] = [*at_once, *known]
    if len(candidates) != 1:
        return list(told)
    moved = on_day(candidates[0], after, sentence, book)
    if moved is None:
        return list(told)
    return [*(each for each in told if each not in at_once), moved]


def is_on_day(at: Micros | None, due: Due, zone: str) -> bool:
    """Whether a moment, if known, is on the day of another."""
    if at is None:
        return False
    return get_start_of_day(at, zone) == get_start_of_day(due.begins, zone)


def has_hour(due: Due, zone: str) -> bool:
    """Whether a time was named, and not only days, which end a second before midnight."""
    return get_start_of_day(due.at + SECOND, zone) != due.at + SECOND


def denied_and_told(sentence: Sentence, book: RuleBook) -> tuple[Due, Due] | None:
    """The day that one part of a sentence denies, and the one that another tells, if it does so."""
    cues, message = load_cues(book.language), sentence.message
    denied: list[Due] = []
    said: list[Due] = []
    for part in PART.split(sentence.words):
        due = due_in(part, message, book)
        if due is not None:
            is_denied = cues.negation.search(fold_punctuation(part)) is not None
            (denied if is_denied else said).append(due)
    return (denied[0], said[0]) if len(denied) == len(said) == 1 else None


def on_day(
    known: Claim | StoredBelief, due: Due, sentence: Sentence, book: RuleBook
) -> Claim | None:
    """What is known, on another day; nothing if its own is not written in its text."""
    text = with_day(known, due, sentence, book)
    if text is None:
        return None
    if isinstance(known, Claim):
        quotes = (quote_of(sentence), *known.quotes)
        return replace(known, text=text, due_at=due.at, grain=due.grain, quotes=quotes)
    return Claim(
        kind=known.kind,
        text=text,
        quotes=(quote_of(sentence),),
        confidence=MOVED_CONFIDENCE,
        subject=known.subject,
        importance=known.importance,
        relational=known.relational,
        due_at=due.at,
        grain=due.grain,
        effect="supersedes",
        target=known.id,
        denied_value=known_day(known, sentence, book),
    )


def moved_at_once(claim: Claim, sentence: Sentence, book: RuleBook, told: list[Claim]) -> bool:
    """Whether a claim puts off another of the same segment, which then has its day among ``told``.

    No more than one may be meant, and the new day must be written in place of the old one.
    """
    if not tells_move(claim, sentence, book):
        return False
    same = [
        number
        for number, each in enumerate(told)
        if each.kind in FUTURE_KINDS
        and each.effect == "new"
        and each.due_at not in {None, claim.due_at}
        and each.subject == claim.subject
        and may_be_moved(claim, each, sentence, book)
    ]
    due = due_in(sentence.plain, sentence.message, book)
    if len(same) != 1 or due is None:
        return False
    before = told[same[0]]
    text = with_day(before, due, sentence, book)
    if text is None:
        return False
    told[same[0]] = replace(
        before,
        text=text,
        due_at=claim.due_at,
        grain=claim.grain,
        quotes=(*claim.quotes, *before.quotes),
    )
    return True


def tells_move(claim: Claim, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a claim with its day may be one that was to be at another time."""
    if claim.kind not in FUTURE_KINDS or claim.due_at is None or claim.target is not None:
        return False
    return says_moved(sentence, book) or book.instead.definite.search(sentence.plain) is not None


def says_moved(sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence says in words that something is at another time than it was to be."""
    return bool(sentence.denied) or book.instead.moved.search(sentence.plain) is not None


def may_be_moved(
    claim: Claim, known: Claim | StoredBelief, sentence: Sentence, book: RuleBook
) -> bool:
    """Whether a claim is about the matter of another, which is to be at another time.

    Where that is not said in words ("the dentist is on Friday"), only of what is still to come, and
    of nothing else by its words: "my exam" may be another than "my chemistry exam".
    """
    if not is_same_matter(claim, known, book):
        return False
    if says_moved(sentence, book):
        return True
    if known.due_at is None or known.due_at <= sentence.message.at:
        return False
    texts = [promised_in(each.text, book.language) for each in (claim, known)]
    one, other = (matter_of(each, book.language) for each in texts)
    plain = [book.instead.appointment.sub("", each) for each in texts]
    bare, other_bare = (matter_of(each, book.language) for each in plain)
    return one == other or (bool(bare) and bare == other_bare)


def with_day(
    known: Claim | StoredBelief, due: Due, sentence: Sentence, book: RuleBook
) -> str | None:
    """What is known with another day in its text; nothing if its own is not written there."""
    before = known_day(known, sentence, book)
    return known.text.replace(before, due.text) if before and before in known.text else None


def known_day(known: Claim | StoredBelief, sentence: Sentence, book: RuleBook) -> str:
    """The day on which something is to be, as it was written when it was said."""
    zone = sentence.message.zone
    told_zone = get_told_zone(known, zone) if isinstance(known, StoredBelief) else zone
    return day_written(known.due_at, told_zone, book) if known.due_at else ""


def is_awaited(known: MemoryState) -> bool:
    """Whether it is to be: at a time, or promised."""
    memory = known.memory
    return memory.kind in FUTURE_KINDS and (
        memory.due_at is not None or memory.kind == "commitment"
    )


def instead_of(
    claim: Claim, sentence: Sentence, book: RuleBook, open_: Sequence[MemoryState]
) -> Claim:
    """A claim as what takes the place of the one that it puts off, if it does."""
    if not tells_move(claim, sentence, book):
        return claim
    same = [
        each
        for each in open_
        if each.memory.subject == claim.subject
        and each.stats.last_seen < sentence.message.at
        and each.memory.due_at != claim.due_at
        and may_be_moved(claim, each.memory, sentence, book)
    ]
    if len(same) != 1:
        return claim
    return in_its_words(claim, same[0], sentence, book)


def is_same_matter(claim: Claim, known: Claim | StoredBelief, book: RuleBook) -> bool:
    """Whether all that one is about the other is about, too; of a promise, also to whom."""
    if known.kind == "expectation" and is_of_another(claim.text, known.text, book):
        return False
    told = known.text if known.kind == "commitment" else promised_in(known.text, book.language)
    one = matter_of(promised_in(claim.text, book.language), book.language)
    other = matter_of(told, book.language)
    one = frozenset(uninflected(each, other) for each in one)  # "Uwes Umzug"
    return bool(one and other) and (one <= other or other <= one)


def uninflected(word: str, words: Collection[str]) -> str:
    """A word without the s of a genitive, where it stands so among others."""
    return word[:-1] if word.endswith("s") and word[:-1] in words else word


def is_of_another(told: str, known: str, book: RuleBook) -> bool:
    """Whether one is of somebody of whom the other says nothing: "my sister's interview"."""
    parts = frozenset(word for word in book.parts if has_any_word(frozenset({word}), told))
    owner = _load_owner(book.language)
    owners = frozenset(owner.findall(told)) if owner is not None else frozenset[str]()
    return any(each and not has_any_word(each, known) for each in (parts, owners))


@cache
def _load_owner(language: str) -> re.Pattern[str] | None:
    """The expression for whose something is, by name, where that is said before it."""
    source = load_language_pack(language).read("endings").get("owner")
    return None if source is None else re.compile(source)


def in_its_words(claim: Claim, known: MemoryState, sentence: Sentence, book: RuleBook) -> Claim:
    """What was put off, as it was known, with its new day; as it is told now, if that says more."""
    memory, due = known.memory, due_in(sentence.plain, sentence.message, book)
    told = replace(claim, effect="supersedes", target=memory.id)
    one = matter_of(promised_in(claim.text, book.language), book.language)
    if memory.language != book.language or due is None:
        return told
    if memory.kind == claim.kind and not one < matter_of(memory.text, book.language):
        return told
    text = with_day(memory, due, sentence, book)
    if text is None:
        return told
    return replace(
        told,
        kind=memory.kind,
        text=text,
        relational=memory.relational,
        importance=memory.importance,
    )
