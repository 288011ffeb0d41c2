"""What leaves the turn is what was meant to be said, however it comes in."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.turn.reply_stream import OutputFilter, ReplyStream

LEAKS = st.lists(
    st.sampled_from(
        [
            "<",
            ">",
            "</",
            "memory",
            "<memory>",
            '<heard who="x">',
            "</memory>",
            " ",
            "\n",
            "Assistant:",
            "oldfriend: ",
            "a",
            "x < y",
            "<tool_call>",
            "</tool_call>",
            "<b>",
            "[",
            "[[Tue ",
            "2026-09-15",
            "]]",
            "[[Tue 2026-09-15]]",
        ]
    ),
    max_size=12,
).map("".join)


def sieved(*pieces: str) -> str:
    """All that is said of a reply that comes in these pieces."""
    sieve = OutputFilter("Oldfriend")
    return "".join([*(sieve.feed(piece) for piece in pieces), sieve.flush()])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Assistant: Hello.", "Hello."),
        ("Oldfriend: Hello.", "Hello."),
        ("  \nHello. \n", "Hello."),
        ('<memory class="person">Miso</memory> is your cat.', "Miso is your cat."),
        ("It is 3 < 4 and 5 > 4.", "It is 3 < 4 and 5 > 4."),
        ("<p>HTML stays</p>", "<p>HTML stays</p>"),
        ('Well. <tool_call>{"name": "note"}</tool_call>', "Well."),
        ('<tool_call>{"name": "note"', ""),
        ("</heard>", ""),
        ("<memory<tool_call></tool_call>>", ""),
        ("[[Tue 2026-09-15]]\nHello.", "Hello."),
        ("Hello.\n[[mié. 2026-09-16]] And so on.", "Hello.\n And so on."),
        ("[[火 2026-09-15]]", ""),
        ("[[Tue 2026-09-1", "[[Tue 2026-09-1"),
        (
            "[[2026-09-15]] links to a note, a[[0]] is code",
            "[[2026-09-15]] links to a note, a[[0]] is code",
        ),
        ("As I said", "As I said"),
        ("As", "As"),
        ("An assistant: somebody who helps.", "An assistant: somebody who helps."),
    ],
)
def test_output_filter_removes_labels_roles_and_tool_call_syntax(text: str, said: str) -> None:
    """Neither whole nor letter by letter; what only looks like one stays."""
    assert sieved(text) == said
    assert sieved(*text) == said


@given(text=LEAKS)
def test_output_filter_result_is_independent_of_chunking(text: str) -> None:
    """Whole, or letter by letter."""
    assert sieved(*text) == sieved(text)


@given(text=st.text(st.characters(exclude_characters="<:"), max_size=300))
def test_output_filter_leaves_ordinary_text_unchanged(text: str) -> None:
    """But for space around them."""
    assert sieved(*text) == text.strip()


async def test_reply_stream_separates_paragraphs_and_streams_all_text() -> None:
    """What the model says before and after a tool, and what we add ourselves."""
    heard: list[str] = []

    async def listen(piece: str) -> None:
        heard.append(piece)

    mouth = ReplyStream(listen, name="Oldfriend")
    await mouth.write("Let me ")
    await mouth.write("look. ")
    await mouth.end_paragraph("Let me look. ")
    await mouth.end_paragraph("It came at once.")
    await mouth.end_paragraph("")
    await mouth.write_paragraph("(Broken off.)")

    assert mouth.text == "".join(heard) == "Let me look.\n\nIt came at once.\n\n(Broken off.)"


@pytest.mark.parametrize(
    "unit",
    ["<", "<core>", "<co", "<tool_call>", "<tool_call>x</tool_call>", " ", "Assistant: ", "<b>"],
)
def test_output_filter_takes_linear_time(unit: str) -> None:
    """Four letters at a time, as models write."""
    costs = []
    for length in (10_000, 80_000):
        text = (unit * length)[:length]
        began = time.thread_time()
        sieved(*(text[place : place + 4] for place in range(0, length, 4)))
        costs.append(time.thread_time() - began)

    assert costs[1] < 8 * 3 * costs[0] + 0.05
