"""Another embedding model is chosen, and nothing is out of reach while all is embedded anew."""

from dataclasses import dataclass, field, replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import embed_missing
from oldfriend.config.settings import Settings
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.llm.embedding import Embedder
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.message_log import WriteTarget, write_messages
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.memory.vectors import count_searchable_messages, list_vector_models
from oldfriend.runtime.health_checks import run_checks
from oldfriend.turn.recalled import RecallQuery, find_no_embedder
from oldfriend.turn.retrieval import recall
from tests.clock import FrozenClock
from tests.conftest import Sizes
from tests.processes import kill, line_of, python
from tests.switchable_embedders import NEW, OLD, asked, said

ANEW = """
import asyncio, sys
from oldfriend.app import embed_messages as embedding
from oldfriend.config.settings import load_settings
from oldfriend.runtime.wiring import open_app
from oldfriend.memory.people import get_person
from tests.journeys.test_embedding_switch import switched
from tests.switchable_embedders import NEW, OLD

async def work(data, database, batch):
    embedding.BATCH_SIZE = int(batch)
    async with open_app(load_settings({}, data=data, database=database)) as app:
        async with app.db.begin_read() as tx:
            person = await get_person(tx, None)
        await embedding.embed_missing(switched(app, NEW), person.id, progress=wait)

def wait(done):
    print(done, flush=True)
    sys.stdin.readline()

asyncio.run(work(*sys.argv[1:]))
"""


def switched(app: AppContext, embedder: Embedder) -> AppContext:
    """The house of a program for which this model was chosen; the old one is at hand."""
    return replace(
        app,
        embedder=embedder,
        index_cache=IndexCache(embedder.model),
        find_former_embedder={OLD.model: OLD, NEW.model: NEW}.get,
    )


@pytest.fixture
async def before(app: AppContext, sizes: Sizes) -> AppContext:
    """A long history, embedded by the old model."""
    old = switched(app, OLD)
    chat_context = await open_local_chat(
        old.db, old.clock, old.settings, person=None, channel="terminal"
    )
    await write(old, chat_context, 0, sizes.switched)
    await embed_missing(old, chat_context.person.id)
    return old


async def write(app: AppContext, chat_context: ChatContext, first: int, end: int) -> None:
    """Say the numbers from ``first`` up to ``end``."""
    for start in range(first, end, 1000):
        async with app.db.begin_write() as tx:
            session = await ensure_open_session(tx, chat_context.chat, app.clock())
            await write_messages(
                tx,
                WriteTarget(chat=chat_context.chat, session=session),
                [
                    UnloggedMessage(
                        role="person",
                        speaker="Nora",
                        text=said(number),
                        at=app.clock(),
                        trust="person",
                    )
                    for number in range(start, min(start + 1000, end))
                ],
                now=app.clock(),
            )


async def finds(app: AppContext, chat_context: ChatContext, number: int) -> bool:
    """Whether the question about a number has its answer among the first three."""
    cue = RecallQuery(text=asked(number), language="en", at=app.clock())
    recollection = await recall(app.search_deps, chat_context.person, cue, limit=3)
    return said(number) in [each.message.text for each in recollection.messages]


@dataclass(slots=True)
class Asker:
    """Somebody who asks about one number after the other, in no order."""

    app: AppContext
    chat_context: ChatContext
    count: int
    questions: int = 0
    missed: list[int] = field(default_factory=list)

    async def ask(self, questions: int) -> None:
        """Ask some, and remember which had no hit."""
        for _ in range(questions):
            number = self.questions * 7919 % self.count
            self.questions += 1
            if not await finds(self.app, self.chat_context, number):
                self.missed.append(number)


async def vectors_by_model(app: AppContext, chat_context: ChatContext) -> dict[str, int]:
    """How many vectors there are of each model."""
    async with app.db.begin_read() as tx:
        return {
            model: (await count_searchable_messages(tx, chat_context.person.id, model))[1]
            for model in await list_vector_models(tx, chat_context.person.id)
        }


async def test_recall_finds_every_answer_during_an_interrupted_embedder_switch(
    before: AppContext, settings: Settings, sizes: Sizes
) -> None:
    """Asked without a pause, while other processes embed anew, and die of it."""
    chat_context = await open_local_chat(
        before.db, before.clock, before.settings, person=None, channel="terminal"
    )
    asker = Asker(switched(before, NEW), chat_context, sizes.switched)
    worker_of = (ANEW, settings.data, settings.database, sizes.switched // 10)
    done: list[int] = []
    for _ in range(2):
        with python(*worker_of) as worker:
            for _ in range(3):
                assert line_of(worker.stdout)
                await asker.ask(10)
                worker.stdin.write(b"go on\n")
                worker.stdin.flush()
            kill(worker)
        done.append((await vectors_by_model(asker.app, chat_context))[NEW.model])
    with python(*worker_of) as worker:
        worker.stdin.close()
        while worker.poll() is None:
            await asker.ask(1)
        assert worker.returncode == 0
    await asker.ask(50)

    assert 0 < done[0] < done[1] < sizes.switched
    assert asker.missed == []
    assert asker.questions > 110
    assert await vectors_by_model(asker.app, chat_context) == {NEW.model: sizes.switched}


async def test_messages_with_old_vectors_are_found_by_words_without_old_embedder(
    before: AppContext, sizes: Sizes
) -> None:
    """Those messages are found by their words until they are embedded anew."""
    chat_context = await open_local_chat(
        before.db, before.clock, before.settings, person=None, channel="terminal"
    )
    alone = replace(switched(before, NEW), find_former_embedder=find_no_embedder)
    await embed_missing(alone, chat_context.person.id, limit=sizes.switched // 2)

    told = " ".join(finding.text for finding in await run_checks(alone))
    assert f"{sizes.switched // 2:,} of them with the vectors of old" in told
    assert await finds(alone, chat_context, 1)
    assert not await finds(alone, chat_context, sizes.switched - 1)
    cue = RecallQuery(text=said(sizes.switched - 1), language="en", at=alone.clock())
    hits = (await recall(alone.search_deps, chat_context.person, cue, limit=30)).messages
    assert said(sizes.switched - 1) in [each.message.text for each in hits]


async def test_only_the_last_started_process_reembeds_with_its_embedder(
    before: AppContext, clock: FrozenClock, sizes: Sizes
) -> None:
    """Else they would undo each other's work, and pay for it, for ever."""
    chat_context = await open_local_chat(
        before.db, before.clock, before.settings, person=None, channel="terminal"
    )
    count = sizes.switched
    newer = replace(switched(before, NEW), opened_at=clock.tick(minutes=1))

    assert await embed_missing(newer, chat_context.person.id, limit=100) == 100
    assert await embed_missing(before, chat_context.person.id) == 0
    assert await vectors_by_model(newer, chat_context) == {OLD.model: count, NEW.model: 100}
    assert await embed_missing(newer, chat_context.person.id) == count - 100
    assert await embed_missing(before, chat_context.person.id) == 0
    assert await vectors_by_model(newer, chat_context) == {NEW.model: count}

    back = replace(before, opened_at=clock.tick(minutes=1))
    assert await embed_missing(back, chat_context.person.id) == count
    assert await vectors_by_model(back, chat_context) == {OLD.model: count}
