"""Claim deduplication: finds claims of a segment that repeat a belief or another claim.

Unclear pairs may be put to a model; until it answers they count as different.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import Memory
from oldfriend.learning.candidate_pairs import list_candidate_pairs
from oldfriend.learning.extraction import Claim
from oldfriend.learning.resolution import Resolution
from oldfriend.learning.segment_loader import SegmentContext
from oldfriend.learning.similarity import (
    ClaimOrMemory,
    EmbeddedTexts,
    Vector,
    classify_pair,
    has_impact_gap,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclearPair:
    """Unclear pair: two statements that may or may not say the same."""

    claim: Claim
    other: ClaimOrMemory


@dataclass(slots=True)
class ClaimMatches:
    """Claim matches: for each claim's text, the texts that say the same."""

    embeddings: Mapping[str, Vector]
    matches: dict[str, set[str]] = field(default_factory=dict)  # for each text, the others
    unclear_pairs: list[UnclearPair] = field(default_factory=list)  # each once
    _unclear_sides: set[frozenset[tuple[str, str]]] = field(default_factory=set)

    def is_same(self, claim: Claim, memory: Memory) -> bool:
        """Return whether a claim says what a memory says."""
        return claim.text == memory.text or memory.text in self.matches.get(claim.text, ())

    def add_match(self, claim: ClaimOrMemory, other: ClaimOrMemory) -> None:
        """Record that a claim says what another statement says."""
        self.matches.setdefault(claim.text, set()).add(other.text)

    def add_unclear(self, claim: Claim, other: ClaimOrMemory) -> None:
        """Record a pair that may say the same, unless it is known already, in either order."""
        sides = frozenset({(claim.kind, claim.text), (other.kind, other.text)})
        if sides not in self._unclear_sides and other.text not in self.matches.get(claim.text, ()):
            self._unclear_sides.add(sides)
            self.unclear_pairs.append(UnclearPair(claim=claim, other=other))

    def confirm_match(self, pair: UnclearPair) -> None:
        """Record the answer that an unclear pair says the same, in both directions."""
        self.add_match(pair.claim, pair.other)
        self.add_match(pair.other, pair.claim)

    def get_vectors(self, decisions: Iterable[Resolution]) -> dict[MemoryId, Vector]:
        """Return the known vectors of the memories that decisions have changed."""
        return {
            each.after.id: self.embeddings[each.after.text]
            for each in decisions
            if isinstance(each.after, Memory)
            and each.op is not None
            and each.after.text in self.embeddings
        }


def match_claims(
    claims: Sequence[Claim],
    context: SegmentContext,
    vectors: NDArray[np.float32] | None,
    *,
    embedder: str,
) -> ClaimMatches:
    """Compare all claims of a segment with what is known, and with each other."""
    embeddings = collect_embeddings(claims, context, vectors)
    matches = ClaimMatches(embeddings=embeddings)
    embedded = EmbeddedTexts(model=embedder, by_text=embeddings) if embeddings else None
    inactive = (*context.resolution.rejected, *context.resolution.merged)
    memories = (
        each.memory for each in context.known if each.memory.kind != "triple"
    )  # relations are compared by their ends instead
    others: list[ClaimOrMemory] = [*memories, *inactive, *claims]
    language = context.resolution.language
    names = [name for each in context.entities for name in (each.name, *each.aliases)]
    for pair in list_candidate_pairs(claims, others, embedded, language=language):
        claim, other = claims[pair.one], others[pair.other]
        if claim is other:
            continue
        match classify_pair(claim, other, embedded, language=language, names=names):
            case "same":
                matches.add_match(claim, other)
            case "unclear":
                matches.add_unclear(claim, other)
            case "different":
                pass
    for claim, other in iter_pairs_sharing_quotes(claims):
        if claim.text != other.text:
            matches.add_unclear(claim, other)
    return matches


def collect_embeddings(
    claims: Sequence[Claim], context: SegmentContext, vectors: NDArray[np.float32] | None
) -> dict[str, Vector]:
    """Return the known vectors of all texts that are compared."""
    embeddings = dict(context.embeddings)
    if vectors is not None:
        embeddings |= {claim.text: row for claim, row in zip(claims, vectors, strict=True)}
    return embeddings


def iter_pairs_sharing_quotes(claims: Sequence[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """Yield pairs of one kind that rest on the same quote: perhaps one claim, extracted twice.

    Attributes are distinguished by their keys and values.
    """
    for one, other in combinations(claims, 2):
        is_kept_apart = one.kind in ATTRIBUTE_KINDS or has_impact_gap(one, other)
        if one.kind == other.kind and not is_kept_apart and set(one.quotes) & set(other.quotes):
            yield one, other
