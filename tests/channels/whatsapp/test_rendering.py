"""Markdown is shown with WhatsApp's marks, and nothing else is taken for one."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.channels.splitting import count_utf16_units
from oldfriend.channels.whatsapp.rendering import MAX_TEXT_UNITS, SPLITTER, render_text
from tests.channels.telegram.test_rendering import PIECES

MARKED = re.compile(r"(?<!\w)([*_~])(?=\S)[^\n]*(?<=\S)\1(?!\w)|`")
"""What WhatsApp takes for marked text."""


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and ~gone~"),
        ("# Title\n\nText", "*Title*\n\nText"),
        ("- one\n- two\n  1. three", "- one\n- two\n  1. three"),
        ("> wise\n> words", "> wise\n> words"),
        ("`code` and\n\n```py\nx = 1\n```", "`code` and\n\n```\nx = 1\n```"),
        ("[Faro](https://a.example/_x_)", "Faro (https://a.example/_x_)"),
        ("https://a.example/_x_ stays", "https://a.example/_x_ stays"),
        ("**two\nlines**", "*two*\n*lines*"),
        ("foo**bar**baz", "foobarbaz"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("\\*not bold\\*", "\u2217not bold\u2217"),
        ("|a|b|\n|-|-|\n|1|22|", "```\na \u2502 b\n1 \u2502 22\n```"),
    ],
)
def test_markdown_is_shown_with_whatsapp_marks(markdown: str, shown: str) -> None:
    """Where WhatsApp has a mark; else as plain text."""
    assert render_text(markdown, is_markdown=True) == shown


@given(st.text(alphabet="ab *_~`\n.:/", max_size=60))
def test_text_that_is_no_markdown_is_marked_nowhere(text: str) -> None:
    """And is as long as it was."""
    shown = render_text(text, is_markdown=False)

    assert count_utf16_units(shown) == count_utf16_units(text)
    if "://" not in text:
        assert not MARKED.search(shown)


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(1, 150))
def test_parts_fit_the_limit_and_splitting_is_idempotent(markdown: str, times: int) -> None:
    """Whatever marks a text has."""
    parts = SPLITTER.split((markdown * times)[:9_000], is_markdown=True)

    assert all(
        0 < count_utf16_units(render_text(part, is_markdown=True)) <= 4_096 for part in parts
    )
    assert all(SPLITTER.split(part, is_markdown=True) == [part] for part in parts)


def test_long_code_stays_code_in_each_part() -> None:
    """With its marks it fits."""
    parts = SPLITTER.split("```py\n" + "x = 1 < 2\n" * 1000 + "```", is_markdown=True)
    shown = [render_text(part, is_markdown=True) for part in parts]

    assert len(parts) > 2
    assert all(each.startswith("```\n") and each.endswith("\n```") for each in shown)
    assert all(count_utf16_units(each) <= MAX_TEXT_UNITS for each in shown)


@pytest.mark.parametrize("text", ["\U0001f600" * 5_000, "**" + "bold " * 2_000 + "end**"])
def test_text_without_a_place_to_cut_is_cut_all_the_same(text: str) -> None:
    """Within the limit, and nothing of it is lost."""
    parts = SPLITTER.split(text, is_markdown=True)
    shown = "".join(render_text(part, is_markdown=True) for part in parts)

    assert all(
        count_utf16_units(render_text(part, is_markdown=True)) <= MAX_TEXT_UNITS for part in parts
    )
    assert shown.count("\U0001f600") == text.count("\U0001f600")
    assert shown.count("bold") == text.count("bold")


def test_text_without_spaces_is_read_in_bounded_time() -> None:
    """Each character once."""
    began = time.thread_time()
    for text in ("x" * 400_000, "*" * 400_000, ":/" * 200_000, "_a" * 200_000):
        assert len(render_text(text, is_markdown=False)) == len(text)

    assert time.thread_time() - began < 4
