"""Retrieval by language, beside plain BM25 over character n-grams.

Asked of the lives and of our own conversations. The weights were learned on them, too: what was
found with the weights of others, `scripts/learn_fusion.py` prints.

    python -m oldfriend_evals.languages
"""

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from oldfriend.lang.language_pack import get_traits
from oldfriend.search import QueryEmbedding, SearchQuery, search
from oldfriend.search.tokenizer import is_unspaced, tokenize
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target
from oldfriend_evals.datasets import (
    Conversation,
    Query,
    load_life_conversations,
    load_own_conversations,
)
from oldfriend_evals.lbfgs import Doubles
from oldfriend_evals.retrieval_eval import UNASKED, Embed, build_index, compute_auc, embed_query
from oldfriend_evals.retrieval_quality import Embedding
from oldfriend_evals.temporary_stores import open_temporary_store

FOUND: Final = 10
UNSPACED_LENGTH: Final = 2
SPACED_LENGTH: Final = 4
NEAR_MISS: Final = 0.80
"""Area under the curve that is aimed at."""
_K1, _B = 1.2, 0.6


async def measure_languages(_scope: Scope) -> list[Measure]:
    """Each language beside plain BM25, and whether it is known that nothing fits."""
    async with open_temporary_store() as app:
        embed = Embedding(app.embedder, asyncio.get_running_loop())
        return await asyncio.to_thread(measure_all, embed)


def measure_all(embed: Embed) -> list[Measure]:
    """All of it."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    likely: list[float] = []
    has_answer: list[bool] = []
    for conversation in load_life_conversations():
        counts[conversation.language] += count_found(conversation, embed, likely, has_answer)
    for conversation in load_own_conversations():
        counts[conversation.language] += count_found(conversation, embed)
    curve = compute_auc(np.array(likely), np.array(has_answer))
    return [
        *(build_measures(language, count) for language, count in sorted(counts.items())),
        Measure(
            name="nothing fits: near-miss questions of the lives",
            value=curve,
            unit="AUC",
            target=build_lower_target(NEAR_MISS),
            note=f"{len(likely)} questions, {has_answer.count(False)} without an answer",
        ),
    ]


def count_found(
    conversation: Conversation,
    embed: Embed,
    likely: list[float] | None = None,
    has_answer: list[bool] | None = None,
) -> Counter[str]:
    """Ask everything; also collect how likely an answer seemed, where lists for it are given."""
    index = build_index(conversation, embed)
    ids = [line.id for line in conversation.lines]
    counts = Counter[str]()
    plain = build_plain_search([line.text for line in conversation.lines], conversation.language)
    for query in conversation.queries:
        if query.kind == UNASKED:
            continue
        vector = QueryEmbedding(vector=embed_query(query, embed))
        result = search(index, _build_query(conversation, query, vector), FOUND)
        if likely is not None and has_answer is not None:
            likely.append(result.answer_probability)
            has_answer.append(bool(query.evidence))
        if query.evidence:
            nearest = np.argsort(-plain(query.text), kind="stable")[:FOUND]
            counts["asked"] += 1
            counts["found"] += query.is_found({ids[hit.seq] for hit in result.hits})
            counts["found plainly"] += query.is_found({ids[at] for at in nearest})
    return counts


def build_measures(language: str, counts: Counter[str]) -> Measure:
    """One language, which must not be found worse than by plain BM25."""
    parts = f"{SPACED_LENGTH}-grams" if get_traits(language).spaces else "single ones and pairs"
    return Measure(
        name=f"found among ten, {language}",
        value=100 * counts["found"] / counts["asked"],
        unit="%",
        reference=100 * counts["found plainly"] / counts["asked"],
        target=build_lower_target(1),
        note=f"{counts['found']} of {counts['asked']}; reference: BM25 over characters, {parts}",
    )


def build_plain_search(texts: Sequence[str], language: str) -> Callable[[str], Doubles]:
    """Return a function that scores all texts by BM25 over character n-grams."""
    length = SPACED_LENGTH if get_traits(language).spaces else UNSPACED_LENGTH
    counts = [Counter(split_ngrams(text, length)) for text in texts]
    sizes = np.array([count.total() for count in counts], np.float64)
    norms = _K1 * (1 - _B + _B * sizes / max(sizes.mean(), 1.0))
    held_by = Counter(gram for count in counts for gram in count)

    def score(question: str) -> Doubles:
        scores = np.zeros(len(texts))
        for gram in held_by.keys() & set(split_ngrams(question, length)):
            often = np.array([count[gram] for count in counts], np.float64)
            rarity = np.log1p((len(texts) - held_by[gram] + 0.5) / (held_by[gram] + 0.5))
            scores += rarity * often * (_K1 + 1) / (often + norms)
        return scores

    return score


def split_ngrams(text: str, length: int) -> list[str]:
    """Return each word's n-grams; without spaces, single characters and pairs."""
    grams: list[str] = []
    for word in tokenize(text):
        if is_unspaced(word):
            grams.append(word)
            continue
        edged = f"_{word}_"
        grams += [edged[at : at + length] for at in range(max(len(edged) - length, 0) + 1)]
    return grams


def _build_query(
    conversation: Conversation, query: Query, embedding: QueryEmbedding
) -> SearchQuery:
    own_names = () if conversation.owner is None else (conversation.owner,)
    return SearchQuery(
        text=query.text,
        language=query.language,
        embedding=embedding,
        asked_at=conversation.asked_at,
        zone_offset_s=conversation.zone_offset_s,
        own_names=own_names,
    )


def main() -> None:
    """Print a line for each language."""
    for each in asyncio.run(measure_languages(Scope(quick=False, locomo=None, float_model=None))):
        beside = "" if each.reference is None else f", plainly {each.reference:.1f}"
        sys.stdout.write(f"{each.name}: {each.value:.2f} {each.unit}{beside} ({each.note})\n")


if __name__ == "__main__":
    main()
