"""Whoever waits is told why, beside the talk, each reason once, and in their language."""

import asyncio
from dataclasses import replace

import pytest

from oldfriend.app import waiting
from oldfriend.app.accepting import Line, Said, accept, stop
from oldfriend.app.answering import answer, see_answered
from oldfriend.app.choices.sections import Limits
from oldfriend.app.house import House
from oldfriend.app.waiting import Delay, in_words
from oldfriend.domain.errors import TurnStopped
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.prompts.phrasebook import SPOKEN
from tests.app.conftest import log_of
from tests.app.test_lanes_of_turns import letters_in, said, with_model
from tests.clock import FrozenClock


@pytest.fixture
def told() -> list[Delay]:
    """What whoever waits was told."""
    return []


def limited(house: House, per_minute: int) -> House:
    """The house with so many messages a minute."""
    limits = Limits(messages_per_minute=per_minute)
    return replace(house, settings=replace(house.settings, limits=limits))


async def test_over_the_limit_one_is_told_for_how_long(
    house: House, line: Line, clock: FrozenClock, told: list[Delay]
) -> None:
    """And is answered then; nothing of it is kept."""
    house = limited(house, 2)

    async def tell(delay: Delay) -> None:
        told.append(delay)
        clock.tick(seconds=60)

    for text in ("hello", "hello again", "and again"):
        given = await answer(house, line, Said(text=text), tell=tell)

    assert told == [Delay(reason="limit", seconds=30)]
    assert given.reply.text
    assert [role for role, _ in await log_of(house, line)] == ["person", "companion"] * 3


async def test_what_was_said_before_comes_first(
    house: House, line: Line, told: list[Delay]
) -> None:
    """Whoever is at it."""
    slow = with_model(house, ScriptedModel([Scripted(text="one", delay_s=1.5), "two"]))
    first = await said(slow, line, "first")
    second = await said(slow, line, "second")

    async def tell(delay: Delay) -> None:
        told.append(delay)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(see_answered(slow, first, say=None))
        await asyncio.sleep(0.1)
        answering = tasks.create_task(see_answered(slow, second, say=None, tell=tell))

    assert told == [Delay(reason="earlier")]
    assert answering.result().reply.text == "two"


async def test_a_model_that_says_nothing_is_mentioned_until_it_speaks(
    house: House, line: Line, told: list[Delay], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and not after the first word."""
    monkeypatch.setattr(waiting, "SILENCE_S", 0.6)
    model = ScriptedModel([Scripted(text="Well. " * 5, delay_s=1.5, pause_s=0.3)])
    heard: list[str] = []

    async def tell(delay: Delay) -> None:
        assert not heard
        told.append(delay)

    async def say(piece: str) -> None:
        heard.append(piece)

    await answer(with_model(house, model), line, Said(text="a story"), say=say, tell=tell)

    assert [delay.reason for delay in told] == ["silent"]
    assert told[0].seconds >= 1


async def test_a_quick_answer_is_not_explained(house: House, line: Line, told: list[Delay]) -> None:
    """There was nothing to wait for."""

    async def tell(delay: Delay) -> None:
        told.append(delay)

    await answer(house, line, Said(text="hello"), tell=tell)

    assert told == []


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("reason", ["limit", "again", "earlier", "silent"])
def test_each_reason_has_its_words(language: str, reason: waiting.Reason) -> None:
    """In brackets, as what is said beside a talk."""
    words = in_words(Delay(reason=reason, seconds=7), "42", language)

    assert words[0] in "(（"
    assert ("7" in words) == (reason != "earlier")


def test_the_language_is_that_of_what_was_just_said() -> None:
    """Not that of the person's last words."""
    words = in_words(Delay(reason="earlier"), "¿Dónde está la llave de la casa?", "en")

    assert "antes" in words


async def test_a_stop_takes_away_what_nobody_has_begun(house: House, line: Line) -> None:
    """At once, without a word of reply, and the log says why."""
    accepted = await accept(house, line, Said(text="never mind"), to_answer=False)
    assert accepted is not None
    await stop(house, line, accepted.message.id)

    with pytest.raises(TurnStopped):
        await see_answered(house, accepted, say=None)
    assert [role for role, _ in await log_of(house, line)] == ["person", "marker"]
    assert await letters_in(house) == []


async def test_a_stop_drops_what_was_set_aside(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """It is not tried again, whoever asks for that; a second stop finds nothing."""
    accepted = await said(house, line, "a bad thing")
    async with house.db.writing() as tx:
        await tx.run("UPDATE letter SET parked_at = 1, error = 'a bug'")
        await tx.run("UPDATE lane SET ready_at = NULL")
    for _ in range(2):
        await stop(house, line, accepted.message.id)

    assert await letters_in(house) == await letters_in(house, parked=True) == []
    assert [role for role, _ in await log_of(house, line)] == ["person", "marker"]


async def test_a_stop_after_the_answer_changes_nothing(house: House, line: Line) -> None:
    """What was said was said."""
    given = await answer(house, line, Said(text="hello"))
    await stop(house, line, given.said.id)

    assert [role for role, _ in await log_of(house, line)] == ["person", "companion"]
    assert await letters_in(house) == []
