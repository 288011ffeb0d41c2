"""What the index keeps of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.memory.search import imprint_of, is_current_imprint, text_to_embed
from oldfriend.memory.search.words import term_of, words_in


def test_forms_of_a_word_share_their_term():
    """Stemming is per language."""
    assert term_of("boats", "en") == term_of("boat", "en")
    assert term_of("gatos", "es") == term_of("gato", "es")
    assert term_of("cumpleaños", "es") == term_of("cumpleanos", "es")


def test_chinese_becomes_characters_and_pairs():
    """There are no spaces to split at."""
    assert words_in("我的猫 ok") == ["我", "我的", "的", "的猫", "猫", "ok"]


@pytest.mark.parametrize("text", ["", "   ", "👍", "…!"])
def test_a_text_without_words_has_no_imprint(text):
    """There is nothing to find it by."""
    assert imprint_of(text, language="en") == b""


def test_an_older_imprint_is_recognised():
    """The shell makes it again from the text."""
    imprint = imprint_of("a boat", language="en")

    assert is_current_imprint(imprint)
    assert is_current_imprint(b"")
    assert not is_current_imprint(b"\x00" + imprint[1:])


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["en", "ru", "ja", "??"]))
def test_any_text_has_an_imprint_of_whole_numbers(text, language):
    """No string breaks it."""
    imprint = imprint_of(text, language=language)

    assert len(imprint) % 4 == 0
    assert imprint == imprint_of(text, language=language)


def test_who_speaks_is_embedded_with_the_words():
    """The name is half of what a message means."""
    assert text_to_embed("Ana", "hello") == "Ana: hello"
    assert text_to_embed("", "hello") == "hello"
