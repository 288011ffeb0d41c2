"""What else is over, when something is? With a job, where somebody works; with a dog, its name.

In doubt nothing: who has left a job may have told of the next one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import RuleBook
from oldfriend.background.rules.ending import is_over, tells_end, turned_round
from oldfriend.background.rules.naming import by_quote
from oldfriend.background.rules.replacing import told_by
from oldfriend.background.rules.sentences import Sentence, starts_in
from oldfriend.background.rules.stating import says_more
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Known
from oldfriend.domain.ties import PETS, RELATION_OF
from oldfriend.memory.overtaking import since

OCCUPATION: Final = "occupation"
WORKPLACE: Final = "workplace"
ANIMALS: Final = "pets"


def over_along(
    claims: Sequence[Claim], sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[Known]
) -> Iterator[Claim]:
    """What is so no more because of what else is told to be over."""
    read = by_quote(sentences)
    began = {each.memory.key: since(each) for each in known if each.memory.is_live}
    ended = {(each.ends.key, each.ends.value) for each in claims if each.ends is not None}
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
    if over.key != ANIMALS or over.ends is None:
        return False
    one = book.along.one_pet.fullmatch(over.ends.value)
    kind = book.part_called(one["part"]).relation if one else ""
    is_it = kind in PETS and was.key.endswith(RELATION_OF) and was.value == kind
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
