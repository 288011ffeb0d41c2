"""What does a page of the talk or of the memory cost who serves it? Beside a bare route.

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

from oldfriend.app.accepting import Line as Chat
from oldfriend.app.asking_again import list_without_answer
from oldfriend.app.believing.leafing import leaf_through
from oldfriend.app.choices.database_url import file_of
from oldfriend.app.house import House
from oldfriend.app.wiring import open_house
from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import LATEST
from oldfriend.domain.json import JsonValue
from oldfriend.evals.believing import believe
from oldfriend.evals.measuring import Measure, Scope, at_most, not_measured
from oldfriend.evals.processes import ProcessFailed
from oldfriend.evals.serving import Line, Server, connected, serving, serving_barely, token_for
from oldfriend.evals.stores import line_with_history, settings_in
from oldfriend.memory.leafing import Wanted, count_kinds
from oldfriend.memory.sign_in import print_of
from oldfriend.memory.talk import list_said_before, list_sounding
from oldfriend.memory.tokens import find_by_token
from oldfriend.memory.watching import position_of

PAGE: Final = 50
LAST_SEQ: Final = 1 << 62
API: Final = "/api/v1"
AT_ONCE: Final = 10
WARM: Final = 2
OK: Final = 200

Asked = list[tuple[str, Mapping[str, SqlValue]]]
Question = Callable[[Transaction, Chat], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Noting:
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


async def newest_talk(tx: Transaction, chat: Chat) -> None:
    """What the newest page of the talk asks."""
    person = chat.person.id
    await position_of(tx, person)
    said = (await list_said_before(tx, person, at=LATEST, seq=LAST_SEQ, limit=PAGE + 1))[:PAGE]
    await list_sounding(tx, person, [each.id for each in said])
    await list_without_answer(tx, person, since=said[-1].at, until=said[0].at)


async def first_beliefs(tx: Transaction, chat: Chat) -> None:
    """What the first page of the memory asks."""
    await leaf_through(tx, chat.person.id, Wanted(), after=None, limit=PAGE)
    await count_kinds(tx, chat.person.id, Wanted())


PATHS: Final[Mapping[str, Question]] = {
    "/chat/messages": newest_talk, "/memories": first_beliefs,
}  # fmt: skip


async def measure_page_lists(scope: Scope) -> list[Measure]:
    """The newest page of the talk, and the first of the memory."""
    messages, beliefs = (2_000, 1_000) if scope.quick else (20_000, 10_000)
    names = (f"a page of {messages:,} messages", f"a page of {beliefs:,} beliefs")
    times = 10 if scope.quick else 30
    try:
        async with both(messages, beliefs) as (ours, bare, token):
            return [
                await beside_bare(name, path, (ours, bare), token, times)
                for name, path in zip(names, PATHS, strict=True)
            ]
    except FileNotFoundError:
        return [not_measured(name, "needs Linux's /proc", target=at_most(2)) for name in names]


@asynccontextmanager
async def both(messages: int, beliefs: int) -> AsyncIterator[tuple[Server, Server, str]]:
    """Ours and the bare one on the same history, and a token for ours."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as name:
        folder = Path(name)
        async with open_house(settings_in(folder)) as house:
            chat = await line_with_history(house, messages, seed=1)
            await believe(house, chat, beliefs)
            token = await token_for(house, chat.person.name)
            asked = {path: await noted(house, chat, token, ask) for path, ask in PATHS.items()}
            database, routes = file_of(house.settings.database), folder / "routes.json"
        async with serving(folder) as ours:
            answers = await answers_of(ours, token)
            told = {path: [asked[path], answers[path]] for path in PATHS}
            await asyncio.to_thread(routes.write_text, json.dumps(told), "utf-8")
            async with serving_barely("lists", str(database), str(routes)) as bare:
                yield ours, bare, token


async def noted(house: House, chat: Chat, token: str, ask: Question) -> Asked:
    """The SQL of a question, and before it of who asks."""
    async with house.db.reading() as tx:
        noting = Noting(tx)
        seen = cast("Transaction", noting)
        await find_by_token(seen, print_of(token), now=house.clock())
        await ask(seen, chat)
    return noting.asked


async def answers_of(server: Server, token: str) -> dict[str, JsonValue]:
    """What each address is answered with."""
    async with connected(server, token) as line:
        return {path: json.loads(await answer_to(line, API + path)) for path in PATHS}


async def beside_bare(
    name: str, path: str, servers: tuple[Server, Server], token: str, times: int
) -> Measure:
    """The processor's time for an answer, ours and the bare one turn about."""
    ours, bare = servers
    taken = [
        (await each_ms(bare, path, ""), await each_ms(ours, API + path, token))
        for _ in range(WARM + times)
    ]
    reference, value = (median(each[WARM:]) for each in zip(*taken, strict=True))
    return Measure(
        name=name, value=value, unit="ms", reference=reference, target=at_most(2),
        note=f"{PAGE} to a page; reference: a bare route with the same SQL and JSON",
    )  # fmt: skip


async def each_ms(server: Server, path: str, token: str) -> float:
    """What one answer of several takes of a processor where it is served."""
    before = server.processor_ms
    async with connected(server, token) as line:  # who is busy elsewhere is hung up on
        for _ in range(AT_ONCE):
            await answer_to(line, path)
    return (server.processor_ms - before) / AT_ONCE


async def answer_to(line: Line, path: str) -> bytes:
    """The body of an answer. Raises ProcessFailed."""
    status, body = await line.ask(path)
    if status != OK:
        raise ProcessFailed(f"{path} was answered with {status}.")
    return body
