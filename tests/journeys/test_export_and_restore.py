"""Everything that is kept can be taken along."""

import json
from dataclasses import replace
from pathlib import Path

from tests.processes import Program

DATA = Path(__file__).parents[1] / "data"


def test_an_export_restores_into_an_empty_store_with_everything(
    oldfriend: Program, tmp_path: Path
) -> None:
    """Two people, two channels, an import, notes, receipts: the second export is the first."""
    oldfriend.done("import", DATA / "lisbon.jsonl", "--me", "Nora")
    oldfriend.done("say", "Remember that I am allergic to walnuts", "--channel", "web")
    oldfriend.done("say", "我养了只白猫,叫小黑。", "--person", "Ana", "--new-person")
    asked = oldfriend.done("say", "What did they end up naming the boat?", "--json").json
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    oldfriend.done("export", first)

    moved = replace(oldfriend, data=tmp_path / "new house")
    moved.done("import", first)
    moved.done("export", second)

    assert kept_in(second) == kept_in(first)
    assert moved.done("why", asked["turn"], "--json").json == asked["receipt"]
    assert "walnuts" in moved.done("say", "What do you know about me?").stdout
    assert "小黑" in moved.done("say", "我的猫叫什么名字?", "--person", "Ana").stdout
    again = moved.done("say", "Who did Tomás trade his shifts with?").stdout
    assert "Dulce" in again
    assert moved.done("doctor").code == 0


def test_export_file_is_private_and_contains_no_vectors(oldfriend: Program, tmp_path: Path) -> None:
    """Lines of JSON under a header, private like the memory itself."""
    oldfriend.done("say", "My cat is called Miso.")
    file = tmp_path / "export.jsonl"
    oldfriend.done("export", file)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]

    assert file.stat().st_mode & 0o777 == 0o600
    assert any("My cat is called Miso." in json.dumps(line) for line in lines)
    assert not any("message_vector" in json.dumps(line) for line in lines)


def test_restore_into_a_non_empty_store_is_refused(oldfriend: Program, tmp_path: Path) -> None:
    """Restoring is for an empty one."""
    oldfriend.done("say", "My cat is called Miso.")
    oldfriend.done("export", tmp_path / "export.jsonl")
    other = replace(oldfriend, data=tmp_path / "other")
    other.done("say", "I have a dog.")

    assert other("import", tmp_path / "export.jsonl").code == 1
    assert "dog" in other.done("recall", "dog").stdout


def kept_in(file: Path) -> list[dict[str, object]]:
    """An export's lines below its header, which says when it was made; vectors are made anew."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()[1:]]
    return [{**line, "embedded": None, "weighed": None} for line in lines]
