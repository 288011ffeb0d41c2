"""Reasons that are shown against the ranking: each is switched off, and ranked without.

A reason stands for a group of features. Its gain is the factor by which a hit's score falls when
they are as if nothing had been found by them. The ranking is no sum, because nets correct it, so
the gains of a hit do not multiply to its score.

    python -m oldfriend_evals.reason_gains
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.llm.embedding import Embedder
from oldfriend.llm.glosses import gloss_for_embedder
from oldfriend.search import PersonIndex, SearchQuery, search
from oldfriend.search.features import RankingContext, compute_features
from oldfriend.search.fusion import load_weights
from oldfriend.search.message_search import compute_chat_types, prepare_ranking
from oldfriend.search.types import Floats
from oldfriend_evals.answers import build_question, list_messages
from oldfriend_evals.lives.life_files import LANGUAGES, load_life
from oldfriend_evals.lives.questions import load_questions
from oldfriend_evals.temporary_stores import open_temporary_store

FOUND: Final = 10
FEATURES: Final[Mapping[str, str]] = {
    "words": "words words_share words_and_meaning words_with_companion words_alone covered"
    " covered_squared covered_with_before rarest_word any_word share_of_words three_words"
    " words_together named_speaks_words",
    "words_near": "words_around words_around_share words_before words_after words_before2"
    " words_around_before2 words_around_after2 words_around_alone words_around_for_time"
    " covered_around covered_around_alone covered_with_before",
    "words_like": "ngrams ngrams_before ngrams_after",
    "meaning": "meaning meaning_squared meaning_before meaning_after meaning_before2"
    " words_and_meaning meaning_with_companion",
    "said_by": "named_speaks named_speaks_words named_speaks_of_self another_speaks",
    "own_words": "mine mine_when_asked_as_i another_when_asked_as_i",
    "mentions": "mentions_named another_mentions_named",
    "date": "date_inside date_close date_missed",
    "session": "session_best session_mass session_words session_covered session_meaning",
    "answers": "asked_before asked_before_words",
}
"""By cause, the features that it stands for."""
FULL_WHEN_OFF: Final = frozenset({"date_missed", "another_speaks", "another_when_asked_as_i"})
"""Features that say that something was not found, where it was asked for."""


def compute_gains(context: RankingContext, places: NDArray[np.intp]) -> dict[str, Floats]:
    """By cause, the gain of each of these candidates."""
    weights, chat_types = load_weights(), compute_chat_types(context)
    names, features = compute_features(context)
    ranked = weights.fusion.score(features[places], chat_types)
    gains: dict[str, Floats] = {}
    for cause, group in FEATURES.items():
        without = features[places].copy()
        for name in group.split():
            column = names.index(name)
            is_asked = bool(features[:, column].any())
            without[:, column] = float(name in FULL_WHEN_OFF and is_asked)
        lost = ranked - weights.fusion.score(without, chat_types)
        gains[cause] = np.exp(weights.score_decay * lost)
    return gains


def list_shown_gains(index: PersonIndex, query: SearchQuery) -> Iterator[tuple[str, float]]:
    """Yield cause and gain of each reason that is shown for the hits of a question."""
    context, hits = prepare_ranking(index, query), search(index, query, FOUND).hits
    if context is None or not hits:
        return
    seqs = context.index.columns.seq[context.candidates.rows].tolist()
    gains = compute_gains(context, np.array([seqs.index(hit.seq) for hit in hits], np.intp))
    for number, hit in enumerate(hits):
        for reason in hit.reasons:
            yield reason.cause, float(gains[reason.cause][number])


async def iter_questions(embedder: Embedder) -> AsyncIterator[tuple[PersonIndex, SearchQuery]]:
    """Yield the questions asked at the end of each life, with what was said in it."""
    for language in LANGUAGES:
        life, questions = load_life(language), load_questions(language)
        index, at = await list_messages(life, embedder), max(line.spoken.at for line in life.lines)
        texts = [(each.text, language) for each in questions]
        vectors = await embedder.embed(await gloss_for_embedder(embedder.model, texts))
        for asks, vector in zip(questions, vectors, strict=True):
            yield index, build_question(asks, language, vector, at)


async def measure() -> None:
    """Print for each cause how often it is shown, how often it raised the score, and how far."""
    gains: defaultdict[str, list[float]] = defaultdict(list)
    async with open_temporary_store() as app:
        async for index, query in iter_questions(app.embedder):
            for cause, gain in list_shown_gains(index, query):
                gains[cause].append(gain)
    for cause, found in sorted(gains.items()):
        raised = sum(each > 1 for each in found) / len(found)
        sys.stdout.write(
            f"{cause}: {len(found)} shown, {raised:.0%} raised the score, "
            f"the middle one × {np.median(found):.1f}\n"
        )


if __name__ == "__main__":
    asyncio.run(measure())
