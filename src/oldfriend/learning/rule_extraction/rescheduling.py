"""Rescheduling: finds the appointment or promise that a statement moves to another time.

"The interview has been moved to Friday" needs both a match by words and a word for the change.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.memories import MemoryState
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.datetimes import day_written, due_in
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
    for claim in claims:
        found = read.get(claim.quotes[0])
        before = claim if found is None else instead_of(claim, *found, open_)
        yield before


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
    if claim.kind not in FUTURE_KINDS or claim.due_at is None or claim.target is not None:
        return claim
    if not sentence.denied and not book.instead.moved.search(sentence.plain):
        return claim
    same = [
        each
        for each in open_
        if each.memory.subject == claim.subject
        and each.stats.last_seen < sentence.message.at
        and each.memory.due_at != claim.due_at
        and is_same_matter(claim, each, book)
    ]
    if len(same) != 1:
        return claim
    return in_its_words(claim, same[0], sentence, book)


def is_same_matter(claim: Claim, known: MemoryState, book: RuleBook) -> bool:
    """Whether all that one is about the other is about, too; of a promise, also to whom."""
    memory = known.memory
    if memory.kind == "expectation" and is_of_another(claim.text, memory.text, book):
        return False
    told = memory.text if memory.kind == "commitment" else promised_in(memory.text, book.language)
    one = matter_of(promised_in(claim.text, book.language), book.language)
    other = matter_of(told, book.language)
    one = frozenset(each[:-1] if each[:-1] in other else each for each in one)  # "Uwes Umzug"
    return bool(one and other) and (one <= other or other <= one)


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
    before = day_written(memory.due_at, sentence.message.zone, book) if memory.due_at else ""
    if not before or before not in memory.text:
        return told
    text = memory.text.replace(before, due.text)
    return replace(
        told,
        kind=memory.kind,
        text=text,
        relational=memory.relational,
        importance=memory.importance,
    )
