"""Each language is measured beside plain BM25 over character n-grams."""

import zlib
from dataclasses import replace

import numpy as np

from oldfriend_evals.datasets import Query, load_life_conversations
from oldfriend_evals.languages import build_measures, build_plain_search, count_found, split_ngrams


def embed(texts):
    """Vectors that mean nothing, but always the same."""
    seeds = [zlib.crc32(text.encode()) for text in texts]
    vectors = np.stack([np.random.default_rng(seed).normal(size=384) for seed in seeds])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_ngrams_are_characters_and_bigrams_in_unspaced_scripts():
    assert split_ngrams("我的猫 ab", 2) == ["我", "我的", "的", "的猫", "猫", "_a", "ab", "b_"]


def test_plain_search_finds_parts_of_words():
    scores = build_plain_search(["die Zugfahrt war lang", "nichts Neues", "ja"], "de")("Fahrten")

    assert scores[0] > 0
    assert scores.argmax() == 0


def test_answer_of_two_parts_is_found_only_with_both():
    """Any message of each part will do."""
    query = Query(
        text="?",
        evidence=frozenset("abc"),
        kind="diary_en",
        language="en",
        parts=(frozenset("ab"), frozenset("c")),
    )

    assert query.is_found({"b", "c", "z"})
    assert not query.is_found({"a", "b"})
    assert not replace(query, parts=()).is_found({"b", "c"})  # without parts it needs all


def test_life_search_is_counted_beside_plain_search():
    """And how likely an answer seemed is collected, with whether there is one."""
    life = next(each for each in load_life_conversations() if each.name == "zh-casual-2")
    likely: list[float] = []
    has_answer: list[bool] = []

    counts = count_found(replace(life, queries=life.queries[-20:]), embed, likely, has_answer)

    assert 0 < counts["found"] <= counts["asked"] == sum(has_answer) < len(likely) == 20
    assert build_measures("zh", counts).reference == 100 * counts["found plainly"] / counts["asked"]
