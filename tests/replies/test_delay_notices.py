"""Whoever waits is told why, beside the talk, each reason once, and in their language."""

import asyncio
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import LimitSettings
from oldfriend.domain.errors import TurnStopped
from oldfriend.inbound.accept import (
    ChatContext,
    MessageSubmission,
    accept_message,
    open_local_chat,
    stop_turn,
)
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.replies import delay_notices as waiting
from oldfriend.replies.delay_notices import Delay, format_delay
from oldfriend.replies.reply_worker import answer_message, wait_for_reply
from tests.app.test_turn_queue import jobs_in, said, with_model
from tests.chat_fixtures import log_of
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines


@pytest.fixture
def told() -> list[Delay]:
    """What whoever waits was told."""
    return []


def limited(app: AppContext, per_minute: int) -> AppContext:
    """The house with so many messages a minute."""
    limits = LimitSettings(messages_per_minute=per_minute)
    return replace(app, settings=replace(app.settings, limits=limits))


async def test_rate_limited_message_gives_a_delay_notice_with_seconds(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, told: list[Delay]
) -> None:
    """And is answered then; nothing of it is kept."""
    app = limited(app, 2)

    async def tell(delay: Delay) -> None:
        told.append(delay)
        clock.tick(seconds=60)

    for text in ("hello", "hello again", "and again"):
        given = await answer_message(app, chat_context, MessageSubmission(text=text), on_delay=tell)

    assert told == [Delay(reason="limit", seconds=30)]
    assert given.reply.text
    assert [role for role, _ in await log_of(app, chat_context)] == ["person", "companion"] * 3


@pytest.mark.slow
async def test_waiting_for_an_earlier_turn_gives_a_delay_notice(
    app: AppContext, chat_context: ChatContext, told: list[Delay]
) -> None:
    """Whoever is at it."""
    slow = with_model(app, ScriptedModel([ScriptedReply(text="one", delay_s=1.5), "two"]))
    first = await said(slow, chat_context, "first")
    second = await said(slow, chat_context, "second")

    async def tell(delay: Delay) -> None:
        told.append(delay)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(wait_for_reply(slow, first, on_text=None))
        await asyncio.sleep(0.1)
        answering = tasks.create_task(wait_for_reply(slow, second, on_text=None, on_delay=tell))

    assert told == [Delay(reason="earlier")]
    assert answering.result().reply.text == "two"


@pytest.mark.slow
async def test_silent_model_gives_one_delay_notice_before_the_first_word(
    app: AppContext, chat_context: ChatContext, told: list[Delay], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and not after the first word."""
    monkeypatch.setattr(waiting, "SILENT_AFTER_S", 0.6)
    model = ScriptedModel([ScriptedReply(text="Well. " * 5, delay_s=1.5, chunk_delay_s=0.3)])
    heard: list[str] = []

    async def tell(delay: Delay) -> None:
        assert not heard
        told.append(delay)

    async def say(piece: str) -> None:
        heard.append(piece)

    await answer_message(
        with_model(app, model),
        chat_context,
        MessageSubmission(text="a story"),
        on_text=say,
        on_delay=tell,
    )

    assert [delay.reason for delay in told] == ["silent"]
    assert told[0].seconds >= 1


async def test_quick_reply_gives_no_delay_notice(
    app: AppContext, chat_context: ChatContext, told: list[Delay]
) -> None:
    """There was nothing to wait for."""

    async def tell(delay: Delay) -> None:
        told.append(delay)

    await answer_message(app, chat_context, MessageSubmission(text="hello"), on_delay=tell)

    assert told == []


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
@pytest.mark.parametrize("reason", ["limit", "again", "earlier", "silent"])
def test_every_delay_reason_has_text_in_every_language(
    language: str, reason: waiting.DelayReason
) -> None:
    """In brackets, as what is said beside a talk."""
    words = format_delay(Delay(reason=reason, seconds=7, language=language))

    assert words[0] in "(（"
    assert ("7" in words) == (reason != "earlier")


@pytest.mark.parametrize("text", ["Marie", "Pasta carbonara", "Et toi, où es-tu ?"])
async def test_delay_notice_is_in_the_language_of_the_chat(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, text: str
) -> None:
    """Not of what was just said, nor what the person has spoken in another chat."""
    slow = limited(app, 1)
    words: list[str] = []

    async def tell(delay: Delay) -> None:
        words.append(format_delay(delay))
        clock.tick(seconds=60)

    await answer_message(
        slow,
        chat_context,
        MessageSubmission(text="I am going to the market with my sister and her son."),
    )
    clock.tick(seconds=60)
    diary = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="diary")
    await answer_message(
        app, diary, MessageSubmission(text="Je vais au marché avec ma sœur, et toi ?")
    )
    await answer_message(slow, chat_context, MessageSubmission(text="What is the name of my cat?"))
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    await answer_message(slow, chat_context, MessageSubmission(text=text), on_delay=tell)

    assert words == [load_phrases("en").phrases["wait_limit"].format(seconds=60)]


async def test_stop_removes_a_turn_that_was_not_started(
    app: AppContext, chat_context: ChatContext
) -> None:
    """At once, without a word of reply, and the log says why."""
    accepted = await accept_message(
        app, chat_context, MessageSubmission(text="never mind"), claim_now=False
    )
    assert accepted is not None
    await stop_turn(app, chat_context, accepted.message.id)

    with pytest.raises(TurnStopped):
        await wait_for_reply(app, accepted, on_text=None)
    assert [role for role, _ in await log_of(app, chat_context)] == ["person", "marker"]
    assert await jobs_in(app) == []


async def test_stop_drops_the_dead_letter_of_its_turn(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is not tried again, whoever asks for that; a second stop finds nothing."""
    accepted = await said(app, chat_context, "a bad thing")
    async with app.db.begin_write() as tx:
        await tx.run("UPDATE job SET dead_lettered_at = 1, error = 'a bug'")
        await tx.run("UPDATE job_partition SET ready_at = NULL")
    for _ in range(2):
        await stop_turn(app, chat_context, accepted.message.id)

    assert await jobs_in(app) == await jobs_in(app, failed=True) == []
    assert [role for role, _ in await log_of(app, chat_context)] == ["person", "marker"]


async def test_a_stop_after_the_answer_changes_nothing(
    app: AppContext, chat_context: ChatContext
) -> None:
    """What was said was said."""
    given = await answer_message(app, chat_context, MessageSubmission(text="hello"))
    await stop_turn(app, chat_context, given.message.id)

    assert [role for role, _ in await log_of(app, chat_context)] == ["person", "companion"]
    assert await jobs_in(app) == []
