"""Chats are brought in, looked at first, and never mixed up."""

import io
import os
import sys
from pathlib import Path

import pytest

from oldfriend.cli.bringing import ask_who
from oldfriend.transfer.inspecting import inspect
from tests.cli.conftest import Call
from tests.processes import Program

CHAT = "31/12/2023, 21:05 - Ana: shall we swim?\n31/12/2023, 21:06 - Ben: yes\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A chat of two people."""
    path = tmp_path / "chat.txt"
    path.write_text(CHAT)
    return path


def test_looking_at_an_export_of_ours_writes_nothing(call: Call, tmp_path: Path) -> None:
    """It is checked as a whole, and counted."""
    export, other = tmp_path / "all.jsonl", tmp_path / "other"
    call("say", "My cat is called Miso.")
    call("say", "hello", "--person", "Ada")
    call("export", str(export))
    looked = call("import", "--dry-run", str(export), "--data", str(other))

    assert looked.code == 0
    assert "An export of Oldfriend, of " in looked.stdout
    assert "Ada" in looked.stdout
    assert "4  message\n" in looked.stdout
    assert looked.stdout.endswith("Nothing was written.\n")
    assert not other.exists()

    export.write_text(export.read_text()[:-40])
    refused = call("import", "--dry-run", str(export), "--data", str(other))
    assert refused.code == 1
    assert "Expected" in refused.stderr
    assert not other.exists()


def test_importing_again_as_somebody_else_tells_how(call: Call, file: Path) -> None:
    """What is here stays as it was read."""
    call("import", str(file), "--me", "Ana")
    assert "note:" not in call("import", str(file), "--me", "Ana").stdout
    other = call("import", str(file), "--me", "Ben")

    assert other.code == 0
    assert "Import 1 brought this file with --me 'Ana'" in other.stdout
    assert "oldfriend import undo 1" in other.stdout


def test_whoever_does_not_say_who_they_are_is_nobody(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-D is an answer."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    assert ask_who(inspect(file, me=None, person="Nora", zone="UTC")) is None


def test_a_file_whose_name_is_no_text_comes_in(oldfriend: Program, file: Path) -> None:
    """It is opened by its bytes, and listed as far as it can be read."""
    name = os.fsencode(file.parent) + b"/caf\xe9.txt"
    file.rename(os.fsdecode(name))
    brought = oldfriend.done("import", name)

    assert "2 messages are new" in brought.stdout
    assert "caf\ufffd.txt" in oldfriend.done("import", "list").stdout
