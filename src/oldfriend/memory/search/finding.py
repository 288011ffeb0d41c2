"""Which messages answer a question? Scan all, look closer at some hundred, weigh, judge."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.asking import Asked, take_apart
from oldfriend.memory.search.candidates import MOST_CANDIDATES, choose, look_closer
from oldfriend.memory.search.chats import kind_of_chat
from oldfriend.memory.search.correcting import corrected
from oldfriend.memory.search.did import as_told
from oldfriend.memory.search.features import Evidence, features_of, weigh_up
from oldfriend.memory.search.index import NOBODY, PersonIndex
from oldfriend.memory.search.judgement import judged_by
from oldfriend.memory.search.latest import Answer, asks_for_the_latest, newest_first
from oldfriend.memory.search.people import Meant, who_is_meant, without_names
from oldfriend.memory.search.reasons import reasons_for
from oldfriend.memory.search.scan import Scan, scan
from oldfriend.memory.search.then import asks_only_when, asks_what_was_said
from oldfriend.memory.search.values import Floats, Found, Hit, Ints, Question
from oldfriend.memory.search.weights import learned_weights

# Narrow vectors mistake a few: twice as many candidates hold nearly all of the right ones.
_MOST_COMPARED = 2 * MOST_CANDIDATES
SAID_THEN = 0.7
"""How likely something said at a time answers what there was then."""
_NEARLY = 0.1
_FAR_BEHIND = 30.0
_PUT_IN_ORDER = 10  # so many at least are looked at for the newest
NOTHING = Found(hits=(), answerable=0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Glance:
    """What one look at all messages gives."""

    asked: Asked
    meant: Meant
    scanned: Scan
    rows: Ints  # the candidates


def search(index: PersonIndex, question: Question, k: int) -> Found:
    """The k messages that best answer a question, best first."""
    evidence = gather(index, question)
    if evidence is None or k < 1:
        return NOTHING
    weights = learned_weights()
    _, features = features_of(evidence)
    scores = weights.fusion.score(features, kind_of_chat(evidence))
    judged = float(judged_by(evidence, scores) @ weights.judgement) + weights.judgement_shift
    answerable = _sigmoid(judged)
    said_then = evidence.date_inside > 0
    if said_then.any() and asks_only_when(question, evidence.asked.spans):
        answerable = max(answerable, SAID_THEN)
        scores = _all_of_then(scores, said_then)
    elif asks_what_was_said(question, evidence.asked.spans):
        answerable = 0.0
    return Found(
        language=question.language,
        hits=_best_hits(
            evidence, scores, weights.falling_off, answerable, k,
            by_date=asks_for_the_latest(question.text),
        ),
        answerable=answerable,
    )  # fmt: skip


def to_compare(index: PersonIndex, question: Question) -> list[int]:
    """Which messages must be compared by their whole vectors, where the index has narrow ones."""
    glance = _glance(index, question, _MOST_COMPARED) if index.is_narrow else None
    if glance is None:
        return []
    rows, before = glance.rows, index.previous[glance.rows]
    before2 = index.neighbour(index.previous, before)
    near = np.unique(np.concatenate([rows, before, before2, index.following[rows]]))
    seqs: list[int] = index.columns.seq[near[near != NOBODY]].tolist()
    return sorted(seqs)


def gather(index: PersonIndex, question: Question) -> Evidence | None:
    """All that speaks for or against the candidates; None when there are none."""
    seen = _glance(index, question)
    if seen is None:
        return None
    near = look_closer(index, seen.rows, seen.asked, seen.meant.name_terms)
    return weigh_up(index, seen.asked, seen.meant, seen.scanned, near)


def _glance(index: PersonIndex, question: Question, most: int = MOST_CANDIDATES) -> Glance | None:
    """Who is worth a closer look; None where there is nobody."""
    heard = ~index.positions_mask(question.exclude)
    if not heard[index.columns.length > 0].any():
        return None
    asked = take_apart(question, index.numbering.languages.known)
    if not (asked.words or asked.spans):
        return None
    asked = corrected(as_told(asked, question, index), index)
    meant = who_is_meant(index, asked)
    asked = without_names(asked, meant)
    scanned = scan(index, question, asked, heard)
    rows = choose(index, scanned, most)
    if not len(rows):
        return None
    return Glance(asked=asked, meant=meant, scanned=scanned, rows=rows)


def _best_hits(
    evidence: Evidence, scores: Floats, falling_off: float, answerable: float, k: int, *,
    by_date: bool,
) -> tuple[Hit, ...]:  # fmt: skip
    """The best is as sure as there is an answer at all; the others fall behind it."""
    rows = evidence.near.rows
    seqs = evidence.index.columns.seq[rows]
    best = np.lexsort((seqs, -scores))[: max(k, _PUT_IN_ORDER) if by_date else k]
    behind = np.exp(falling_off * (scores[best] - scores[best[0]]))
    if by_date:
        moments = evidence.index.columns.said_at[rows[best]]
        told = map(Answer, behind.tolist(), reasons_for(evidence, best), moments.tolist())
        best, behind = best[newest_first(list(told))][:k], behind[:k]
    shown = zip(seqs[best].tolist(), behind.tolist(), reasons_for(evidence, best), strict=True)
    return tuple(Hit(seq=seq, score=answerable * share, why=why) for seq, share, why in shown)


def _all_of_then(scores: Floats, said_then: NDArray[np.bool_]) -> Floats:
    """Scores by which whatever was said at a time answers nearly as well, and nothing else does."""
    best = float(scores[said_then].max())
    near = best + _NEARLY * (scores - best)
    return np.where(said_then, near, best - _FAR_BEHIND).astype(np.float32)


def _sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(value, -30, 30))))
