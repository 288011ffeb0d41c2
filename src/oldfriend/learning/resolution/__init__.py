"""Resolution: decides what a validated claim does to the existing beliefs. Pure, writes nothing."""

from oldfriend.learning.resolution.claim_resolution import resolve_extraction
from oldfriend.learning.resolution.resolution_state import (
    ClaimMatcher,
    Resolution,
    ResolutionContext,
    ResolutionState,
)

__all__ = [
    "ClaimMatcher",
    "Resolution",
    "ResolutionContext",
    "ResolutionState",
    "resolve_extraction",
]
