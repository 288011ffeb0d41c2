"""Chats are brought in, looked at first, and never mixed up."""

import io
import json
import os
import sys
from pathlib import Path

import pytest

from oldfriend.app import embed_messages as embedding
from oldfriend.cli.import_cmd import ask_speaker
from oldfriend.transfer.preview import build_preview
from tests.cli.conftest import Call
from tests.fakes.embedding_server import embedding_server
from tests.processes import Program

CHAT = "31/12/2023, 21:05 - Ana: shall we swim?\n31/12/2023, 21:06 - Ben: yes\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A chat of two people."""
    path = tmp_path / "chat.txt"
    path.write_text(CHAT)
    return path


def test_import_dry_run_of_own_export_checks_it_and_writes_nothing(
    call: Call, tmp_path: Path
) -> None:
    """It is checked as a whole, and counted."""
    export, other = tmp_path / "all.jsonl", tmp_path / "other"
    call("say", "My cat is called Miso.")
    call("say", "hello", "--person", "Ada", "--new-person")
    call("export", str(export))
    looked = call("import", "--dry-run", str(export), "--data", str(other))

    assert looked.code == 0
    assert "An Oldfriend export of " in looked.stdout
    assert "Ada" in looked.stdout
    assert "4  message\n" in looked.stdout
    assert looked.stdout.endswith("Nothing was written.\n")
    assert not other.exists()

    export.write_text(export.read_text()[:-40])
    refused = call("import", "--dry-run", str(export), "--data", str(other))
    assert refused.code == 1
    assert "Expected" in refused.stderr
    assert not other.exists()


@pytest.mark.slow
def test_reimport_with_a_different_me_explains_how_to_undo_first(call: Call, file: Path) -> None:
    """What is here stays as it was read."""
    call("import", str(file), "--me", "Ana")
    assert "note:" not in call("import", str(file), "--me", "Ana").stdout
    other = call("import", str(file), "--me", "Ben")

    assert other.code == 0
    assert "Import 1 read this file with --me 'Ana'" in other.stdout
    assert "oldfriend import undo 1" in other.stdout


@pytest.mark.slow
def test_import_output_uses_correct_singular_and_plural(
    call: Call, file: Path, tmp_path: Path
) -> None:
    """What is counted reads as it is said."""
    brought = call("import", str(file)).stdout
    assert "  2 messages in 1 session, 2023-12-31" in brought
    assert "2 messages are new. " in brought
    assert "\n2 messages can now be found by meaning, too." in brought

    file.write_text(CHAT + "31/12/2023, 21:07 - Ana: now\n")
    brought = call("import", str(file)).stdout
    assert "1 message is new, 2 were here already. " in brought
    assert "\n1 message can now be found by meaning, too." in brought
    assert "was undone: 1 message was removed." in call("import", "undo", "2").stdout

    export = tmp_path / "all.jsonl"
    call("export", str(export))
    restored = call("import", str(export), "--data", str(tmp_path / "other")).stdout
    assert restored.startswith("Restored ")
    assert " rows of 1 person.\n" in restored


@pytest.mark.slow
def test_import_undo_names_later_imports_with_the_same_messages(call: Call, file: Path) -> None:
    """What they found here is gone with the first; what is told brings it back, once."""
    newer = file.with_name("newer.txt")
    file.write_text(CHAT + "31/12/2023, 21:07 - Ana: now\n")
    call("import", str(file))
    newer.write_text(file.read_text() + "31/12/2023, 21:08 - Ben: wait\n")
    assert "1 message is new, 3 were here already." in call("import", str(newer)).stdout
    undone = call("import", "undo", "1").stdout

    assert "note: Import 2 contained some of the same messages" in undone
    assert "oldfriend import undo 2, then import newer.txt again." in undone
    assert "note:" not in call("import", "undo", "2").stdout
    assert "4 messages are new. " in call("import", str(newer)).stdout


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("undo", "oldfriend import undo NUMBER"),
        ("undo first", "not 'first': oldfriend import undo NUMBER"),
        ("undo 1 2", "oldfriend import list"),
        (f"undo {'9' * 5000}", "oldfriend import list"),
        ("undo 1 --dry-run", "--dry-run does not work with undo"),
        ("list all", "takes no further arguments"),
        ("chat.txt --zone Moon", "Use a name such as Europe/Madrid"),
        ("", "FILE"),
    ],
)
def test_import_usage_errors_tell_the_right_command_and_change_nothing(
    call: Call, file: Path, monkeypatch: pytest.MonkeyPatch, typed: str, told: str
) -> None:
    """And nothing is done."""
    monkeypatch.chdir(file.parent)
    call("import", "chat.txt")
    wrong = call("import", *typed.split())

    assert wrong.code == 2
    assert told in wrong.stderr
    assert "2 new  done" in call("import", "list").stdout


