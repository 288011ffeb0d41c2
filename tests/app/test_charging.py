"""What a provider embeds is kept in the ledger, and over the limits of the day nobody is asked."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.choices.sections import Budget, EmbedderChoice, Provider
from oldfriend.app.choices.settings import Settings
from oldfriend.app.doctor import examine
from oldfriend.app.embedding import EMBED, embedding_waits_until, make_up
from oldfriend.app.finding import Finding
from oldfriend.app.house import House
from oldfriend.app.in_time import done_for_a_lane
from oldfriend.app.jobs import do_jobs
from oldfriend.app.running.telling import EVENTS
from oldfriend.app.wiring import open_house
from oldfriend.app.working import claim_next
from oldfriend.db.database import Row
from oldfriend.domain.clock import start_of_day
from oldfriend.domain.errors import LeaseLost
from oldfriend.ledger.calls import Asker, record_call
from oldfriend.llm.embedding import NoEmbedder
from oldfriend.memory.vectors import count_findable
from oldfriend.queues.letters import last_letters
from oldfriend.turn.recall import Cue, recall
from tests.app.conftest import Say
from tests.clock import FrozenClock
from tests.fakes.embedding_server import EmbeddingServer, embedding_server
from tests.ledger.conftest import call_of

A_CENT = 10_000
A_DOLLAR = 1_000_000
RENTED = "mine:hashed:cloud"
CAT = "My cat is called Miso."


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
        embedder=EmbedderChoice(model=RENTED, dimension=512),
        providers={"mine": Provider(base_url=server.url)},
    )


async def calls_of(house: House) -> list[Row]:
    """What the ledger holds of embedding."""
    async with house.db.reading() as tx:
        return await tx.rows(
            """SELECT person, turn, is_background, outcome FROM model_call
               WHERE purpose = 'embedding' ORDER BY made_at, id"""
        )


async def spend(house: House, line: Line, cost: int, *, is_background: bool) -> None:
    """Spend this much on something else."""
    asker = Asker(person=line.person.id, is_background=is_background)
    async with house.db.writing() as tx:
        call = call_of(purpose="reflect", cost=cost)
        await record_call(tx, asker, call, step=0, request="hash", now=house.clock())


async def leave_unembedded(house: House, line: Line, text: str = CAT) -> None:
    """Say something while the provider cannot be reached; that leaves a job on the agenda."""
    unreached = replace(house, embedder=NoEmbedder(house.embedder.model, 512, "not now"))
    await answer(unreached, line, Said(text=text))


async def do_what_is_due(house: House) -> None:
    """Do what is due on the agenda, if anything is."""
    while (claim := await claim_next(house, "agenda")) is not None:
        await do_jobs(house, claim, asyncio.Event())


async def embedded(house: House, line: Line) -> int:
    """How many messages have a vector."""
    async with house.db.reading() as tx:
        _, embedded = await count_findable(tx, line.person.id, house.embedder.model)
    return embedded


async def test_who_is_too_late_has_nothing_embedded(house: House, server: EmbeddingServer) -> None:
    """The lane may be another's by then, who has it embedded as well."""

    def refuse_lost() -> None:
        raise LeaseLost("It could not be held.")

    with done_for_a_lane(refuse_lost), pytest.raises(LeaseLost):
        await house.embedder.embed([CAT])
    assert server.asked == []


async def test_a_turn_is_charged_for_what_it_has_embedded(
    house: House, line: Line, say: Say, server: EmbeddingServer
) -> None:
    """To the person, with the turn: tokens, cost, latency."""
    said = await say(CAT)
    async with house.db.reading() as tx:
        call = await tx.row(
            """SELECT model, tokens_in, tokens_out, cost, answer, error FROM model_call
               ORDER BY made_at, id LIMIT 1"""
        )

    row = (line.person.id, said.receipt.turn, 0, "done")
    assert len(server.asked) > 0
    assert await calls_of(house) == [row] * len(server.asked)
    assert call == (RENTED, 7, 0, A_CENT, None, None)


async def test_a_failed_call_is_kept_and_the_answer_comes_all_the_same(
    house: House, say: Say, server: EmbeddingServer
) -> None:
    """By words."""
    server.refusals = [(401, "who are you?")]
    assert (await say(CAT)).reply.text

    assert [row[3] for row in await calls_of(house)] == ["failed"]


