"""Deriving everything anew, and what is believed differently then, as they are typed."""

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.processes import Program, kill


@pytest.fixture
def lived(call: Call, tmp_path: Path) -> tuple[str, str]:
    """A memory of a few words, and where a second one could be."""
    call("say", "I live in Porto, by the river.")
    call("say", "My sister Ana is a nurse. I love jazz.")
    call("consolidate", "--now")
    return str(tmp_path / "data" / "oldfriend.db"), str(tmp_path / "second.db")


def test_replay_by_rules_calls_no_model_and_diff_finds_no_difference(
    call: Call, lived: tuple[str, str]
) -> None:
    """It is said what would be read; the exit code says that both are alike."""
    one, other = lived

    replayed = call("replay", "--into", other)
    compared = call("diff", one, other)

    assert "1 segment of conversation would be read again" in replayed.stdout
    assert "no model is asked" in replayed.stdout
    assert (replayed.code, compared.code) == (0, 0)
    assert "Both believe the same." in compared.stdout


@pytest.mark.slow
def test_diff_lists_and_explains_changed_beliefs(call: Call, lived: tuple[str, str]) -> None:
    """In words; as JSON with both sides; with --why the words behind them."""
    one, other = lived
    call("replay", "--into", other)
    there = ("--database", f"sqlite:///{other}")
    jazz = next(each for each in call("facts", "--json", *there).json if each["value"] == "jazz")
    home = next(each for each in call("facts", "--json", *there).json if each["value"] == "Porto")
    call("memory", "reject", jazz["id"], *there)
    call("memory", "edit", home["id"], "Lives in Braga.", "--value", "Braga", *there)

    compared, why = call("diff", one, other), call("diff", one, other, "--why")
    as_json = call("diff", one, other, "--json")

    assert (compared.code, why.code, as_json.code) == (1, 1, 1)
    assert "status: active → rejected" in compared.stdout
    assert "Only the second believes (1):" in compared.stdout
    assert "Lives in Braga." in compared.stdout
    assert "you said" in why.stdout
    assert "I love jazz" in why.stdout
    (told,) = as_json.json
    differs = {each["finding"] for each in told["differences"]}
    assert differs == {"only in 2", "stands otherwise"}
    changed = next(each for each in told["differences"] if each["second"]["id"] == jazz["id"])
    assert changed["first"]["id"] != jazz["id"]
    assert changed["differs"] == [{"what": "status", "first": "active", "second": "rejected"}]
    assert sum(told["counts"]["preference"].values()) == 1


@pytest.mark.slow
def test_replay_and_diff_refuse_invalid_targets_models_and_persons(
    call: Call, lived: tuple[str, str]
) -> None:
    """Itself, what holds anything, what is no model, an unknown price, nobody's yes."""
    one, other = lived
    call("replay", "--into", other)
    empty = f"{other}.empty"
    model = ("--model", "openai:some-model-nobody-knows")

    assert "names the memory that is to be replayed" in call("replay", "--into", one).stderr
    assert "holds something" in call("replay", "--into", other).stderr
    assert "is not a model" in call("replay", "--into", empty, "--model", "gpt").stderr
    unasked = call("replay", "--into", empty, *model)
    assert unasked.code == 2
    assert "price unknown" in unasked.stdout
    assert "add --yes" in unasked.stderr
    capped = call("replay", "--into", empty, *model, "--limit-usd", "1", "--yes")
    assert (capped.code, "--limit-tokens" in capped.stderr) == (2, True)
    assert call("diff", one, f"{other}.nowhere").code == 2
    assert call("diff", one, other, "--person", "Nobody").code == 2


@pytest.mark.slow
def test_killed_replay_resumes_to_the_same_memory(oldfriend: Program, tmp_path: Path) -> None:
    """Wherever it is killed; the memory that it reads stays as it is."""
    for text in ("I live in Porto, by the river.", "My sister Ana is a nurse. I love jazz."):
        oldfriend.done("say", text)
    oldfriend.done("consolidate", "--now")
    one, other = str(oldfriend.data / "oldfriend.db"), str(tmp_path / "second.db")
    before = oldfriend.done("facts", "--json").json
    killed = 0
    for delay_s in (0.5, 0.8, 1.1, 1.4):
        with oldfriend.started("replay", "--into", other) as process:
            time.sleep(delay_s)
            is_done = process.poll() is not None
            kill(process)
        if is_done:  # it is whole, and would be refused
            break
        killed += 1
    else:
        ended = oldfriend("replay", "--into", other)
        is_whole = "holds something" in ended.stderr  # it was killed after its last step
        assert ended.code == 0 or is_whole, ended.stderr
    compared = oldfriend("diff", one, other)

    assert killed > 0
    assert (compared.code, "Both believe the same." in compared.stdout) == (0, True)
    assert oldfriend.done("facts", "--json").json == before
    sound = oldfriend("doctor", "--database", f"sqlite:///{other}")
    assert "is sound" in sound.stdout
