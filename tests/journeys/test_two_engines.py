"""SQLite and PostgreSQL keep and find the same."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.domain.messages import TRUST_BY_ROLE, Person, Role, UnloggedMessage
from oldfriend.inbound.accept import open_local_chat
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.vectors import save_message_vectors
from oldfriend.runtime.wiring import open_app
from oldfriend.transfer.copy_database import copy_database
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from oldfriend_evals.corpus import build_sessions, draw_vectors, list_questions
from oldfriend_evals.datasets import load_own_conversations
from tests.postgres import Server

MESSAGES = 2_000
MADE_UP = 800
ASKED_AT = 1_780_000_000_000_000
LIMIT = 20
QUESTIONS = 60


def told() -> list[ImportedMessage]:
    """Two thousand messages: in six languages, a third of them Chinese, and some made up."""
    own = sorted(
        (line for each in load_own_conversations() for line in each.lines),
        key=lambda line: (line.language != "zh", line.said_at, line.id),
    )
    spoken = [
        ImportedMessage(
            session=line.session,
            message=UnloggedMessage(
                role=role_of(line.role),
                speaker=line.speaker,
                text=line.text,
                at=line.said_at,
                trust=TRUST_BY_ROLE[role_of(line.role)],
            ),
        )
        for line in own[: MESSAGES - MADE_UP]
    ]
    made_up = [
        ImportedMessage(message=each)
        for session in build_sessions(MADE_UP, seed=7)
        for each in session
    ]
    return spoken + made_up


def role_of(name: str) -> Role:
    """A role by its name."""
    return next(role for role in TRUST_BY_ROLE if role == name)


def asked() -> list[str]:
    """Questions in every language of the conversations."""
    own = [query.text for each in load_own_conversations() for query in each.queries[:4]]
    return [*own, *list_questions(QUESTIONS - len(own))]


@asynccontextmanager
async def living_in(url: str, data: Path) -> AsyncIterator[AppContext]:
    """A house on a database."""
    settings = Settings(data=data, database=url, zone="Europe/Lisbon", language="en")
    async with open_app(settings, clock=lambda: ASKED_AT) as app:
        yield app


async def fill(app: AppContext) -> Person:
    """Everything that was told, with vectors."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    vectors = draw_vectors(MESSAGES, seed=3, dimension=app.embedder.dimension)
    async with app.db.begin_write() as tx:
        await write_imported_messages(
            tx, ImportTarget(chat=chat_context.chat, language="en"), told(), now=ASKED_AT
        )
        seqs = np.arange(1, MESSAGES + 1).tolist()
        await save_message_vectors(tx, chat_context.person.id, app.embedder.model, seqs, vectors)
    return chat_context.person


async def hits(app: AppContext, person: Person, query: str) -> Sequence[tuple[int, str, float]]:
    """What a question finds: where it stands, what it says, how well it answers."""
    cue = RecallQuery(text=query, language="en", at=ASKED_AT)
    found = await recall(app.search_deps, person, cue, limit=LIMIT)
    return [(each.message.seq, each.message.text, each.hit.score.value) for each in found.messages]


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[AppContext]:
    """A house on a file."""
    async with living_in(f"sqlite:///{tmp_path / 'a.db'}", tmp_path) as app:
        yield app


@pytest.mark.quick
async def test_sqlite_and_postgres_return_the_same_hits_and_scores(
    files: AppContext, postgres: Server, tmp_path: Path
) -> None:
    """The first twenty hits of sixty questions, with the same scores; Chinese too."""
    with postgres.database() as url:
        async with living_in(url, tmp_path) as served:
            one, other = await fill(files), await fill(served)
            for query in asked():
                here, there = await hits(files, one, query), await hits(served, other, query)

                assert [hit[:2] for hit in here] == [hit[:2] for hit in there], query
                assert [hit[2] for hit in here] == pytest.approx(
                    [hit[2] for hit in there], abs=1e-4
                )
                assert len(here) == LIMIT, query


async def test_search_without_index_cache_gives_same_hits_on_both_engines(
    files: AppContext, postgres: Server, tmp_path: Path
) -> None:
    """A person who is too large for the shelf finds the same everywhere, and nearly all the same
    as in memory."""
    with postgres.database() as url:
        async with living_in(url, tmp_path) as served:
            one, other = await fill(files), await fill(served)
            small, far = (
                replace(app, index_cache=IndexCache(app.embedder.model, limit_bytes=1))
                for app in (files, served)
            )
            same = 0
            for query in asked():
                whole, here = await hits(files, one, query), await hits(small, one, query)
                assert here == await hits(far, other, query), query
                same += len({hit[0] for hit in whole[:10]} & {hit[0] for hit in here[:10]})
    assert same >= 0.95 * 10 * len(asked())


async def test_database_converted_to_postgres_and_back_gives_the_same_hits(
    files: AppContext, postgres: Server, tmp_path: Path
) -> None:
    """Vectors move along, so that nothing has to be made anew."""
    person = await fill(files)
    async with AsyncExitStack() as stack:
        url = stack.enter_context(postgres.database())
        served = await stack.enter_async_context(living_in(url, tmp_path))
        back = await stack.enter_async_context(
            living_in(f"sqlite:///{tmp_path / 'b.db'}", tmp_path)
        )
        done: list[int] = []
        await copy_database(files.db, served.db, progress=lambda moving: done.append(moving.done))
        await copy_database(served.db, back.db, progress=lambda moving: done.append(moving.done))

        for query in asked()[:20]:
            before = await hits(files, person, query)
            assert before == await hits(served, person, query) == await hits(back, person, query)
    assert max(done) > 2 * MESSAGES
