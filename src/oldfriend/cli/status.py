"""oldfriend status: the server's state, queues, models and today's spending."""

import argparse
import asyncio
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.app.embed_messages import find_embedding_resume_at
from oldfriend.app.pid_lock import ServerInfo, find_server
from oldfriend.app.spend_limits import Allowance, load_allowances
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.cli.open_context import (
    get_data_folder,
    load_settings_from_options,
    print_store_warnings,
)
from oldfriend.cli.output import dumps, format_duration
from oldfriend.config.provider_resolution import find_channel_credentials
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import MODEL_ROLES
from oldfriend.domain.clock import SECOND, Micros, from_micros, system_clock
from oldfriend.domain.job_types import QueueName
from oldfriend.domain.json import JsonValue
from oldfriend.learning.learning_scheduler import find_rollup_error
from oldfriend.memory.deletion.audit_log import list_unverified
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import count_waiting_segments as count_unread
from oldfriend.presenters.base_schema import format_count
from oldfriend.presenters.usage_schemas import allowance_as_json, format_allowance, format_cost
from oldfriend.queues.jobs_table import QueueStats, load_queue_stats
from oldfriend.runtime.metrics import PlatformMetrics, collect_platform_metrics
from oldfriend.runtime.wiring import open_app

HTTP_TIMEOUT_S = 6.0
QUEUE_LABELS: Final[Mapping[QueueName, str]] = {
    "inbox": "to answer:",
    "outbox": "to send:",
    "agenda": "in the background:",
}
QUEUE_ITEM_NOUNS: Final[Mapping[QueueName, str]] = {
    "inbox": "message",
    "outbox": "part",
    "agenda": "job",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """The state of the install, read from the database."""

    settings: Settings
    now: Micros
    queues: list[QueueStats]
    today: tuple[Allowance, Allowance]  # for background work, and for everything
    unread_segments: int  # not extracted yet
    embedding_waits_until: Micros | None  # when tomorrow's allowance lets it resume
    unverified_deletions: int  # whose data may still be in files
    rollup_failures: list[str]  # why summaries could not be rolled up
    channels: dict[str, PlatformMetrics]  # by name


async def run(options: argparse.Namespace) -> int:
    """Print the server's state first, whatever else fails; then the state of the install."""
    data, now = get_data_folder(options), system_clock()
    server = find_server(data)
    troubles = await asyncio.to_thread(fetch_problems, server)
    if not options.json:
        print(format_server(server, troubles, str(data), now=now), flush=True)
    status = await load_status(load_settings_from_options(options))
    if options.json:
        report = {"serving": to_server_json(server, troubles), **to_status_json(status)}
        print(dumps(report))
    else:
        print("\n".join(format_status(status)))
    return 0


async def load_status(settings: Settings) -> StatusReport:
    """Load the state of the install from the database."""
    async with open_app(settings, create=False) as app, app.db.begin_read() as tx:
        print_store_warnings(app)
        now = app.clock()
        return StatusReport(
            settings=settings,
            now=now,
            queues=await load_queue_stats(tx, now=now),
            today=await load_allowances(tx, settings, now=now),
            unread_segments=await count_unread(tx),
            embedding_waits_until=await find_embedding_resume_at(tx, now=now),
            unverified_deletions=len(await list_unverified(tx)),
            channels={name: await collect_platform_metrics(tx, name) for name in CHANNELS},
            rollup_failures=[
                why
                for person in await list_people(tx)
                if (why := await find_rollup_error(tx, person.id)) is not None
            ],
        )


def fetch_problems(server: ServerInfo | None) -> list[str]:
    """Ask the server why it is not ready; empty if it is, or if there is none."""
    if server is None:
        return []
    if server.host is None:
        return ["It is still starting."]
    connection = http.client.HTTPConnection(server.host, server.port, timeout=HTTP_TIMEOUT_S)
    try:
        connection.request("GET", "/ready")
        return [str(why) for why in json.loads(connection.getresponse().read())["why"]]
    except (OSError, http.client.HTTPException, ValueError, KeyError):
        return [f"It does not answer at {server.url}."]
    finally:
        connection.close()


def format_server(server: ServerInfo | None, troubles: list[str], data: str, *, now: Micros) -> str:
    """Format whether a server runs."""
    if server is None:
        return f"Oldfriend is not running for {data}. Start it with: oldfriend serve"
    where = f", {server.url}" if server.url else ""
    up = format_duration((now - server.started_at) / SECOND)
    lines = [f"Oldfriend is running for {data} (pid {server.pid}, up {up}{where})."]
    return "\n".join([*lines, *(troubles or ["It is ready."])])


def format_status(status: StatusReport) -> list[str]:
    """Format the state of the install as lines."""
    waiting = [
        queue_text for each in status.queues if (queue_text := format_queue(each, status.now))
    ]
    dead_letters = sum(each.dead_letters for each in status.queues)
    _, everything = status.today
    spent = everything.spent
    return [
        f"Waiting: {'; '.join(waiting) or 'nothing'}.",
        *(
            [f"Failed: {format_count(dead_letters, 'job')} (see: oldfriend jobs --failed)."]
            * bool(dead_letters)
        ),
        *(
            [f"To be read: {format_count(status.unread_segments, 'segment')} of conversation."]
            * bool(status.unread_segments)
        ),
        f"Models: {format_models(status.settings)}.",
        *(line for name in CHANNELS for line in format_channel(status, name)),
        f"Today: {format_count(spent.calls, 'call')}, {spent.tokens:,} tokens, "
        f"{format_cost(spent)}.",
        *map(format_allowance, status.today),
        *format_embedding_wait(status),
        *(
            [
                f"Forgotten, but not yet proved to be gone: {status.unverified_deletions} (see: "
                "oldfriend doctor)."
            ]
            * bool(status.unverified_deletions)
        ),
        *(
            f"Old summaries could not be rolled up, and stay as they are: {each}"
            for each in status.rollup_failures
        ),
    ]


def format_queue(queue: QueueStats, now: Micros) -> str:
    """Format what waits in a queue; empty if nothing does."""
    noun = QUEUE_ITEM_NOUNS[queue.queue]
    parts: list[str] = []
    if queue.oldest_due_at is not None:
        age = format_duration((now - queue.oldest_due_at) / SECOND)
        parts.append(f"{format_count(queue.due, noun)} now, the oldest waiting for {age}")
    if queue.delayed:
        parts.append(f"{format_count(queue.delayed, noun)} scheduled for later")
    if queue.leased:
        where = "job" if queue.queue == "agenda" else "chat"
        parts.append(f"{format_count(queue.leased, where)} being worked on")
    return f"{QUEUE_LABELS[queue.queue]} {', '.join(parts)}" if parts else ""


def format_embedding_wait(status: StatusReport) -> list[str]:
    """Format until when embedding waits, if it does."""
    if status.embedding_waits_until is None:
        return []
    when = from_micros(status.embedding_waits_until, status.settings.zone).strftime(
        "%Y-%m-%d %H:%M"
    )
    return [f"Embedding has reached today's limit and continues on {when}."]


def format_models(settings: Settings) -> str:
    """Format which models are used for each role."""
    if not settings.models.main:
        return "none, so it answers from memory (offline)"
    chosen = ((role, settings.models.for_role(role)) for role in MODEL_ROLES)
    return "; ".join(f"{role} {', then '.join(models)}" for role, models in chosen)


def format_channel(status: StatusReport, name: str) -> list[str]:
    """Format how many people use a channel, if a bot is or was connected."""
    metrics = status.channels[name]
    is_connected = find_channel_credentials(status.settings, CHANNELS[name]) is not None
    if not is_connected and not metrics.identities:
        return []
    closed = (
        f"; {format_count(metrics.blocked_chats, 'chat')} closed" if metrics.blocked_chats else ""
    )
    rejected = (
        f"; {format_count(metrics.rejected_messages, 'message')} from strangers today"
        if metrics.rejected_messages
        else ""
    )
    missing = "" if is_connected else ", but no bot is connected"
    off = "" if status.settings.channels[name].enabled else ", but it is turned off"
    known = format_count(metrics.identities, "address", "addresses")
    return [f"{CHANNELS[name].title}: {known} known{missing or off}{closed}{rejected}."]


def to_server_json(server: ServerInfo | None, troubles: list[str]) -> JsonValue:
    """Convert the server's state to JSON values; null if none runs."""
    if server is None:
        return None
    return {
        "pid": server.pid,
        "url": server.url,
        "ready": not troubles,
        "why": [*troubles],
        "started_at": from_micros(server.started_at).isoformat(),
    }


def to_status_json(status: StatusReport) -> dict[str, JsonValue]:
    """Convert the state of the install to JSON values."""
    models, until = status.settings.models, status.embedding_waits_until
    return {
        "waiting": {
            each.queue: {
                "due": each.due,
                "later": each.delayed,
                "failed": each.dead_letters,
                "leased": each.leased,
                # The former names of the two, for programs that read them.
                "parked": each.dead_letters,
                "held": each.leased,
            }
            for each in status.queues
        },
        "to_read": status.unread_segments,
        "not_proved_forgotten": status.unverified_deletions,
        "models": {role: [*models.for_role(role)] for role in MODEL_ROLES},
        "today": {each.purpose: allowance_as_json(each) for each in status.today},
        "not_folded": [*status.rollup_failures],
        **{
            name: {
                "known": metrics.identities,
                "closed": metrics.blocked_chats,
                "turned_away": metrics.rejected_messages,
            }
            for name, metrics in status.channels.items()
        },
        "embedding_waits_until": None if until is None else from_micros(until).isoformat(),
    }
