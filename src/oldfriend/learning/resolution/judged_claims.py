"""Judged claims: finds claims that say again what the person has corrected or rejected.

A correction stands for what was read from the same words, whoever reads them again and however the
claim is worded. New words may change it.
"""

from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.memories import QUOTE_KEY, StoredBelief
from oldfriend.learning.extraction import Claim
from oldfriend.learning.quote_overlap import do_words_overlap
from oldfriend.learning.resolution.attribute_resolution import fold_value
from oldfriend.learning.resolution.resolution_state import ResolutionState
from oldfriend.memory.judged_beliefs import JudgedBelief
from oldfriend.search.shared_topics import extract_content_terms

MIN_SHARED: Final = 0.5
"""Share of what is new in a claim that was taken back, by which it says that again."""


def resolve_judged_claim(state: ResolutionState, claim: Claim) -> bool:
    """Resolve a claim that the person has judged; return False for one that they have not."""
    judged = next((each for each in state.context.judged if is_judged(state, claim, each)), None)
    if judged is None and not was_claim_rejected(state, claim):
        return False
    known = None if judged is None else state.known.get(judged.memory.id)
    if known is not None and known.memory.status != "rejected":
        state.add_evidence(known, claim)
    else:
        state.rejected["rejected by the person"] += 1
    return True


def was_claim_rejected(state: ResolutionState, claim: Claim) -> bool:
    """Return whether the person has rejected this after saying it."""
    said_at = state.get_said_at(claim)
    return any(
        said_at <= (memory.ended_at or memory.learned_at) and is_same_claim(state, claim, memory)
        for memory in state.context.rejected
    )


def was_ever_rejected(state: ResolutionState, claim: Claim) -> bool:
    """Return whether the person has rejected this, also before saying it again."""
    return any(is_same_claim(state, claim, memory) for memory in state.context.rejected)


def is_same_claim(state: ResolutionState, claim: Claim, rejected: StoredBelief) -> bool:
    """Return whether a claim says what the person has rejected."""
    if rejected.kind != claim.kind:
        return False
    if rejected.key:
        is_same_value = fold_value(rejected.value) == fold_value(claim.value)
        return rejected.key == claim.key and is_same_value
    return state.is_same(claim, rejected)


def is_judged(state: ResolutionState, claim: Claim, judged: JudgedBelief) -> bool:
    """Return whether a claim says again, from the same words, what the person has judged."""
    return rests_on_judged_words(state, claim, judged) and says_again(claim, judged)


def rests_on_judged_words(state: ResolutionState, claim: Claim, judged: JudgedBelief) -> bool:
    """Return whether a quote of a claim shares words with one of a judged belief."""
    messages = state.context.messages
    return any(
        quote.message == known.message
        and messages[quote.message].version == known.version
        and do_words_overlap(messages[quote.message].text, quote.text, known.text)
        for quote in claim.quotes
        for known in judged.quotes
    )


def says_again(claim: Claim, judged: JudgedBelief) -> bool:
    """Return whether a claim from the words of a judged belief says what that one had said."""
    before = judged.before
    told = extract_content_terms(f"{claim.text} {claim.value}", before.language)
    right = extract_content_terms(judged.replacement, before.language)
    is_same_key = (claim.kind, claim.key) == (before.kind, before.key)
    if is_same_key and (
        is_single_valued(claim)
        or (claim.value and fold_value(claim.value) == fold_value(before.value))
    ):
        return True
    value = before.value if before.key != QUOTE_KEY else ""
    words = extract_content_terms(f"{before.text} {before.value}", before.language)
    wrong = (extract_content_terms(value, before.language) or words) - right
    if wrong:
        return len(wrong & told) >= max(MIN_SHARED * min(len(wrong), len(told - right)), 1)
    return claim.kind == before.kind and len(words & told) >= MIN_SHARED * len(words)
