"""A reply is seen while it is written, where that can be shown; nothing waits for that."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import pytest

from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.domain.buttons import Button
from oldfriend.domain.errors import DeliveryFailed
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, stop_turn
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.queues.queue import claim_jobs
from oldfriend.replies import draft_streaming as showing_live
from oldfriend.replies.reply_worker import answer_message, process_chat
from oldfriend.runtime.worker import run_worker
from tests.app.test_turn_queue import jobs_in, log_of, with_model, work_until
from tests.clock import FrozenClock
from tests.fakes.platform import Mute


@dataclass
class Screen(Mute):
    """A platform that shows how far a reply has come, and may die between two pieces."""

    debounce_s: float = 0.0
    interval_s: float = 0.05
    is_sending: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    seen: list[str] = field(default_factory=list)
    external_id: str | None = None
    left: str | None = None  # what somebody has placed who died before they could note it
    places: bool = False  # what is shown is a message, which becomes the reply
    took_s: float = 0.0
    sent: list[str] = field(default_factory=list)
    placed: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    fails_at: str = ""
    failed: asyncio.Event = field(default_factory=asyncio.Event)

    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """A line is a part."""
        return text.splitlines()

    async def send(
        self,
        address: str,
        text: str,
        *,
        send_key: str,
        preview_send_key: str | None = None,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> str:
        """Take it, once it does not fail."""
        if text == self.fails_at:
            self.fails_at = ""
            self.failed.set()
            raise DeliveryFailed("Not now.")
        self.sent.append(text)
        return f"message:{len(self.sent)}"

    async def edit(
        self,
        address: str,
        external_id: str,
        text: str,
        *,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> bool:
        """The message that was shown, if it is still there."""
        if external_id not in self.placed:
            return False
        self.placed[external_id] = text
        return True

    def open_preview(
        self, address: str, *, send_key: str, external_id: str | None = None
    ) -> "Screen":
        """It shows it itself."""
        self.external_id = external_id or self.left
        return self

    async def show(self, text: str) -> None:
        """Show how far it has come."""
        if self.hangs:
            await asyncio.sleep(60)
        self.seen.append(text)
        if self.places and self.external_id is None and text:
            key = f"placed:{len(self.placed)}"
            self.placed[key], self.is_sending = text, True
            self.begun.set()
            try:
                await asyncio.sleep(self.took_s)  # it stands there; only the answer is late
                self.external_id = key
            finally:
                self.is_sending = False
        if self.external_id is not None:
            self.placed[self.external_id] = text


async def answered(app: AppContext, chat_context: ChatContext, screen: Screen) -> None:
    """Have what is said answered by a worker that reaches the screen."""
    await accept_message(app, chat_context, MessageSubmission(text="Tell me."), claim_now=False)
    await work_until(app, lambda: bool(screen.sent))


def house_with(
    app: AppContext, chat_context: ChatContext, screen: Screen, *answers: ScriptedReply
) -> AppContext:
    """A house that reaches the screen, with a model that says so."""
    reached = replace(app, channels={chat_context.chat.channel: screen})
    return with_model(reached, ScriptedModel(list(answers)))


@pytest.mark.slow
async def test_reply_preview_grows_before_the_reply_is_sent(
    app: AppContext, chat_context: ChatContext
) -> None:
    """First that it is being written, then its words, in the end the whole of it."""
    screen = Screen()
    slow = ScriptedReply(text="The sea was calm and we swam far out.", delay_s=1.5)
    await answered(house_with(app, chat_context, screen, slow), chat_context, screen)

    assert screen.seen[0] == ""
    assert screen.sent == ["The sea was calm and we swam far out."]
    assert all(screen.sent[0].startswith(each) for each in screen.seen)


@pytest.mark.slow
async def test_hanging_preview_does_not_delay_the_reply(
    app: AppContext, chat_context: ChatContext
) -> None:
    """What is shown is beside the turn."""
    screen = Screen(hangs=True)
    slow = ScriptedReply(text="Here I am.", delay_s=1.3)
    began = asyncio.get_running_loop().time()
    await answered(house_with(app, chat_context, screen, slow), chat_context, screen)

    assert asyncio.get_running_loop().time() - began < 5
    assert screen.sent == ["Here I am."]


async def test_delivery_resumes_at_the_next_piece_after_a_crash(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A reply that was put whole by a process that does not reach the platform, cut here."""
    screen = Screen(fails_at="two")
    elsewhere = with_model(app, ScriptedModel([ScriptedReply(text="one\ntwo\nthree")]))
    elsewhere = replace(elsewhere, platforms=frozenset({chat_context.chat.channel}))
    here = replace(elsewhere, channels={chat_context.chat.channel: screen})
    await answer_message(elsewhere, chat_context, MessageSubmission(text="Tell me."))
    stopping = asyncio.Event()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(run_worker(here, stopping=stopping))
        await screen.failed.wait()
        stopping.set()
    clock.tick(minutes=1)
    await work_until(here, lambda: len(screen.sent) == 3)
    async with app.db.begin_read() as tx:
        noted = await tx.rows("SELECT ordinal, number, external_id FROM delivered ORDER BY number")

    assert screen.sent == ["one", "two", "three"]
    assert noted == [(0, 0, "message:1"), (0, 1, "message:2"), (0, 2, "message:3")]


