"""A long reply goes out in parts that Telegram takes, and that look as they did in one."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.channels.splitting import ReplySplitter, count_utf16_units
from oldfriend.channels.telegram.rendering import SPLITTER, get_shown_text, render
from tests.channels.telegram.test_rendering import PIECES

MAX_MESSAGE_UNITS = SPLITTER.max_units
SENTENCE = "This is a sentence of an ordinary length. "


def split_reply(markdown: str, *, max_units: int = MAX_MESSAGE_UNITS) -> list[str]:
    """The parts of a reply in Markdown."""
    return ReplySplitter(get_shown_text, max_units).split(markdown, is_markdown=True)


def split_plain(text: str) -> list[str]:
    """The parts of a reply that is no Markdown."""
    return SPLITTER.split(text, is_markdown=False)


def seen(markdown: str) -> str:
    """What is seen of a text, without what stands between words."""
    return re.sub(r"\s", "", render(markdown).visible)


def test_short_reply_is_one_part_and_blank_reply_is_none() -> None:
    """As it was written; what shows nothing is none."""
    assert split_reply("**short**") == ["**short**"]
    assert split_reply(" \n ") == []


def test_long_reply_is_split_between_paragraphs() -> None:
    """As many as fit go into one part."""
    paragraph = SENTENCE * 40
    parts = split_reply("\n\n".join([paragraph] * 5))

    assert [part.count(SENTENCE.strip()) for part in parts] == [80, 80, 40]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Never within a word."""
    parts = split_reply(SENTENCE * 300)

    assert len(parts) > 2
    assert all(part.endswith("length.") for part in parts)


def test_bold_text_is_not_split_or_loses_its_markup() -> None:
    """The cut is made before the bold words, or they lose their mark."""
    bold = f"**{'very bold words ' * 20}end**"
    parts = split_reply(f"{SENTENCE * 95}{bold} and so on. {SENTENCE * 20}")

    assert len(parts) == 2
    assert bold in parts[1]
    everything = split_reply(f"**{'bold ' * 2000}end**")
    assert all("**" not in render(part).visible for part in everything)


def test_code_block_is_split_between_lines_and_stays_code() -> None:
    """Cut between lines, each part with its language."""
    parts = split_reply("Look:\n\n```py\n" + "x = 1 < 2\n" * 1000 + "```\n\nThat is all.")

    assert all("```py\n" in part and part.count("```") == 2 for part in parts)
    assert sum(part.count("x = 1 < 2\n") for part in parts) == 1000
    assert parts[-1].endswith("That is all.")


@pytest.mark.parametrize("text", ["\U0001f600" * 5000, "\u4f60\u597d\u3002" * 4000, "x" * 9000])
def test_text_without_break_points_is_split_between_characters(text: str) -> None:
    """Never within a character."""
    parts = split_reply(text)

    assert "".join(parts) == text
    assert all(0 < count_utf16_units(render(part).visible) <= MAX_MESSAGE_UNITS for part in parts)


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(8, 40))
def test_split_parts_fit_the_limit_and_splitting_is_idempotent(markdown: str, most: int) -> None:
    """Whoever cuts it a second time gets the same."""
    parts = split_reply(markdown, max_units=most)

    assert all(0 < count_utf16_units(render(part).visible) <= most for part in parts)
    assert all(split_reply(part, max_units=most) == [part] for part in parts)


@given(
    st.lists(
        st.sampled_from(["word ", "**bold** ", "`code` ", "end. ", "\n\n", "- item\n"]), max_size=80
    ).map("".join)
)
def test_splitting_keeps_all_visible_text_in_order(markdown: str) -> None:
    """All that is seen of the whole is seen of its parts, in order."""
    parts = split_reply(markdown, max_units=30)

    assert "".join(map(seen, parts)).replace("\u2022", "") == seen(markdown).replace("\u2022", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["a\n\n", "> a\n\n", "1. a\n\n", "- a\n", "|a|b|\n|-|-|\n", "a *b* ", "[a]("]
)
def test_splitting_adversarial_markdown_takes_bounded_time(unit: str) -> None:
    """In so many small blocks or marks that each could be read again for each other."""
    began = time.thread_time()
    parts = split_reply(unit * (8_000 // len(unit)))

    assert time.thread_time() - began < 5
    assert parts
    assert all(SPLITTER.fits(part) for part in parts)


def test_very_long_reply_is_split_as_plain_text_without_loss() -> None:
    """All of its words are there, as they stand."""
    text = "Some *marked* words. " * 5_000
    parts = split_reply(text)

    assert all(SPLITTER.fits(part) for part in parts)
    assert "".join(map(SPLITTER.get_visible_words, parts)) == "".join(text.split())


def test_text_that_is_no_markdown_is_split_as_it_stands() -> None:
    """Between words, without anything added, and a part stays as it is."""
    text = r"say a*b\_c*d~e~f&amp;g and `x` " * 400
    parts = split_plain(text)

    assert len(parts) > 2
    assert " ".join(parts) == text.strip()
    assert [split_plain(part) for part in parts] == [[part] for part in parts]
    assert split_plain(" \n ") == []
