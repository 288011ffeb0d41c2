"""A conversation, line by line, where there is no terminal."""

from tests.cli.conftest import Call


def test_each_line_is_answered_and_the_last_answer_explained(call: Call) -> None:
    """As at a terminal, without its comforts."""
    told = "My cat is called Miso and she hates rain."
    said = call("chat", stdin=f"{told}\n\nWhat is the name of my cat?\n/why\n/quit\nunheard\n")

    assert said.code == 0
    assert f"“{told}”" in said.stdout
    assert "My reply stands on:" in said.stdout
    assert "unheard" not in call("chat", stdin="/history\n").stdout


def test_unknown_commands_are_answered_with_the_known_ones(call: Call) -> None:
    """And not kept as something that was said; a path is."""
    said = call("chat", stdin="/nonsense\n/help\n/why\n/history\n/home/me is my folder\n/history\n")

    assert "There is no command /nonsense." in said.stdout
    assert said.stdout.count("leave (or Ctrl-D)") == 2
    assert "I haven't answered anything yet." in said.stdout
    assert "you: /home/me is my folder" in said.stdout
    assert "you: /nonsense" not in said.stdout
