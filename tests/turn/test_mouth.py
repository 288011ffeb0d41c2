"""What leaves the turn is what was meant to be said, however it comes in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.turn.mouth import Mouth, Sieve

LEAKS = st.lists(
    st.sampled_from(["<", ">", "</", "memory", "<memory>", '<heard who="x">', "</memory>", " ",
                     "\n", "Assistant:", "oldfriend: ", "a", "x < y", "<tool_call>", "</tool_call>",
                     "<b>"]),
    max_size=12,
).map("".join)  # fmt: skip


def sieved(*pieces: str) -> str:
    """All that is said of a reply that comes in these pieces."""
    sieve = Sieve("Oldfriend")
    return "".join([*(sieve.pass_on(piece) for piece in pieces), sieve.rest()])


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
        ("As I said", "As I said"),
        ("As", "As"),
        ("An assistant: somebody who helps.", "An assistant: somebody who helps."),
    ],
)
def test_labels_and_roles_are_not_said(text: str, said: str) -> None:
    """Neither whole nor letter by letter; what only looks like one stays."""
    assert sieved(text) == said
    assert sieved(*text) == said


@given(text=LEAKS)
def test_it_makes_no_difference_in_which_pieces_it_comes(text: str) -> None:
    """Whole, or letter by letter."""
    assert sieved(*text) == sieved(text)


@given(text=st.text(st.characters(exclude_characters="<:"), max_size=300))
def test_honest_words_are_said_as_they_are(text: str) -> None:
    """But for space around them."""
    assert sieved(*text) == text.strip()


async def test_paragraphs_stand_apart_and_all_is_heard() -> None:
    """What the model says before and after a tool, and what we add ourselves."""
    heard: list[str] = []

    async def listen(piece: str) -> None:
        heard.append(piece)

    mouth = Mouth(listen, name="Oldfriend")
    await mouth.say("Let me ")
    await mouth.say("look. ")
    await mouth.end("Let me look. ")
    await mouth.end("It came at once.")
    await mouth.end("")
    await mouth.add("(Broken off.)")

    assert mouth.text == "".join(heard) == "Let me look.\n\nIt came at once.\n\n(Broken off.)"
