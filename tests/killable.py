"""A worker and a mail carrier as processes that can be killed, at a named step or at any moment.

    python -m tests.killable work URL FOLDER [STEP]    works like `serve` until it is told to end
    python -m tests.killable bring URL FOLDER [STEP]   accepts what stands in FOLDER/said.jsonl
    python -m tests.killable talk URL FOLDER [STEP]    has it answered line by line, like `say`
    python -m tests.killable page URL FOLDER [STEP]    has all of it answered at once, like pages

With a STEP the process kills itself the first time that it gets there, or freezes. The model is
scripted and notes each call that it begins; the platform is a file; all else is the product.
"""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from oldfriend.app.app_context import AppContext, CrashPoint, RoleModel
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import LimitSettings, ServeSettings
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import TurnFailed
from oldfriend.inbound.accept import AcceptedMessage, ChatContext, MessageSubmission, accept_message
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import CallSink, CompletionRequest, PromptTurn, ToolCall
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.message_log import find_message_by_external_id
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
from oldfriend.replies.reply_worker import wait_for_reply
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.fakes.platform import FilePlatform

LEASE_S, HEARTBEAT_S = 1.0, 0.2
CHANNELS = ("street", "square", "market", "harbour", "park")


class NoEmbedder:
    """Vectors that mean nothing, at no cost."""

    model = "none"
    dimension = 8

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The same for each."""
        return np.full((len(texts), 8), 8**-0.5, np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """What the processes of one test share: a database and a folder."""

    url: str
    folder: Path

    @property
    def shown(self) -> Path:
        """What people see on the platform."""
        return self.folder / "shown.jsonl"

    @property
    def said(self) -> Path:
        """What people say, a line each: person, channel, text."""
        return self.folder / "said.jsonl"

    @property
    def called(self) -> Path:
        """The text that each call of the model was about, as it begins."""
        return self.folder / "called.txt"

    @property
    def settings(self) -> Settings:
        """No limits but short leases."""
        return Settings(
            data=self.folder,
            database=self.url,
            zone="UTC",
            language="en",
            limits=LimitSettings(messages_per_minute=0, lease_s=LEASE_S, heartbeat_s=HEARTBEAT_S),
            serve=ServeSettings(turns_at_once=4),
        )

    def model(self, delay_s: float) -> RoleModel:
        """A model that repeats what was said, and looks at the clock first if asked when."""
        rests = CircuitBreaker()

        def answer(request: CompletionRequest) -> ScriptedReply:
            said = [turn for turn in request.turns if isinstance(turn, PromptTurn)]
            last = [turn.text for turn in said if turn.role == "person"][-1]
            if isinstance(request.turns[-1], PromptTurn):
                append(self.called, last)
                if last.startswith("deadly"):
                    os.kill(os.getpid(), signal.SIGKILL)
                if last.startswith("when"):
                    return ScriptedReply(
                        calls=(ToolCall(id="t", name="current_time", arguments={}),)
                    )
            return ScriptedReply(text=f"re: {last}", delay_s=delay_s)

        def chain(record: CallSink) -> FallbackChain:
            return FallbackChain(
                models=[ScriptedModel(answer)],
                record=record,
                circuit_breaker=rests,
                clock=lambda: 0,
                random=random.random,
            )

        return RoleModel(name="scripted:model", build_chain=chain)

    def furnished(
        self, app: AppContext, *, step: str | None, delay_s: float = 0.0, end: str = "SIGKILL"
    ) -> AppContext:
        """The house with a model, a platform, and perhaps an early end."""
        is_to_come = True

        def reached(now: CrashPoint) -> None:
            nonlocal is_to_come
            if now == step and is_to_come:
                is_to_come = False
                os.kill(os.getpid(), signal.Signals[end])

        return replace(
            app,
            embedder=NoEmbedder(),
            models={"main": self.model(delay_s)},
            on_crash_point=reached,
            channels={name: FilePlatform(self.shown) for name in CHANNELS},
            platforms=frozenset(CHANNELS),
        )


def append(file: Path, line: str) -> None:
    """Write a line at once, so that no kill takes it back."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as end:
        end.write(line + "\n")


async def line_on(tx: Transaction, app: AppContext, person: str, channel: str) -> ChatContext:
    """A person's chat on a channel, at an address of its own."""
    now = app.clock()
    someone = await ensure_person(tx, person, now=now, zone="UTC")
    companion = await ensure_companion(tx, now=now)
    chat = await ensure_chat(
        tx,
        someone,
        companion,
        channel=channel,
        address=f"{person}@{channel}",
        title=channel,
        now=now,
    )
    return ChatContext(person=someone, chat=chat)


async def bring(town: Town, app: AppContext, *, to_answer: bool) -> None:
    """Accept everything that was said, in order; what was accepted before is known by its key."""
    for number, line in enumerate(town.said.read_text("utf-8").splitlines()):
        said = json.loads(line)
        async with app.db.begin_write() as tx:
            where = await line_on(tx, app, said["person"], said["channel"])
        words = MessageSubmission(text=said["text"], external_id=f"m{number}")
        accepted = await accept_message(app, where, words, claim_now=to_answer)
        if to_answer and accepted is not None:
            await wait_for_reply(app, accepted, on_text=None)


async def have_answered_at_once(town: Town, app: AppContext) -> None:
    """Have everything answered that was said, each line by a task of its own, as a page does."""
    async with asyncio.TaskGroup() as pages:
        for number, line in enumerate(town.said.read_text("utf-8").splitlines()):
            pages.create_task(have_answered(app, json.loads(line), key=f"m{number}"))


async def have_answered(app: AppContext, said: dict[str, str], *, key: str) -> None:
    """Have one thing answered, which may have been taken in by a process that is dead."""
    async with app.db.begin_write() as tx:
        where = await line_on(tx, app, said["person"], said["channel"])
    accepted = await accept_message(
        app, where, MessageSubmission(text=said["text"], external_id=key), claim_now=True
    )
    if accepted is None:
        async with app.db.begin_read() as tx:
            message = await find_message_by_external_id(tx, where.person.id, where.chat.id, key)
        assert message is not None
        accepted = AcceptedMessage(message=message, lease=None)
    with suppress(TurnFailed):
        await wait_for_reply(app, accepted, on_text=None)


async def main(
    what: str, url: str, folder: str, step: str = "", delay_s: str = "0", end: str = "SIGKILL"
) -> None:
    """Be a worker or a mail carrier."""
    town = Town(url=url, folder=Path(folder))
    stopping = asyncio.Event()
    if what == "work":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    async with open_app(town.settings) as plain:
        app = town.furnished(plain, step=step or None, delay_s=float(delay_s), end=end)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if what == "page":
            await have_answered_at_once(town, app)
            return
        if what != "work":
            await bring(town, app, to_answer=what == "talk")
            return
        await run_worker(app, stopping=stopping)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
