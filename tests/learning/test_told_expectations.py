"""What was expected is closed as soon as somebody tells how it went (ACCEPTANCE G18)."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.proactive.lived_time import at, list_beliefs, list_unasked, live_until, tell

engine = both_engines


async def find_status(app: AppContext, chat_context: ChatContext, kind: str) -> list[str]:
    """Return the status of every belief of a kind."""
    return [each.status for each in await list_beliefs(app, chat_context) if each.kind == kind]


@pytest.mark.parametrize(
    ("planned", "when", "told"),
    [
        ("My exam is on November 22nd.", "2026-11-22T19:00", "I passed my exam!"),
        ("My exam is on November 22nd.", "2026-11-23T08:30", "The exam went really well."),
        ("Mi examen es el 22 de noviembre.", "2026-11-23T08:30", "El examen fue muy bien."),
        ("Meine Prüfung ist am 22. November.", "2026-11-23T08:30", "Die Prüfung lief sehr gut."),
        ("Mon examen est le 22 novembre.", "2026-11-23T08:30", "L'examen s'est très bien passé."),
    ],
)
async def test_expectation_is_closed_when_it_is_told_and_not_asked_about(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    planned: str,
    when: str,
    told: str,
) -> None:
    """The status is stored at once, and nobody is asked what they have told (ACCEPTANCE G18)."""
    clock.now = at("2026-11-18T15:00")
    await tell(app, clock, chat_context, clock.now, planned)
    await live_until(app, clock, at("2026-11-18T17:00"))
    await tell(app, clock, chat_context, at(when), told)

    assert await find_status(app, chat_context, "expectation") == ["fulfilled"]
    await live_until(app, clock, at("2026-11-30T12:00"))
    assert await list_unasked(app, chat_context) == []


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("2026-11-20T09:00", "I am studying for my exam."),  # before its day
        ("2026-11-22T08:30", "I'm nervous about my exam."),  # on its day, and perhaps ahead
        ("2026-11-23T08:30", "My dog ate a shoe."),  # something else
        ("2026-11-23T08:30", "When was my exam?"),  # a question tells nothing
    ],
)
async def test_expectation_stays_open_while_nothing_is_told_of_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, when: str, said: str
) -> None:
    """In doubt it is asked about (ACCEPTANCE G18)."""
    clock.now = at("2026-11-18T15:00")
    await tell(app, clock, chat_context, clock.now, "My exam is on November 22nd.")
    await tell(app, clock, chat_context, at(when), said)

    assert "fulfilled" not in await find_status(app, chat_context, "expectation")


async def test_promise_is_closed_by_the_deed(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What somebody has done already is not asked of them (ACCEPTANCE I9)."""
    clock.now = at("2026-11-18T15:00")
    await tell(app, clock, chat_context, clock.now, "I'll call the dentist on November 20th.")
    await tell(app, clock, chat_context, at("2026-11-19T15:00"), "I called the dentist.")

    assert await find_status(app, chat_context, "commitment") == ["fulfilled"]
    await live_until(app, clock, at("2026-11-24T12:00"))
    assert await list_unasked(app, chat_context) == []


async def test_unheard_of_expectation_expires_and_stays_expired(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Two days after it was due, stored (ACCEPTANCE G18)."""
    clock.now = at("2026-11-18T15:00")
    await tell(app, clock, chat_context, clock.now, "My exam is on November 22nd.")
    await live_until(app, clock, at("2026-11-26T12:00"))

    assert await find_status(app, chat_context, "expectation") == ["expired"]
