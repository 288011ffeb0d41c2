"""Wording: rewords a belief after a claim that says the same, and more."""

from dataclasses import replace
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.learning.critical_tokens import extract_critical_tokens
from oldfriend.learning.extraction import Claim
from oldfriend.learning.resolution.resolution_state import ResolutionState
from oldfriend.search.shared_topics import extract_content_terms

MIN_KEPT_PART: Final = 0.5
"""Share of a belief's content words that a better wording keeps."""


def refine(state: ResolutionState, known: MemoryState, claim: Claim) -> None:
    """Reword a belief if a model's claim says more; what a person worded stays."""
    memory = state.known[known.memory.id].memory
    if not state.is_by_model or memory.is_by_person or KINDS_BY_NAME[memory.kind].is_verbatim:
        return
    if (
        memory.is_quoted_fact
        or memory.kind != claim.kind
        or not is_better_wording(memory, claim, state.get_language(claim))
    ):
        return
    entities = (*memory.entities, *state.list_mentioned_entities(claim))
    after = replace(
        memory,
        text=claim.text,
        value=claim.value or memory.value,
        entities=tuple(dict.fromkeys(entities)),
    )
    state.change(state.known[memory.id], after, "revised")


def is_better_wording(memory: StoredBelief, claim: Claim, language: str) -> bool:
    """Return whether a claim says all that a belief's text and value say, and more.

    Every sentence is better than a bare quote.
    """
    if memory.is_plain_quote:
        return True
    if memory.language != language:
        return False
    old, new = (extract_critical_tokens(text, language) for text in (memory.text, claim.text))
    keeps_details = old.numbers <= new.numbers and old.times <= new.times
    if not keeps_details or not {*old.names} <= {*new.names} or old.is_negated != new.is_negated:
        return False
    old_terms, new_terms = (
        extract_content_terms(text, language) for text in (memory.text, claim.text)
    )
    old_value, new_value = (
        extract_content_terms(value, language) for value in (memory.value, claim.value)
    )
    is_kept = len(old_terms & new_terms) >= MIN_KEPT_PART * len(old_terms)
    return len(new_terms) > len(old_terms) and is_kept and (old_value <= new_value or not new_value)
