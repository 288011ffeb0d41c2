"""Years of messages make a turn no dearer for the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import apsw
import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_edit, open_local_chat
from oldfriend.replies.reply_worker import answer_message
from oldfriend_evals.load import open_store_with_model
from oldfriend_evals.temporary_stores import build_history

QUESTION = "What did Ana say about the market?"
EACH = 100


@dataclass(slots=True)
class Work:
    """What SQLite has done."""

    hundreds: int = 0  # of steps of its virtual machine

    def count(self) -> bool:
        """It goes on."""
        self.hundreds += 1
        return False

    def watch(self, connection: apsw.Connection) -> None:
        """Count what is done on this connection, too."""
        connection.set_progress_handler(self.count, EACH)


@contextmanager
def counted() -> Iterator[Work]:
    """The work on all connections that are opened meanwhile."""
    work = Work()
    apsw.connection_hooks.append(work.watch)
    try:
        yield work
    finally:
        apsw.connection_hooks.remove(work.watch)


async def talk(app: AppContext, chat_context: ChatContext) -> None:
    """By rules, then with a model that is told what the rules quoted; and on second thought."""
    for each in (replace(app, models={}), app):
        answered = await answer_message(each, chat_context, MessageSubmission(text=QUESTION))
    await accept_edit(app, chat_context, answered.message.id, "What did Ana say about the sea?")


async def work_of_a_talk(*, history: int) -> int:
    """What it takes the database when so much was said before, elsewhere, and is at hand."""
    with counted() as work:
        async with open_store_with_model(delay_s=0) as app:
            await build_history(app, history, seed=1)
            chat_context = await open_local_chat(
                app.db, app.clock, app.settings, person=None, channel="terminal"
            )
            await talk(app, chat_context)
            before = work.hundreds
            await talk(app, chat_context)
            return work.hundreds - before


@pytest.mark.slow
async def test_database_work_per_turn_does_not_grow_with_history():
    short, long = [await work_of_a_talk(history=count) for count in (100, 4_000)]

    assert long < 1.5 * short
