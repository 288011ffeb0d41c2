"""Role changes: recognizes that somebody has taken over a role ("My new boss is Tina.").

There is one boss, therapist or partner at a time; in a plain correction ("No, my boss is Tina.")
that holds for any role, while "No, my brother Tom called" adds a brother. If several holders are
known, or none, nobody is replaced.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.relations import PARTNER_ROLES, RELATION_KEY_SUFFIX
from oldfriend.learning.extraction import Claim, Quote
from oldfriend.learning.rule_extraction.ended_states import is_over
from oldfriend.learning.rule_extraction.entity_mentions import by_quote
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence
from oldfriend.learning.rule_extraction.simple_statements import says_more
from oldfriend.search.attribute_lookup import parse_key_owner
from oldfriend.search.question_patterns import has_any_word

CONFIDENCE: Final = 0.9
ONE_AT_A_TIME: Final = frozenset({"boss", "therapist", "landlord", "landlady", *PARTNER_ROLES})


def replaced_in(
    claims: Iterable[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """For each that is said to be somebody's … instead of another, that the other is so no more."""
    read = by_quote(sentences)
    told = {e.memory.key: (e.stats.last_seen, as_told(e)) for e in known if is_relation(e)}
    for claim in [each for each in claims if each.key.endswith(RELATION_KEY_SUFFIX)]:
        sentence, book = read[claim.quotes[0]]
        same = [(at, each) for at, each in told.values() if each.value == claim.value]
        wrong = [(at, each) for at, each in same if is_denied(each, claim, sentence, book)]
        before = [each for at, each in wrong or same if at < sentence.message.at]
        is_new = claim.key not in told and len(wrong or same) == len(before) == 1
        if is_new and (wrong or takes_place(sentence, claim, book)):
            over = replace(before[0], quotes=claim.quotes, holds_until=sentence.message.at)
            del told[over.key]
            yield replace(is_over(over, book), denied_value=sentence.denied if wrong else "")
        told[claim.key] = (sentence.message.at, claim)


def is_denied(told: Claim, claim: Claim, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence says of whoever was told of that it is not they: "Mizo, not Miso".

    Only where it says who plays the part, and nothing else: in "my sister Ana is coming, not Eva"
    both are sisters.
    """
    name = told.key.removesuffix(RELATION_KEY_SUFFIX)
    is_other = sentence.denied and has_any_word(frozenset({name.casefold()}), sentence.denied)
    return bool(is_other) and says_who(claim.key.removesuffix(RELATION_KEY_SUFFIX), sentence, book)


def is_relation(known: MemoryState) -> bool:
    """Whether it tells what somebody is to the person now."""
    memory = known.memory
    return memory.kind == "fact" and memory.is_live and memory.key.endswith(RELATION_KEY_SUFFIX)


def as_told(known: MemoryState) -> Claim:
    """What is known of somebody, as it was told."""
    memory = known.memory
    return Claim(
        kind="fact",
        text=memory.text,
        quotes=(),
        confidence=CONFIDENCE,
        subject=memory.subject,
        key=memory.key,
        value=memory.value,
        names=(parse_key_owner(memory),),
    )


def told_by(
    claims: Iterable[Claim],
    read: Mapping[Quote, tuple[Sentence, RuleBook]],
    known: Iterable[MemoryState],
) -> list[tuple[Micros, Claim]]:
    """What is believed and what is told, as it was told, and when last."""
    return [
        *((each.stats.last_seen, as_told(each)) for each in known if each.memory.is_live),
        *(
            (max(read[quote][0].message.at for quote in each.quotes if quote in read), each)
            for each in claims
        ),
    ]


def takes_place(sentence: Sentence, claim: Claim, book: RuleBook) -> bool:
    """Whether the words put right who it is, or tell of a new one where there is but one."""
    if puts_right(sentence, claim.key.removesuffix(RELATION_KEY_SUFFIX), book):
        return True
    is_one = claim.value in ONE_AT_A_TIME
    return is_one and book.instead.new_one.search(sentence.plain) is not None


def puts_right(sentence: Sentence, name: str, book: RuleBook) -> bool:
    """Whether a sentence says that it was wrong, then who it is, and nothing besides."""
    wrong = book.instead.put_right.search(sentence.plain)
    return wrong is not None and says_who(name, sentence, book, since=wrong.end())


def says_who(name: str, sentence: Sentence, book: RuleBook, *, since: int = 0) -> bool:
    """Whether a sentence says from a place on who plays a part, and nothing besides."""
    named = (each.finditer(sentence.plain, since) for each in book.naming)
    return any(
        found["name"] == name
        and book.instead.is_called.search(found[0]) is not None
        and is_all(found, since, sentence)
        for found in chain.from_iterable(named)
    )


def is_all(found: re.Match[str], since: int, sentence: Sentence) -> bool:
    """Whether what was found is a whole clause, the last one of a sentence."""
    before, after = sentence.plain[since : found.start()], sentence.plain[found.end() :]
    begins = found.start() in sentence.starts or not says_more(before)
    return begins and not says_more(after)
