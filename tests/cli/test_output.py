"""What others wrote cannot steer the terminal on which it is shown."""

import io
import json
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oldfriend.cli.output import EscapeSequence, SanitizedStream, dumps, escape_control_chars
from oldfriend.cli.terminal import ReplyPrinter, write_dimmed
from tests.cli.conftest import Call
from tests.processes import Program
from tests.terminals import Terminal, terminals

TITLE, CLIPBOARD = "\x1b]0;OWNED\x07", "\x1b]52;c;cm0gLXJmIH4K\x07"
HOSTILE = f"{TITLE}{CLIPBOARD}\x1b[2J\x9b31m\u202egnp\u2067x\u2069\x7f\x08"
HARMFUL = frozenset(
    chr(each)
    for each in range(0x10000)
    if (unicodedata.category(chr(each)) == "Cc" and chr(each) not in "\n\t")
    or unicodedata.bidirectional(chr(each))
    in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
)


@pytest.fixture
def chat(oldfriend: Program) -> Iterator[Callable[..., Terminal]]:
    """Open the chat in a terminal."""
    with terminals(oldfriend) as open_chat:
        yield open_chat


def hostile_file(folder: Path) -> Path:
    """A chat whose speaker and words hold sequences for a terminal."""
    path = folder / "chat.jsonl"
    message = {"at": "2024-05-03T18:30", "speaker": f"Ana{HOSTILE}", "text": f"Dora {HOSTILE} boat"}
    path.write_text(json.dumps(message), encoding="utf-8")
    return path


def test_sanitize_removes_control_and_bidi_characters() -> None:
    """All control characters but newline and tab, and all turns of direction."""
    shown = escape_control_chars("".join(sorted(HARMFUL)) + "\n\t")

    assert HARMFUL.isdisjoint(shown)
    assert shown.endswith("\n\t")
    assert escape_control_chars("a\x1b[2J\x85\x7f\r\n") == "a\u241b[2J\ufffd\u2421\n"


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f469\u200d\U0001f4bb",
        "\u2764\ufe0f",
        "\u200fשלום עולם",
        "\u061cمرحبا",
        "می\u200cخواهم",
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",
        "é e\u0301 汉字 … \u2028",
    ],
)
def test_sanitize_keeps_emoji_and_right_to_left_text(text: str) -> None:
    """Emoji that are joined, variations, and what is written from right to left."""
    assert escape_control_chars(text) == text


def test_split_escape_sequence_is_sanitized_and_own_sequence_is_kept() -> None:
    """However it is split."""
    shown = io.StringIO()
    output = SanitizedStream(shown)
    for each in CLIPBOARD:
        output.write(each)
    output.write(EscapeSequence("\x1b[K"))

    assert shown.getvalue() == "\u241b]52;c;cm0gLXJmIH4K\u2407\x1b[K"


async def test_streamed_reply_is_sanitized_for_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spoken past the prompt; a remark is still grey."""
    screen = io.StringIO()
    monkeypatch.setattr(sys, "__stdout__", screen)
    voice = ReplyPrinter()
    for piece in ("Hello \x1b", "]52;c;cm0", "gLXJm\x07 \u202e", "\x9b2J", "there"):
        await voice.write_piece(piece)
    write_dimmed(f"Late.{CLIPBOARD}")

    said, _, remarked = screen.getvalue().partition("\x1b[90m")
    assert HARMFUL.isdisjoint(said)
    assert "Hello" in said
    assert remarked == f"Late.{escape_control_chars(CLIPBOARD)}\x1b[0m\n"


@pytest.mark.slow
def test_no_command_prints_terminal_control_sequences(call: Call, tmp_path: Path) -> None:
    """Names, words, files and mistakes, on both streams."""
    file = hostile_file(tmp_path)
    called = [
        call("say", f"My boat is called {HOSTILE} Dora.", "--channel", f"c{TITLE}"),
        call("import", str(file), "--dry-run"),
        call("import", str(file)),
        call("import", "list"),
        call("recall", "boat"),
        call("why"),
        call("chat", stdin="/history\n/quit\n"),
        call("token", "new", f"n{HOSTILE}"),
        call("token", "list"),
        call("entities"),
        call("invite", f"Q{HOSTILE}"),
        call("forget", "--about", f"Ana{HOSTILE}", "--dry-run"),
        call("import", f"/nowhere{HOSTILE}"),
        call(f"--wrong{HOSTILE}"),
        call(f"{HOSTILE}"),
        call("status", f"--what{HOSTILE}"),
        call("--set", f"serve.port=x{HOSTILE}", "status"),
    ]

    shown = "".join(each.stdout + each.stderr for each in called)
    assert sorted(HARMFUL & set(shown)) == []
    assert "\u241b]52;c;" in shown
    assert "\u241b" in called[-2].stderr  # argparse's own words


def test_json_and_export_escape_control_characters_without_loss(call: Call, tmp_path: Path) -> None:
    """All that steers is escaped in them."""
    words = f"My boat is called {HOSTILE} Dora."
    call("say", words)
    hits = call("recall", "boat", "--json")
    export = call("export")

    assert HARMFUL.isdisjoint(hits.stdout + export.stdout)
    assert any(each["text"] == words for each in json.loads(hits.stdout))
    texts = [json.loads(line).get("text") for line in export.stdout.splitlines()]
    assert words in texts
    assert json.loads(dumps({"a": HOSTILE})) == {"a": HOSTILE}


@pytest.mark.slow
def test_terminal_chat_shows_no_escape_sequences_from_messages(
    oldfriend: Program, chat: Callable[..., Terminal]
) -> None:
    """At its beginning, in its history, and in what it answers."""
    oldfriend.done("say", f"My boat is called Dora{HOSTILE}.")
    window = chat()
    window.shows("you: ")
    window.types("/history")
    window.types("What is my boat called?")
    window.shows("Dora")
    window.types("/quit")
    before = window.shown
    assert window.ends() == 0

    shown = before + window.shown
    assert "Dora" in shown
    assert "OWNED\x07" not in shown
    assert "\x1b]52" not in shown
    assert "\x1b[2J" not in shown
    assert HARMFUL.isdisjoint(shown.replace("\x1b", "").replace("\r", "").replace("\x08", ""))
