"""Implied endings: ends facts that depend on an ended one, such as the employer when a job ends.

With a dog goes its name. In doubt nothing ends: someone who has left a job may have named the next
one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.relations import PET_ROLES, RELATION_KEY_SUFFIX
from oldfriend.domain.supersession import get_valid_since
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.ended_states import is_over, tells_end, turned_round
from oldfriend.learning.rule_extraction.entity_mentions import by_quote
from oldfriend.learning.rule_extraction.role_changes import told_by
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.learning.rule_extraction.simple_statements import says_more

OCCUPATION: Final = "occupation"
WORKPLACE: Final = "workplace"
ANIMALS: Final = "pets"


def over_along(
    claims: Sequence[Claim],
    sentences: Iterable[tuple[Sentence, RuleBook]],
    known: Sequence[MemoryState],
) -> Iterator[Claim]:
    """What is so no more because of what else is told to be over."""
    read = by_quote(sentences)
    began = {each.memory.key: get_valid_since(each) for each in known if each.memory.is_live}
    ended = {
        (each.ended_claim.key, each.ended_claim.value)
        for each in claims
        if each.ended_claim is not None
    }
    told = told_by(claims, read, known)
    told = [(at, each) for at, each in told if (each.key, each.value) not in ended]
    for claim in claims:
        sentence, book = read[claim.quotes[0]]
        since_then = claim.holds_from or sentence.message.at
        with_it = [(at, was) for at, was in told if goes_along(was, claim, sentence, book)]
        if any(at >= sentence.message.at for at, _ in with_it):
            continue
        for at, was in with_it:
            if began.get(was.key, at) <= since_then + DAY:
                until = max(since_then, began.get(was.key, at))
                yield is_over(replace(was, quotes=claim.quotes, holds_until=until), book)


def goes_along(was: Claim, over: Claim, sentence: Sentence, book: RuleBook) -> bool:
    """Whether what was told cannot hold any more, with what is over."""
    if tells_end(was.value):
        return False
    if over.key == OCCUPATION and over.subject == "person" and over.value in book.along.jobless:
        return was.key == WORKPLACE and was.subject == "person"
    if over.key != ANIMALS or over.ended_claim is None:
        return False
    one = book.along.one_pet.fullmatch(over.ended_claim.value)
    kind = book.part_called(one["part"]).relation if one else ""
    is_it = kind in PET_ROLES and was.key.endswith(RELATION_KEY_SUFFIX) and was.value == kind
    return is_it and is_gone(kind, sentence, book)


def is_gone(kind: str, sentence: Sentence, book: RuleBook) -> bool:
    """Whether the words say that there is no animal of a kind any more, and say no more.

    Who has no dog at work may have one at home.
    """
    before = turned_round(sentence, book)
    animals = book.along.one_pet.finditer(before.plain) if before is not None else ()
    one = next((each for each in animals if book.part_called(each["part"]).relation == kind), None)
    if before is None or one is None:
        return False
    begins = max((each for each in before.starts if each <= one.start()), default=0)
    rest = before.plain[one.end() :]
    ends = next((each for each in starts_in(rest, book) if each), len(rest))
    lead = book.lead.match(before.plain)
    is_led = lead is not None and lead.end() >= begins
    return (is_led or not says_more(before.plain[:begins])) and not says_more(rest[:ends])
