"""Fit how likely a quote tells a fact (`oldfriend.learning.quote_confidence`), and what that keeps.

A quote is right if it holds a value of a fact that the writer listed for its message. Fitted to the
lives that the tagger was not trained on; the figures are of each life left out of the fit. A
message of one clause, which lives hardly have, is left out.

    python -m oldfriend_evals.quote_weights
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from oldfriend.domain.messages import Message
from oldfriend.learning.doubt import is_doubtful
from oldfriend.learning.quote_confidence import to_logit
from oldfriend.learning.tagged_facts import (
    MIN_SCORE,
    is_command,
    list_stretches,
    tells_what_ended,
)
from oldfriend.llm.reading import FactTagger
from oldfriend.runtime.wiring import build_fact_tagger
from oldfriend.search import extract_link_terms
from oldfriend_evals.blind_lives import FOLDER, BlindLife, Stored, load_blind_life, matches
from oldfriend_evals.poison.cases import build_material

LIVES: Final = (
    "en-casual-6",
    "en-tidy-3",
    "de-casual-3",
    "fr-casual-3",
    "es-casual-3",
    "pt-casual-2",
    "it-casual-2",
)
RIDGE: Final = 10.0
ROUNDS: Final = 50
THRESHOLDS: Final = (0.8, 1.0, 1.2, 1.4, 1.6)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedQuote:
    """What is known of a quote, and the facts that it holds."""

    life: str
    features: tuple[float, float, float]  # logits of the two best clauses, and share that is new
    facts: frozenset[str]


def list_proposed(life: BlindLife, tagger: FactTagger) -> Iterator[ProposedQuote]:
    """Yield the quotes of a life that the tagger proposes."""
    seen: set[int] = set()
    before = ""
    for record in life.messages:
        if record["from"] == "person":
            message = build_message(life, record)
            terms = extract_link_terms(message.text, message.language)
            novelty = len(terms - seen) / max(len(terms), 1)
            yield from list_of_message(life, message, before, novelty, tagger)
            seen |= terms
        before = record["text"]


def build_message(life: BlindLife, record: Mapping[str, str]) -> Message:
    """Return a message of a life as it is read."""
    said = {"id": record["id"], "class": "person", "speaker": "Ana", "text": record["text"]}
    row = {"id": life.name, "language": life.about["language"], "messages": [said]}
    return build_material(row).messages[0]


def list_of_message(
    life: BlindLife, message: Message, before: str, novelty: float, tagger: FactTagger
) -> Iterator[ProposedQuote]:
    """Yield the quotes of a message that the tagger proposes."""
    if is_doubtful(message):
        return
    clauses = tagger.tag(message.text, before)
    for start, end in list_stretches(message, clauses):
        inside = [each for each in clauses if start <= each.start and each.end <= end]
        told = (message.text[each.start : each.end] for each in inside if each.score >= MIN_SCORE)
        is_told = any(
            not tells_what_ended(words, message.language) and not is_command(words)
            for words in told
        )
        if is_told and len(inside) > 1:
            best, second = sorted((each.score for each in inside), reverse=True)[:2]
            stored = Stored(text=message.text[start:end], messages=frozenset([message.id]))
            found = (each for each in life.facts if matches(stored, each, "evidence"))
            yield ProposedQuote(
                life=life.name,
                features=(to_logit(best), to_logit(second), novelty),
                facts=frozenset(f"{life.name} {each['id']}" for each in found),
            )


def fit(quotes: Sequence[ProposedQuote]) -> Floats:
    """Return the weights of a logistic regression, and its bias as the last one."""
    features = to_features(quotes)
    center, spread = features.mean(0), features.std(0) + 1e-6
    scaled = np.c_[(features - center) / spread, np.ones(len(quotes))]
    is_right = np.array([bool(each.facts) for each in quotes], dtype=np.float64)
    weights = np.zeros(scaled.shape[1])
    penalty = np.r_[np.full(features.shape[1], RIDGE), 0.0]
    for _ in range(ROUNDS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - is_right) + penalty * weights
        curve = (scaled.T * (likely * (1 - likely))) @ scaled + np.diag(penalty)
        weights -= np.linalg.solve(curve, slope)
    plain = weights[:-1] / spread
    fitted: Floats = np.r_[plain, weights[-1] - plain @ center]
    return fitted


def to_features(quotes: Sequence[ProposedQuote]) -> Floats:
    """Return the features, quote × feature."""
    return np.array([each.features for each in quotes], dtype=np.float64)


def main() -> None:
    """Print the weights, and for each life and threshold what is kept and how much is right."""
    tagger = build_fact_tagger()
    lives = [load_blind_life(FOLDER / name) for name in LIVES]
    quotes = [each for life in lives for each in list_proposed(life, tagger)]
    sys.stdout.write(f"weights, bias: {fit(quotes).round(3).tolist()} ({len(quotes)} quotes)\n")
    logits = np.zeros(len(quotes))
    for name in LIVES:
        weights = fit([each for each in quotes if each.life != name])
        left_out = np.array([each.life == name for each in quotes])
        logits[left_out] = to_features(quotes)[left_out] @ weights[:-1] + weights[-1]
    for threshold in THRESHOLDS:
        lines = [format_kept(life, quotes, logits >= threshold) for life in lives]
        sys.stdout.write(f"from logit {threshold}: {'; '.join(lines)}\n")


def format_kept(
    life: BlindLife, quotes: Sequence[ProposedQuote], is_kept: npt.NDArray[np.bool_]
) -> str:
    """Say how many quotes of a life are kept, and how many of its facts they hold."""
    own = zip(quotes, is_kept, strict=True)
    kept = [each for each, kept in own if kept and each.life == life.name]
    right = sum(bool(each.facts) for each in kept)
    captured = len(frozenset[str]().union(*(each.facts for each in kept)))
    share = captured / len(life.facts)
    return f"{life.name} {right}/{len(kept)} right, {share:.0%} captured"


if __name__ == "__main__":
    main()
