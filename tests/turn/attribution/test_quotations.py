"""Words between quotation marks of any style are somebody else's."""

import pytest

from oldfriend.turn.attribution.quotations import find_quotations
from tests.turn.attribution.attribution_fixtures import words_in

MARKS = [
    "'%s'",
    "‘%s’",
    '"%s"',
    "“%s”",
    "„%s“",
    "„%s”",
    "«%s»",
    "« %s »",
    "»%s«",
    "‹%s›",
    "›%s‹",
    "‚%s‘",
    "「%s」",
    "『%s』",
    "`%s`",
    "*%s*",
    "＂%s＂",
]
OWN = [
    "Don't say it's mine, that's the dogs' bowl.",
    "My friends call me 'Bee' since school.",
    "I *really* like it, I *do not* joke.",
    "2 * 3 * 4 is 24.",
    "snake_case_names are fine",
    "the '90s were loud",
    "They're 5'11\" tall",
]


@pytest.mark.parametrize("marks", MARKS)
def test_quotation_is_detected_for_every_style_of_quotation_marks(marks: str) -> None:
    """With the marks, and nothing beside them."""
    quoted = marks % "I live in Porto with two cats"
    text = f"So he says {quoted} and laughs."

    assert words_in(text, find_quotations(text)) == [quoted]


@pytest.mark.parametrize("text", OWN)
def test_apostrophes_emphasis_and_names_are_not_detected_as_quotations(text: str) -> None:
    """What stands between them is the speaker's own."""
    assert list(find_quotations(text)) == []


def test_unclosed_quotation_extends_to_the_end_of_its_paragraph() -> None:
    """Where the mark can only begin a quotation."""
    text = "She wrote „ich ziehe nach Rom.\nUnd zwar bald.\n\nI stayed."

    assert words_in(text, find_quotations(text)) == ["„ich ziehe nach Rom.\nUnd zwar bald."]


def test_long_quotation_is_classified_as_pasted() -> None:
    """Nobody repeats so much by heart."""
    long = f"He wrote “{'word after word and ' * 10}”."
    short = "He wrote “I quit, and you should too”."

    assert [each.is_pasted for each in find_quotations(long)] == [True]
    assert [each.is_pasted for each in find_quotations(short)] == [False]
