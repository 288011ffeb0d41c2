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
async def test_question_about_a_day_quotes_only_statements_of_that_day(
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


async def test_question_about_a_week_quotes_the_longest_message_of_each_day(
    say: Say, clock: FrozenClock
) -> None:
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


async def test_question_about_a_time_without_messages_quotes_nothing(say: Say) -> None:
    """Nor filled with words of another."""
    await say("we had ravioli with my sister")

    assert "ravioli" not in (await say("what did we talk about last week?")).reply.text


@pytest.mark.parametrize(
    "question",
    [
        "what did we talk about on tuesday",
        "¿De qué hablamos el martes?",
        "Worüber haben wir am Dienstag gesprochen?",
        "De quoi on a parlé mardi ?",
        "我们周二聊了什么？",
        "Do que a gente falou na terça?",
        "Di cosa abbiamo parlato martedì?",
        "火曜日に何を話した？",
    ],
)
async def test_weekday_in_a_question_means_the_most_recent_one(
    say: Say, clock: FrozenClock, question: str
) -> None:
    """Of seven days with a message each."""
    clock.tick(minutes=5 * A_DAY)  # a Sunday
    for number in range(1, 8):
        clock.tick(minutes=A_DAY)
        await say(f"I went swimming with Rita again on day {number}")

    text = (await say(question)).reply.text

    assert text.partition("on day ")[2].startswith("2")
    assert text.count("on day") == 1


async def test_weekday_of_today_means_today_if_anything_was_said_today(
    say: Say, clock: FrozenClock
) -> None:
    """Else the weekday is that of a week ago."""
    clock.tick(minutes=5 * A_DAY)
    await say("the gutter came down in the storm")
    clock.tick(minutes=7 * A_DAY)

    before = await say("what did i tell you on sunday?")
    await say("we had ravioli with my sister")
    after = await say("what did i tell you on sunday?")

    assert "gutter" in before.reply.text
    assert "ravioli" in after.reply.text
    assert "gutter" not in after.reply.text


async def test_answer_is_sure_about_what_was_said_but_not_about_what_happened(
    say: Say, clock: FrozenClock
) -> None:
    """It may have been told of another day."""
    await say("we had ravioli with my sister")
    clock.tick(minutes=A_DAY)

    told = await say("what did i tell you yesterday?")
    happened = await say("what did i do yesterday?")

    assert told.receipt.details["certainty"] == "sure"
    assert happened.receipt.details["certainty"] == "unsure"
