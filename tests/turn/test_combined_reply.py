"""The answers to two questions of one message are joined without saying anything twice."""

from oldfriend.turn.finalize import join_texts

CLOSE = "I'm not sure. Here is what comes closest:"


def test_each_line_of_joined_answers_stands_once() -> None:
    """Whether it stood in a list or alone; what is new in a second list is added to the first."""
    first = f"{CLOSE}\n• You said: “A”\n• You said: “B”"
    second = f"{CLOSE}\n• You said: “B”\n• You said: “C”"

    assert join_texts([first, second]) == f"{first}\n• You said: “C”"
    assert join_texts(["You said: “B”", second]) == f"You said: “B”\n\n{CLOSE}\n• You said: “C”"
    assert join_texts([first, first]) == first


def test_joined_answers_keep_their_paragraphs() -> None:
    """Also where a line of one is repeated."""
    assert join_texts(["A\n\nB", "C\n\nD"]) == "A\n\nB\n\nC\n\nD"


def test_what_changed_later_stays_with_what_it_changed() -> None:
    """Each of two parts has its own heading for what was said before."""
    first = "Something later:\n• X\n\nBefore that:\nA"
    second = "Something later:\n• Y\n\nBefore that:\nB"

    assert join_texts([first, second]) == f"{first}\n\n{second}"


def test_heading_of_a_list_that_was_said_already_is_left_out() -> None:
    """Nothing follows it."""
    assert join_texts(["You said: “B”", f"{CLOSE}\n• You said: “B”"]) == "You said: “B”"
