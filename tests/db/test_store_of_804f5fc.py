"""A store that commit 804f5fc left, the version before names and storage changed, opens whole.

That version made it with its own commands: two people told it things in four languages, a value was
corrected, an old chat came in, one message was forgotten, and one is still to be read. Beside the
store lies what that version said was in it.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Program

RELEASED = Path(__file__).parent / "released"
TOLD: dict[str, Any] = json.loads((RELEASED / "store_804f5fc.json").read_text("utf-8"))
PEOPLE = ("owner", "Omar")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The command line of today, on a copy of that store and of the key for forgetting."""
    data, keys = tmp_path / "data", tmp_path / ".config" / "oldfriend" / "keys.toml"
    for folder in (data, keys.parent):
        folder.mkdir(mode=0o700, parents=True)
    packed = (RELEASED / "store_804f5fc.db.gz").read_bytes()
    (data / "oldfriend.db").write_bytes(gzip.decompress(packed))
    keys.write_text(f'forgetting = "{TOLD["forgetting_key"]}"\n')
    keys.chmod(0o600)
    return Program(data=data)


def beliefs_of(program: Program, person: str) -> dict[str, dict[str, Any]]:
    """What is believed of somebody, as the commands tell it, by its id."""
    listed = json.loads(program.done("--person", person, "beliefs", "--json").stdout)
    told = ("kind", "text", "status", "key", "value")
    return {each["id"]: {name: each.get(name) for name in told} for each in listed}


def exported(program: Program, path: Path) -> list[dict[str, Any]]:
    """All that is kept, line by line."""
    program.done("export", path)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()][1:]


def test_what_was_believed_is_believed(program: Program) -> None:
    """Of each person, with the same ids, keys and values; and the journal still says so."""
    assert {who: beliefs_of(program, who) for who in PEOPLE} == TOLD["beliefs"]
    program.done("rebuild", "--check")


@pytest.mark.slow
def test_every_word_is_there_but_for_what_was_forgotten(program: Program, tmp_path: Path) -> None:
    """Each message keeps its id and its text; what is gone is in no file of the data folder."""
    lines = exported(program, tmp_path / "all.jsonl")
    messages = {each["id"]: each["text"] for each in lines if each.get("type") == "message"}
    bytes_kept = b"".join(path.read_bytes() for path in program.data.rglob("*") if path.is_file())

    assert messages == TOLD["messages"]
    assert [each["name"] for each in lines if each.get("type") == "person"] == TOLD["people"]
    assert TOLD["forgotten"].encode() not in bytes_kept
    assert "gambling" not in program("recall", "gambling debts").stdout


@pytest.mark.slow
def test_it_goes_on_as_if_nothing_had_been(program: Program) -> None:
    """Old words are found, what waited to be read is read, and everything is sound."""
    found = json.loads(program.done("recall", "Where is the spare key?", "--json").stdout)
    answer = program.done("say", "Where does my brother live?").stdout
    program.done("consolidate", "--now")
    waiting = {each["id"] for each in json.loads(program.done("jobs", "--json").stdout)}
    doctor = program.done("doctor").stdout

    assert "Mrs. Lopes" in found[0]["text"]
    assert "Hamburg" in answer
    assert TOLD["letters"][0]["id"] not in waiting
    assert "is sound" in doctor


@pytest.mark.slow
def test_it_moves_into_an_empty_store(program: Program, tmp_path: Path) -> None:
    """An export of it, restored elsewhere, gives the same beliefs."""
    lines = exported(program, tmp_path / "all.jsonl")
    elsewhere = Program(data=tmp_path / "elsewhere")
    elsewhere.done("import", tmp_path / "all.jsonl")

    assert {who: beliefs_of(elsewhere, who) for who in PEOPLE} == TOLD["beliefs"]
    assert len(exported(elsewhere, tmp_path / "again.jsonl")) == len(lines)


@pytest.mark.slow
def test_opening_it_again_changes_nothing(program: Program, tmp_path: Path) -> None:
    """It is brought up to date once, with what it was before kept beside it."""
    program.done("migrate")
    first = exported(program, tmp_path / "first.jsonl")
    backups = list(program.data.glob("oldfriend.db.before-*"))
    program.done("migrate")

    assert exported(program, tmp_path / "second.jsonl") == first
    assert len(backups) == 1
    assert list(program.data.glob("oldfriend.db.before-*")) == backups
