"""Who is who is written, begun, drafted and decided at the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Call

NOTES = "I live in Porto. My sister Ana is a nurse.\n\nYou are patient. Never use emojis.\n"


@pytest.fixture
def notes(tmp_path: Path) -> str:
    """A file about oneself."""
    path = tmp_path / "me.txt"
    path.write_text(NOTES)
    return str(path)


def test_core_blocks_are_written_versioned_listed_and_diffed(call: Call) -> None:
    """Each edit is a version; without a model it is said who does not read them."""
    assert "Nothing is written yet" in call("core").stdout
    assert "persona (version 1" in call("core", "persona", "You are Ada.\nYou row.").stdout
    assert "No language model" in call("core", "persona", "-", stdin="You are Mo.\nYou row.").stdout
    assert call("core", "--json").json[0]["text"] == "You are Mo.\nYou row."
    assert call("core", "persona", "--json").json[0]["version"] == 2
    history = call("core", "history", "persona", "--json").json
    assert [each["version"] for each in history] == [1, 2]
    assert call("core", "diff", "persona").stdout.splitlines()[1:] == [
        "- You are Ada.",
        "+ You are Mo.",
    ]
    assert call("core", "diff", "persona", "1", "1").stdout.endswith("No difference.\n")
    assert call("core", "diff", "persona", "1", "7").code == 1
    assert call("core", "diff", "user").code == 1
    assert call("core", "person", "x").code == 2
    assert "5,000 fit" in call("core", "user", "x" * 5_001).stderr


def test_core_name_sets_companion_name_and_refuses_invalid_one(call: Call) -> None:
    """Shown before and after; by it it is called, and calls itself."""
    assert call("core", "name").stdout == "Oldfriend\n"
    assert call("core", "name", " Mira ").stdout == "Mira\n"
    assert call("core", "name", "--json").json == {"name": "Mira"}
    assert "I'm Mira, a program" in call("say", "Mira, who are you?").stdout
    refused = call("core", "name", "x" * 41)
    assert (refused.code, "Use 1 to 40 visible characters" in refused.stderr) == (2, True)
    assert call("core", "name").stdout == "Mira\n"


def test_core_style_block_is_set_appended_and_cleared(call: Call) -> None:
    """Other words than these actions are the style itself."""
    call("core", "style", "Short.")
    assert "Short.\nDry." in call("core", "style", "append", "Dry.").stdout
    assert "Long." in call("core", "style", "set", "Long.").stdout
    assert call("core", "style", "clear").stdout == "style: (empty)\n"
    assert call("core", "style", "append").code == 2
    assert "not one of: set, append, clear" in call("core", "style", "put", "Dry.").stderr


def test_core_start_applies_a_preset_persona_and_asks_before_replacing(call: Call) -> None:
    """What was written before is only replaced after a yes, and stays as a version."""
    listed = call("core", "start").stdout
    assert "witty" in listed
    assert "blank" in listed
    assert "You are quick" in call("core", "start", "witty").stdout
    assert call("core", "start", "nobody").code == 2
    assert "add --yes" in call("core", "start", "calm").stderr
    assert "You are quiet" in call("core", "start", "calm", "--yes").stdout
    call("core", "start", "blank", "--yes")
    assert call("core", "--json").json == []
    assert len(call("core", "history", "style", "--json").json) == 3


@pytest.mark.slow
def test_core_draft_suggestions_are_reviewed_accepted_and_declined(call: Call, notes: str) -> None:
    """Nothing stands anywhere before that; the first four characters name it."""
    drafted = call("core", "draft", notes).stdout
    assert "+ Lives in Porto." in drafted
    assert "rough" in drafted
    assert call("core", "--json").json == []
    assert "3 suggestions for you" in call("core").stdout
    waiting = call("core", "suggestions", "--json").json
    by_block = {each["block"]: each["id"] for each in waiting}
    accepted = call("core", "accept", by_block["persona"][-8:-4], "You are very patient.")
    assert accepted.stdout == "persona (version 1):\nYou are very patient.\n"
    assert "drafted again" in call("core", "decline", by_block["style"]).stdout
    assert call("core", "accept", by_block["user"], "--json").json["status"] == "accepted"
    assert call("core", "suggestions").stdout == "There are no suggestions.\n"
    assert "accepted" in call("core", "suggestions", "--all").stdout
    assert "no suggestion" in call("core", "accept", "aaaaaaaa").stderr.casefold()
    again = call("core", "draft", notes, "--json").json
    assert [each["block"] for each in again["suggestions"]] == ["persona", "style"]
    assert again["left_out"] == {"suggested or written already": 1}


def test_soul_md_file_is_versioned_and_invalid_content_is_rejected(
    call: Call, tmp_path: Path
) -> None:
    """It stands before the blocks; what cannot be used is told, and changes nothing."""
    call("core", "persona", "You are Ada.")
    soul = tmp_path / "data" / "SOUL.md"
    soul.write_text("Be kind.")
    assert [each["name"] for each in call("core", "--json").json] == ["soul", "persona"]
    soul.write_bytes(b"\xff\xfe\x00")
    told = call("say", "hello")
    assert "cannot be used: it is not UTF-8 text. Version 1 of it stays in effect." in told.stderr
    assert told.code == 0
    soul.unlink()
    assert "To end that, leave an empty file." in call("core").stdout
    soul.touch()
    assert "- Be kind." in call("core", "diff", "soul").stdout
    assert [each["name"] for each in call("core", "--json").json] == ["persona"]
    assert len(call("core", "history", "soul", "--json").json) == 2


def test_core_blocks_are_separate_for_each_person(call: Call) -> None:
    """A slip in a name makes nobody."""
    call("core", "persona", "You are Ada.")
    assert call("core", "persona", "You are Mo.", "--person", "Omar").code == 1
    assert call("core", "user", "Tall.", "--person", "Omar", "--new-person").code == 0
    assert [each["name"] for each in call("core", "--json", "--person", "Omar").json] == ["user"]


def test_offline_reply_quotes_the_user_core_block_in_the_persons_language(call: Call) -> None:
    """In their language."""
    call("core", "user", "Ich bin groß.")
    assert (
        "You have written about yourself: Ich bin groß."
        in call("say", "what do you know about me?").stdout
    )
    told = call("say", "Was weißt du über mich?").stdout
    assert "Du hast über dich geschrieben: Ich bin groß." in told
