"""Two beliefs are joined only if they say the same, and never if a detail that matters differs."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.learning.dedup import list_candidate_pairs
from oldfriend.learning.similarity import (
    EmbeddedTexts,
    MatchVerdict,
    classify_pair,
    compute_canonical_hash,
    compute_similarity,
    get_pair_metric,
    get_thresholds,
    list_differences,
)
from oldfriend.llm.adapters.minilm import MiniLM
from tests.learning.alike import Labelled, claim, labelled

FILES = ["pairs", "held_out"]


@pytest.fixture(scope="module")
def vectors() -> EmbeddedTexts:
    """What the default embedder makes of all the pairs."""
    texts = [text for name in FILES for pair in labelled(name) for text in (pair.one, pair.other)]
    embedder = MiniLM()
    rows = asyncio.run(embedder.embed(texts))
    return EmbeddedTexts(model=embedder.model, by_text=dict(zip(texts, rows, strict=True)))


def judged(pair: Labelled, vectors: EmbeddedTexts | None) -> MatchVerdict:
    """What is made of a pair; the same both ways round."""
    one, other = claim(pair.one), claim(pair.other)
    answer = classify_pair(one, other, vectors, language=pair.language)
    assert answer == classify_pair(other, one, vectors, language=pair.language)
    return answer


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_embedded", [True, False])
def test_pairs_that_differ_are_never_classified_as_same(
    name: str, vectors: EmbeddedTexts, *, is_embedded: bool
) -> None:
    """In five languages, with and without vectors, and without anybody who could be asked."""
    wrong = [
        pair
        for pair in labelled(name)
        if pair.label != "same" and judged(pair, vectors if is_embedded else None) == "same"
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("name", "is_embedded", "joined", "seen"),
    [("pairs", True, 0.73, 0.93), ("pairs", False, 0.66, 0.81), ("held_out", True, 0.6, 0.77)],
)
def test_pairs_that_are_the_same_reach_the_required_recall(
    name: str, vectors: EmbeddedTexts, *, is_embedded: bool, joined: float, seen: float
) -> None:
    """Most of it without asking; most of the rest is at least asked about."""
    found = Counter(
        judged(pair, vectors if is_embedded else None)
        for pair in labelled(name)
        if pair.label == "same"
    )

    assert found["same"] / found.total() >= joined
    assert (found["same"] + found["unclear"]) / found.total() >= seen


@pytest.mark.parametrize("name", FILES)
def test_every_similar_trap_pair_has_a_listed_difference(name: str, vectors: EmbeddedTexts) -> None:
    """Whatever the language: it is named."""
    for pair in labelled(name):
        close = compute_similarity(pair.one, pair.other, vectors)
        if pair.label == "trap" and close >= get_thresholds(pair.one, pair.other, vectors).same:
            assert list_differences(pair.one, pair.other, language=pair.language), pair


def test_labelled_set_has_enough_pairs_per_language() -> None:
    """A hundred and fifty in all, and a fair share of each."""
    pairs = labelled("pairs")

    assert len(pairs) >= 150
    assert min(Counter(pair.language for pair in pairs).values()) >= 35


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Lives in Porto.", "lives in porto", "en"),
        ("Has three cats!", "Has 3 cats", "en"),
        ("Tiene tres gatos.", "Tiene 3 gatos", "es"),
        ("Café  in “Köln”", "cafe\u0301 in Ko\u0308ln", "de"),
        ("喜欢猫。", "喜欢猫", "zh"),
    ],
)
def test_canonical_hash_ignores_case_punctuation_and_number_spelling(
    one: str, other: str, language: str
) -> None:
    """Case, punctuation, spaces, forms of a letter, numbers in words."""
    assert compute_canonical_hash(one, language) == compute_canonical_hash(other, language)
    assert compute_canonical_hash(one, language) != compute_canonical_hash(f"{one} not", language)


@pytest.mark.parametrize(
    ("one", "other", "language", "named"),
    [
        ("Flies on March 3.", "Flies on March 8.", "en", "number: 3 / 8"),
        ("Has two cats.", "Has cats.", "en", "number: 2 / –"),
        ("Born on 1990-03-03.", "Born on March 3, 1990.", "en", None),
        ("Pays 1,000 euros.", "Pays 1000 euros.", "en", None),
        ("Gets up at 7:00.", "Gets up at 7.", "en", None),
        ("Plays on Mondays.", "Plays every Monday.", "en", None),
        ("Sees Ana.", "Sees Eva.", "en", "name: ana / eva"),
        ("Tom loves Ana.", "Ana loves Tom.", "en", "first name: tom / ana"),
        ("Never liked it.", "Liked it.", "en", "negation"),
        ("Stopped smoking.", "No longer smokes.", "en", None),
        ("Never stopped smoking.", "Stopped smoking.", "en", "negation"),
        ("Es ist nicht nur Arbeit.", "Es ist Arbeit.", "de", None),
        ("Hat im Mai geheiratet.", "Wurde im Mai geschieden.", "de", "side: marriage"),
        ("Ne fume plus.", "Fume.", "fr", "negation"),
        ("No come nunca carne.", "No come carne.", "es", None),
        ("三月三日出发。", "3月3日出发。", "zh", None),
        ("非常喜欢。", "喜欢。", "zh", None),
        ("不喜欢。", "喜欢。", "zh", "negation"),
        ("Vive a Roma con Anna.", "Vive a Roma con Eva.", "it", "name: anna / eva"),
        ("Non vive a Roma.", "Vive a Roma.", "it", "negation"),
        ("3月に行く。", "8月に行く。", "ja", "time: month 3 / month 8"),
    ],
)
def test_list_differences_names_number_time_name_negation_and_side(
    one: str, other: str, language: str, named: str | None
) -> None:
    """Numbers, times, names, negation and sides, in any language that has rules, and others."""
    found = list_differences(one, other, language=language)

    assert (named in found) if named else (found == ())


def test_known_names_are_compared_as_names_in_german_and_chinese() -> None:
    """In German every noun has a capital; in Chinese nothing has."""
    names = ["Maria", "Mario", "小安", "小伊"]

    assert "name: maria / mario" in list_differences(
        "Fährt mit Maria.", "Fährt mit Mario.", language="de", names=names
    )
    assert "name: 小安 / 小伊" in list_differences(
        "小安来了。", "小伊来了。", language="zh", names=names
    )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"kind": "event"}, {"kind": "fact"}, "different"),
        ({"kind": "preference"}, {"kind": "pattern", "pattern": "preference"}, "same"),
        ({"pattern": "goal"}, {"pattern": "behavior"}, "different"),
        ({"subject": "other"}, {"subject": "person"}, "different"),
        (
            {"kind": "event", "happened_at": 0},
            {"kind": "event", "happened_at": 31 * DAY},
            "different",
        ),
        ({"kind": "event", "happened_at": 0}, {"kind": "event", "happened_at": 29 * DAY}, "same"),
        ({"kind": "event", "impact": 5}, {"kind": "event", "impact": -5}, "unclear"),
        (
            {"kind": "expectation", "due_at": 0},
            {"kind": "expectation", "due_at": 9 * DAY},
            "unclear",
        ),
    ],
)
def test_same_text_is_classified_by_kind_subject_time_and_impact(
    one: dict[str, object], other: dict[str, object], expected: MatchVerdict
) -> None:
    """By kind, by whom they are about, by when it happened or is due, and by how it felt."""
    text = "Runs a marathon."

    assert classify_pair(claim(text, **one), claim(text, **other), None, language="en") == expected


def test_events_of_very_different_impact_are_not_classified_as_same() -> None:
    """Nearly the same words, and one of the two is what nobody may forget."""
    texts = ["Applied for a job as a pilot in Ulm.", "Got the job as a pilot in Ulm."]
    embedder = MiniLM()
    rows = asyncio.run(embedder.embed(texts))
    vectors = EmbeddedTexts(model=embedder.model, by_text=dict(zip(texts, rows, strict=True)))
    applied, got = (claim(text, kind="event", impact=2) for text in texts)

    assert classify_pair(applied, got, vectors, language="en") == "same"
    assert classify_pair(applied, replace(got, impact=8), vectors, language="en") == "different"


@pytest.mark.parametrize("text", ["", "🙂", "…"])
def test_texts_without_words_have_no_differences(text: str) -> None:
    """Pictures may differ; nothing breaks."""
    assert list_differences(text, text, language="en") == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("!!!", "???"), ("", ""), ("🙂", "🙁"), ("Loves 🍕.", "Loves 🍔."), ("7", "9")],
)
def test_different_texts_without_words_are_not_classified_as_same(one: str, other: str) -> None:
    """There is nothing in which they could agree."""
    assert classify_pair(claim(one), claim(other), None, language="en") != "same"


def test_default_embedder_is_not_used_for_chinese_similarity(vectors: EmbeddedTexts) -> None:
    """To it "likes cats" and "likes dogs" are one and the same; one that can read it is."""
    cats, dogs = "喜欢猫。", "喜欢狗。"
    other = EmbeddedTexts(model="other/embedder", by_text=vectors.by_text)

    assert compute_similarity(cats, dogs, other) > 0.99
    assert compute_similarity(cats, dogs, vectors) < 0.7
    assert get_pair_metric(cats, dogs, other) == "other/embedder"
    assert get_thresholds(cats, dogs, other).same == 0.90


def test_candidate_pairs_include_every_pair_not_classified_different(
    vectors: EmbeddedTexts,
) -> None:
    """Exactly those that a look at each pair finds, the most alike first."""
    rows = [pair for pair in labelled("pairs") if pair.language in {"en", "zh"}]
    ones, others = [claim(pair.one) for pair in rows], [claim(pair.other) for pair in rows]

    found = list_candidate_pairs(ones, others, vectors, language="en")

    assert [pair.similarity for pair in found] == sorted(
        (pair.similarity for pair in found), reverse=True
    )
    assert {(pair.one, pair.other) for pair in found} >= {
        (row, column)
        for row, one in enumerate(ones)
        for column, other in enumerate(others)
        if classify_pair(one, other, vectors, language="en") != "different"
    }
