"""Programs that talk to the companion as to a model, while it is killed: nothing lost or doubled.

Each message has an Idempotency-Key and is sent until there is a reply, as a careful client does.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import httpx
import pytest

from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.channels.channel import API_CHANNEL
from oldfriend.config.settings import Settings
from oldfriend.domain.ids import TurnId
from oldfriend.domain.messages import Message
from oldfriend.memory.credentials import generate_api_token, save_api_token
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import ensure_owner, get_person
from oldfriend.runtime.admin_http import listen
from oldfriend.runtime.wiring import open_app
from tests.clock import FrozenClock
from tests.conftest import SIZE, Sizes
from tests.engines import SEVERAL_PROCESSES
from tests.openai_api.conftest import Open, open_house
from tests.processes import line_of, running

__all__ = ["open_house"]

STEPS: tuple[CrashPoint, ...] = (
    "accept",
    "accepted",
    "thinking",
    "spooled",
    "called",
    "decided",
    "committing",
    "committed",
)
RETRIED = {408, 409, 429}
"""Like all from 500: after these, OpenAI's own client sends a request again."""
AT_ONCE = 6
"""Requests; a token may have eight that wait."""


@dataclass(slots=True, kw_only=True)
class Talker:
    """A program that sends each message until there is a reply."""

    client: httpx.AsyncClient
    token: str
    origin: str
    tries: int = 0
    on_failure: Callable[[], object] = bool
    replies: dict[str, tuple[str, str]] = field(default_factory=dict)  # by message: id, text

    async def say(self, conversation: str, text: str, before: list[dict[str, str]]) -> str:
        """Say something in a conversation; what is replied."""
        while True:
            self.tries += 1
            try:
                response = await self.client.post(
                    f"{self.origin}/v1/chat/completions",
                    json={
                        "model": "oldfriend",
                        "messages": [*before, {"role": "user", "content": text}],
                    },
                    headers={
                        "Authorization": f"Bearer {self.token}",
                        "Idempotency-Key": f"key of {text}",
                        "X-Conversation-Id": conversation,
                    },
                )
            except httpx.HTTPError:
                self.on_failure()
                await asyncio.sleep(0.1)
                continue
            if response.status_code == 200:
                told = response.json()
                self.replies[text] = told["id"], told["choices"][0]["message"]["content"]
                return self.replies[text][1]
            assert response.status_code in RETRIED or response.status_code >= 500, response.text
            self.on_failure()
            await asyncio.sleep(0.1)

    async def talk(self, conversation: str, texts: list[str]) -> None:
        """Say one thing after the other, with all that was said before."""
        said: list[dict[str, str]] = []
        for text in texts:
            reply = await self.say(conversation, text, said)
            said += [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]


@pytest.fixture
async def talker() -> AsyncIterator[Talker]:
    """A program with a connection of its own, which waits for a while only."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        yield Talker(client=client, token="", origin="")


def count_answers(log: list[Message]) -> Counter[TurnId | None]:
    """How many replies each turn has."""
    return Counter(each.turn for each in log if each.role == "companion")


@dataclass(slots=True)
class Breaks:
    """Ends whatever gets to a step, once."""

    step: CrashPoint | None = None

    def reach(self, step: CrashPoint) -> None:
        """Cut off what is done now, as the end of its process would."""
        if step == self.step:
            self.step = None
            raise asyncio.CancelledError


@pytest.fixture
def breaks() -> Breaks:
    """Nothing breaks yet."""
    return Breaks()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings by which somebody else soon takes over."""
    limits = replace(settings.limits, lease_s=1.0, heartbeat_s=0.2)
    return replace(settings, limits=limits)


@pytest.fixture
async def app(app: AppContext, breaks: Breaks) -> AppContext:
    """A house in which something may break."""
    return replace(app, on_crash_point=breaks.reach)


async def test_a_request_that_breaks_off_anywhere_is_answered_once(
    open_house: Open, breaks: Breaks, talker: Talker, clock: FrozenClock
) -> None:
    """At each step between the arrival of a message and the end of its turn."""
    house = await open_house(lambda asked: f"re: {asked.turns[-1].text[-8:]}")
    talker.origin, talker.token = house.origin, await house.token()
    talker.client.timeout = httpx.Timeout(1.5)
    talker.on_failure = partial(clock.tick, seconds=2)  # the lease of what broke off is over

    for step in STEPS:
        breaks.step = step
        await talker.say(step, f"about {step}", [])
        assert breaks.step is None, step
        first = talker.replies[f"about {step}"]
        await talker.say(step, f"about {step}", [])
        assert talker.replies[f"about {step}"] == first

    assert await house.said() == [f"about {step}" for step in STEPS]
    assert set(count_answers(await house.log()).values()) == {1}
    assert len(count_answers(await house.log())) == len(STEPS)


