"""The page reads Markdown a little at once, so that no text keeps it busy."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import oldfriend.api

LEXING = Path(oldfriend.api.__file__).parent / "static/js/chat/markdown_lexer.js"
MAX_MS = 1_000
"""For a text of any length on a busy machine; unlimited, the first of these takes 25 seconds."""
SLOW = {
    "emphasis": "_a_" * 33_000,
    "address": "a" * 100_000 + "@",
    "spaces": "a" + " " * 100_000,
    "quotations": "> a\nb\n" * 16_000,
    "strikes": "~a~~" * 25_000,
    "nested quotations": "> " * 50_000,
    "nested lists": "1. " * 33_000,
    "many nested lists": ("1. " * 800 + "\n\n") * 40,
}

pytestmark = pytest.mark.slow  # it needs node, as the check of types does


def read(text: str) -> tuple[list[dict[str, Any]], float]:
    """The tokens of a text, and the milliseconds that reading them took."""
    script = f"""
        import {{ lexMarkdown }} from {json.dumps(LEXING.as_uri())};
        import {{ readFileSync }} from "node:fs";
        const text = readFileSync(0, "utf-8");
        const began = performance.now();
        const tokens = lexMarkdown(text);
        const took = performance.now() - began;
        const flat = tokens.map(({{ type, raw, text, loose, start, items }}) => (
            {{ type, raw, text, loose, start: start || undefined, items: items?.length }}));
        const isKept = lexMarkdown(text).every((each, at) => each === tokens[at]);
        console.log(JSON.stringify([flat, took, isKept]));
    """
    told = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    tokens, took_ms, is_kept = json.loads(told.stdout)
    assert is_kept
    return tokens, took_ms


@pytest.mark.slow
@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_no_text_keeps_the_page_busy(text: str) -> None:
    """What is too long to be read is shown as it was written."""
    tokens, took_ms = read(text)

    assert took_ms < MAX_MS
    shown = "".join(each["raw"] for each in tokens)
    assert shown.split() == text.split()


@pytest.mark.slow
def test_long_reply_is_read_block_by_block() -> None:
    """Emphasis stays, code with empty lines is one block, and nothing is lost."""
    code = "x = 1\n\n" * 1_000
    text = "Some *words*.\n\n" * 200 + f"```py\n{code}```\n\nThe **end**.\n"
    tokens, _ = read(text)
    blocks = [each for each in tokens if each["type"] != "space"]

    assert {each["type"] for each in blocks[:-2]} == {"paragraph"}
    assert blocks[-2] == {"type": "code", "text": code.removesuffix("\n")}
    assert blocks[-1]["text"] == "The **end**."


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["- ", "{}. "])
def test_long_list_stays_a_list(mark: str) -> None:
    """Cut between its items, which stand as close as before; numbers go on."""
    items = [f"{mark.format(n)}Item {n}, with **some** words to it.\n" for n in range(1, 201)]
    items[50] += "    - and one below\n"
    tokens, _ = read("It goes so:\n\n" + "".join(items) + "\nThat is all.\n")
    lists = [each for each in tokens if each["type"] == "list"]

    assert {each["type"] for each in tokens} <= {"paragraph", "list", "space"}
    assert sum(each["items"] for each in lists) == len(items)
    assert not any(each["loose"] for each in lists)
    before = [sum(each["items"] for each in lists[:at]) for at in range(len(lists))]
    if mark != "- ":
        assert [each["start"] for each in lists] == [1 + count for count in before]


@pytest.mark.slow
def test_long_table_stays_a_table() -> None:
    """Each part of it has the heading."""
    head = "| day | what |\n|---|:--|\n"
    rows = [f"| {n} | something of day {n} |\n" for n in range(200)]
    tokens, _ = read(head + "".join(rows))
    tables = [each for each in tokens if each["type"] != "space"]

    assert {each["type"] for each in tables} == {"table"}
    assert all(each["raw"].startswith(head) for each in tables)
    assert sum(each["raw"].count("something") for each in tables) == len(rows)
