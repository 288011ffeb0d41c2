"""oldfriend proactive: when it speaks first, and why it did or did not."""

import json

from tests.cli.conftest import Call


def test_choice_and_decisions_are_shown(call: Call) -> None:
    """What was chosen in the chat stands there (ACCEPTANCE L13, L19)."""
    call("say", "Hello.")
    before = call("proactive").stdout
    call("say", "/active lively")
    call("say", "no more good mornings")
    after = call("proactive").stdout

    assert "Speaking first: shy. Quiet: 22:00 to 08:00" in before
    assert "Nothing was decided yet." in before
    assert "Speaking first: lively." in after
    assert "Not wanted again: day_opening." in after
    shown = json.loads(call("proactive", "--json").stdout)
    assert shown["settings"]["muted"] == ["day_opening"]
    assert shown["impulses"] == []
