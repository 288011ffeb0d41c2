"""One thing said, one reply printed."""

import json
import re
from dataclasses import replace

import pytest

from tests.cli.conftest import Call
from tests.processes import Program

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_json_holds_the_reply_the_turn_and_the_receipt(call: Call) -> None:
    """As programs rely on it."""
    call("say", "The key of the shed hangs behind the boiler.", "--at", "2024-05-03T18:30+02:00")
    given = call("say", "Where is the key of the shed?", "--json").json

    assert set(given) == {"reply", "turn", "receipt"}
    assert "The key of the shed hangs behind the boiler." in given["reply"]
    assert UUID.fullmatch(given["turn"])
    receipt = given["receipt"]
    assert receipt["turn"] == given["turn"]
    assert receipt["asked"] == "Where is the key of the shed?"
    assert receipt["reply"] == given["reply"]
    (first, *_) = receipt["evidence"]
    expected = {
        "kind": "message",
        "external_id": None,
        "speaker": "owner",
        "role": "person",
        "channel": "terminal",
        "at": "2024-05-03T18:30:00+02:00",
        "text": "The key of the shed hangs behind the boiler.",
    }
    assert expected.items() <= first.items()
    assert UUID.fullmatch(first["message"])
    assert 0 < first["score"] <= 1
    assert first["why"]


def test_say_json_is_one_line_with_unescaped_unicode(call: Call) -> None:
    """A program reads a line; a person can read it too."""
    said = call("say", "你好", "--json").stdout

    assert said.count("\n") == 1
    assert "你好" in said


def test_purge_is_done_and_told_at_once(call: Call) -> None:
    """Without a server; nothing of it is found afterwards."""
    call("say", "My boat is called Dora.")
    assert "messages, yours and mine: 2" in call("say", "/purge").stdout
    assert "nothing is left" in call("say", "yes").stdout
    assert "Dora" not in call("export", "-").stdout


def test_say_dash_reads_the_message_from_stdin(call: Call) -> None:
    """For what is too long or too strange for a command line."""
    given = call("say", "-", "--json", stdin="Hello\nover two lines").json

    assert given["receipt"]["asked"] == "Hello\nover two lines"


def test_remembered_note_is_listed_with_its_date(call: Call) -> None:
    """What do you know about me?"""
    noted = call("say", "Remember that I am allergic to walnuts", "--at", "2024-05-03T18:30")
    listed = call("say", "What do you know about me?", "--json").json

    assert "“I am allergic to walnuts”" in noted.stdout
    assert "I am allergic to walnuts (you said so on 3 May 2024" in listed["reply"]
    kinds = [each["kind"] for each in listed["receipt"]["evidence"]]
    assert kinds == ["memory", "memory", "message"]  # the note, and the allergy that it tells


@pytest.mark.slow
def test_invalid_utf8_bytes_are_stored_with_replacement_characters(oldfriend: Program) -> None:
    """On the command line and on standard input, whatever the terminal sent."""
    typed = oldfriend.done("say", b"caf\xe9 \xff", "--json")
    strict = replace(oldfriend, environment={"PYTHONIOENCODING": "utf-8:strict"})
    piped = strict.done("say", "-", "--json", stdin=b"caf\xe9 \xff")

    for said in (typed, piped):
        assert json.loads(said.stdout)["receipt"]["asked"].startswith("caf\ufffd")


@pytest.mark.slow
def test_rate_limited_say_reports_the_wait_on_stderr(oldfriend: Program) -> None:
    """Standard output holds the reply alone, for whoever reads that."""
    quick = replace(oldfriend, environment={"OLDFRIEND_LIMITS_MESSAGES_PER_MINUTE": "1"})
    limited = replace(oldfriend, environment={"OLDFRIEND_LIMITS_MESSAGES_PER_MINUTE": "15"})
    quick.done("say", "hello")
    said = limited.done("say", "hello again", "--json")

    assert re.fullmatch(r"\(That is a lot at once; I'll answer this in \d+ s\.\)\n", said.stderr)
    assert "a lot at once" not in said.stdout
