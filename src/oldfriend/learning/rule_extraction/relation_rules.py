"""Relation rules: reads plainly stated relations ("Ben is Ana's husband.", "I visited Lisbon.").

A fact that already expresses a relation ("my sister Ana", "Ana works at Siemens") is not repeated
as one. Nothing is inferred from two relations.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.domain.memories import EntityKind, RelationType
from oldfriend.domain.relations import PET_ROLES, RELATION_BY_ROLE, RELATION_TYPES
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.extraction import Claim, EntityMention, Quote, RelationClaim
from oldfriend.learning.rule_extraction.datetimes import past_in
from oldfriend.learning.rule_extraction.ended_states import turned_round
from oldfriend.learning.rule_extraction.entity_mentions import is_name, is_reported, quote_of
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence

PRONOUNS: Final = frozenset("我你您他她它")


def ties_told(
    sentences: Iterable[tuple[Sentence, RuleBook]], known: Collection[str]
) -> list[RelationClaim]:
    """The ties between two that the person tells of by both names, and those that are no more."""
    told = [
        (sentence, book)
        for sentence, book in sentences
        if sentence.message.role == "person" and not sentence.is_question
    ]
    ties = [tied for sentence, book in told for _, tied in tied_in(sentence, book, known)]
    known = {*known, *(named.name for named in names_in(ties))}
    return [*ties, *(tied for sentence, book in told for tied in parted_in(sentence, book, known))]


def names_in(ties: Iterable[RelationClaim]) -> Iterator[EntityMention]:
    """Whom ties name: people, and their pets."""
    for tied in ties:
        kinds: tuple[EntityKind, EntityKind] = (
            "person",
            "pet" if tied.kind == "owns" else "person",
        )
        for name, kind in zip((tied.first, tied.second), kinds, strict=True):
            yield EntityMention(name=name, kind=kind, quotes=tied.quotes)


def ties_in(
    claims: Iterable[Claim],
    told: Iterable[RelationClaim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
) -> tuple[RelationClaim, ...]:
    """All that is tied in some talk, each once: by both names, or by the person to a place."""
    books = {sentence.message.id: book for sentence, book in sentences}
    placed = (
        tied
        for claim in claims
        if (tied := tie_of(claim, books[claim.quotes[0].message])) is not None
    )
    return each_once((*placed, *told))


def tie_of(claim: Claim, book: RuleBook) -> RelationClaim | None:
    """The tie that a rule for ties has found."""
    who, _, key = claim.key.rpartition(":")
    tie = next((each for each in RELATION_TYPES if each == key), None)
    if claim.kind != "triple" or tie is None or not is_name(claim.value, book):
        return None
    return RelationClaim(kind=tie, first=who, second=claim.value, claim=replace(claim, key=tie))


def of_part(claim: Claim, part: str, ends: tuple[str, str]) -> RelationClaim:
    """That the first is the … of the second; a pet is theirs."""
    first, second = ends
    if part in PET_ROLES:
        return tied_by(claim, "owns", (second, first))
    return tied_by(claim, RELATION_BY_ROLE[part], (first, second))


def tied_by(claim: Claim, tie: RelationType, ends: tuple[str, str]) -> RelationClaim:
    """A tie that is told by what tells something else, too."""
    said = Claim(
        kind="triple",
        text=claim.text,
        quotes=claim.quotes,
        key=tie,
        confidence=claim.confidence,
        subject="person" if "" in ends else "other",
        holds_from=claim.holds_from,
        holds_until=claim.holds_until,
    )
    return RelationClaim(kind=tie, first=ends[0], second=ends[1], claim=said)


def parted_in(
    sentence: Sentence, book: RuleBook, known: Collection[str]
) -> Iterator[RelationClaim]:
    """The ties that a sentence says are no more, where a statement begins, of two who are known."""
    before = turned_round(sentence, book)
    if before is None:
        return
    still = {(tied.kind, tied.first, tied.second) for _, tied in tied_in(sentence, book, known)}
    past = past_in(sentence.plain, sentence.message, book)
    until = past.begins if past else sentence.message.at
    begins = {*begins_of_names(before, book)}
    for place, tied in tied_in(before, book, known):
        is_told = place in begins and {tied.first, tied.second} <= {*known}
        if is_told and (tied.kind, tied.first, tied.second) not in still:
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
) -> Iterator[tuple[int, RelationClaim]]:
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
    patterns: Iterable[LazyPattern], sentence: Sentence, book: RuleBook, known: Collection[str]
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
    return not get_traits(book.language).is_han or (
        not PRONOUNS.intersection("".join(ends)) and any(each in known for each in ends)
    )


def said_in(sentence: Sentence, words: str) -> Claim:
    """That something was said in so many words."""
    text = words.strip(" ,，.。")
    full_stop = "。" if get_traits(sentence.message.language).is_han else "."
    text = text[:1].upper() + text[1:] + full_stop
    return Claim(kind="triple", text=text, quotes=(quote_of(sentence),), confidence=0.9)


def each_once(ties: Iterable[RelationClaim]) -> tuple[RelationClaim, ...]:
    """The same tie told twice is one, resting on both places."""
    kept: dict[tuple[str, ...], RelationClaim] = {}
    for tied in ties:
        when = f"{tied.claim.holds_from} {tied.claim.holds_until}"
        same = (tied.kind, tied.first.casefold(), tied.second.casefold(), when)
        known = kept.get(same)
        quotes: tuple[Quote, ...] = (*(known.quotes if known else ()), *tied.quotes)
        one = known or tied
        kept[same] = replace(one, claim=replace(one.claim, quotes=tuple(dict.fromkeys(quotes))))
    return tuple(kept.values())
