"""What becomes of all that was read in a segment? Names first, for claims mention them."""

from oldfriend.background.deciding.attributes import (
    decide_fact,
    decide_preference,
    folded,
    strengthen,
)
from oldfriend.background.deciding.deliberation import Deliberation
from oldfriend.background.deciding.endings import as_ending
from oldfriend.background.deciding.happenings import (
    decide_about_target,
    decide_coming,
    decide_event,
    decide_pattern,
)
from oldfriend.background.deciding.joining import known_under
from oldfriend.background.deciding.names import decide_name, decide_sameness
from oldfriend.background.deciding.opinions import decide_opinion
from oldfriend.background.deciding.outdating import as_lost, outdate, outdate_pets, tie_as_lost
from oldfriend.background.deciding.ties import decide_tie, outdate_ties
from oldfriend.background.extraction import Claim, Extraction


def decide_all(thinking: Deliberation, extraction: Extraction) -> None:
    """Decide about everything that passed the checks."""
    for named in extraction.names:
        decide_name(thinking, named)
    for sameness in extraction.samenesses:
        decide_sameness(thinking, sameness)
    for told in extraction.claims:
        claim = as_lost(thinking, as_ending(thinking, told, extraction.claims), extraction.claims)
        if was_rejected(thinking, claim):
            thinking.refused["rejected by the person"] += 1
        else:
            decide_claim(thinking, claim)
    for claim in extraction.claims:  # whoever tells of a death says once more whose pet it was
        outdate_pets(thinking, claim)
    for tied in extraction.ties:
        decide_tie(thinking, tie_as_lost(thinking, tied, extraction.claims))


def decide_claim(thinking: Deliberation, claim: Claim) -> None:
    """Decide about one claim."""
    if claim.kind == "opinion":
        decide_opinion(thinking, claim)
        return
    target = None if claim.target is None else thinking.known.get(claim.target)
    if target is not None and target.memory.ended_at is None and claim.bearing != "new":
        decide_about_target(thinking, claim, target)
        return
    if (under := known_under(thinking, claim)) is not None:
        strengthen(thinking, under, claim)
    else:
        decide_by_kind(thinking, claim)


def decide_by_kind(thinking: Deliberation, claim: Claim) -> None:
    """Decide about a claim that names nothing known."""
    match claim.kind:
        case "fact":
            decide_fact(thinking, claim)
            outdate(thinking, claim)
            outdate_ties(thinking, claim)
        case "preference":
            decide_preference(thinking, claim)
            outdate(thinking, claim)
            outdate_ties(thinking, claim)
        case "event":
            decide_event(thinking, claim)
        case "pattern":
            decide_pattern(thinking, claim)
        case "commitment" | "expectation":
            decide_coming(thinking, claim)
        case "note":
            thinking.refused["not known"] += 1  # notes are made in a turn, only put right in talk


def was_rejected(thinking: Deliberation, claim: Claim) -> bool:
    """Whether the person has said that this is not so, after these words."""
    heard_at = thinking.heard_at(claim)
    return any(
        memory.kind == claim.kind
        and heard_at <= (memory.ended_at or memory.learned_at)
        and (
            (memory.key == claim.key and folded(memory.value) == folded(claim.value))
            if memory.key
            else thinking.same(claim, memory)
        )
        for memory in thinking.scene.rejected
    )
