"""A worker and a mail carrier as processes that can be killed, at a named step or at any moment.

    python -m tests.town work URL FOLDER [STEP]    works like `serve` until it is told to end
    python -m tests.town bring URL FOLDER [STEP]   accepts what stands in FOLDER/said.jsonl
    python -m tests.town talk URL FOLDER [STEP]    has it answered line by line, like `say`

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
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from oldfriend.app.accepting import Line, Said, accept
from oldfriend.app.answering import see_answered
from oldfriend.app.choices.sections import Limits, Serve
from oldfriend.app.choices.settings import Settings
from oldfriend.app.house import House, RoleModel, Step
from oldfriend.app.wiring import open_house
from oldfriend.app.working import work
from oldfriend.db.database import Transaction
from oldfriend.llm.chain import Chain
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.model import Record, Request, ToolCall, Turn
from oldfriend.llm.resting import Rests
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
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
            data=self.folder, database=self.url, zone="UTC", language="en",
            limits=Limits(messages_per_minute=0, lease_s=LEASE_S, heartbeat_s=HEARTBEAT_S),
            serve=Serve(turns_at_once=4),
        )  # fmt: skip

    def model(self, delay_s: float) -> RoleModel:
        """A model that repeats what was said, and looks at the clock first if asked when."""
        rests = Rests()

        def answer(request: Request) -> Scripted:
            said = [turn for turn in request.turns if isinstance(turn, Turn)]
            last = [turn.text for turn in said if turn.role == "person"][-1]
            if isinstance(request.turns[-1], Turn):
                append(self.called, last)
                if last.startswith("when"):
                    return Scripted(calls=(ToolCall(id="t", name="current_time", arguments={}),))
            return Scripted(text=f"re: {last}", delay_s=delay_s)

        def chain(record: Record) -> Chain:
            return Chain(
                models=[ScriptedModel(answer)], record=record, rests=rests,
                clock=lambda: 0, random=random.random,
            )  # fmt: skip

        return RoleModel(name="scripted:model", chain=chain)

    def furnished(
        self, house: House, *, step: str | None, delay_s: float = 0.0, end: str = "SIGKILL"
    ) -> House:
        """The house with a model, a platform, and perhaps an early end."""
        is_to_come = True

        def reached(now: Step) -> None:
            nonlocal is_to_come
            if now == step and is_to_come:
                is_to_come = False
                os.kill(os.getpid(), signal.Signals[end])

        return replace(
            house, embedder=NoEmbedder(), models={"main": self.model(delay_s)}, reached=reached,
            channels={name: FilePlatform(self.shown) for name in CHANNELS},
            platforms=frozenset(CHANNELS),
        )  # fmt: skip


def append(file: Path, line: str) -> None:
    """Write a line at once, so that no kill takes it back."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as end:
        end.write(line + "\n")


async def line_on(tx: Transaction, house: House, person: str, channel: str) -> Line:
    """A person's chat on a channel, at an address of its own."""
    now = house.clock()
    someone = await ensure_person(tx, person, now=now, zone="UTC")
    companion = await ensure_companion(tx, now=now)
    chat = await ensure_chat(
        tx, someone, companion, channel=channel, address=f"{person}@{channel}", title=channel,
        now=now,
    )  # fmt: skip
    return Line(person=someone, chat=chat)


async def bring(town: Town, house: House, *, to_answer: bool) -> None:
    """Accept everything that was said, in order; what was accepted before is known by its key."""
    for number, line in enumerate(town.said.read_text("utf-8").splitlines()):
        said = json.loads(line)
        async with house.db.writing() as tx:
            where = await line_on(tx, house, said["person"], said["channel"])
        words = Said(text=said["text"], key=f"m{number}")
        accepted = await accept(house, where, words, to_answer=to_answer)
        if to_answer and accepted is not None:
            await see_answered(house, accepted, say=None)


async def main(
    what: str, url: str, folder: str, step: str = "", delay_s: str = "0", end: str = "SIGKILL"
) -> None:
    """Be a worker or a mail carrier."""
    town = Town(url=url, folder=Path(folder))
    stopping = asyncio.Event()
    if what == "work":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    async with open_house(town.settings) as plain:
        house = town.furnished(plain, step=step or None, delay_s=float(delay_s), end=end)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if what != "work":
            await bring(town, house, to_answer=what == "talk")
            return
        await work(house, stopping=stopping)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
