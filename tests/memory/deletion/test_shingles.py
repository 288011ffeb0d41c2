"""Two texts share a span exactly when they share five words, or eight signs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.memory.deletion.shingles import (
    PHRASE_WEIGHT,
    compute_overlap,
    hash_text_shingles,
    is_distinctive,
    normalize_to_words,
    tokenize_casefolded,
)

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=5, max_size=12)


@given(words=WORDS, before=WORDS, after=WORDS)
def test_what_is_repeated_inside_another_text_is_found(
    words: list[str], before: list[str], after: list[str]
) -> None:
    """Whatever stands around it."""
    text = " ".join(words)
    around = f"{' '.join(before)}: “{text}”. {' '.join(after)}"

    assert hash_text_shingles(text) <= hash_text_shingles(around)
    assert hash_text_shingles(text.upper()) == hash_text_shingles(text)
    assert compute_overlap(hash_text_shingles(text), hash_text_shingles(around)) == 1


@given(words=WORDS)
def test_four_words_are_no_span(words: list[str]) -> None:
    """They may stand anywhere."""
    assert hash_text_shingles(" ".join(words[:4])) == frozenset()
    assert not is_distinctive(" ".join(words[:4]))
    assert is_distinctive(" ".join(words[:5]))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("我在波尔图买了一", 1),
        ("我在波尔图买了", 0),
        ("我在波尔图买了一套小房子", 5),
        ("住在 Porto 买了 very small", 1),
        ("a" * 25, 1),
        ("", 0),
        ("?!", 0),
    ],
)
def test_signs_count_less_than_words(text: str, spans: int) -> None:
    """Eight of them are as much as five words; a word without end is a span by itself."""
    assert len(hash_text_shingles(text)) == spans


def test_what_stands_in_json_is_found() -> None:
    """Escaped in either way."""
    text = 'She said "no" to him\nand left for Łódź at once, déjà vu.'

    for is_ascii in (True, False):
        assert hash_text_shingles(text) <= hash_text_shingles(
            json.dumps({"text": text}, ensure_ascii=is_ascii)
        )


def test_the_same_words_are_the_same_text() -> None:
    """Case, width, blanks and punctuation aside."""
    assert normalize_to_words("  Ａｎａ,  moved\tto PORTO! ") == "ana moved to porto"
    assert tokenize_casefolded("猫 and 犬") == ["猫", "and", "犬"]


def test_a_phrase_is_a_shorter_span() -> None:
    """For texts of which it is known that one was made from the other."""
    assert hash_text_shingles("allergic to hazelnuts", weight=PHRASE_WEIGHT)
    assert not hash_text_shingles("allergic to hazelnuts")
