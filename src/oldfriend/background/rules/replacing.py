"""Whose place has somebody else taken? "My new boss is Tina.", "No, my boss is Tina."

Of bosses, therapists and partners there is one at a time; who is put right speaks of one whatever
the part. Where several are known, or none, nobody's place is taken.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.rules.books import RuleBook
from oldfriend.background.rules.ending import is_over
from oldfriend.background.rules.sentences import Sentence
from oldfriend.domain.memories import Known
from oldfriend.domain.ties import LOVES, RELATION_OF

CONFIDENCE: Final = 0.9
ONE_AT_A_TIME: Final = frozenset({"boss", "therapist", "landlord", "landlady", *LOVES})


def replaced_in(
    claims: Iterable[Claim], sentences: Iterable[tuple[Sentence, RuleBook]], known: Sequence[Known]
) -> Iterator[Claim]:
    """For each that is said to be somebody's … instead of another, that the other is so no more."""
    read = {(sentence.message.id, sentence.words): (sentence, book) for sentence, book in sentences}
    told = {e.memory.key: (e.standing.last_seen, as_told(e)) for e in known if is_relation(e)}
    for claim in [each for each in claims if each.key.endswith(RELATION_OF)]:
        sentence, book = read[claim.quotes[0].message, claim.quotes[0].text]
        same = [(at, each) for at, each in told.values() if each.value == claim.value]
        before = [each for at, each in same if at < sentence.message.at]
        is_new = claim.key not in told and len(same) == len(before) == 1
        if is_new and takes_place(sentence, claim.value, book):
            over = replace(before[0], quotes=claim.quotes, holds_until=sentence.message.at)
            del told[over.key]
            yield is_over(over, book)
        told[claim.key] = (sentence.message.at, claim)


def is_relation(known: Known) -> bool:
    """Whether it tells what somebody is to the person now."""
    memory = known.memory
    return memory.kind == "fact" and memory.is_live and memory.key.endswith(RELATION_OF)


def as_told(known: Known) -> Claim:
    """What is known of somebody, as it was told."""
    memory = known.memory
    return Claim(
        kind="fact", text=memory.text, quotes=(), confidence=CONFIDENCE, subject=memory.subject,
        key=memory.key, value=memory.value, names=(memory.key.removesuffix(RELATION_OF),),
    )  # fmt: skip


def takes_place(sentence: Sentence, part: str, book: RuleBook) -> bool:
    """Whether the words put right who it is, or tell of a new one where there is but one."""
    if book.instead.put_right.search(sentence.plain):
        return True
    return part in ONE_AT_A_TIME and book.instead.new_one.search(sentence.plain) is not None
