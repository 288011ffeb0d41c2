"""A long reply goes out in parts that Telegram takes, and that look as they did in one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.channels.telegram.rendering import render
from oldfriend.channels.telegram.splitting import MOST_UNITS, split
from tests.channels.telegram.test_rendering import PIECES

SENTENCE = "This is a sentence of an ordinary length. "


def seen(markdown: str) -> str:
    """What is seen of a text, without what stands between words."""
    return re.sub(r"\s", "", render(markdown).visible)


def test_what_fits_is_one_part() -> None:
    """As it was written; what shows nothing is none."""
    assert split("**short**") == ["**short**"]
    assert split(" \n ") == []


def test_it_is_cut_between_paragraphs() -> None:
    """As many as fit go into one part."""
    paragraph = SENTENCE * 40
    parts = split("\n\n".join([paragraph] * 5))

    assert [part.count(SENTENCE.strip()) for part in parts] == [80, 80, 40]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Never within a word."""
    parts = split(SENTENCE * 300)

    assert len(parts) > 2
    assert all(part.endswith("length.") for part in parts)


def test_nothing_marked_is_cut_in_two() -> None:
    """The cut is made before the bold words, or they lose their mark."""
    bold = f"**{'very bold words ' * 20}end**"
    parts = split(f"{SENTENCE * 95}{bold} and so on. {SENTENCE * 20}")

    assert len(parts) == 2
    assert bold in parts[1]
    everything = split(f"**{'bold ' * 2000}end**")
    assert all("**" not in render(part).visible for part in everything)


def test_code_goes_on_as_code() -> None:
    """Cut between lines, each part with its language."""
    parts = split("Look:\n\n```py\n" + "x = 1 < 2\n" * 1000 + "```\n\nThat is all.")

    assert all("```py\n" in part and part.count("```") == 2 for part in parts)
    assert sum(part.count("x = 1 < 2\n") for part in parts) == 1000
    assert parts[-1].endswith("That is all.")


@pytest.mark.parametrize("text", ["\U0001f600" * 5000, "\u4f60\u597d\u3002" * 4000, "x" * 9000])
def test_what_has_no_better_place_is_cut_all_the_same(text: str) -> None:
    """Never within a character."""
    parts = split(text)

    assert "".join(parts) == text
    assert all(0 < render(part).units <= MOST_UNITS for part in parts)


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(8, 40))
def test_parts_fit_and_are_never_cut_again(markdown: str, most: int) -> None:
    """Whoever cuts it a second time gets the same."""
    parts = split(markdown, most=most)

    assert all(0 < render(part).units <= most for part in parts)
    assert all(split(part, most=most) == [part] for part in parts)


@given(
    st.lists(
        st.sampled_from(["word ", "**bold** ", "`code` ", "end. ", "\n\n", "- item\n"]), max_size=80
    ).map("".join)
)
def test_nothing_is_lost(markdown: str) -> None:
    """All that is seen of the whole is seen of its parts, in order."""
    parts = split(markdown, most=30)

    assert "".join(map(seen, parts)).replace("\u2022", "") == seen(markdown).replace("\u2022", "")
