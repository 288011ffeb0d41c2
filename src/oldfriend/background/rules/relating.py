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
from oldfriend.background.rules.naming import is_name, is_reported, quote_of
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import EntityKind, Tie
from oldfriend.domain.ties import PETS, TIE_OF_PART, TIES

PRONOUNS: Final = frozenset("我你您他她它")


def ties_told(sentences: Iterable[tuple[Sentence, RuleBook]], known: Collection[str]) -> list[Tied]:
    """The ties between two that the person tells of by both names."""
    return [
        tied
        for sentence, book in sentences
        if sentence.message.role == "person" and not sentence.is_question
        for tied in tied_in(sentence, book, known)
    ]


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


def tied_in(sentence: Sentence, book: RuleBook, known: Collection[str]) -> Iterator[Tied]:
    """The ties between two who are named in a sentence."""
    for found in named_together(book.related, sentence, book, known):
        part = book.part_called(found["part"])
        ends = (found["first"], found["second"])
        yield of_part(said_in(sentence, found[0]), part.relation, ends)
    for pair, tie in book.pairs:
        for found in named_together([pair], sentence, book, known):
            yield tied_by(said_in(sentence, found[0]), tie, (found["first"], found["second"]))


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
