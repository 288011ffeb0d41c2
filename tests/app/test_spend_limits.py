"""What a provider embeds is kept in the ledger, and over the limits of the day nobody is asked."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import guard_lease
from oldfriend.app.doctor_checks import CheckResult
from oldfriend.app.embed_messages import EMBED_JOB, find_embedding_resume_at, try_embed_missing
from oldfriend.app.event_log import EVENT_LOGGER
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import BudgetSettings, EmbedderSettings, ProviderSettings
from oldfriend.db.database import Row
from oldfriend.domain.clock import get_start_of_day
from oldfriend.domain.errors import LeaseLost
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.embedding import UnavailableEmbedder
from oldfriend.memory.vectors import count_searchable_messages
from oldfriend.queues.jobs_table import list_last_jobs
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import claim_next_partition
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from oldfriend.usage.model_calls import CallContext, record_call
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.fakes.embedding_server import EmbeddingServer, embedding_server
from tests.usage.conftest import call_of

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
        embedder=EmbedderSettings(model=RENTED, dimension=512),
        providers={"mine": ProviderSettings(base_url=server.url)},
    )


async def calls_of(app: AppContext) -> list[Row]:
    """What the ledger holds of embedding."""
    async with app.db.begin_read() as tx:
        return await tx.rows(
            """SELECT person, turn, is_background, outcome FROM model_call
               WHERE purpose = 'embedding' ORDER BY made_at, id"""
        )


async def spend(
    app: AppContext, chat_context: ChatContext, cost: int, *, is_background: bool
) -> None:
    """Spend this much on something else."""
    asker = CallContext(person=chat_context.person.id, is_background=is_background)
    async with app.db.begin_write() as tx:
        call = call_of(purpose="reflect", cost=cost)
        await record_call(tx, asker, call, step=0, request_hash="hash", now=app.clock())


async def leave_unembedded(app: AppContext, chat_context: ChatContext, text: str = CAT) -> None:
    """Say something while the provider cannot be reached; that leaves a job on the agenda."""
    unreached = replace(app, embedder=UnavailableEmbedder(app.embedder.model, 512, "not now"))
    await answer_message(unreached, chat_context, MessageSubmission(text=text))


async def do_what_is_due(app: AppContext) -> None:
    """Do what is due on the agenda, if anything is."""
    while (claim := await claim_next_partition(app, "agenda")) is not None:
        await run_jobs(app, claim, asyncio.Event())


async def embedded(app: AppContext, chat_context: ChatContext) -> int:
    """How many messages have a vector."""
    async with app.db.begin_read() as tx:
        _, embedded = await count_searchable_messages(
            tx, chat_context.person.id, app.embedder.model
        )
    return embedded


async def test_embedding_after_a_lost_lease_makes_no_call(
    app: AppContext, server: EmbeddingServer
) -> None:
    """The lane may be another's by then, who has it embedded as well."""

    def refuse_lost() -> None:
        raise LeaseLost("It could not be held.")

    with guard_lease(refuse_lost), pytest.raises(LeaseLost):
        await app.embedder.embed([CAT])
    assert server.asked == []


async def test_embedding_calls_are_recorded_with_their_turn(
    app: AppContext, chat_context: ChatContext, say: Say, server: EmbeddingServer
) -> None:
    """To the person, with the turn: tokens, cost, latency."""
    said = await say(CAT)
    async with app.db.begin_read() as tx:
        call = await tx.row(
            """SELECT model, tokens_in, tokens_out, cost, answer, error FROM model_call
               ORDER BY made_at, id LIMIT 1"""
        )

    row = (chat_context.person.id, said.receipt.turn, 0, "done")
    assert len(server.asked) > 0
    assert await calls_of(app) == [row] * len(server.asked)
    assert call == (RENTED, 7, 0, A_CENT, None, None)


async def test_failed_embedding_call_is_recorded_and_the_reply_still_comes(
    app: AppContext, say: Say, server: EmbeddingServer
) -> None:
    """By words."""
    server.refusals = [(401, "who are you?")]
    assert (await say(CAT)).reply.text

    assert [row[3] for row in await calls_of(app)] == ["failed"]


