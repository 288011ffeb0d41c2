"""What else is over when a fact or preference changes? What said the same in a note, or began it.

A note is in the person's words, and so is what overtakes it; it stays to be read as history.
"""

from collections.abc import Iterator
from dataclasses import replace

from oldfriend.background.deciding.attributes import (
    OPPOSITE,
    folded,
    is_about,
    is_over,
    last_word,
    with_value,
)
from oldfriend.background.deciding.deliberation import Deliberation
from oldfriend.background.extraction import Claim
from oldfriend.domain.memories import Known, Relation
from oldfriend.memory.overtaking import has_one_value


def outdate(thinking: Deliberation, claim: Claim) -> None:
    """End what says otherwise than a fact or preference that is believed now, and was said before.

    What is believed keeps which these were.
    """
    values = [each for each in thinking.live(claim.kind) if is_about(each, claim)]
    holder = with_value(values, claim.value)
    if holder is None or claim.signal == "implicit" or is_over(thinking, claim):
        return
    heard_at = thinking.heard_at(claim)
    outdated = [each for each in said_otherwise(thinking, claim) if last_word(each) < heard_at]
    links = (Relation(kind="supersedes", other=each.memory.id) for each in outdated)
    relations = tuple(dict.fromkeys((*holder.memory.relations, *links)))
    thinking.change(holder, replace(holder.memory, relations=relations), "revised")
    for each in outdated:
        thinking.end(each, "superseded", "superseded", claim, until=claim.holds_from or heard_at)


def said_otherwise(thinking: Deliberation, claim: Claim) -> Iterator[Known]:
    """The notes that give another value of the same, and what tells that it came to be so."""
    if claim.subject != "person":
        return
    for known in thinking.live("note"):
        stated = thinking.stated(known.memory)
        if stated is not None and is_otherwise(claim, *stated):
            yield known
    for known in thinking.live("event") if claim.ends is not None else ():
        began = thinking.began(known.memory)
        if began and claim.ends is not None and folded(began) == folded(claim.ends.value):
            yield known


def is_otherwise(claim: Claim, key: str, value: str) -> bool:
    """Whether a value of a key cannot hold beside a claim."""
    if key == OPPOSITE.get(claim.key):
        return folded(value) == folded(claim.value)
    if key != claim.key or folded(value) == folded(claim.value):
        return False
    was = "" if claim.ends is None else claim.ends.value
    return has_one_value(claim.kind, claim.key) or folded(value) == folded(was)
