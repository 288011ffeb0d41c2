"""Which appointment or promise is at another time now? "The interview has been moved to Friday."

One that the words call the same, with a word that says that it was to be otherwise.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import RuleBook
from oldfriend.background.rules.keeping import matter_of, promised_in
from oldfriend.background.rules.moments import day_written, due_in
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import Known, MemoryKind

AWAITED: Final[frozenset[MemoryKind]] = frozenset({"expectation", "commitment"})
"""What can be put off."""


def put_off(
    claims: Iterable[Claim], sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[Known]
) -> Iterator[Claim]:
    """The claims; what is said to be at another time takes the place of what it was before."""
    open_ = [each for each in known if each.memory.is_live and is_awaited(each)]
    read = {(sentence.message.id, sentence.words): (sentence, book) for sentence, book in sentences}
    for claim in claims:
        found = read.get((claim.quotes[0].message, claim.quotes[0].text))
        before = claim if found is None else instead_of(claim, *found, open_)
        yield before


def is_awaited(known: Known) -> bool:
    """Whether it is to be: at a time, or promised."""
    memory = known.memory
    return memory.kind in AWAITED and (memory.due_at is not None or memory.kind == "commitment")


def instead_of(
    claim: Claim, sentence: Sentence, book: RuleBook, open_: Sequence[Known]
) -> Claim:  # fmt: skip
    """A claim as what takes the place of the one that it puts off, if it does."""
    if claim.kind not in AWAITED or claim.due_at is None or claim.target is not None:
        return claim
    if not book.instead.moved.search(sentence.plain):
        return claim
    same = [
        each
        for each in open_
        if each.memory.subject == claim.subject
        and each.standing.last_seen < sentence.message.at
        and each.memory.due_at != claim.due_at
        and is_same_matter(claim, each, book)
    ]
    if len(same) != 1:
        return claim
    return in_its_words(claim, same[0], sentence, book)


def is_same_matter(claim: Claim, known: Known, book: RuleBook) -> bool:
    """Whether all that one is about the other is about, too; of a promise, also to whom."""
    memory = known.memory
    told = memory.text if memory.kind == "commitment" else promised_in(memory.text, book.language)
    one = matter_of(promised_in(claim.text, book.language), book.language)
    other = matter_of(told, book.language)
    one = frozenset(each[:-1] if each[:-1] in other else each for each in one)  # "Uwes Umzug"
    return bool(one and other) and (one <= other or other <= one)


def in_its_words(claim: Claim, known: Known, sentence: Sentence, book: RuleBook) -> Claim:
    """What was put off, as it was known, with its new day; as it is told now, if that says more."""
    memory, due = known.memory, due_in(sentence.plain, sentence.message, book)
    told = replace(claim, bearing="supersedes", target=memory.id)
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
        told, kind=memory.kind, text=text, relational=memory.relational,
        importance=memory.importance,
    )  # fmt: skip
