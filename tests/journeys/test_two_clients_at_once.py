"""Somebody talks in two windows at the same time."""

from collections.abc import Callable, Iterator

import pytest

from tests.processes import Program, line_of
from tests.terminals import Terminal, terminals


@pytest.fixture
def chat(oldfriend: Program) -> Iterator[Callable[..., Terminal]]:
    """Open the chat in a terminal."""
    with terminals(oldfriend) as open_chat:
        yield open_chat


def test_messages_of_two_processes_appear_in_each_other(
    oldfriend: Program, chat: Callable[..., Terminal]
) -> None:
    """Both write to one memory, and neither has to be asked."""
    window = chat()
    window.shows("you:")
    oldfriend.done("say", "My cat is called Miso and she hates rain.")

    assert window.shows("My cat is called Miso and she hates rain.", within_s=2.0) < 2.0
    window.types("What is the name of my cat?")
    window.shows("“My cat is called Miso and she hates rain.”")
    window.types("I put the spare key under the blue pot.")
    window.shows("kept it")
    given = oldfriend.done("say", "Where did I put the spare key?", "--json").json
    assert "under the blue pot" in given["reply"]
    window.shows("Where did I put the spare key?", within_s=2.0)


def test_reopened_chat_shows_recent_messages(
    chat: Callable[..., Terminal],
) -> None:
    """Quit, come back, and be remembered."""
    first = chat()
    first.shows("you:")
    first.types("My cat is called Miso and she hates rain.")
    first.shows("kept it")
    first.types("/quit")
    second = chat()

    second.shows("you: My cat is called Miso and she hates rain.")
    second.types("What is the name of my cat?")
    second.shows("“My cat is called Miso and she hates rain.”")


WORDS = ("my lucky number is 7", "Ana cannot eat hazelnuts", "the tram to work is line 28")
"""None of them puts another right."""


def test_concurrent_first_messages_create_the_database_and_are_all_stored(
    oldfriend: Program,
) -> None:
    """The first of them also have to make the database at the same moment."""
    with (
        oldfriend.started("say", "-", "--json") as one,
        oldfriend.started("say", "-", "--json") as two,
        oldfriend.started("chat") as three,
    ):
        for words, process in zip(WORDS, (one, two, three), strict=True):
            process.stdin.write(f"Remember that {words}\n".encode())
            process.stdin.flush()
        one.stdin.close()
        two.stdin.close()
        replies = [line_of(process.stdout) for process in (one, two, three)]

    assert all(replies)
    listed = oldfriend.done("say", "What do you know about me?").stdout
    assert [words for words in WORDS if words not in listed] == []
