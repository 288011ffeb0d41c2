"""Where one clause ends and the next begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.lang.clause_splitting import split_clauses


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("moved to leeds. hate it!", ["moved to leeds.", "hate it!"]),
        ("ok", ["ok"]),
        (
            "my sister ana got the job in porto, she starts in may and takes the dog along",
            ["my sister ana got the job in porto", "she starts in may and takes the dog along"],
        ),
        ("tom, ana and me", ["tom, ana and me"]),
        ("\n\n - , \n", []),
        ("", []),
    ],
)
def test_text_is_split_at_sentence_marks_and_long_text_at_commas(
    text: str, clauses: list[str]
) -> None:
    """A short list stays together."""
    assert [text[start:end] for start, end in split_clauses(text)] == clauses


@given(st.text(max_size=400))
def test_clauses_are_ordered_and_not_empty(text: str) -> None:
    """Whatever the text is."""
    last = 0
    for start, end in split_clauses(text):
        assert last <= start < end <= len(text)
        assert text[start:end].strip()
        last = end
