"""A long reply goes out in parts that Telegram takes, and that look as they did in one."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.channels.telegram.rendering import render
from oldfriend.channels.telegram.splitting import (
    MAX_MESSAGE_UNITS,
    get_visible_words,
    is_short_enough,
    split_reply,
)
from tests.channels.telegram.test_rendering import PIECES

SENTENCE = "This is a sentence of an ordinary length. "


def seen(markdown: str) -> str:
    """What is seen of a text, without what stands between words."""
    return re.sub(r"\s", "", render(markdown).visible)


def test_what_fits_is_one_part() -> None:
    """As it was written; what shows nothing is none."""
    assert split_reply("**short**") == ["**short**"]
    assert split_reply(" \n ") == []


def test_it_is_cut_between_paragraphs() -> None:
    """As many as fit go into one part."""
    paragraph = SENTENCE * 40
    parts = split_reply("\n\n".join([paragraph] * 5))

    assert [part.count(SENTENCE.strip()) for part in parts] == [80, 80, 40]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Never within a word."""
    parts = split_reply(SENTENCE * 300)

    assert len(parts) > 2
    assert all(part.endswith("length.") for part in parts)


def test_nothing_marked_is_cut_in_two() -> None:
    """The cut is made before the bold words, or they lose their mark."""
    bold = f"**{'very bold words ' * 20}end**"
    parts = split_reply(f"{SENTENCE * 95}{bold} and so on. {SENTENCE * 20}")

    assert len(parts) == 2
    assert bold in parts[1]
    everything = split_reply(f"**{'bold ' * 2000}end**")
    assert all("**" not in render(part).visible for part in everything)


def test_code_goes_on_as_code() -> None:
    """Cut between lines, each part with its language."""
    parts = split_reply("Look:\n\n```py\n" + "x = 1 < 2\n" * 1000 + "```\n\nThat is all.")

    assert all("```py\n" in part and part.count("```") == 2 for part in parts)
    assert sum(part.count("x = 1 < 2\n") for part in parts) == 1000
    assert parts[-1].endswith("That is all.")


@pytest.mark.parametrize("text", ["\U0001f600" * 5000, "\u4f60\u597d\u3002" * 4000, "x" * 9000])
def test_what_has_no_better_place_is_cut_all_the_same(text: str) -> None:
    """Never within a character."""
    parts = split_reply(text)

    assert "".join(parts) == text
    assert all(0 < render(part).units <= MAX_MESSAGE_UNITS for part in parts)


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(8, 40))
def test_parts_fit_and_are_never_cut_again(markdown: str, most: int) -> None:
    """Whoever cuts it a second time gets the same."""
    parts = split_reply(markdown, max_units=most)

    assert all(0 < render(part).units <= most for part in parts)
    assert all(split_reply(part, max_units=most) == [part] for part in parts)


@given(
    st.lists(
        st.sampled_from(["word ", "**bold** ", "`code` ", "end. ", "\n\n", "- item\n"]), max_size=80
    ).map("".join)
)
def test_nothing_is_lost(markdown: str) -> None:
    """All that is seen of the whole is seen of its parts, in order."""
    parts = split_reply(markdown, max_units=30)

    assert "".join(map(seen, parts)).replace("\u2022", "") == seen(markdown).replace("\u2022", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a\n\n", "> a\n\n", "1. a\n\n", "- a\n", "|a|b|\n|-|-|\n", "a *b* ", "[a]("]
)
def test_a_reply_that_is_made_to_take_long_is_cut_soon(unit: str) -> None:
    """In so many small blocks or marks that each could be read again for each other."""
    began = time.thread_time()
    parts = split_reply(unit * (8_000 // len(unit)))

    assert time.thread_time() - began < 5
    assert parts
    assert all(is_short_enough(part, MAX_MESSAGE_UNITS) for part in parts)


def test_a_reply_longer_than_anybody_reads_is_cut_as_plain_words() -> None:
    """All of its words are there, as they stand."""
    text = "Some *marked* words. " * 5_000
    parts = split_reply(text)

    assert all(is_short_enough(part, MAX_MESSAGE_UNITS) for part in parts)
    assert "".join(map(get_visible_words, parts)) == "".join(text.split())
