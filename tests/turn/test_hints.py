"""Somebody new is told what there is, one hint at a time, in order, until they want no more."""

from oldfriend.domain.clock import HOUR
from tests.chat_fixtures import Say
from tests.clock import FrozenClock


async def talk_on(say: Say, clock: FrozenClock, *texts: str) -> list[str]:
    """Say some things hours apart; the hints in the replies."""
    hints = []
    for text in texts:
        clock.now += 2 * HOUR
        reply = (await say(text)).reply.text
        hints += [each for each in reply.split("\n\n") if each.startswith("By the way")]
    return hints


SMALL = ("It rained.", "We had pasta.", "The bus was late.", "I slept well.")


async def test_hints_come_one_by_one_in_their_order(say: Say, clock: FrozenClock) -> None:
    """Each where it is of use; the tasks' one as soon as there is one, and then no more."""
    await say("/start")
    first = await talk_on(say, clock, *SMALL)
    assert len(first) == 1
    assert "/help" in first[0]
    assert first[0].endswith("ends such hints.)")

    second = await talk_on(say, clock, *SMALL, *SMALL)
    assert len(second) == 1
    assert "/personality" in second[0]
    assert "/skill" in second[0]
    third = await talk_on(say, clock, "Remind me tomorrow at 9 to call Eva", "It rained.")
    assert "I remind you" in third[0]
    rest = await talk_on(say, clock, *SMALL, *SMALL, *SMALL, *SMALL)
    assert len(rest) == 1
    assert "/project Garden" in rest[0]


async def test_hints_end_and_go_on_as_one_says(say: Say, clock: FrozenClock) -> None:
    """Where they ended."""
    await say("/start")
    assert "/help" in (await talk_on(say, clock, *SMALL))[0]
    assert "No more hints" in (await say("/tips off")).reply.text
    await say("/start")
    assert await talk_on(say, clock, *SMALL, *SMALL) == []
    assert "Hints are off" in (await say("/tips")).reply.text
    await say("/tips on")
    assert "/skill" in (await talk_on(say, clock, *SMALL))[0]


async def test_who_was_here_before_is_told_nothing(say: Say, clock: FrozenClock) -> None:
    """Nor is anybody told while something weighs on them."""
    assert await talk_on(say, clock, *SMALL, *SMALL) == []
    await say("/start")
    weighed = (await say("I can't sleep any more, everything is too much for me.")).reply.text
    assert "By the way" not in weighed
