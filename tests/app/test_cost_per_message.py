"""What one message costs does not grow with the history: counted in steps of the database."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import apsw
import pytest

from oldfriend import Memory
from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.config.settings import Settings
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_app
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY

SHORT, LONG = 1_100, 2_600
"""Both longer than what is looked through for what is unread (`MAX_UNREAD_MESSAGES`)."""
MOST_GROWTH = 1.1
LIST = re.compile(r":([a-z]+)\d+(?:, :\1\d+)*")
"""The parameters of a list, however long."""


@dataclass(slots=True)
class Steps:
    """Steps that SQLite has taken for the statements of this process, while they are counted."""

    by_statement: dict[str, int] = field(default_factory=dict)
    is_counting: bool = False

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.by_statement.values())

    def hear(self, finished: dict[str, object]) -> None:
        """Add up a finished statement."""
        status = finished["stmt_status"]
        assert isinstance(status, dict)
        if self.is_counting:
            sql = LIST.sub(":listed", str(finished["sql"]))
            taken = status["SQLITE_STMTSTATUS_VM_STEP"]
            self.by_statement[sql] = self.by_statement.get(sql, 0) + taken


@pytest.fixture
def steps() -> Iterator[Steps]:
    """The steps of every connection that is opened from now on."""
    counted = Steps()

    def watch(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, counted.hear)

    apsw.connection_hooks.append(watch)
    yield counted
    apsw.connection_hooks.remove(watch)


def history(count: int) -> list[dict[str, str]]:
    """Messages of a long time ago, a minute apart."""
    return [
        {
            "text": f"We saw {number} birds at the pier.",
            "at": f"2020-01-{1 + number // 1440:02d}T{number // 60 % 24:02d}:{number % 60:02d}",
        }
        for number in range(count)
    ]


async def added_one_by_one(folder: Path, steps: Steps, count: int) -> dict[str, int]:
    """The steps for a few messages that are added to so many."""
    async with Memory.open(f"sqlite:///{folder / f'{count}.db'}", person="Nora") as memory:
        await memory.add(history(count))
        await memory.add([{"text": "The first by itself."}])
        steps.by_statement, steps.is_counting = {}, True
        for number in range(3):
            await memory.add([{"text": f"Then came number {number}."}])
        steps.is_counting = False
    return steps.by_statement


@pytest.mark.slow
async def test_database_steps_per_added_message_do_not_grow_with_history(
    tmp_path: Path, steps: Steps
) -> None:
    """What lacks a vector is not looked for among all that was ever said."""
    short = await added_one_by_one(tmp_path, steps, SHORT)
    long = await added_one_by_one(tmp_path, steps, LONG)

    assert grown(short, long) == {}
    assert sum(long.values()) <= sum(short.values()) * MOST_GROWTH


async def talked(
    settings: Settings, clock: FrozenClock, steps: Steps, count: int
) -> dict[str, int]:
    """The steps for turns in which something is told and asked, after so many messages."""
    url = f"sqlite:///{settings.data / f'{count}.db'}"
    async with Memory.open(url, person="Nora") as memory:
        await memory.add(history(count))
        await memory.consolidate()  # else the first look at beliefs would begin to
    async with open_app(replace(settings, database=url), clock=clock) as app:
        chat_context = await open_local_chat(
            app.db, app.clock, app.settings, person="Nora", channel="terminal"
        )
        for is_counted in (False, True):  # the first time opens what stays open
            steps.by_statement, steps.is_counting = {}, is_counted
            for text in ("Hello.", "I live in Porto.", "Where do I live?"):
                clock.tick(minutes=1)
                await answer_message(app, chat_context, MessageSubmission(text=text))
                await try_embed_missing(app, chat_context.person.id)
        steps.is_counting = False
    return steps.by_statement


def grown(short: dict[str, int], long: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The statements that took more steps in the longer history."""
    return {
        sql: (short.get(sql, 0), taken)
        for sql, taken in long.items()
        if taken > short.get(sql, 0) * MOST_GROWTH + 50
    }


@pytest.mark.slow
@SQLITE_ONLY  # other engines run the same statements over the same indexes
async def test_database_steps_per_turn_do_not_grow_with_history(
    settings: Settings, steps: Steps
) -> None:
    """Also where what was just told is read before a question is answered."""
    short = await talked(settings, FrozenClock(), steps, SHORT)
    long = await talked(settings, FrozenClock(), steps, LONG)

    assert grown(short, long) == {}
