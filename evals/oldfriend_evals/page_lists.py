"""Cost of serving a page of the talk or of the memory, beside a bare route.

The bare one is of the same framework; it runs the same SQL and answers with the same JSON. Which
SQL that is is noted here while the functions run that the routes call.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, cast

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.belief_pages import list_belief_page
from oldfriend.config.settings import parse_database_path
from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import MAX_TIME
from oldfriend.domain.json import JsonValue
from oldfriend.inbound.accept import ChatContext as Chat
from oldfriend.memory.change_feed import get_feed_position
from oldfriend.memory.chat_history import list_messages_before, list_messages_with_audio
from oldfriend.memory.credentials import find_principal_by_token
from oldfriend.memory.pagination import BeliefFilter, count_by_kind
from oldfriend.memory.web_sessions import hash_secret
from oldfriend.replies.retry_reply import list_unanswered_turns
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.maintenance import maintain
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_learning import store_beliefs
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target
from oldfriend_evals.bench_server import Line, Server, connect, create_token, serve, serve_baseline
from oldfriend_evals.processes import ProcessFailed
from oldfriend_evals.temporary_stores import build_history, build_settings

PAGE: Final = 50
LAST_SEQ: Final = 1 << 62
API: Final = "/api/v1"
AT_ONCE: Final = 10
WARM: Final = 2
OK: Final = 200

Asked = list[tuple[str, Mapping[str, SqlValue]]]
Question = Callable[[Transaction, Chat], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class QueryRecorder:
    """A transaction that notes what it is asked."""

    tx: Transaction
    asked: Asked = field(default_factory=list)

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """All rows of a query."""
        self.asked.append((sql, values))
        return await self.tx.rows(sql, **values)

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """The first row of a query, or None."""
        self.asked.append((sql, values))
        return await self.tx.row(sql, **values)


async def load_newest_messages(tx: Transaction, chat: Chat) -> None:
    """What the newest page of the talk asks."""
    person = chat.person.id
    await get_feed_position(tx, person)
    said = (await list_messages_before(tx, person, at=MAX_TIME, seq=LAST_SEQ, limit=PAGE + 1))[
        :PAGE
    ]
    await list_messages_with_audio(tx, person, [each.id for each in said])
    await list_unanswered_turns(tx, person, since=said[-1].at, until=said[0].at)


async def load_first_beliefs(tx: Transaction, chat: Chat) -> None:
    """What the first page of the memory asks."""
    await list_belief_page(tx, chat.person.id, BeliefFilter(), after=None, limit=PAGE)
    await count_by_kind(tx, chat.person.id, BeliefFilter())


PATHS: Final[Mapping[str, Question]] = {
    "/chat/messages": load_newest_messages,
    "/memories": load_first_beliefs,
}


async def measure_page_lists(scope: Scope) -> list[Measure]:
    """The newest page of the talk, and the first of the memory."""
    messages, beliefs = (2_000, 1_000) if scope.quick else (20_000, 10_000)
    names = (f"a page of {messages:,} messages", f"a page of {beliefs:,} beliefs")
    times = 10 if scope.quick else 30
    try:
        async with serve_both(messages, beliefs) as (ours, bare, token):
            return [
                await compare_with_baseline(name, path, (ours, bare), token, times)
                for name, path in zip(names, PATHS, strict=True)
            ]
    except FileNotFoundError:
        return [
            build_unmeasured(name, "needs Linux's /proc", target=build_upper_target(2))
            for name in names
        ]


@asynccontextmanager
async def serve_both(messages: int, beliefs: int) -> AsyncIterator[tuple[Server, Server, str]]:
    """Ours and the bare one on the same history, and a token for ours."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as name:
        folder = Path(name)
        async with open_app(build_settings(folder)) as app:
            chat = await build_history(app, messages, seed=1)
            await store_beliefs(app, chat, beliefs)
            # Else the first look at beliefs would read what is unread, and change the answers.
            await learn_now(app, chat.person.id, cut_reason="asked")
            await maintain(app, chat.person.id)
            token = await create_token(app, chat.person.name)
            asked = {
                path: await record_queries(app, chat, token, ask) for path, ask in PATHS.items()
            }
            database, routes = parse_database_path(app.settings.database), folder / "routes.json"
        async with serve(folder) as ours:
            answers = await fetch_answers(ours, token)
            told = {path: [asked[path], answers[path]] for path in PATHS}
            await asyncio.to_thread(routes.write_text, json.dumps(told), "utf-8")
            async with serve_baseline("lists", str(database), str(routes)) as bare:
                yield ours, bare, token


async def record_queries(app: AppContext, chat: Chat, token: str, ask: Question) -> Asked:
    """The SQL of a question, and before it of who asks."""
    async with app.db.begin_read() as tx:
        noting = QueryRecorder(tx)
        seen = cast("Transaction", noting)
        await find_principal_by_token(seen, hash_secret(token), now=app.clock())
        await ask(seen, chat)
    return noting.asked


async def fetch_answers(server: Server, token: str) -> dict[str, JsonValue]:
    """What each address is answered with."""
    async with connect(server, token) as line:
        return {path: json.loads(await fetch(line, API + path)) for path in PATHS}


async def compare_with_baseline(
    name: str, path: str, servers: tuple[Server, Server], token: str, times: int
) -> Measure:
    """The processor's time for an answer, ours and the bare one turn about."""
    ours, bare = servers
    taken = [
        (await measure_each_ms(bare, path, ""), await measure_each_ms(ours, API + path, token))
        for _ in range(WARM + times)
    ]
    reference, value = (median(each[WARM:]) for each in zip(*taken, strict=True))
    return Measure(
        name=name,
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(2),
        note=f"{PAGE} to a page; reference: a bare route with the same SQL and JSON",
    )


async def measure_each_ms(server: Server, path: str, token: str) -> float:
    """What one answer of several takes of a processor where it is served."""
    before = server.processor_ms
    async with connect(server, token) as line:  # who is busy elsewhere is hung up on
        for _ in range(AT_ONCE):
            await fetch(line, path)
    return (server.processor_ms - before) / AT_ONCE


async def fetch(line: Line, path: str) -> bytes:
    """The body of an answer. Raises ProcessFailed."""
    status, body = await line.ask(path)
    if status != OK:
        raise ProcessFailed(f"{path} was answered with {status}.")
    return body
