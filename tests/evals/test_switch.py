"""During a switch of embedding models the right messages are found as well as before or after."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from oldfriend.llm.adapters.minilm import MiniLM
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.search import (
    CALIBRATION_TEXTS,
    PersonIndex,
    QueryEmbedding,
    SearchQuery,
    build_embedding_text,
    compute_baseline,
    search,
)
from oldfriend_evals.datasets import Conversation, Query, load_own_conversations
from oldfriend_evals.retrieval_eval import UNASKED, build_index
from tests.hashed_embedder import Hashed

CONVERSATIONS = {"friends_en", "companion_en"}
POINTS = 2.0


class Known:
    """Vectors of texts, each made once."""

    def __init__(self, embedder: Embedder) -> None:
        """Ask this one."""
        self.model, self._embedder = embedder.model, embedder
        self._known: dict[str, Vectors] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """A row for each."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known |= zip(new, asyncio.run(self._embedder.embed(new)), strict=True)
        return np.stack([self._known[text] for text in texts])

    def sense(self, query: Query) -> QueryEmbedding:
        """How it understands a question."""
        (vector,) = self([query.text])
        return QueryEmbedding(
            vector=vector, baseline=compute_baseline(vector, self(CALIBRATION_TEXTS))
        )


class Shifted(Known):
    """The same model, but for its range: two texts with nothing in common have a cosine of .8."""

    def __init__(self, known: Known) -> None:
        """Shift the vectors of this one."""
        self.model, self._shifted = "shifted", known

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """A row for each."""
        floor = np.full((len(texts), 1), np.sqrt(0.8), np.float32)
        return np.hstack([np.sqrt(0.2) * self._shifted(texts), floor]).astype(np.float32)


def index_during(given: Conversation, old: Known, new: Known, share: float) -> PersonIndex:
    """A conversation of which this share is embedded anew, from the beginning."""
    index = build_index(given, lambda texts: np.zeros((len(texts), 0), np.float32))
    texts = [build_embedding_text(line.speaker, line.text) for line in given.lines]
    done = round(share * len(texts))
    if done:
        index.set_vectors(range(done), new(texts[:done]))
    if done < len(texts):
        index.set_legacy_vectors(old.model, range(done, len(texts)), old(texts[done:]))
    return index


def found_during(
    conversations: Sequence[Conversation], old: Known, new: Known, share: float
) -> float:
    """What part of the evidence stands among the first ten, in percent."""
    shares: list[float] = []
    for given in conversations:
        index = index_during(given, old, new, share)
        lines = [line.id for line in given.lines]
        for query in given.queries:
            if not query.evidence or query.kind == UNASKED:
                continue
            question = SearchQuery(
                text=query.text,
                language=query.language,
                asked_at=given.asked_at,
                zone_offset_s=given.zone_offset_s,
                embedding=new.sense(query),
                legacy_embeddings={old.model: old.sense(query)},
            )
            hits = {lines[hit.seq] for hit in search(index, question, 10).hits}
            shares.append(len(hits & query.evidence) / len(query.evidence))
    return 100 * float(np.mean(shares))


@pytest.fixture(scope="module")
def minilm() -> Known:
    """The model in the program."""
    return Known(MiniLM())


@pytest.mark.slow
def test_recall_during_an_embedder_switch_is_no_worse_than_the_weaker_model(minilm: Known) -> None:
    """But for two points; the other model is of another kind."""
    conversations = [each for each in load_own_conversations() if each.name in CONVERSATIONS]
    found = [
        found_during(conversations, minilm, Known(Hashed()), share) for share in (0, 0.1, 0.5, 1)
    ]

    assert min(found) >= min(found[0], found[-1]) - POINTS, found


@pytest.mark.slow
def test_recall_is_stable_when_embedders_differ_in_cosine_range(minilm: Known) -> None:
    """What is close is read by what is usual to each of them."""
    conversations = [each for each in load_own_conversations() if each.name in CONVERSATIONS]
    shifted = Shifted(minilm)
    found = [found_during(conversations, shifted, minilm, share) for share in (0, 0.5, 1)]

    assert max(found) - min(found) < POINTS, found
