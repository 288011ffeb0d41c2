"""Who and what is tied to whom, as plainly said? "Ben is Ana's husband.", "I visited Lisbon."

What is told as a fact is a tie already ("my sister Ana", "Ana works at Siemens"), and not said
again. Nothing is concluded from two ties.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim, Named, Quote, Tied
from oldfriend.background.rules.books import RuleBook
from oldfriend.background.rules.ending import turned_round
from oldfriend.background.rules.moments import past_in
from oldfriend.background.rules.naming import is_name, is_reported, quote_of
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import EntityKind, Tie
from oldfriend.domain.ties import PETS, TIE_OF_PART, TIES

PRONOUNS: Final = frozenset("我你您他她它")


def ties_told(sentences: Iterable[tuple[Sentence, RuleBook]], known: Collection[str]) -> list[Tied]:
    """The ties between two that the person tells of by both names, and those that are no more."""
    told = [
        (sentence, book)
        for sentence, book in sentences
        if sentence.message.role == "person" and not sentence.is_question
    ]
    ties = [tied for sentence, book in told for _, tied in tied_in(sentence, book, known)]
    known = {*known, *(named.name for named in names_in(ties))}
    return [*ties, *(tied for sentence, book in told for tied in parted_in(sentence, book, known))]


def names_in(ties: Iterable[Tied]) -> Iterator[Named]:
    """Whom ties name: people, and their pets."""
    for tied in ties:
        kinds: tuple[EntityKind, EntityKind] = ("person", "pet" if tied.tie == "owns" else "person")
        for name, kind in zip((tied.first, tied.second), kinds, strict=True):
            yield Named(name=name, kind=kind, quotes=tied.quotes)


def ties_in(
    claims: Iterable[Claim], told: Iterable[Tied], sentences: Iterable[tuple[Sentence, RuleBook]]
) -> tuple[Tied, ...]:
    """All that is tied in some talk, each once: by both names, or by the person to a place."""
    books = {sentence.message.id: book for sentence, book in sentences}
    placed = (
        tied
        for claim in claims
        if (tied := tie_of(claim, books[claim.quotes[0].message])) is not None
    )
    return each_once((*placed, *told))


def tie_of(claim: Claim, book: RuleBook) -> Tied | None:
    """The tie that a rule for ties has found."""
    who, _, key = claim.key.rpartition(":")
    tie = next((each for each in TIES if each == key), None)
    if claim.kind != "triple" or tie is None or not is_name(claim.value, book):
        return None
    return Tied(tie=tie, first=who, second=claim.value, claim=replace(claim, key=tie))


def of_part(claim: Claim, part: str, ends: tuple[str, str]) -> Tied:
    """That the first is the … of the second; a pet is theirs."""
    first, second = ends
    if part in PETS:
        return tied_by(claim, "owns", (second, first))
    return tied_by(claim, TIE_OF_PART[part], (first, second))


def tied_by(claim: Claim, tie: Tie, ends: tuple[str, str]) -> Tied:
    """A tie that is told by what tells something else, too."""
    said = Claim(
        kind="triple", text=claim.text, quotes=claim.quotes, key=tie, confidence=claim.confidence,
        subject="person" if "" in ends else "other", holds_from=claim.holds_from,
        holds_until=claim.holds_until,
    )  # fmt: skip
    return Tied(tie=tie, first=ends[0], second=ends[1], claim=said)


def parted_in(sentence: Sentence, book: RuleBook, known: Collection[str]) -> Iterator[Tied]:
    """The ties that a sentence says are no more, where a statement begins, of two who are known."""
    before = turned_round(sentence, book)
    if before is None:
        return
    still = {(tied.tie, tied.first, tied.second) for _, tied in tied_in(sentence, book, known)}
    past = past_in(sentence.plain, sentence.message, book)
    until = past.begins if past else sentence.message.at
    begins = {*begins_of_names(before, book)}
    for place, tied in tied_in(before, book, known):
        is_told = place in begins and {tied.first, tied.second} <= {*known}
        if is_told and (tied.tie, tied.first, tied.second) not in still:
            yield replace(tied, claim=replace(tied.claim, holds_until=until))


def begins_of_names(sentence: Sentence, book: RuleBook) -> Iterator[int]:
    """Where statements begin, or the names in them of whom they tell: "my sister Ana"."""
    yield from sentence.starts
    for naming in book.naming:
        for found in naming.finditer(sentence.plain):
            if found.start() in sentence.starts:
                yield found.start("name")


def tied_in(
    sentence: Sentence, book: RuleBook, known: Collection[str]
) -> Iterator[tuple[int, Tied]]:
    """The ties between two who are named in a sentence, and where it names them."""
    for found in named_together(book.related, sentence, book, known):
        part = book.part_called(found["part"])
        ends = (found["first"], found["second"])
        named = min(found.start("first"), found.start("second"))
        yield named, of_part(said_in(sentence, found[0]), part.relation, ends)
    for pair, tie in book.pairs:
        for found in named_together([pair], sentence, book, known):
            ends = (found["first"], found["second"])
            yield found.start("first"), tied_by(said_in(sentence, found[0]), tie, ends)


def named_together(
    patterns: Iterable[re.Pattern[str]], sentence: Sentence, book: RuleBook, known: Collection[str]
) -> Iterator[re.Match[str]]:
    """Where a sentence speaks of two by name, in its speaker's own words."""
    for pattern in patterns:
        for found in pattern.finditer(sentence.plain):
            ends = (found["first"], found["second"])
            if are_names(ends, book, known) and not is_reported(sentence, found.start(), book):
                yield found


def are_names(ends: tuple[str, str], book: RuleBook, known: Collection[str]) -> bool:
    """Whether both are surely named; where a script has no large letters, one has to be known."""
    if ends[0] == ends[1] or not all(is_name(each, book) for each in ends):
        return False
    return book.language != "zh" or (
        not PRONOUNS.intersection("".join(ends)) and any(each in known for each in ends)
    )


def said_in(sentence: Sentence, words: str) -> Claim:
    """That something was said in so many words."""
    text = words.strip(" ,，.。")
    text = text[:1].upper() + text[1:] + ("。" if sentence.message.language == "zh" else ".")
    return Claim(kind="triple", text=text, quotes=(quote_of(sentence),), confidence=0.9)


def each_once(ties: Iterable[Tied]) -> tuple[Tied, ...]:
    """The same tie told twice is one, resting on both places."""
    kept: dict[tuple[str, ...], Tied] = {}
    for tied in ties:
        when = f"{tied.claim.holds_from} {tied.claim.holds_until}"
        same = (tied.tie, tied.first.casefold(), tied.second.casefold(), when)
        known = kept.get(same)
        quotes: tuple[Quote, ...] = (*(known.quotes if known else ()), *tied.quotes)
        one = known or tied
        kept[same] = replace(
            one, claim=replace(one.claim, quotes=tuple(dict.fromkeys(quotes)))
        )  # fmt: skip
    return tuple(kept.values())
