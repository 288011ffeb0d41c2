"""oldfriend status: is it running, what waits, what may it use, what has it spent today?"""

import argparse
import asyncio
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.app.allowance import Allowance, allowances
from oldfriend.app.choices.reaching import token_of
from oldfriend.app.choices.sections import ROLES
from oldfriend.app.choices.settings import Settings
from oldfriend.app.embedding import embedding_waits_until
from oldfriend.app.forming.tending import why_not_folded
from oldfriend.app.running.metrics import OnPlatform, count_platform
from oldfriend.app.running.presence import Serving, find_serving
from oldfriend.app.wiring import open_house
from oldfriend.cli.columns import counted, duration
from oldfriend.cli.cost import allowance_as_json, allowance_as_text, price
from oldfriend.cli.opening import folder_from, settings_from
from oldfriend.domain.clock import SECOND, Micros, from_micros, system_clock
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Queue
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import count_waiting as count_unread
from oldfriend.queues.counting import Waiting, count_waiting

ANSWERS_S = 6.0
TO_DO: Final[Mapping[Queue, str]] = {
    "inbox": "to be answered:", "outbox": "to be sent:", "agenda": "to be done:",
}  # fmt: skip
ONE_OF: Final[Mapping[Queue, str]] = {"inbox": "message", "outbox": "part", "agenda": "job"}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How the house does."""

    settings: Settings
    now: Micros
    waiting: list[Waiting]
    today: tuple[Allowance, Allowance]  # of the background, of everything
    to_read: int  # stretches of talk of which nothing was learned yet
    embedding_until: Micros | None  # when embedding goes on that waits for tomorrow's allowance
    unfolded: list[str]  # why summaries could not be folded
    on_telegram: OnPlatform


async def run(options: argparse.Namespace) -> int:
    """Say whether anything runs, whatever else is wrong; then how the house does."""
    data, now = folder_from(options), system_clock()
    serving = find_serving(data)
    troubles = await asyncio.to_thread(troubles_of, serving)
    if not options.json:
        print(running_as_text(serving, troubles, str(data), now=now), flush=True)
    state = await state_from(settings_from(options))
    if options.json:
        report = {"serving": running_as_json(serving, troubles), **state_as_json(state)}
        print(json.dumps(report, ensure_ascii=False))
    else:
        print("\n".join(state_as_text(state)))
    return 0


async def state_from(settings: Settings) -> State:
    """How the house does, read from the database."""
    async with open_house(settings, create=False) as house, house.db.reading() as tx:
        now = house.clock()
        return State(
            settings=settings, now=now, waiting=await count_waiting(tx, now=now),
            today=await allowances(tx, settings, now=now), to_read=await count_unread(tx),
            embedding_until=await embedding_waits_until(tx, now=now),
            on_telegram=await count_platform(tx, "telegram"),
            unfolded=[
                why
                for person in await list_people(tx)
                if (why := await why_not_folded(tx, person.id)) is not None
            ],
        )  # fmt: skip


def troubles_of(serving: Serving | None) -> list[str]:
    """Ask the process that serves why it does not do its work; empty when it does."""
    if serving is None:
        return []
    if serving.host is None:
        return ["It is still opening everything."]
    connection = http.client.HTTPConnection(serving.host, serving.port, timeout=ANSWERS_S)
    try:
        connection.request("GET", "/ready")
        return [str(why) for why in json.loads(connection.getresponse().read())["why"]]
    except (OSError, http.client.HTTPException, ValueError, KeyError):
        return [f"It does not answer at {serving.url}."]
    finally:
        connection.close()


def running_as_text(serving: Serving | None, troubles: list[str], data: str, *, now: Micros) -> str:
    """Whether anything runs, to read."""
    if serving is None:
        return f"Nothing serves {data}. Start it with: oldfriend serve"
    where = f", {serving.url}" if serving.url else ""
    up = duration((now - serving.started_at) / SECOND)
    lines = [f"Oldfriend serves {data} (pid {serving.pid}, for {up}{where})."]
    return "\n".join([*lines, *(troubles or ["It is ready."])])


def state_as_text(state: State) -> list[str]:
    """How the house does, to read."""
    waits = [words for each in state.waiting if (words := waiting_as_text(each, state.now))]
    parked = sum(each.parked for each in state.waiting)
    _, everything = state.today
    spent = everything.spent
    return [
        f"Waiting: {'; '.join(waits) or 'nothing'}.",
        *([f"Set aside: {counted(parked, 'letter')} (oldfriend letters --parked)."] * bool(parked)),
        *(
            [f"To be read: {counted(state.to_read, 'stretch', 'stretches')} of talk."]
            * bool(state.to_read)
        ),
        f"Models: {models_as_text(state.settings)}.",
        *telegram_as_text(state),
        f"Today: {counted(spent.calls, 'call')}, {spent.tokens:,} tokens, {price(spent)}.",
        *map(allowance_as_text, state.today),
        *embedding_as_text(state),
        *(
            f"Old summaries could not be folded, and stay as they are: {each}"
            for each in state.unfolded
        ),
    ]


def waiting_as_text(waiting: Waiting, now: Micros) -> str:
    """What waits in one queue; empty when nothing does."""
    one = ONE_OF[waiting.queue]
    parts: list[str] = []
    if waiting.oldest_due_at is not None:
        age = duration((now - waiting.oldest_due_at) / SECOND)
        parts.append(f"{counted(waiting.due, one)} now, the oldest for {age}")
    if waiting.later:
        parts.append(f"{counted(waiting.later, one)} until a later time")
    if waiting.held:
        where = "job" if waiting.queue == "agenda" else "chat"
        parts.append(f"{counted(waiting.held, where)} being worked on")
    return f"{TO_DO[waiting.queue]} {', '.join(parts)}" if parts else ""


def embedding_as_text(state: State) -> list[str]:
    """Until when embedding waits, if it does."""
    if state.embedding_until is None:
        return []
    when = from_micros(state.embedding_until, state.settings.zone).strftime("%Y-%m-%d %H:%M")
    return [f"Embedding waits for tomorrow's allowance, until {when}."]


def models_as_text(settings: Settings) -> str:
    """Which models are used for what."""
    if not settings.models.main:
        return "none, so it answers from memory (offline)"
    chosen = ((role, settings.models.for_role(role)) for role in ROLES)
    return "; ".join(f"{role} {', then '.join(models)}" for role, models in chosen)


def telegram_as_text(state: State) -> list[str]:
    """Who talks on Telegram, where a bot is connected, or was."""
    on = state.on_telegram
    if token_of(state.settings, on.name) is None and not on.known:
        return []
    closed = f"; {counted(on.closed, 'chat')} closed" if on.closed else ""
    away = f"; {counted(on.turned_away, 'message')} of strangers today" if on.turned_away else ""
    missing = "" if token_of(state.settings, on.name) else ", but no bot is connected"
    off = "" if state.settings.telegram.enabled else ", but it is off"
    known = counted(on.known, "address", "addresses")
    return [f"Telegram: {known} known{missing or off}{closed}{away}."]


def running_as_json(serving: Serving | None, troubles: list[str]) -> JsonValue:
    """Whether anything runs, for a program; null when nothing does."""
    if serving is None:
        return None
    return {
        "pid": serving.pid, "url": serving.url, "ready": not troubles, "why": [*troubles],
        "started_at": from_micros(serving.started_at).isoformat(),
    }  # fmt: skip


def state_as_json(state: State) -> dict[str, JsonValue]:
    """How the house does, for a program."""
    models, until = state.settings.models, state.embedding_until
    return {
        "waiting": {
            each.queue: {
                "due": each.due, "later": each.later, "parked": each.parked, "held": each.held,
            }
            for each in state.waiting
        },
        "to_read": state.to_read,
        "models": {role: [*models.for_role(role)] for role in ROLES},
        "today": {each.purpose: allowance_as_json(each) for each in state.today},
        "not_folded": [*state.unfolded],
        "telegram": {
            "known": state.on_telegram.known, "closed": state.on_telegram.closed,
            "turned_away": state.on_telegram.turned_away,
        },
        "embedding_waits_until": None if until is None else from_micros(until).isoformat(),
    }  # fmt: skip
