"""A store that people can read, from the command line: all that can be done with any other."""

import json
from pathlib import Path

import pytest

from oldfriend.db.json import json_database as database
from tests.cli.conftest import Call
from tests.cli.serving import on_any_port, served
from tests.processes import Program
from tests.summaries import sum_up_store

HOME, SISTER = "I live in Porto near the old harbour.", "My sister Ana is a nurse in Braga."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where it is."""
    return tmp_path / "data" / "memory.json"


@pytest.fixture
def told(call: Call, file: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line, after two things were said and read."""
    monkeypatch.setenv("OLDFRIEND_DATABASE", f"json:///{file}")
    for text in (HOME, SISTER):
        assert call("say", text).code == 0
    assert call("consolidate", "--now").code == 0
    sum_up_store(f"json:///{file}")
    return call


def edited(file: Path, old: str, new: str) -> None:
    """Edit what is said or believed now, as in a text editor; not how it came to be believed."""
    before, found, after = file.read_text("utf-8").rpartition(old)
    assert found
    file.write_text(before + new + after, "utf-8")


def spoken(file: Path) -> str:
    """All that was said, as it stands in the file."""
    messages = json.loads(file.read_text("utf-8"))["messages"]
    return "\n".join(each["content"] for whose in messages.values() for each in whose)


@pytest.mark.slow
def test_json_store_supports_commands_and_holds_messages_and_summaries(
    told: Call, file: Path
) -> None:
    """Recall, the reply's reasons, the doctor, an export; read messages are in a chunk."""
    assert HOME in told("recall", "where do I live").stdout
    assert HOME in told("say", "Where do I live?").stdout
    assert told("why").code == 0
    assert "is sound" in told("doctor").stdout
    assert told("export").stdout.count("Lives in Porto") >= 1
    content = json.loads(file.read_text("utf-8"))
    (messages,) = content["messages"].values()
    ((summary,),) = content["summaries"].values()
    assert not messages[0]["is_active"]
    assert [messages[0]["chunk_id"]] == summary["source_chunk_ids"]
    assert messages[-1]["is_active"]


@pytest.mark.slow
def test_import_and_undo_are_reflected_in_the_json_store(
    told: Call, file: Path, tmp_path: Path
) -> None:
    """And can be undone."""
    notes = tmp_path / "notes.md"
    notes.write_text("# 2024-03-01\n\nPlanted three lemon trees today.\n")
    assert told("import", str(notes), "--me", "owner").code == 0
    assert "Planted three lemon trees" in spoken(file)
    assert told("import", "undo", "1").code == 0
    assert "Planted three lemon trees" not in spoken(file)


def test_forgotten_words_are_gone_from_the_json_store(told: Call, file: Path) -> None:
    """Nor is there any other file beside it."""
    done = told("forget", "--about", "Ana", "--yes")

    assert "it is gone" in done.stdout
    assert "Ana" not in file.read_text("utf-8")
    assert "Braga" not in file.read_text("utf-8")
    assert "Porto" in file.read_text("utf-8")
    assert not [each.name for each in file.parent.iterdir() if each.name.startswith("memory.json.")]


def test_hand_edited_belief_text_becomes_a_correction_by_the_person(told: Call, file: Path) -> None:
    """With its history; the journal bears it out."""
    fact = '"kind": "fact",\n        "text": "Lives in '
    edited(file, f"{fact}Porto", f"{fact}Faro")

    refused = told("convert", f"json:///{file}", f"sqlite:///{file.parent / 'other.db'}")
    assert refused.code == 2
    assert "edited by hand" in refused.stderr
    facts = told("facts", "--json").json
    (home,) = [each for each in facts if each["key"] == "location"]
    assert home["text"].startswith("Lives in Faro")
    assert "by you" in told("history", home["id"]).stdout
    assert told("rebuild", "--check").code == 0
    assert told("convert", f"json:///{file}", f"sqlite:///{file.parent / 'other.db'}").code == 0


@pytest.mark.slow
def test_hand_edited_message_is_reindexed_and_consolidated_again(told: Call, file: Path) -> None:
    """What was believed because of the old ones is taken back."""
    edited(file, f'"content": "{HOME}"', '"content": "I live in Faro behind the market."')

    assert "Faro behind the market" in told("recall", "market in Faro").stdout
    assert told("consolidate", "--now").code == 0
    homes = [each["text"] for each in told("facts", "--json").json if each["key"] == "location"]
    assert [home.split()[:3] for home in homes] == [["Lives", "in", "Faro"]] or "Faro" in homes[0]
    assert told("rebuild", "--check").code == 0
    assert "is sound" in told("doctor").stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [('"summary_text": "', '"summary_text": "Not '), ('"value": "Porto"', '"value": "Faro"')],
)
def test_other_hand_edits_of_beliefs_in_the_json_store_are_refused(
    told: Call, file: Path, old: str, new: str
) -> None:
    """They would be undone by the next rebuild; the file stays as it was edited."""
    edited(file, old, new)
    before = file.read_bytes()

    refused = told("facts")

    assert refused.code == 1
    assert "only the text can be edited there" in refused.stderr
    assert file.read_bytes() == before


@pytest.mark.slow
def test_large_json_store_warning_suggests_converting_to_sqlite(
    told: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the doctor, and by whoever begins to talk."""
    assert "MB of at most 32" in told("doctor").stdout
    monkeypatch.setattr(database, "MAX_FILE_BYTES", 100_000)
    for number in range(12):
        told("say", f"Story number {number}: {'once upon a time ' * 100}")

    assert "Move to SQLite before then: oldfriend convert json:///" in told("doctor").stdout
    assert "Move to SQLite" in told("chat", stdin="/quit\n").stderr


@pytest.mark.slow
def test_json_store_refuses_a_second_process(oldfriend: Program, file: Path) -> None:
    """Beside serve, whoever else comes is told so, and what to do."""
    readable = on_any_port(
        Program(data=oldfriend.data, environment={"OLDFRIEND_DATABASE": f"json:///{file}"})
    )
    with served(readable):
        refused = readable("say", "hello")
        assert refused.code == 1
        assert "in use by process" in refused.stderr
        assert "Only one process at a time" in refused.stderr
        assert refused.stdout == ""
    assert readable("say", "hello").code == 0
