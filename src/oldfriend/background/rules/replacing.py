"""Whose place has somebody else taken? "My new boss is Tina.", "No, my boss is Tina."

Of bosses, therapists and partners there is one at a time; who puts right who it is, and says no
more, speaks of one whatever the part: "No, my brother Tom called" is of one more. Where several are
known, or none, nobody's place is taken.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from oldfriend.background.extraction import Claim, Quote
from oldfriend.background.rules.books import RuleBook
from oldfriend.background.rules.ending import is_over
from oldfriend.background.rules.naming import by_quote
from oldfriend.background.rules.sentences import Sentence
from oldfriend.background.rules.stating import says_more
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Known
from oldfriend.domain.ties import LOVES, RELATION_OF
from oldfriend.memory.search.asked_for import owner_of
from oldfriend.memory.search.questions import names_any

CONFIDENCE: Final = 0.9
ONE_AT_A_TIME: Final = frozenset({"boss", "therapist", "landlord", "landlady", *LOVES})


def replaced_in(
    claims: Iterable[Claim], sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[Known]
) -> Iterator[Claim]:
    """For each that is said to be somebody's … instead of another, that the other is so no more."""
    read = by_quote(sentences)
    told = {e.memory.key: (e.standing.last_seen, as_told(e)) for e in known if is_relation(e)}
    for claim in [each for each in claims if each.key.endswith(RELATION_OF)]:
        sentence, book = read[claim.quotes[0]]
        same = [(at, each) for at, each in told.values() if each.value == claim.value]
        wrong = [(at, each) for at, each in same if is_denied(each, claim, sentence, book)]
        before = [each for at, each in wrong or same if at < sentence.message.at]
        is_new = claim.key not in told and len(wrong or same) == len(before) == 1
        if is_new and (wrong or takes_place(sentence, claim, book)):
            over = replace(before[0], quotes=claim.quotes, holds_until=sentence.message.at)
            del told[over.key]
            yield replace(is_over(over, book), denied=sentence.denied if wrong else "")
        told[claim.key] = (sentence.message.at, claim)


def is_denied(told: Claim, claim: Claim, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence says of whoever was told of that it is not they: "Mizo, not Miso".

    Only where it says who plays the part, and nothing else: in "my sister Ana is coming, not Eva"
    both are sisters.
    """
    name = told.key.removesuffix(RELATION_OF)
    is_other = sentence.denied and names_any(frozenset({name.casefold()}), sentence.denied)
    return bool(is_other) and says_who(claim.key.removesuffix(RELATION_OF), sentence, book)


def is_relation(known: Known) -> bool:
    """Whether it tells what somebody is to the person now."""
    memory = known.memory
    return memory.kind == "fact" and memory.is_live and memory.key.endswith(RELATION_OF)


def as_told(known: Known) -> Claim:
    """What is known of somebody, as it was told."""
    memory = known.memory
    return Claim(
        kind="fact", text=memory.text, quotes=(), confidence=CONFIDENCE, subject=memory.subject,
        key=memory.key, value=memory.value, names=(owner_of(memory),),
    )  # fmt: skip


def told_by(
    claims: Iterable[Claim], read: Mapping[Quote, tuple[Sentence, RuleBook]], known: Iterable[Known]
) -> list[tuple[Micros, Claim]]:
    """What is believed and what is told, as it was told, and when last."""
    return [
        *((each.standing.last_seen, as_told(each)) for each in known if each.memory.is_live),
        *(
            (max(read[quote][0].message.at for quote in each.quotes if quote in read), each)
            for each in claims
        ),
    ]


def takes_place(sentence: Sentence, claim: Claim, book: RuleBook) -> bool:
    """Whether the words put right who it is, or tell of a new one where there is but one."""
    if puts_right(sentence, claim.key.removesuffix(RELATION_OF), book):
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
