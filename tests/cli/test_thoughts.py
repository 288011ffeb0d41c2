"""oldfriend thoughts: what it thought, and why; honest where there is nothing."""

import json

from tests.cli.conftest import Call


def test_thoughts_without_a_model_explains_why_there_are_none(call: Call) -> None:
    """And so do doctor and stats."""
    call("say", "My dog Rex died yesterday. I am heartbroken.")
    told = call("thoughts")

    assert "No thoughts yet." in told.stdout
    assert "takes a language model" in told.stdout
    assert "takes a language model" in call("doctor").stdout
    assert "takes a language model" in call("stats").stdout
    assert json.loads(call("thoughts", "--json").stdout) == []
    assert json.loads(call("thoughts", "--transcripts", "--json").stdout) == []


def test_thoughts_refuses_unknown_transcript_and_conflicting_options(call: Call) -> None:
    """A transcript that is not there, and choices that are of thoughts only."""
    call("say", "My dog Rex died yesterday.")
    missing = call("thoughts", "--transcripts", "abcd1234")

    assert (missing.code, "kept for 14 days" in missing.stderr) == (1, True)
    assert call("thoughts", "--transcripts", "--subject", "person").code == 2
