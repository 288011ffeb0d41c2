"""`oldfriend forget` shows what would go, asks, takes it away, and says whether it is gone."""

import re
from pathlib import Path

import pytest

from oldfriend.prompts.locale_phrases import load_phrases
from tests.cli.conftest import Call
from tests.summaries import sum_up_store

SECRET = "my sister Ana is terribly allergic to hazelnuts"


pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def told(call: Call) -> None:
    """Something was said, noted, and asked about; and something else."""
    call("say", f"Remember: {SECRET}")
    call("say", "we had a very long walk along the river")
    call("say", "what is my sister allergic to?")


def test_forget_dry_run_lists_messages_and_beliefs_and_deletes_nothing(
    call: Call, told: None
) -> None:
    """Nothing is forgotten by looking."""
    text = call("forget", "--about", "Ana", "--dry-run").stdout
    shown = call("forget", "--about", "Ana", "--dry-run", "--json").json

    assert "These messages will be deleted:" in text
    assert f"note: {SECRET}" in text
    assert "I had it in view for 2 replies" in text
    assert {each["text"] for each in shown["beliefs"]} >= {SECRET}
    assert shown["counts"]["messages"] == len(shown["messages"])
    assert SECRET in call("recall", "hazelnuts").stdout


def test_forget_preview_marks_partly_affected_summary_as_rebuilt(call: Call, data: Path) -> None:
    """What it tells of other things is not forgotten."""
    call("say", "I can't stand coriander, it tastes like soap to me.")
    call("say", "My mother Ingrid has moved to Mechelen this summer.")
    call("consolidate", "--now")
    sum_up_store(f"sqlite:///{data / 'oldfriend.db'}", "Ingrid has moved to Mechelen.")
    message = call("recall", "coriander", "--kind", "message", "--json").json[0]["message"]
    text = call("forget", message, "--dry-run").stdout
    shown = call("forget", message, "--dry-run", "--json").json
    goes, _, anew = text.partition(
        "These will be deleted, and written again from the words that stay:"
    )

    assert "Mechelen" in anew
    assert "Mechelen" not in goes
    assert {each["is_learned_anew"] for each in shown["beliefs"] if each["kind"] == "summary"} == {
        True
    }


def test_forget_preview_counts_set_phrases_instead_of_listing_them(call: Call) -> None:
    """They tell nothing to whoever decides; they go all the same."""
    for text in ("hello", "The soup at lunch was hot.", "Remember: the key is under the pot."):
        call("say", text)
    kept = load_phrases("en").phrases["acknowledgement"]
    assert kept in call("export").stdout
    shown = call("forget", "--between", "2000-01-01", "2100-01-01", "--dry-run").stdout
    call("forget", "--between", "2000-01-01", "2100-01-01", "--yes")

    assert "The soup at lunch" in shown
    assert kept not in shown
    assert "… and 1 short reply of mine" in shown
    assert kept not in call("export").stdout


def test_forget_json_without_yes_shows_the_preview_and_exits_with_1(call: Call, told: None) -> None:
    """By --yes; else nothing is done, which the exit code tells."""
    shown = call("forget", "--about", "Ana", "--json")

    assert shown.code == 1
    assert {each["text"] for each in shown.json["beliefs"]} >= {SECRET}
    assert SECRET in call("recall", "hazelnuts").stdout


def test_forget_about_an_entity_deletes_from_all_files_and_reports_proof(
    call: Call, told: None, tmp_path: Path
) -> None:
    """With what cannot be promised."""
    done = call("forget", "--about", "Ana", "--yes")
    again = call("forget", "--about", "Ana", "--yes")

    assert done.code == 0
    assert "I looked for it in all tables and" in done.stdout
    assert "What I cannot delete" in done.stdout
    assert "hazelnuts" not in call("export").stdout
    held = b"".join(f.read_bytes() for f in (tmp_path / "data").rglob("*") if f.is_file())
    assert b"hazelnuts" not in held
    assert (again.code, "Nothing stored is about 'Ana'" in again.stderr) == (1, True)


