"""Which appointment is at another time now? "The interview has been moved to Friday."

One that the words call the same, with a word that says that it was to be otherwise.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import RuleBook
from oldfriend.background.rules.keeping import matter_of, promised_in
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import Known


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
    """Whether it is to be, at a time."""
    return known.memory.kind == "expectation" and known.memory.due_at is not None


def instead_of(
    claim: Claim, sentence: Sentence, book: RuleBook, open_: Sequence[Known]
) -> Claim:  # fmt: skip
    """A claim as what takes the place of the one that it puts off, if it does."""
    if claim.kind != "expectation" or claim.due_at is None or claim.target is not None:
        return claim
    if not book.moved.search(sentence.plain):
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
    return replace(claim, bearing="supersedes", target=same[0].memory.id)


def is_same_matter(claim: Claim, known: Known, book: RuleBook) -> bool:
    """Whether all that one of them is about, the other is about, too."""
    one = matter_of(promised_in(claim.text, book.language), book.language)
    other = matter_of(promised_in(known.memory.text, book.language), book.language)
    return bool(one and other) and (one <= other or other <= one)