@pytest.mark.slow
@pytest.mark.parametrize("took_s", [0.0, 1.0], ids=["at once", "still on its way"])
async def test_preview_message_is_edited_into_the_reply(
    app: AppContext, chat_context: ChatContext, took_s: float
) -> None:
    """It is sent once and edited from then on; its key is noted as the reply's."""
    screen = Screen(places=True, took_s=took_s)
    slow = ScriptedReply(text="The sea was calm.\nWe swam.", chunk_delay_s=0.25)
    await answered(house_with(app, chat_context, screen, slow), chat_context, screen)
    async with app.db.begin_read() as tx:
        noted = await tx.rows("SELECT ordinal, external_id FROM delivered ORDER BY ordinal")

    assert screen.placed == {"placed:0": "The sea was calm."}
    assert screen.sent == ["We swam."]
    assert noted[0] == (0, "placed:0")


@pytest.mark.slow
@pytest.mark.parametrize("ends_in", ["a reply", "a failure"])
async def test_late_preview_message_is_reused_and_not_duplicated(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    monkeypatch: pytest.MonkeyPatch,
    ends_in: str,
) -> None:
    """Its answer is waited for longer than for what only shows, also where the turn fails."""
    monkeypatch.setattr(showing_live, "SHOW_TIMEOUT_S", 0.1)
    monkeypatch.setattr(showing_live, "DRAFT_DELAY_S", 0.1)
    screen = Screen(places=True, took_s=1.0)
    slow = ScriptedReply(text="The sea was calm.", chunk_delay_s=0.1)
    here = house_with(app, chat_context, screen, slow)

    def fail(step: CrashPoint) -> None:
        if step == "decided" and ends_in == "a failure":
            raise RuntimeError("It breaks.")

    await accept_message(here, chat_context, MessageSubmission(text="Tell me."), claim_now=False)
    async with app.db.begin_write() as tx:
        held = await claim_jobs(tx, "inbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    with pytest.raises(RuntimeError) if ends_in == "a failure" else nullcontext():
        await process_chat(replace(here, on_crash_point=fail), held)
    clock.tick(minutes=1)
    await work_until(here, lambda: screen.placed.get("placed:0") == "The sea was calm.")

    assert screen.placed == {"placed:0": "The sea was calm."}
    assert screen.sent == []


@pytest.mark.slow
async def test_retried_turn_continues_in_the_same_preview_message(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Also another process: which message it is stands with what is being answered."""
    screen = Screen(places=True)
    slow = ScriptedReply(text="The sea was calm and we swam far out.", chunk_delay_s=0.2)
    here = house_with(app, chat_context, screen, slow)

    def fail(step: CrashPoint) -> None:
        if step == "decided":
            raise RuntimeError("It breaks.")

    await accept_message(here, chat_context, MessageSubmission(text="Tell me."), claim_now=False)
    async with app.db.begin_write() as tx:
        held = await claim_jobs(tx, "inbox", owner="one", now=clock(), lease_s=30)
    assert held is not None
    with pytest.raises(RuntimeError):
        await process_chat(replace(here, on_crash_point=fail), held)
    half = dict(screen.placed)
    screen.external_id = None
    clock.tick(minutes=1)
    await work_until(here, lambda: "far out." in screen.placed["placed:0"])

    assert list(half) == ["placed:0"]
    assert screen.placed == {"placed:0": "The sea was calm and we swam far out."}
    assert screen.sent == []


async def test_quick_reply_reuses_the_preview_message_left_by_a_crash(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Too quick to be shown, after somebody who died before they could note the message."""
    screen = Screen(places=True, left="placed:0", placed={"placed:0": "The sea"})
    quick = ScriptedReply(text="The sea was calm.")
    here = house_with(app, chat_context, screen, quick)
    await accept_message(here, chat_context, MessageSubmission(text="Tell me."), claim_now=False)
    await work_until(here, lambda: bool(screen.sent) or "calm." in screen.placed["placed:0"])

    assert screen.placed == {"placed:0": "The sea was calm."}
    assert screen.sent == []


@pytest.mark.slow
async def test_stop_does_not_wait_for_a_preview_in_flight(
    app: AppContext, chat_context: ChatContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing will be sent that could be sent twice."""
    monkeypatch.setattr(showing_live, "DRAFT_DELAY_S", 0.1)
    screen = Screen(places=True, took_s=20.0)
    here = house_with(
        app, chat_context, screen, ScriptedReply(text="The sea was calm.", chunk_delay_s=5.0)
    )
    accepted = await accept_message(
        here, chat_context, MessageSubmission(text="Tell me."), claim_now=False
    )
    assert accepted is not None
    stopping = asyncio.Event()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(run_worker(here, stopping=stopping))
        await screen.begun.wait()
        await stop_turn(here, chat_context, accepted.message.id)
        stopping.set()

    assert [role for role, _ in await log_of(app, chat_context)] == ["person", "marker"]
    assert await jobs_in(app) == []
    assert screen.sent == []
    assert not screen.is_sending