async def test_embedding_calls_of_the_doctor_are_charged_to_the_owner(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Such as the word that the doctor has embedded."""
    await run_checks(app)

    assert await calls_of(app) == [(chat_context.person.id, None, 0, "done")]


async def test_doctor_embedding_without_any_person_is_not_recorded(app: AppContext) -> None:
    """And nothing fails."""
    await run_checks(app)

    assert await calls_of(app) == []


async def test_embed_job_over_the_background_limit_waits_until_midnight(
    app: AppContext,
    chat_context: ChatContext,
    server: EmbeddingServer,
    clock: FrozenClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It asks nobody, says so, and goes on at midnight by the clocks of the house."""
    await leave_unembedded(app, chat_context)
    await spend(app, chat_context, A_DOLLAR, is_background=True)
    with caplog.at_level(logging.INFO, logger=EVENT_LOGGER.name):
        await do_what_is_due(app)
    midnight = get_start_of_day(clock(), app.settings.zone, days_back=-1)
    async with app.db.begin_read() as tx:
        (letter,) = await list_last_jobs(tx, "agenda", EMBED_JOB)
        until = await find_embedding_resume_at(tx, now=clock())
    asked = len(server.asked)
    findings = await run_checks(app)
    clock.now = midnight
    await do_what_is_due(app)

    assert asked == 0
    assert (letter.due_at, letter.attempts, until) == (midnight, 0, midnight)
    assert "waits-for-tomorrow" in caplog.messages
    assert well(findings, "Embedding has reached today's limit and continues on 2023-11-15 00:00.")
    assert await embedded(app, chat_context) == 1
    assert (chat_context.person.id, None, 1, "done") in await calls_of(app)


def well(findings: list[CheckResult], text: str) -> bool:
    """Whether this was found, and is no fault."""
    return CheckResult(is_ok=True, text=text) in findings


async def test_turn_embedding_ignores_the_background_limit(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """They have one of their own."""
    await spend(app, chat_context, A_DOLLAR, is_background=True)
    await say(CAT)

    assert await embedded(app, chat_context) == 1


async def test_embedding_missing_vectors_counts_against_the_background_limit(
    app: AppContext, chat_context: ChatContext, server: EmbeddingServer
) -> None:
    """An import obeys its limit, too, and says so."""
    await leave_unembedded(app, chat_context)
    await spend(app, chat_context, A_DOLLAR - 1, is_background=True)
    assert await try_embed_missing(app, chat_context.person.id) is None
    await leave_unembedded(app, chat_context, "My boat is called Dora.")
    trouble = await try_embed_missing(app, chat_context.person.id)

    assert trouble == (
        "Search uses words alone for now: Today's limit for background work is reached; "
        "it ends at midnight."
    )
    assert await calls_of(app) == [(chat_context.person.id, None, 1, "done")]
    assert len(server.asked) == 1


async def test_recall_over_the_total_limit_falls_back_to_keywords(
    app: AppContext, chat_context: ChatContext, say: Say, server: EmbeddingServer
) -> None:
    """No call is made, neither in a turn nor outside one; the doctor calls it no fault."""
    await say(CAT)
    asked = len(server.asked)
    capped = replace(
        app, settings=replace(app.settings, budget=BudgetSettings(all_per_day=asked * A_CENT))
    )
    await answer_message(capped, chat_context, MessageSubmission(text="What is my cat called?"))
    looking = capped.with_asker(CallContext(person=chat_context.person.id)).search_deps
    cue = RecallQuery(text="How is my cat called?", language="en", at=app.clock())
    found = await recall(looking, chat_context.person, cue, limit=1)

    assert len(server.asked) == asked
    assert found.is_degraded
    assert [each.message.text for each in found.messages] == [CAT]


async def test_local_embedding_is_recorded_and_never_limited(
    app: AppContext, chat_context: ChatContext, server: EmbeddingServer
) -> None:
    """It costs nothing."""
    server.dollars = None
    here = replace(app.settings, embedder=EmbedderSettings(model="mine:hashed", dimension=512))
    async with open_app(here, clock=app.clock) as other:
        await spend(other, chat_context, A_DOLLAR, is_background=True)
        await leave_unembedded(other, chat_context)
        await do_what_is_due(other)

        assert await embedded(other, chat_context) == 1
        assert len(await calls_of(other)) == 1
