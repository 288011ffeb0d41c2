"""Two texts share a span exactly when they share five words, or eight signs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.memory.forgetting.spans import (
    PHRASE,
    is_telling,
    likeness,
    spans_in,
    tokens_of,
    words_of,
)

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=5, max_size=12)


@given(words=WORDS, before=WORDS, after=WORDS)
def test_what_is_repeated_inside_another_text_is_found(
    words: list[str], before: list[str], after: list[str]
) -> None:
    """Whatever stands around it."""
    text = " ".join(words)
    around = f"{' '.join(before)}: “{text}”. {' '.join(after)}"

    assert spans_in(text) <= spans_in(around)
    assert spans_in(text.upper()) == spans_in(text)
    assert likeness(spans_in(text), spans_in(around)) == 1


@given(words=WORDS)
def test_four_words_are_no_span(words: list[str]) -> None:
    """They may stand anywhere."""
    assert spans_in(" ".join(words[:4])) == frozenset()
    assert not is_telling(" ".join(words[:4]))
    assert is_telling(" ".join(words[:5]))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("我在波尔图买了一", 1), ("我在波尔图买了", 0), ("我在波尔图买了一套小房子", 5),
        ("住在 Porto 买了 very small", 1), ("a" * 25, 1), ("", 0), ("?!", 0),
    ],
)  # fmt: skip
def test_signs_count_less_than_words(text: str, spans: int) -> None:
    """Eight of them are as much as five words; a word without end is a span by itself."""
    assert len(spans_in(text)) == spans


def test_what_stands_in_json_is_found() -> None:
    """Escaped in either way."""
    text = 'She said "no" to him\nand left for Łódź at once, déjà vu.'

    for is_ascii in (True, False):
        assert spans_in(text) <= spans_in(json.dumps({"text": text}, ensure_ascii=is_ascii))


def test_the_same_words_are_the_same_text() -> None:
    """Case, width, blanks and punctuation aside."""
    assert words_of("  Ａｎａ,  moved\tto PORTO! ") == "ana moved to porto"
    assert tokens_of("猫 and 犬") == ["猫", "and", "犬"]


def test_a_phrase_is_a_shorter_span() -> None:
    """For texts of which it is known that one was made from the other."""
    assert spans_in("allergic to hazelnuts", weight=PHRASE)
    assert not spans_in("allergic to hazelnuts")