def test_forget_accepts_a_message_id_suffix_and_json_has_no_texts(call: Call, told: None) -> None:
    """As the preview shows it; a program gets counts and ids, and no words."""
    found = call("recall", "river", "--json").json[0]
    done = call("forget", found["message"][-8:], "--yes", "--json")

    assert found["message"] in done.json["ids"]
    assert done.json["is_proved"] is True
    assert "river" not in done.stdout
    assert SECRET in call("recall", "hazelnuts").stdout


def test_forget_preview_lists_beliefs_kept_by_other_evidence_or_decision(call: Call) -> None:
    """It was said elsewhere, too, or the person has decided that it is so."""
    call("say", "I live in Porto.")
    call("say", "I live in Porto, and my sister Ana is a nurse.")
    call("consolidate", "--now")
    (nurse,) = [e for e in call("facts", "--json").json if "nurse" in e["text"]]
    call("memory", "confirm", nurse["id"])
    told = nurse["evidence"][0]["message"]
    shown = call("forget", told[-8:], "--dry-run").stdout.splitlines()
    stays = shown[shown.index("These stay, because they have other evidence:") :]

    assert any("Lives in Porto. (1 other quote)" in line for line in stays)
    assert any(f"{nurse['text']} (you have decided so yourself)" in line for line in stays)


@pytest.mark.slow
def test_forgetting_a_belief_names_source_messages_that_stay(call: Call) -> None:
    """With what else was read from them, and what is typed to forget both."""
    call("say", "I live in Porto with my sister Ana.")
    call("consolidate", "--now")
    home, sister = sorted(call("memory", "list", "--json").json, key=lambda each: each["text"])
    said = home["evidence"][0]["message"]
    shown = call("forget", home["id"], "--dry-run").stdout
    listed = call("forget", home["id"], "--dry-run", "--json").json
    done = call("forget", home["id"], "--yes")
    command = f"oldfriend forget {said[-8:]} {sister['id'][-8:]}"

    assert command in shown
    assert "owner: I live in Porto with my sister" in shown
    assert [each["id"] for each in listed["near"]] == listed["read_from"] == [said]
    assert [each["id"] for each in listed["beside"]] == [sister["id"]]
    assert (done.code, "the words it came from stay" in done.stdout) == (0, True)
    assert f"To forget these, too: oldfriend forget {said[-8:]}" in done.stdout

    both = call(*command.split()[1:], "--yes", "--json").json
    assert (both["is_proved"], both["read_from"]) == (True, [])
    assert call("memory", "list", "--json").json == []


@pytest.mark.slow
def test_forget_orphan_lists_kept_beliefs_as_not_forgotten(call: Call, told: None) -> None:
    """They stay, and are named."""
    found = call("recall", "hazelnuts", "--json").json[0]
    shown = call("forget", found["message"], "--orphan", "--dry-run").stdout
    done = call("forget", found["message"], "--orphan", "--yes").stdout

    assert "These will NOT be forgotten" in shown
    assert re.search(r"Not forgotten: [1-9]\d* belief", done)


@pytest.mark.parametrize(("typed", "is_gone"), [("y", True), ("n", False), ("", False)])
def test_forget_on_a_terminal_asks_for_confirmation(
    call: Call, told: None, monkeypatch: pytest.MonkeyPatch, typed: str, is_gone: bool
) -> None:
    """What is not agreed to is not done."""
    monkeypatch.setattr("oldfriend.cli.forget.is_interactive", lambda: True)
    said = call("forget", "--everything", stdin=f"{typed}\n")

    assert said.code == (0 if is_gone else 1)
    assert ("Nothing was forgotten." in said.stdout) is not is_gone
    assert ("hazelnuts" in call("export").stdout) is not is_gone


def test_forget_in_a_script_requires_yes(call: Call, told: None) -> None:
    """By --yes."""
    ended = call("forget", "--everything")

    assert (ended.code, "add --yes" in ended.stderr) == (2, True)
    assert "hazelnuts" in call("export").stdout