@contextmanager
def forking(settings: Settings) -> Iterator[Callable[[], int]]:
    """Have processes that answer programs, told by the number of each, gone afterwards."""
    command = [sys.executable, "-m", "tests.forked_servers", settings.database, str(settings.data)]
    environment = {
        "PATH": os.defpath,
        "HOME": str(settings.data),
        "OMP_NUM_THREADS": "1",
        "OLDFRIEND_LIMITS_LEASE_S": "1",
        "OLDFRIEND_LIMITS_HEARTBEAT_S": "0.2",
        "OLDFRIEND_LIMITS_MESSAGES_PER_MINUTE": "0",
        "OLDFRIEND_MEMORY_FORMS": "false",
        "OLDFRIEND_SERVE_PORT": str(settings.serve.port),
    }
    with running(command, environment, stderr=subprocess.DEVNULL) as parent:

        def fork() -> int:
            assert parent.stdin is not None
            parent.stdin.write(b"door\n")
            parent.stdin.flush()
            return int(line_of(parent.stdout))

        yield fork
        assert parent.stdin is not None
        parent.stdin.close()
        parent.wait(60)


async def make_token(settings: Settings) -> str:
    """A token of somebody whom the house has known before."""
    secret = generate_api_token()
    async with open_app(settings) as opened, opened.db.begin_write() as tx:
        now = opened.clock()
        owner = await ensure_owner(tx, now=now, zone="UTC")
        await save_api_token(tx, owner.id, secret, name="desk", scope="write", days=1, now=now)
    return secret


async def read_log(settings: Settings) -> list[Message]:
    """All that was said to the companion as to a model."""
    async with open_app(settings) as opened, opened.db.begin_read() as tx:
        owner = await get_person(tx, None)
        found = await list_messages(tx, owner.id, limit=1_000_000)
    return [each for each in found if each.channel == API_CHANNEL]


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.skipif(SIZE != "full", reason="the same is run step by step, above")
@SEVERAL_PROCESSES
async def test_nothing_is_lost_or_doubled_by_kills(
    settings: Settings, sizes: Sizes, talker: Talker
) -> None:
    """The process is killed at any moment, and another started."""
    with listen("127.0.0.1", 0) as found:
        port = found.getsockname()[1]
    settings = replace(settings, serve=replace(settings.serve, port=port))
    talker.token, talker.origin = await make_token(settings), f"http://127.0.0.1:{port}"
    chance, kills = random.Random(3), 0
    texts: dict[str, list[str]] = {f"c{number}": [] for number in range(sizes.crash_chats)}
    for number in range(sizes.crash_messages):
        texts[chance.choice([*texts])].append(f"Please note: number {number} is on the list.")
    waiting = [*texts]

    async def talk() -> None:
        while waiting:
            conversation = waiting.pop()
            await talker.talk(conversation, texts[conversation])

    with forking(settings) as fork:
        async with asyncio.TaskGroup() as tasks:
            talks = [tasks.create_task(talk()) for _ in range(AT_ONCE)]
            while True:
                process, before = await asyncio.to_thread(fork), len(talker.replies)
                while kills < sizes.kills and len(talker.replies) == before:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                _, unfinished = await asyncio.wait(talks, timeout=chance.uniform(0.1, 1.5))
                if not unfinished or kills >= sizes.kills:
                    break
                os.kill(process, signal.SIGKILL)
                kills += 1
    log = await read_log(settings)

    wanted = [text for each in texts.values() for text in each]
    said = [each for each in log if each.role == "person"]
    answers = count_answers(log)
    assert kills == sizes.kills
    assert talker.tries > len(wanted)
    assert Counter(each.text for each in said) == Counter(wanted)
    assert [each.text for each in said if answers[each.turn] != 1] == []
    assert {text: talker.replies[text][0] for text in wanted} == {
        each.text: f"chatcmpl-{each.turn}" for each in said
    }
    for conversation in texts.values():
        assert [each.text for each in said if each.text in set(conversation)] == conversation
