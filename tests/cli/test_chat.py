"""A conversation, line by line, where there is no terminal."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import Call


def test_chat_answers_each_stdin_line_and_why_explains_the_last_reply(call: Call) -> None:
    """As at a terminal, without its comforts."""
    told = "My cat is called Miso and she hates rain."
    said = call("chat", stdin=f"{told}\n\nWhat is the name of my cat?\n/why\n/quit\nunheard\n")

    assert said.code == 0
    assert f"“{told}”" in said.stdout
    assert "My reply is based on:" in said.stdout
    assert "unheard" not in call("chat", stdin="/history\n").stdout


def test_unknown_slash_command_shows_help_and_is_not_stored(call: Call) -> None:
    """And not kept as something that was said; a path is."""
    said = call("chat", stdin="/nonsense\n/help\n/why\n/history\n/home/me is my folder\n/history\n")

    assert "I know no command /nonsense" in said.stdout
    assert said.stdout.count("leave (or Ctrl-D)") == 1
    assert "I haven't answered anything yet." in said.stdout
    assert "you: /home/me is my folder" in said.stdout
    assert "you: /nonsense" not in said.stdout


def test_slash_forget_in_chat_shows_what_would_go_and_asks(call: Call) -> None:
    """As on every channel."""
    call("say", "My friend Lou lives in Porto")
    said = call("chat", stdin="/forget Lou\nno\n")

    assert "“My friend Lou lives in Porto”" in said.stdout
    assert "It cannot be undone." in said.stdout


def test_failed_message_write_in_chat_is_reported_and_exits_with_1(
    call: Call, tmp_path: Path
) -> None:
    """A script that talks learns that not everything was kept."""
    call("say", "hello")
    with closing(sqlite3.connect(tmp_path / "data" / "oldfriend.db")) as store, store:
        store.execute(
            "CREATE TRIGGER full BEFORE INSERT ON message WHEN NEW.text LIKE '%cat%' "
            "BEGIN SELECT RAISE(FAIL, 'no cats'); END"
        )
    said = call("chat", stdin="I have a cat.\nI have a boat called Dora.\n/quit\n")

    assert said.code == 1
    assert "no cats" in said.stdout
    assert "You wrote: I have a cat." in said.stdout
    assert "kept it" in said.stdout
