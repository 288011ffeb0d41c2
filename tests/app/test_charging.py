"""What a provider embeds is kept in the ledger, and over the limits of the day nobody is asked."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line
from oldfriend.app.embedding import make_up
from oldfriend.app.sections import Budget, EmbedderChoice, Provider
from oldfriend.app.settings import Settings
from oldfriend.app.wiring import House, open_house
from oldfriend.app.working import claim_next, do_jobs
from oldfriend.db.database import Row
from oldfriend.ledger.calls import Asker, record_call
from tests.app.conftest import Say
from tests.clock import FrozenClock
from tests.fakes.embedding_server import EmbeddingServer, embedding_server
from tests.ledger.conftest import call_of

A_CENT = 10_000
DOLLAR = 1_000_000


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """It says that each request costs a cent."""
    with embedding_server() as server:
        server.dollars = 0.01
        yield server


@pytest.fixture
def settings(settings: Settings, server: EmbeddingServer) -> Settings:
    """Those of somebody who pays for embedding."""
    return replace(
        settings,
        embedder=EmbedderChoice(model="mine:hashed:cloud", dimension=512),
        providers={"mine": Provider(base_url=server.url)},
    )


@pytest.fixture
async def free(settings: Settings, clock: FrozenClock) -> AsyncIterator[House]:
    """The same house before it had a provider."""
    async with open_house(replace(settings, embedder=EmbedderChoice()), clock=clock) as opened:
        yield opened


async def calls(house: House) -> list[Row]:
    """What the ledger holds."""
    async with house.db.reading() as tx:
        return await tx.rows(
            """SELECT purpose, model, outcome, tokens_in, cost, is_background, turn IS NOT NULL
               FROM model_call ORDER BY made_at, id"""
        )


async def spend(house: House, line: Line, cost: int, *, is_background: bool = True) -> None:
    """Spend this much on something else."""
    async with house.db.writing() as tx:
        asker = Asker(person=line.person.id, is_background=is_background)
        call = call_of(purpose="reflect", cost=cost)
        await record_call(tx, asker, call, step=0, request="hash", now=house.clock())


def with_budget(house: House, **budget: int) -> House:
    """The house of somebody who has set other limits."""
    return replace(house, settings=replace(house.settings, budget=Budget(**budget)))


async def do_what_is_due(house: House) -> None:
    """Do the jobs that are due."""
    claim = await claim_next(house, "agenda")
    assert claim is not None
    await do_jobs(house, claim)


async def test_a_turn_is_charged_for_what_it_has_embedded(
    house: House, line: Line, say: Say, server: EmbeddingServer
) -> None:
    """The question, and what was told; to the person, with the turn."""
    said = await say("My cat is called Miso.")
    done = ("embedding", "mine:hashed:cloud", "done", 7, A_CENT, 0, 1)

    assert await calls(house) == [done] * len(server.asked)
    async with house.db.reading() as tx:
        rows = await tx.rows("SELECT DISTINCT person, turn FROM model_call")
    assert rows == [(line.person.id, said.receipt.turn)]


async def test_a_failed_call_is_kept_too(house: House, say: Say, server: EmbeddingServer) -> None:
    """The answer comes all the same."""
    server.refusals = [(401, "who are you?")]
    assert (await say("My cat is called Miso.")).reply.text

    assert [row[2] for row in await calls(house)] == ["failed"]


async def test_what_is_made_up_for_is_background(
    free: House, house: House, line: Line, say: Say, server: EmbeddingServer
) -> None:
    """Whoever looks on: it is bound by the limit for that."""
    async with open_house(house.settings, clock=house.clock) as other:
        await replace_and_say(free, line, "My cat is called Miso.")
        assert await make_up(other, line.person.id) is None

    assert [row[5] for row in await calls(house)] == [1]


async def replace_and_say(house: House, line: Line, text: str) -> None:
    """Say something where nothing is charged."""
