"""Commands are read as people write them, and offered with words of their language."""

import pytest

from oldfriend.lang.command_menu import (
    COMMAND_GROUPS,
    OFFERED_COMMANDS,
    CommandMenu,
    read_command,
)
from oldfriend.lang.language_pack import list_languages

MAX_DESCRIPTION_CHARS = 100
FULLY_WORDED = ("en", "es", "de", "fr", "zh")


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("/tasks", "tasks", ""),
        ("  /Tasks@Friend_Bot  today ", "tasks", "today"),
        ("/HELP", "help", ""),
        ("/memory list\n5", "memory", "list\n5"),
    ],
)
def test_command_is_read_whatever_its_case_and_bot(text: str, name: str, words: str) -> None:
    """And what follows it."""
    command = read_command(text)
    assert command is not None
    assert (command.name, command.words) == (name, words)


@pytest.mark.parametrize(
    "text", ["", "tasks", "/", "/ tasks", "/home/nora is my folder", "/5", "//x", "/ä", "a /tasks"]
)
def test_other_text_is_no_command(text: str) -> None:
    """A path least of all."""
    assert read_command(text) is None


@pytest.mark.parametrize("language", list_languages("commands"))
def test_every_command_is_described_in_a_line(language: str) -> None:
    """In each language in which a platform lists them."""
    menu = CommandMenu.load(language)
    assert set(menu.does) == set(CommandMenu.load("en").does)
    assert set(OFFERED_COMMANDS) <= set(menu.does)
    assert set(COMMAND_GROUPS) <= set(menu.groups)
    assert max(len(each) for each in menu.does.values()) <= MAX_DESCRIPTION_CHARS


@pytest.mark.parametrize("language", FULLY_WORDED)
def test_help_is_short_and_in_the_language(language: str) -> None:
    """A line for each group, in which every command stands once."""
    told = CommandMenu.load(language).format_help()
    assert len(told.splitlines()) == len(COMMAND_GROUPS) + 2
    listed = " ".join(each.rpartition(" · ")[2] for each in told.splitlines()[1:-1]).split()
    assert all(listed.count(f"/{each}") == 1 for each in OFFERED_COMMANDS)
    assert (told == CommandMenu.load("en").format_help()) == (language == "en")
