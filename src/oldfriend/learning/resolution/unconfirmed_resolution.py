"""Resolution of claims in doubt: they wait once, and end once the same is said without doubt."""

from collections.abc import Iterable
from dataclasses import replace

from oldfriend.domain.memories import Evidence, MemoryState, StoredBelief
from oldfriend.learning.extraction import Claim
from oldfriend.learning.resolution.attribute_resolution import find_by_text, fold_value
from oldfriend.learning.resolution.judged_claims import resolve_judged_claim, was_ever_rejected
from oldfriend.learning.resolution.resolution_state import ResolutionState


def resolve_unconfirmed(
    state: ResolutionState, claims: Iterable[Claim], kept: Iterable[Evidence]
) -> None:
    """Let claims in doubt wait that are neither believed nor rejected; nothing else changes.

    ``kept`` is evidence from earlier readings of the segment, which is not added twice.
    """
    quoted = {(each.object_id, each.message, each.quote) for each in kept}
    waiting = {each.memory.id: each for each in state.context.unconfirmed}
    for claim in claims:
        if resolve_judged_claim(state, claim):
            continue
        if was_ever_rejected(state, claim):
            state.rejected["rejected by the person"] += 1
            continue
        lost = state.context.stale - state.decisions.keys()
        live = [each for each in state.list_live(claim.kind) if each.memory.id not in lost]
        if find_same(state, claim, live):
            state.rejected["believed already"] += 1
        elif known := find_same(state, claim, waiting.values()):
            quotes = [
                each
                for each in claim.quotes
                if (known.memory.id, each.message, each.text) not in quoted
            ]
            state.add_evidence(known, replace(claim, quotes=tuple(quotes)))
        else:
            memory = state.learn(claim, status="unconfirmed", is_over=True, op="proposed")
            waiting[memory.id] = state.known[memory.id]


def withdraw_learned(state: ResolutionState, claims: Iterable[Claim]) -> None:
    """Withdraw what waits and is believed by now, because it was said without doubt."""
    for claim in claims:
        known = find_same(state, claim, state.context.unconfirmed)
        if known is not None and find_same(state, claim, state.list_live(claim.kind)):
            withdrawn = replace(known.memory, status="withdrawn", ended_at=state.context.now)
            state.change(known, withdrawn, "withdrawn")


def find_same(
    state: ResolutionState, claim: Claim, known: Iterable[MemoryState]
) -> MemoryState | None:
    """Return the belief, or what waits, that says what a claim says."""
    of_kind = [
        each
        for each in known
        if (each.memory.kind, each.memory.subject) == (claim.kind, claim.subject)
    ]
    same = (each for each in of_kind if has_same_value(claim, each.memory))
    meant = (each for each in of_kind if state.is_same(claim, each.memory))
    return next(same, None) or next(meant, None) or find_by_text(of_kind, claim)


def has_same_value(claim: Claim, memory: StoredBelief) -> bool:
    """Return whether a claim has the key and the value of a belief."""
    is_keyed = bool(claim.key and claim.value) and claim.key == memory.key
    return is_keyed and fold_value(claim.value) == fold_value(memory.value)
