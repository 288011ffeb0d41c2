"""WordPiece reads any text as the `tokenizers` library does."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.llm.adapters.minilm import BUNDLED_FOLDER, WordPiece

WORDPIECE = WordPiece((BUNDLED_FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines())
START, END = 101, 102
FROM_TOKENIZERS = json.loads(
    Path(__file__).parents[1].joinpath("data/wordpiece.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("text", "ids"), FROM_TOKENIZERS)
def test_the_ids_are_those_of_the_tokenizers_library(text, ids):
    """Another tokenisation would give vectors that the model was not trained for."""
    assert WORDPIECE.encode(text, limit=256) == ids


@given(st.text(st.characters(categories=None)), st.integers(2, 300))
def test_any_string_gives_valid_ids(text, limit):
    """Lone surrogates, controls and unassigned characters must not stop an import."""
    ids = WORDPIECE.encode(text, limit=limit)

    assert ids[0] == START
    assert ids[-1] == END
    assert len(ids) <= limit
    assert all(0 <= number < 30_522 for number in ids)


@pytest.mark.parametrize("mark", ["[SEP]", "[CLS]", "[MASK]", "[PAD]", "[unused1]"])
def test_special_tokens_typed_as_text_are_not_special(mark):
    """What a person writes must not end the input or hide the rest of it."""
    assert not {0, 2, 103, START, END} & set(WORDPIECE.encode(f"a {mark} b", limit=256)[1:-1])


@pytest.mark.parametrize("text", ["a" * 10**6, "é " * 10**6, "\u0301" * 10**6, "qz" * 10**6])
def test_huge_text_is_tokenized_only_at_its_beginning(text):
    """Only so many characters are looked at, whatever is pasted."""
    assert WORDPIECE.encode(text, limit=256) == WORDPIECE.encode(text[:40_000], limit=256)
