"""Rescheduling: finds the appointment or promise that a statement moves to another time.

"The interview has been moved to Friday" needs both a match by words and a word for the change.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.datetimes import Due, day_written, due_in
from oldfriend.learning.rule_extraction.entity_mentions import by_quote
from oldfriend.learning.rule_extraction.fulfilled_promises import matter_of, promised_in
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.search.question_patterns import has_any_word


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
    yield from told


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
        and is_same_matter(claim, each, book)
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
    return bool(sentence.denied) or book.instead.moved.search(sentence.plain) is not None


def with_day(known: Claim | Memory, due: Due, sentence: Sentence, book: RuleBook) -> str | None:
    """What is known with another day in its text; nothing if its own is not written there."""
    before = day_written(known.due_at, sentence.message.zone, book) if known.due_at else ""
    return known.text.replace(before, due.text) if before and before in known.text else None


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
        and is_same_matter(claim, each.memory, book)
    ]
    if len(same) != 1:
        return claim
    return in_its_words(claim, same[0], sentence, book)


def is_same_matter(claim: Claim, known: Claim | Memory, book: RuleBook) -> bool:
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
