"""Does a claim tell that something known holds no more, with nothing in its place?

Who reads "I was a nurse until Friday" tells a fact with its end. Where that is still believed, it
becomes what rules make of "I am no longer a nurse": so it ends, and that it is over is known.
"""

from collections.abc import Iterable
from dataclasses import replace

from oldfriend.background.deciding.attributes import JUST_NOW, folded, is_about, last_word
from oldfriend.background.deciding.deliberation import SURE_ENOUGH, Deliberation
from oldfriend.background.extraction import Claim
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Known
from oldfriend.memory.overtaking import overtakers, since


def as_ending(thinking: Deliberation, claim: Claim, told: Iterable[Claim]) -> Claim:
    """A claim, turned round where it is of something that has ended; else as it is.

    Of what is ``told`` beside it one may say already that it is over.
    """
    if claim.kind not in {"fact", "preference"} or claim.holds_until is None:
        return claim
    if any(says_so(each, claim) for each in told):
        return claim
    known = next((e for e in still_so(thinking, claim) if is_same(e, claim)), None)
    if known is None or not has_ended(thinking, known, claim):
        return claim
    until = min(claim.holds_until, thinking.heard_at(claim))
    was = replace(
        claim, text=known.memory.text, value=known.memory.value, holds_from=None,
        holds_until=until, bearing="new", target=None,
    )  # fmt: skip
    return thinking.over(was, thinking.language_of(claim)) or claim


def says_so(other: Claim, claim: Claim) -> bool:
    """Whether another claim says that what this one tells is over."""
    was = other.ends
    return was is not None and (was.kind, was.key, folded(was.value)) == (
        claim.kind, claim.key, folded(claim.value),
    )  # fmt: skip


def still_so(thinking: Deliberation, claim: Claim) -> list[Known]:
    """What is believed of a kind, but for what is being read anew."""
    fading = [each.memory for each in thinking.known.values()
              if each.memory.id in thinking.scene.fading]  # fmt: skip
    return [
        each
        for each in thinking.of_kind(claim.kind)
        if each.memory.ended_at is None or any(overtakers(each.memory, fading))
    ]


def is_same(known: Known, claim: Claim) -> bool:
    """Whether a claim gives the value that is known."""
    return is_about(known, claim) and folded(known.memory.value) == folded(claim.value)


def has_ended(thinking: Deliberation, known: Known, claim: Claim) -> bool:
    """Whether what is known has come to its last day, as somebody surely says.

    Not by words older than those for it, nor by those of an earlier time at which it was so, too.
    """
    heard_at = thinking.heard_at(claim)
    if claim.holds_until is None or claim.signal == "implicit" or claim.confidence < SURE_ENOUGH:
        return False
    is_of_now = claim.holds_until >= since(known) - JUST_NOW
    return is_of_now and claim.holds_until - DAY < heard_at and heard_at > last_word(known)
