"""What was said at a time? Without a model the words of that time answer, and no other words."""

import pytest

from tests.chat_fixtures import Say
from tests.clock import FrozenClock

A_DAY = 24 * 60


@pytest.fixture
def engine() -> str:
    """One is enough: which messages are of a time is asked of both in tests/memory."""
    return "sqlite"


@pytest.mark.parametrize(
    "question",
    [
        "what did we talk about yesterday?",
        "What did I do yesterday?",
        "sum up yesterday",
        "Please give me a short summary of yesterday.",
        "¿De qué hablamos ayer?",
        "Worüber haben wir gestern gesprochen?",
        "De quoi on a parlé hier ?",
        "我们昨天聊了什么？",
    ],
)
async def test_the_words_of_that_day_are_quoted_and_no_others(
    say: Say, clock: FrozenClock, question: str
) -> None:
    """What was only asked or greeted then tells nothing; each is a source of the reply."""
    await say("we had ravioli with my sister")
    clock.tick(minutes=A_DAY)
    told = [
        await say("Porto it is! booked the flights"),
        await say("the physio says that my knee is better"),
    ]
    await say("hello!")
    await say("where is Faro?")
    clock.tick(minutes=A_DAY)
    await say("raining again all day here")

    done = await say(question)

    quoted = [each.message.text in done.reply.text for each in told]
    assert quoted == [True, True]
    assert not any(
        each in done.reply.text for each in ("ravioli", "hello", "where is Faro", "raining")
    )
    used = {item.object for item in done.receipt.items if item.used}
    assert used == {each.message.id for each in told}


async def test_of_a_long_time_something_of_each_day_is_quoted(say: Say, clock: FrozenClock) -> None:
    """The longest, up to six in their order, and how much more there is."""
    clock.tick(minutes=5 * A_DAY)  # a Sunday
    for day in range(1, 6):
        clock.tick(minutes=A_DAY)
        await say(f"I went swimming with Rita again on day {day}")
        await say(f"day {day} was grey")
    clock.tick(minutes=5 * A_DAY)

    text = (await say("what did we talk about last week?")).reply.text

    places = [text.index(f"again on day {day}") for day in range(1, 6)]
    assert places == sorted(places)
    assert text.count("was grey") == 1
    assert text.endswith("… and 4 more.")


async def test_a_time_at_which_nothing_was_said_is_not_made_up(say: Say) -> None:
    """Nor filled with words of another."""
    await say("we had ravioli with my sister")

    assert "ravioli" not in (await say("what did we talk about last week?")).reply.text