async def test_what_nobody_in_particular_asks_for_is_the_owners(house: House, line: Line) -> None:
    """Such as the word that the doctor has embedded."""
    await examine(house)

    assert await calls_of(house) == [(line.person.id, None, 0, "done")]


async def test_before_anybody_has_talked_there_is_nobody_to_charge(house: House) -> None:
    """And nothing fails."""
    await examine(house)

    assert await calls_of(house) == []


async def test_the_job_waits_for_tomorrow_when_the_background_has_spent_enough(
    house: House, line: Line, server: EmbeddingServer, clock: FrozenClock,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """It asks nobody, says so, and goes on at midnight by the clocks of the house."""
    await leave_unembedded(house, line)
    await spend(house, line, A_DOLLAR, is_background=True)
    with caplog.at_level(logging.INFO, logger=EVENTS.name):
        await do_what_is_due(house)
    midnight = start_of_day(clock(), house.settings.zone, days_back=-1)
    async with house.db.reading() as tx:
        (letter,) = await last_letters(tx, "agenda", EMBED)
        until = await embedding_waits_until(tx, now=clock())
    asked = len(server.asked)
    findings = await examine(house)
    clock.now = midnight
    await do_what_is_due(house)

    assert asked == 0
    assert (letter.due_at, letter.attempts, until) == (midnight, 0, midnight)
    assert "waits-for-tomorrow" in caplog.messages
    assert well(findings, "Embedding waits for tomorrow's allowance, until 2023-11-15 00:00.")
    assert await embedded(house, line) == 1
    assert (line.person.id, None, 1, "done") in await calls_of(house)


def well(findings: list[Finding], text: str) -> bool:
    """Whether this was found, and is no fault."""
    return Finding(is_well=True, text=text) in findings


async def test_replies_are_not_bound_by_the_limit_of_the_background(
    house: House, line: Line, say: Say
) -> None:
    """They have one of their own."""
    await spend(house, line, A_DOLLAR, is_background=True)
    await say(CAT)

    assert await embedded(house, line) == 1


async def test_what_is_made_up_for_is_background_whoever_looks_on(
    house: House, line: Line, server: EmbeddingServer
) -> None:
    """An import obeys its limit, too, and says so."""
    await leave_unembedded(house, line)
    await spend(house, line, A_DOLLAR - 1, is_background=True)
    assert await make_up(house, line.person.id) is None
    await leave_unembedded(house, line, "My boat is called Dora.")
    trouble = await make_up(house, line.person.id)

    assert trouble == (
        "Searching by words for now: Today's limit for work in the background is reached; "
        "it ends at midnight."
    )
    assert await calls_of(house) == [(line.person.id, None, 1, "done")]
    assert len(server.asked) == 1


async def test_over_the_limit_for_everything_recall_goes_on_by_words(
    house: House, line: Line, say: Say, server: EmbeddingServer
) -> None:
    """No call is made, neither in a turn nor outside one; the doctor calls it no fault."""
    await say(CAT)
    asked = len(server.asked)
    capped = replace(
        house, settings=replace(house.settings, budget=Budget(all_per_day=asked * A_CENT))
    )
    await answer(capped, line, Said(text="What is my cat called?"))
    looking = capped.on_behalf_of(Asker(person=line.person.id)).looking
    cue = Cue(text="How is my cat called?", language="en", at=house.clock())
    found = await recall(looking, line.person, cue, limit=1)

    assert len(server.asked) == asked
    assert found.degraded
    assert [each.message.text for each in found.found] == [CAT]


async def test_what_runs_on_this_machine_is_kept_and_never_stopped(
    house: House, line: Line, server: EmbeddingServer
) -> None:
    """It costs nothing."""
    server.dollars = None
    here = replace(house.settings, embedder=EmbedderChoice(model="mine:hashed", dimension=512))
    async with open_house(here, clock=house.clock) as other:
        await spend(other, line, A_DOLLAR, is_background=True)
        await leave_unembedded(other, line)
        await do_what_is_due(other)

        assert await embedded(other, line) == 1
        assert len(await calls_of(other)) == 1
