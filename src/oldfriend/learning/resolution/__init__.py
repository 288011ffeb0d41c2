"""Resolution: decides what a validated claim does to the existing beliefs. Pure, writes nothing."""

from oldfriend.learning.resolution.claim_resolution import resolve_extraction
from oldfriend.learning.resolution.resolution_state import (
    ClaimMatcher,
    Resolution,
    ResolutionContext,
    ResolutionState,
)
from oldfriend.learning.resolution.unconfirmed_resolution import (
    resolve_unconfirmed,
    withdraw_learned,
)

__all__ = [
    "ClaimMatcher",
    "Resolution",
    "ResolutionContext",
    "ResolutionState",
    "resolve_extraction",
    "resolve_unconfirmed",
    "withdraw_learned",
]
