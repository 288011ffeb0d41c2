"""Candidate pairs: finds all pairs of beliefs that may be duplicates in one pass.

Only these pairs are then compared closely. Uses no database and no model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from oldfriend.learning.similarity import (
    DEFAULT_THRESHOLDS,
    SPACED_SCRIPTS_ONLY,
    THRESHOLDS,
    ClaimOrMemory,
    EmbeddedTexts,
    Vector,
    build_ngram_vector,
    get_canonical_stems,
    get_model_family,
    get_ngram_metric,
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
