"""What becomes of a claim about how somebody is, or what they like? One value for each key.

What was said later in the world counts, whenever it was read: importing old talk overrules
nothing that is newer.
"""

import unicodedata
from dataclasses import replace
from typing import Final

from oldfriend.background.deciding.deliberation import SURE_ENOUGH, Deliberation
from oldfriend.background.extraction import Claim
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Known, Memory, Status
from oldfriend.memory.overtaking import MANY, SINGLE, is_same_key, since

JUST_NOW: Final = 31 * DAY
"""What began so shortly before is no story of old times."""

OPPOSITE: Final = {"interests": "dislikes", "dislikes": "interests"}
"""Who begins to dislike something no longer likes it."""


def decide_fact(thinking: Deliberation, claim: Claim) -> None:
    """A fact: known already, new, newer than what is known, or older."""
    rivals = [
        each
        for each in thinking.live("fact")
        if each.memory.key == claim.key and each.memory.subject == claim.subject
    ]
    if twin := with_value(rivals, claim):
        strengthen(thinking, twin, claim)
    elif claim.key.rpartition(":")[2] in MANY or not rivals:
        thinking.learn(claim)
    else:
        compare(thinking, newest(rivals), claim)


def decide_preference(thinking: Deliberation, claim: Claim) -> None:
    """A preference: known already, new, or the opposite of one that is known."""
    known = [each for each in thinking.live("preference") if each.memory.subject == claim.subject]
    alike = [each for each in known if each.memory.key == claim.key]
    if twin := with_value(alike, claim) or next(
        (each for each in alike if thinking.same(claim, each.memory)), None
    ):
        strengthen(thinking, twin, claim)
    elif claim.key in SINGLE and alike:
        compare(thinking, newest(alike), claim)
    elif (opposite := opposite_of(claim, known)) is not None:
        compare(thinking, opposite, claim)
    else:
        thinking.learn(claim)


def compare(thinking: Deliberation, old: Known, claim: Claim) -> None:
    """Two values where there can be one: what was said later in the world holds."""
    heard_at = thinking.heard_at(claim)
    if old.memory.id in thinking.scene.fading:
        thinking.learn(claim)
    elif is_of_before(claim, old, heard_at):
        recount(thinking, old, claim)
    elif old.memory.is_by_person and claim.signal == "implicit":
        thinking.refused["overruled by the person"] += 1
    elif claim.signal == "implicit" or claim.confidence < SURE_ENOUGH:
        oppose(thinking, old, claim)
    else:
        thinking.learn(claim, supersedes=old.memory)
        until = max(claim.holds_from or heard_at, since(old))
        thinking.end(old, "superseded", "superseded", claim, until=until)


def is_of_before(claim: Claim, known: Known, heard_at: Micros) -> bool:
    """Whether a claim tells of a time before what is known: told earlier, or over by then.

    Who says on the same day that they have moved the day before means what holds now.
    """
    if heard_at < last_word(known):
        return True
    is_over = claim.holds_until is not None and claim.holds_until <= heard_at
    return is_over or (claim.holds_from or heard_at) < since(known) - JUST_NOW


def recount(thinking: Deliberation, current: Known, claim: Claim) -> None:
    """What was so before what is known: it finds its place among what was so then."""
    began = claim.holds_from or thinking.heard_at(claim)
    past = [each for each in thinking.past if is_same_key(each.memory, current.memory)]
    if twin := with_value([each for each in past if held_at(each, began)], claim):
        thinking.bear(twin, claim)
        return
    later = [since(each) for each in (current, *past) if since(each) > began]
    for each in past:
        if held_at(each, began):
            thinking.change(each, replace(each.memory, holds_until=began), "revised")
    until = min(later, default=last_word(current))
    thinking.learn(claim, status="superseded", holds_until=until, is_over=True)


def held_at(known: Known, at: Micros) -> bool:
    """Whether a value of before held at a moment."""
    return since(known) <= at < (known.memory.holds_until or at + 1)


def strengthen(thinking: Deliberation, known: Known, claim: Claim) -> None:
    """The same again: more words for it, and what was not sure yet becomes so."""
    thinking.bear(known, claim)
    if known.memory.status == "tentative":
        thinking.change(known, with_status(known.memory, "active"), "revised")


def oppose(thinking: Deliberation, known: Known, claim: Claim) -> None:
    """Words against it: less sure, and disputed when it has become doubtful.

    The person's own word no sign makes doubtful, nor what they had said before it.
    """
    is_theirs = known.memory.is_by_person
    if is_theirs and (claim.signal == "implicit" or thinking.heard_at(claim) < last_word(known)):
        thinking.refused["overruled by the person"] += 1
        return
    thinking.bear(known, claim, stance="contradicts")
    if known.standing.confidence < SURE_ENOUGH + 0.2 and known.memory.status == "active":
        thinking.change(known, with_status(known.memory, "disputed"), "disputed")


def with_status(memory: Memory, status: Status) -> Memory:
    """The same memory in another state."""
    return replace(memory, status=status)


def last_word(known: Known) -> Micros:
    """When it was said last that it is so, by whatever way: in talk, or by confirming it."""
    return max(known.standing.last_seen, known.memory.vouched_at or 0)


def newest(rivals: list[Known]) -> Known:
    """The one that was said last."""
    return max(rivals, key=lambda each: (last_word(each), each.memory.id))


def with_value(known: list[Known], claim: Claim) -> Known | None:
    """The one with the claim's value."""
    wanted = folded(claim.value)
    return next((each for each in known if folded(each.memory.value) == wanted), None)


def opposite_of(claim: Claim, known: list[Known]) -> Known | None:
    """The preference that says the opposite."""
    opposing = [each for each in known if each.memory.key == OPPOSITE.get(claim.key)]
    return with_value(opposing, claim)


def folded(value: str) -> str:
    """A value with case, width, spacing and what surrounds it ignored."""
    text = unicodedata.normalize("NFKC", value).casefold()
    return " ".join(text.split()).strip(" .,!?;:\"'。，！？")
