"""Time that is lived through: every job of the agenda runs when it is due."""

from datetime import datetime
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import Micros, get_zone, to_micros
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.message_log import list_messages
from oldfriend.proactive.impulse_store import StoredImpulse, list_impulses
from oldfriend.proactive.proactive_settings import (
    ProactiveSettings,
    load_proactive_settings,
    save_proactive_settings,
)
from oldfriend.queues.queue import ack, claim_jobs, find_next_due, release_lease
from oldfriend.replies.reply_worker import StoredReply, answer_message
from oldfriend.runtime.job_handlers import run_job
from tests.clock import FrozenClock

LISBON: Final = "Europe/Lisbon"


def at(text: str, zone: str = LISBON) -> Micros:
    """Return a clock time in a zone."""
    return to_micros(datetime.fromisoformat(text).replace(tzinfo=get_zone(zone)))


async def live_until(
    app: AppContext, clock: FrozenClock, until: Micros, *, lease_s: float = 60.0
) -> None:
    """Let time pass, and run each job when it is due."""
    while True:
        async with app.db.begin_read() as tx:
            ready_at = await find_next_due(tx, "agenda")
        if ready_at is None or ready_at > until:
            break
        clock.now = max(clock.now, ready_at)
        await run_due(app, lease_s=lease_s)
    clock.now = max(clock.now, until)


async def run_due(app: AppContext, *, lease_s: float = 60.0) -> bool:
    """Run the jobs of one partition that are due now; return whether there were any."""
    async with app.db.begin_write() as tx:
        lease = await claim_jobs(tx, "agenda", owner="tests", now=app.clock(), lease_s=lease_s)
    if lease is None:
        return False
    for job in lease.jobs:
        await run_job(app, job)
        async with app.db.begin_write() as tx:
            await ack(tx, lease, [job], now=app.clock())
    async with app.db.begin_write() as tx:
        await release_lease(tx, lease, now=app.clock())
    return True


async def tell(
    app: AppContext, clock: FrozenClock, chat_context: ChatContext, when: Micros, text: str
) -> StoredReply:
    """Live until a moment, and say something then."""
    await live_until(app, clock, when)
    return await answer_message(app, chat_context, MessageSubmission(text=text))


async def choose(app: AppContext, chat_context: ChatContext, **changes: object) -> None:
    """Change how a person wants to be spoken to."""
    async with app.db.begin_write() as tx:
        before = await load_proactive_settings(tx, chat_context.person.id)
        values = {
            name: getattr(before, name) for name in ("level", "quiet", "digest", "recap", "muted")
        }
        settings = ProactiveSettings(**{**values, **changes})
        await save_proactive_settings(tx, chat_context.person.id, settings, now=app.clock())


async def list_unasked(app: AppContext, chat_context: ChatContext) -> list[Message]:
    """Return what was said unasked."""
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id, limit=100_000)
    return [each for each in messages if (each.external_id or "").startswith("unprompted/impulse/")]


async def list_decided(app: AppContext, chat_context: ChatContext) -> list[StoredImpulse]:
    """Return all impulses, newest first."""
    async with app.db.begin_read() as tx:
        return await list_impulses(tx, chat_context.person.id, limit=1_000)


async def list_beliefs(app: AppContext, chat_context: ChatContext) -> list[StoredBelief]:
    """Return everything that is or was believed."""
    async with app.db.begin_read() as tx:
        return [each.memory for each in await list_memories(tx, chat_context.person.id, live=False)]
