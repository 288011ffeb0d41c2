"""Which messages answer a question? Scan all, look closer at some hundred, weigh, judge."""

import numpy as np

from oldfriend.memory.search.asking import take_apart
from oldfriend.memory.search.candidates import choose, look_closer
from oldfriend.memory.search.correcting import corrected
from oldfriend.memory.search.features import Evidence, features_of, weigh_up
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.judgement import judged_by
from oldfriend.memory.search.people import who_is_meant, without_names
from oldfriend.memory.search.reasons import reasons_for
from oldfriend.memory.search.scan import scan
from oldfriend.memory.search.values import Floats, Found, Hit, Question
from oldfriend.memory.search.weights import Weights, learned_weights

NOTHING = Found(hits=(), answerable=0.0)


def search(index: PersonIndex, question: Question, k: int) -> Found:
    """The k messages that best answer a question, best first."""
    evidence = gather(index, question)
    if evidence is None or k < 1:
        return NOTHING
    weights = learned_weights()
    _, features = features_of(evidence)
    scores = features @ weights.fusion
    return Found(
        hits=_best_hits(evidence, scores, weights, k),
        answerable=_sigmoid(
            float(judged_by(evidence, scores) @ weights.judgement) + weights.judgement_shift
        ),
    )


def gather(index: PersonIndex, question: Question) -> Evidence | None:
    """All that speaks for or against the candidates; None when there are none."""
    asked = take_apart(question, index.numbering.languages.known)
    if not len(index) or not (asked.words or asked.spans):
        return None
    asked = corrected(asked, index)
    meant = who_is_meant(index, asked, question.owner)
    asked = without_names(asked, meant)
    scanned = scan(index, question, asked)
    rows = choose(index, question, scanned)
    if not len(rows):
        return None
    near = look_closer(index, rows, asked, meant.name_terms)
    return weigh_up(index, asked, meant, scanned, near)


def _best_hits(evidence: Evidence, scores: Floats, weights: Weights, k: int) -> tuple[Hit, ...]:
    rows = evidence.near.rows
    seqs = evidence.index.columns.seq[rows]
    best = np.lexsort((seqs, -scores))[:k]
    return tuple(
        Hit(
            seq=int(seqs[at]),
            score=_sigmoid(weights.hit_scale * float(scores[at]) + weights.hit_shift),
            why=reasons_for(evidence, int(at)),
        )
        for at in best
    )


def _sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(value, -30, 30))))
