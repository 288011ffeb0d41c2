"""Deduplication: finds statements that repeat a belief, or another claim of the same segment.

All pairs that may be duplicates are found in one pass; only these are compared closely. Unclear
pairs may be put to a model; until it answers they count as different. Uses no database.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import StoredBelief
from oldfriend.learning.extraction import Claim
from oldfriend.learning.resolution import Resolution
from oldfriend.learning.segment_loader import SegmentContext
from oldfriend.learning.similarity import (
    DEFAULT_THRESHOLDS,
    SPACED_SCRIPTS_ONLY,
    THRESHOLDS,
    ClaimOrMemory,
    EmbeddedTexts,
    Vector,
    build_ngram_vector,
    classify_pair,
    get_canonical_stems,
    get_model_family,
    get_ngram_metric,
    has_impact_gap,
    is_mostly_unspaced,
)
from oldfriend.search.types import multiply

ThresholdLevel = Literal["unclear", "merge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePair:
    """Candidate pair: the positions of two statements in their sequences, and their similarity."""

    one: int
    other: int
    similarity: float


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

    def is_same(self, claim: Claim, memory: StoredBelief) -> bool:
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
            if isinstance(each.after, StoredBelief)
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
    waiting = (each.memory for each in context.resolution.unconfirmed)
    others: list[ClaimOrMemory] = [*memories, *inactive, *waiting, *claims]
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


def list_candidate_pairs(
    ones: Sequence[ClaimOrMemory],
    others: Sequence[ClaimOrMemory],
    vectors: EmbeddedTexts | None,
    *,
    language: str,
    level: ThresholdLevel = "unclear",
) -> list[CandidatePair]:
    """Return the pairs that may say the same, most similar first; all other pairs are different."""
    found = {
        (each.one, each.other): each for each in iter_pairs_by_metric(ones, others, vectors, level)
    }
    for each in iter_pairs_by_stems(ones, others, language):
        found.setdefault((each.one, each.other), each)
    return sorted(found.values(), key=lambda pair: (-pair.similarity, pair.one, pair.other))


def iter_pairs_by_metric(
    ones: Sequence[ClaimOrMemory],
    others: Sequence[ClaimOrMemory],
    vectors: EmbeddedTexts | None,
    level: ThresholdLevel,
) -> Iterator[CandidatePair]:
    """Yield the pairs whose similarity by a shared metric reaches the threshold."""
    rows, columns = group_by_metric(ones, vectors), group_by_metric(others, vectors)
    for metric in rows.keys() & columns.keys():
        threshold: float = getattr(THRESHOLDS.get(metric, DEFAULT_THRESHOLDS), level)
        row_group, column_group = rows[metric], columns[metric]
        similarities = multiply(row_group.build_matrix(ones), column_group.build_matrix(others).T)
        for row, column in np.argwhere(similarities >= threshold).tolist():
            yield CandidatePair(
                one=row_group.positions[row],
                other=column_group.positions[column],
                similarity=float(similarities[row, column]),
            )


@dataclass(slots=True)
class MetricGroup:
    """Statements compared by one metric: their positions, and vectors if an embedder has them.

    Parallel lists, because there may be thousands.
    """

    positions: list[int] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)

    def build_matrix(self, statements: Sequence[ClaimOrMemory]) -> Vector:
        """Return the vectors to compare, one per row."""
        vectors = self.vectors or [
            build_ngram_vector(statements[position].text) for position in self.positions
        ]
        rows: Vector = np.concatenate(vectors).reshape(len(vectors), -1)
        return rows  # np.stack would check each of thousands separately


def group_by_metric(
    statements: Sequence[ClaimOrMemory], vectors: EmbeddedTexts | None
) -> dict[str, MetricGroup]:
    """Group statements that can be compared with each other, by metric."""
    groups: dict[str, MetricGroup] = {}
    embedded = MetricGroup()
    by_text = {} if vectors is None else vectors.by_text
    is_spaced_only = vectors is not None and get_model_family(vectors.model) in SPACED_SCRIPTS_ONLY
    for position, each in enumerate(statements):
        is_read = not (is_spaced_only and is_mostly_unspaced(each.text))
        vector = by_text.get(each.text) if is_read else None
        if vector is None:
            groups.setdefault(get_ngram_metric(each.text), MetricGroup()).positions.append(position)
        else:
            embedded.positions.append(position)
            embedded.vectors.append(vector)
    if vectors is not None and embedded.positions:
        groups[get_model_family(vectors.model)] = embedded
    return groups


def iter_pairs_by_stems(
    ones: Sequence[ClaimOrMemory], others: Sequence[ClaimOrMemory], language: str
) -> Iterator[CandidatePair]:
    """Yield the pairs that consist of the same stems."""
    positions: dict[frozenset[str], list[int]] = {}
    for position, each in enumerate(ones):
        if stems := get_canonical_stems(each.text, language):
            positions.setdefault(stems, []).append(position)
    for other, each in enumerate(others):
        same_stems = positions.get(get_canonical_stems(each.text, language))
        for position in same_stems or ():
            yield CandidatePair(one=position, other=other, similarity=1.0)