def test_import_undo_of_unknown_number_is_refused(call: Call, file: Path) -> None:
    """It is said where to see which there are."""
    call("import", str(file))
    for number in ("0", "7", "999999999"):
        wrong = call("import", "undo", number)

        assert (wrong.code, wrong.stdout) == (1, "")
        assert f"There is no import {number}. See: oldfriend import list" in wrong.stderr


def test_speaker_prompt_at_end_of_input_returns_none(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-D is an answer."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    assert ask_speaker(build_preview(file, me=None, person="Nora", zone="UTC")) is None


@pytest.mark.slow
def test_file_with_non_utf8_name_is_imported(oldfriend: Program, file: Path) -> None:
    """It is opened by its bytes, and listed as far as it can be read."""
    name = os.fsencode(file.parent) + b"/caf\xe9.txt"
    file.rename(os.fsdecode(name))
    brought = oldfriend.done("import", name)

    assert "2 messages are new" in brought.stdout
    assert "caf\ufffd.txt" in oldfriend.done("import", "list").stdout


def test_import_over_daily_token_limit_reports_messages_not_embedded(
    call: Call, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are in; the rest is done when something may be spent again."""
    monkeypatch.setattr(embedding, "BATCH_SIZE", 1)
    with embedding_server() as server:
        monkeypatch.setenv("OLDFRIEND_PROVIDERS_MINE_BASE_URL", server.url)
        monkeypatch.setenv("OLDFRIEND_EMBEDDER_MODEL", "mine:hashed:cloud")
        monkeypatch.setenv("OLDFRIEND_EMBEDDER_DIMENSION", "512")
        monkeypatch.setenv("OLDFRIEND_BUDGET_BACKGROUND_TOKENS_PER_DAY", "7")
        brought = call("import", str(file), "--me", "Ana")
        spent = call("cost", "--json").json["sums"]

    assert brought.code == 0
    assert "1 message can now be found by meaning, too." in brought.stdout
    assert "Today's limit for background work is reached" in brought.stdout
    assert "1 message cannot be found by meaning yet." in brought.stdout
    assert [(each["purpose"], each["calls"], each["tokens_in"]) for each in spent] == [
        ("embedding", 1, 7)
    ]
    assert len(server.asked) == 1


def test_an_assistant_is_known_by_how_it_writes_and_the_preview_says_so(
    call: Call, tmp_path: Path
) -> None:
    """Where the file gives no roles; whoever says who they are is believed instead."""
    path = tmp_path / "asked.jsonl"
    answer = "First of all, this depends on the wood, the weather and the glue that you have. " * 6
    lines = [
        {"id": f"{number}{speaker}", "session": "s", "speaker": speaker, "text": f"{text} {number}"}
        for number in range(4)
        for speaker, text in (("Alex", "and what about the next step?"), ("Helper", answer))
    ]
    path.write_text(
        "".join(
            json.dumps({**line, "at": f"2026-05-03T18:{minute:02d}:00+02:00"}) + "\n"
            for minute, line in enumerate(lines)
        )
    )
    looked = call("import", "--dry-run", str(path)).stdout
    assert (
        "Helper answers at length, and is taken for an assistant; Alex is taken for you" in looked
    )
    assert "4  Alex (you)\n" in looked

    corrected = call("import", "--dry-run", str(path), "--me", "Helper").stdout
    assert "4  Helper (you)\n" in corrected
    assert "taken for an assistant" not in corrected
