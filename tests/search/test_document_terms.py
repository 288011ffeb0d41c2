"""What the index keeps of a text."""

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.search import build_embedding_text, encode_document_terms, is_current_encoding
from oldfriend.search.tokenizer import to_ngrams, to_term, tokenize


def test_inflected_forms_are_stemmed_to_one_term():
    """Stemming is per language."""
    assert to_term("boats", "en") == to_term("boat", "en")
    assert to_term("gatos", "es") == to_term("gato", "es")
    assert to_term("cumpleaños", "es") == to_term("cumpleanos", "es")


def test_chinese_text_is_tokenized_into_characters_and_bigrams():
    """There are no spaces to split at."""
    assert tokenize("我的猫 ok") == ["我", "我的", "的", "的猫", "猫", "ok"]


@pytest.mark.parametrize("text", ["", "   ", "👍", "…!"])
def test_text_without_words_has_an_empty_encoding(text):
    """There is nothing to find it by."""
    assert encode_document_terms(text, language="en") == b""


def test_outdated_document_encoding_is_detected():
    """The shell makes it again from the text."""
    imprint = encode_document_terms("a boat", language="en")

    assert is_current_encoding(imprint, "en")
    assert is_current_encoding(b"", "en")
    assert not is_current_encoding(b"\x00" + imprint[1:], "en")


def test_only_languages_with_ngrams_need_reencoding():
    """Those of other languages are as they were, so that an old store opens as fast as before."""
    before = encode_document_terms("ein boot", language="en")  # as all were encoded

    assert is_current_encoding(before, "en")
    assert is_current_encoding(before, "zh")
    assert not is_current_encoding(before, "de")
    assert is_current_encoding(encode_document_terms("ein boot", language="de"), "de")


def test_content_words_are_split_into_ngrams_only_in_selected_languages():
    """With the edges of the word; stop words, scripts without spaces and English have none."""
    assert to_ngrams("boot", "de") == tuple(map(crc32, [b"_boo", b"boot", b"oot_"]))
    assert to_ngrams("über", "nl")[0] == crc32(b"_ube")
    assert to_ngrams("ei", "de") == (crc32(b"_ei_"),)
    assert to_ngrams("und", "de") == to_ngrams("船", "de") == to_ngrams("boat", "en") == ()


@given(
    st.text(st.characters(exclude_categories=())), st.sampled_from(["en", "ru", "ja", "de", "??"])
)
def test_document_encoding_of_any_text_is_deterministic_and_aligned(text, language):
    """No string breaks it."""
    imprint = encode_document_terms(text, language=language)

    assert len(imprint) % 4 == 0
    assert imprint == encode_document_terms(text, language=language)


def test_embedding_text_includes_the_speaker():
    """The name is half of what a message means."""
    assert build_embedding_text("Ana", "hello") == "Ana: hello"
    assert build_embedding_text("", "hello") == "hello"
