"""Which scorer would serve better: as a table and as JSON, of the lives and of one's own log."""

import pytest

from tests.cli.conftest import Call

SCORERS = {"typed_decay", "dual_trace", "act_r"}


@pytest.mark.slow
def test_eval_scoring_without_a_memory_replays_sample_lives_only(call: Call) -> None:
    """And it makes no memory."""
    told = call("eval", "scoring")

    assert told.code == 0
    assert told.stdout.count("questions") >= 4
    assert all(f"  {name}" in told.stdout for name in SCORERS)
    assert "only the lives were replayed" in told.stdout
    assert call("recall", "anything").code == 1


@pytest.mark.slow
def test_eval_scoring_json_has_every_scorer_and_own_log_without_texts(call: Call) -> None:
    """Numbers only: none of the words."""
    for day, text in (("01", "I live in Porto."), ("20", "I live in Lisbon.")):
        call("say", text, "--at", f"2024-01-{day}T10:00")
    call("consolidate", "--now")
    told = call("eval", "scoring", "--json")

    *_, own = told.json
    assert own["of"] == "your own log"
    assert {name for each in told.json for name in each["scorers"]} == SCORERS
    then = own["scorers"]["act_r"]["as it was then"]
    assert (then["questions"], then["better"], then["worse"]) == (2, 0, 0)
    assert "Porto" not in told.stdout + told.stderr


@pytest.mark.parametrize("arguments", [("eval",), ("eval", "everything")])
def test_eval_with_missing_or_unknown_target_is_a_usage_error(
    call: Call, arguments: tuple[str, ...]
) -> None:
    assert call(*arguments).code == 2


def test_eval_scoring_with_unknown_person_is_refused(call: Call) -> None:
    """After a slip of the fingers nobody should take the lives for an answer."""
    call("say", "hello")

    assert call("eval", "scoring", "--person", "Nobody").code == 1
