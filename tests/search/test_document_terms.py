"""What the index keeps of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.search import build_embedding_text, encode_document_terms, is_current_encoding
from oldfriend.search.tokenizer import to_term, tokenize


def test_forms_of_a_word_share_their_term():
    """Stemming is per language."""
    assert to_term("boats", "en") == to_term("boat", "en")
    assert to_term("gatos", "es") == to_term("gato", "es")
    assert to_term("cumpleaños", "es") == to_term("cumpleanos", "es")


def test_chinese_becomes_characters_and_pairs():
    """There are no spaces to split at."""
    assert tokenize("我的猫 ok") == ["我", "我的", "的", "的猫", "猫", "ok"]


@pytest.mark.parametrize("text", ["", "   ", "👍", "…!"])
def test_a_text_without_words_has_no_imprint(text):
    """There is nothing to find it by."""
    assert encode_document_terms(text, language="en") == b""


def test_an_older_imprint_is_recognised():
    """The shell makes it again from the text."""
    imprint = encode_document_terms("a boat", language="en")

    assert is_current_encoding(imprint)
    assert is_current_encoding(b"")
    assert not is_current_encoding(b"\x00" + imprint[1:])


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["en", "ru", "ja", "??"]))
def test_any_text_has_an_imprint_of_whole_numbers(text, language):
    """No string breaks it."""
    imprint = encode_document_terms(text, language=language)

    assert len(imprint) % 4 == 0
    assert imprint == encode_document_terms(text, language=language)


def test_who_speaks_is_embedded_with_the_words():
    """The name is half of what a message means."""
    assert build_embedding_text("Ana", "hello") == "Ana: hello"
    assert build_embedding_text("", "hello") == "hello"
