"""Words on a terminal: none is cut at its edge."""

import pytest

from oldfriend.cli.terminal import LineWrapper, wrap_text

WIDE = 20


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of so many columns."""
    monkeypatch.setenv("COLUMNS", str(WIDE))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Grandma Rosa lives in Leuven.", "Grandma Rosa lives\nin Leuven."),
        ("exactly twenty, yes! more", "exactly twenty, yes!\nmore"),
        ("as it\n\n  stands", "as it\n\n  stands"),
        ("a " + 45 * "b" + " c", "a\n" + 45 * "b" + " c"),
        (11 * "\u6c49", 10 * "\u6c49" + "\n\u6c49"),
    ],
)
def test_wrap_text_breaks_lines_at_word_boundaries(text: str, shown: str) -> None:
    """What is longer than a line is cut by the terminal; signs of Chinese are two wide."""
    assert wrap_text(text) == shown


def test_streamed_word_in_pieces_is_moved_to_the_next_line() -> None:
    """As models send them: it is written as far as it came, and moved should it not fit."""
    folding = LineWrapper()
    pieces = ["Her name is Grand", "ma Ro", "sa", ", I th", "ink.", "\n"]
    shown = ["".join(folding.feed(each)) for each in pieces]

    assert shown == ["Her name is Grand", "ma\nRo", "sa", ", I th", "ink.", "\n"]
    assert "".join(folding.feed("He is called Alexand")) == "He is called Alexand"
    assert "".join(folding.feed("er.")) == "\x1b[7D\x1b[K\nAlexander."
    assert "".join(folding.feed(" Or not likely")) == " Or not\nlikely"
