"""Reminders come in time, whatever else is worked on (ACCEPTANCE L4)."""

import asyncio
from dataclasses import replace
from types import MappingProxyType

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import new_random_id
from oldfriend.domain.job_types import Job
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.message_log import list_messages
from oldfriend.queues.scheduled_jobs import JobSpec, schedule_job
from oldfriend.runtime import job_handlers
from oldfriend.runtime.worker import run_worker
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import save_task
from tests.engines import both_engines

engine = both_engines


async def add_reminder(app: AppContext, chat_context: ChatContext, text: str) -> None:
    """Put a reminder on the list that is due now."""
    now = app.clock()
    task = Task(
        id=new_random_id(),
        person=chat_context.person.id,
        chat=chat_context.chat.id,
        text=text,
        language="en",
        kind="reminder",
        zone="UTC",
        due_at=now,
        created_at=now,
        changed_at=now,
    )
    async with app.db.begin_write() as tx:
        await save_task(tx, task)
        await schedule_reminder(tx, task, now=now)


async def test_reminder_does_not_wait_until_other_work_is_done(
    app: AppContext, chat_context: ChatContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a long conversation that a slow model reads: that takes minutes."""
    begun, said, stopping = asyncio.Event(), asyncio.Event(), asyncio.Event()
    watched = replace(app, on_crash_point=lambda step: said.set() if step == "committed" else None)

    async def take_long(_: AppContext, job: Job) -> None:
        begun.set()
        await stopping.wait()

    handlers = {**job_handlers.JOB_HANDLERS, "long": take_long}
    monkeypatch.setattr(job_handlers, "JOB_HANDLERS", MappingProxyType(handlers))
    async with app.db.begin_write() as tx:
        await schedule_job(tx, "long", JobSpec(name="long"), person=None, now=app.clock())
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(watched, stopping=stopping))
        try:
            async with asyncio.timeout(10):
                await begun.wait()
                await add_reminder(app, chat_context, "call mum")
                app.notifier.notify()
                await said.wait()
        finally:
            stopping.set()

    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id)
    assert [each.text for each in messages] == ["Reminder: call mum"]