@pytest.mark.slow
def test_forget_between_includes_both_days_in_local_time(call: Call) -> None:
    """Both days are included, by the person's clocks."""
    for day in (3, 4, 5, 6):
        call("say", f"on day {day} we saw some very fine boats", "--at", f"2024-05-0{day}T23:59")
    shown = call("forget", "--between", "2024-05-04", "2024-05-05", "--dry-run", "--json").json
    call("forget", "--between", "2024-05-04", "2024-05-05", "--yes")
    left = call("export").stdout

    assert {each["text"][:8] for each in shown["messages"]} >= {"on day 4", "on day 5"}
    assert [f"on day {day}" in left for day in (3, 4, 5, 6)] == [True, False, False, True]


def test_forgotten_import_is_not_imported_again(call: Call, tmp_path: Path) -> None:
    """Unlike one that was undone."""
    file = tmp_path / "chat.txt"
    file.write_text("31/12/23, 21:05 - Ana: we leave for the islands on Friday\n")
    call("import", str(file), "--me", "Ana")
    done = call("forget", "--import", "1", "--yes")
    again = call("import", str(file), "--me", "Ana")

    assert done.code == again.code == 0
    assert "1 was forgotten and stays out" in again.stdout
    assert "islands" not in call("export").stdout


@pytest.mark.slow
def test_forget_about_an_entity_deletes_imported_chat_named_after_them(
    call: Call, tmp_path: Path
) -> None:
    """And with what they said in it."""
    file = tmp_path / "WhatsApp Chat with Giuseppina Quaglia.txt"
    file.write_text(
        "31/12/23, 21:05 - Giuseppina Quaglia: did the clinic call you back?\n"
        "31/12/23, 21:06 - Nora: yes, and I am glad that it is over\n"
        "31/12/23, 21:07 - Nora: I owe Giuseppina a long letter for that\n"
    )
    call("import", str(file), "--me", "Nora")
    shown = call("forget", "--about", "Giuseppina", "--dry-run").stdout
    done = call("forget", "--about", "Giuseppina", "--yes")
    held = b"".join(f.read_bytes() for f in (tmp_path / "data").rglob("*") if f.is_file())

    assert "Giuseppina Quaglia: did the clinic" in shown
    assert f"  {file.name}" in shown
    assert (done.code, "it is gone" in done.stdout) == (0, True)
    assert "glad that it is over" in call("export").stdout
    assert b"Giuseppina" not in held
    assert b"Quaglia" not in held


def test_forget_about_full_name_reports_name_parts_that_stay(call: Call, tmp_path: Path) -> None:
    """Whether a first name means the same one is for the person to say."""
    file = tmp_path / "chat.txt"
    file.write_text(
        "31/12/23, 21:05 - Giuseppina Quaglia: did the clinic call you back?\n"
        "31/12/23, 21:07 - Nora: I owe Giuseppina a long letter for that\n"
    )
    call("import", str(file), "--me", "Nora")
    shown = call("forget", "--about", "Giuseppina Quaglia", "--yes").stdout

    assert "This part of the name is said elsewhere and stays" in shown
    assert "\n  Giuseppina\n" in shown


@pytest.mark.slow
def test_missing_tombstone_key_on_another_machine_is_reported(
    call: Call, told: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was forgotten is not known again there, and it is said what to do."""
    call("forget", "--about", "Ana", "--yes")
    file = tmp_path / "chat.txt"
    file.write_text("31/12/23, 21:05 - Nora: we leave for the islands on Friday\n")
    here = call("doctor").stdout
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))

    assert "with a key that this machine does not have" not in here
    for said in (call("doctor"), call("import", str(file), "--me", "Nora")):
        assert "with a key that this machine does not have" in said.stdout
        assert "OLDFRIEND_FORGETTING_KEY" in said.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Say what to forget"),
        (("abc",), "cannot be an id"),
        (("--between", "2024-05-05", "2024-05-04"), "the earlier date first"),
        (("--between", "yesterday", "today"), "is not a time"),
        (("--import", "0"), "at least 1"),
    ],
)
def test_forget_with_invalid_arguments_is_a_usage_error(
    call: Call, told: None, arguments: tuple[str, ...], message: str
) -> None:
    """In a sentence."""
    ended = call("forget", *arguments, "--yes")

    assert ended.code == 2
    assert message in ended.stderr
