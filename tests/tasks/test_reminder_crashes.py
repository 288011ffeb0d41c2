"""A reminder comes once, however often processes are killed around its time (ACCEPTANCE L4)."""

import asyncio
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.domain.clock import SECOND
from oldfriend.domain.ids import new_random_id
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_app
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import save_task
from tests.conftest import Sizes

ROOT = Path(__file__).parents[2]
STEPS = ("committing", "committed", "")
LONGEST_S = 600


async def add_reminder(app: AppContext, chat_context: ChatContext, text: str) -> None:
    """Put a reminder on the list that is due in a second."""
    now = app.clock()
    task = Task(
        id=new_random_id(),
        person=chat_context.person.id,
        chat=chat_context.chat.id,
        text=text,
        language="en",
        kind="reminder",
        zone="UTC",
        due_at=now + SECOND,
        created_at=now,
        changed_at=now,
    )
    async with app.db.begin_write() as tx:
        await save_task(tx, task)
        await schedule_reminder(tx, task, now=now)


async def serve(settings: Settings, step: str, *, for_s: float) -> None:
    """Run a server that is killed at a step, or after some time."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.killable_server"),
        *(settings.database, str(settings.data), step),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        async with asyncio.timeout(for_s):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def count_reminders(app: AppContext, chat_context: ChatContext) -> Counter[str]:
    """How often each reminder was said."""
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id)
    return Counter(
        each.text.splitlines()[0].removeprefix("Reminder: ")
        for each in messages
        if (each.external_id or "").startswith("unprompted/")
    )


@pytest.mark.slow
@pytest.mark.timeout(3_600)
async def test_reminder_comes_once_although_processes_are_killed(
    settings: Settings, sizes: Sizes
) -> None:
    """In the middle of its commit, just after, and at any moment."""
    async with open_app(settings) as app:
        chat_context = await open_local_chat(
            app.db, app.clock, settings, person=None, channel="terminal"
        )
        await answer_message(app, chat_context, MessageSubmission(text="Hello."))
        for number in range(sizes.reminder_kills):
            await add_reminder(app, chat_context, f"task {number}")
            await serve(settings, STEPS[number % len(STEPS)], for_s=random.uniform(0.5, 3))
        wanted = {f"task {number}" for number in range(sizes.reminder_kills)}
        async with asyncio.timeout(LONGEST_S):
            while (await count_reminders(app, chat_context)).keys() != wanted:
                await serve(settings, "", for_s=5)

        assert set((await count_reminders(app, chat_context)).values()) == {1}
