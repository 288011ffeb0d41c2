"""A slip in a name makes nobody: a script is refused, somebody at a terminal asked."""

from pathlib import Path

import pytest

from tests.cli.conftest import Call


@pytest.fixture
def ana(call: Call) -> None:
    """Somebody beside the owner."""
    call("say", "hello")
    assert call("say", "hello", "--person", "Ana", "--new-person").code == 0


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is somebody to ask."""
    monkeypatch.setattr("oldfriend.cli.open_context.is_interactive", lambda: True)


def names(call: Call) -> list[str]:
    """Who is known."""
    return call("person", "list").stdout.splitlines()


@pytest.mark.parametrize(
    "command",
    [("say", "hello"), ("chat",), ("recall", "x"), ("why",), ("export",), ("import", "list")],
)
def test_unknown_person_in_a_script_is_refused_with_nearest_name(
    call: Call, ana: None, command: tuple[str, ...]
) -> None:
    """And with the nearest."""
    ended = call(*command, "--person", "anna")

    assert ended.code == 1
    assert "Nobody here is called anna. Did you mean Ana? Known people: owner, Ana." in ended.stderr
    assert names(call) == ["owner (the owner)", "Ana"]


def test_import_for_unknown_person_requires_new_person_option(
    call: Call, ana: None, tmp_path: Path
) -> None:
    """Nor is anything of the file kept."""
    file = tmp_path / "talk.jsonl"
    file.write_text('{"speaker": "me", "text": "I live in Ghent.", "at": "2024-01-01"}\n')
    refused = call("import", str(file), "--person", "Bea")
    brought = call("import", str(file), "--person", "Bea", "--new-person")

    assert (refused.code, brought.code) == (1, 0)
    assert "--new-person" in refused.stderr
    assert "Did you mean" not in refused.stderr
    assert "Bea" in names(call)


@pytest.mark.parametrize(
    ("typed", "spoke"), [("y\n", "Ana"), ("n\ny\n", "Anna"), ("n\nn\n", None), ("", None)]
)
def test_unknown_person_at_a_terminal_prompts_for_nearest_or_new(
    call: Call, ana: None, asked: None, typed: str, spoke: str | None
) -> None:
    """First the nearest, then whether to make somebody new."""
    said = call("say", "My cat is called Miso.", "--person", "Anna", stdin=typed)

    assert "Nobody here is called Anna.\nDid you mean Ana? [y/N]" in said.stdout
    assert said.code == (1 if spoke is None else 0)
    assert ("Anna" in names(call)) == (spoke == "Anna")
    if spoke is not None:
        assert "Miso" in call("recall", "cat", "--person", spoke).stdout


def test_read_command_prompts_for_nearest_person_but_creates_none(
    call: Call, ana: None, asked: None
) -> None:
    """Looking makes nobody."""
    looked = call("recall", "cat", "--person", "Anna", stdin="y\n")
    refused = call("recall", "cat", "--person", "Zacharias", stdin="y\n")

    assert looked.code == 0
    assert refused.code == 1
    assert "Known people: owner, Ana." in refused.stderr


def test_person_rename_keeps_messages_and_chat(call: Call) -> None:
    """The owner too; what was said is theirs as before, and the chat is the same."""
    call("say", "My cat is called Miso.")
    renamed = call("person", "rename", "owner", "Nora")
    call("say", "hello again", "--person", "Nora")
    talk = call("chat", stdin="/history\n").stdout

    assert "owner is called Nora from now on." in renamed.stdout
    assert names(call) == ["Nora (the owner)"]
    assert "My cat is called Miso." in talk
    assert "hello again" in talk
    assert "you: My cat" in call("recall", "What is my cat called?").stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("rename", "owner", "Ana"), 2, "Somebody here is called Ana already."),
        (("rename", "Bob", "Bea"), 1, "Nobody here is called Bob."),
        (("rename", "owner", " "), 2, "cannot be a name"),
        (("rename", "owner"), 2, "takes two names"),
        (("burn", "Ana"), 2, "`oldfriend person list`"),
    ],
)
def test_invalid_person_rename_is_refused_and_changes_nothing(
    call: Call, ana: None, words: tuple[str, ...], code: int, told: str
) -> None:
    """And changes nothing."""
    ended = call("person", *words)

    assert ended.code == code
    assert told in ended.stderr
    assert names(call) == ["owner (the owner)", "Ana"]
