"""What of what was read has the person had forgotten? It is not believed again.

Neither in the same words nor, of a fact or preference, with the same value. Pure; what was
forgotten is only known by prints, which somebody else keeps.
"""

from collections.abc import Callable
from dataclasses import replace

from oldfriend.background.extraction import Claim, Extraction
from oldfriend.memory.forgetting.tombstones import belief_words


def without_forgotten(extraction: Extraction, is_forgotten: Callable[[str], bool]) -> Extraction:
    """What was read, without the claims that were forgotten."""
    claims = tuple(each for each in extraction.claims if not was_forgotten(each, is_forgotten))
    return replace(extraction, claims=claims)


def was_forgotten(claim: Claim, is_forgotten: Callable[[str], bool]) -> bool:
    """Whether a claim says what was forgotten."""
    says = belief_words(claim.kind, claim.key, claim.value)
    return is_forgotten(claim.text) or (bool(says) and is_forgotten(says))
