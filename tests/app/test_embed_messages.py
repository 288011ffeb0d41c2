"""Vectors that are missing are made up for, a little at a time, by whoever comes next."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from oldfriend.app import embed_messages as embedding
from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import embed_beliefs, embed_missing, try_embed_missing
from oldfriend.beliefs.correct import edit_belief_text
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, stop_turn
from oldfriend.inbound.accept import accept_edit as edit_message
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.vectors import count_searchable_messages, list_unembedded_beliefs
from oldfriend.replies.reply_worker import process_chat
from oldfriend.runtime.job_handlers import plan_jobs, run_jobs
from oldfriend.runtime.worker import claim_next_partition
from tests.beliefs.life import tell, the_one
from tests.chat_fixtures import Say
from tests.engines import both_engines

engine = both_engines


@dataclass
class CountingEmbedder:
    """An embedder that counts what it was given, and gives up after so many calls."""

    calls: int = 1000
    given: list[str] = field(default_factory=list)
    model = "counting"
    dimension = 384

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each."""
        if not self.calls:
            raise EmbeddingFailed("tired")
        self.calls -= 1
        self.given += texts
        return np.full((len(texts), 384), 0.05, dtype=np.float32)


async def test_person_messages_are_embedded_once_with_the_speaker_name(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The companion's own words are not."""
    for number in range(3):
        await say(f"This is message number {number}.")
    embedder = CountingEmbedder()
    counting = replace(app, embedder=embedder)

    assert await embed_missing(counting, chat_context.person.id) == 3
    assert await embed_missing(counting, chat_context.person.id) == 0
    assert embedder.given == [f"owner: This is message number {number}." for number in range(3)]


async def test_embedding_resumes_after_a_failed_batch(
    app: AppContext, chat_context: ChatContext, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies loses at most one batch."""
    monkeypatch.setattr(embedding, "BATCH_SIZE", 2)
    for number in range(5):
        await say(f"This is message number {number}.")
    seen: list[int] = []
    with pytest.raises(EmbeddingFailed):
        await embed_missing(
            replace(app, embedder=CountingEmbedder(calls=2)),
            chat_context.person.id,
            progress=seen.append,
        )
    embedder = CountingEmbedder()
    rest = await embed_missing(replace(app, embedder=embedder), chat_context.person.id)

    assert seen == [2, 4]
    assert rest == len(embedder.given) == 1


async def test_embedding_stops_at_the_limit(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """One call of the command line makes up for some, not for a million."""
    for number in range(5):
        await say(f"This is message number {number}.")

    counting = replace(app, embedder=CountingEmbedder())
    assert await embed_missing(counting, chat_context.person.id, limit=3) == 3
    async with app.db.begin_read() as tx:
        assert await count_searchable_messages(tx, chat_context.person.id, "counting") == (5, 3)


async def test_failed_embedding_of_missing_vectors_returns_an_error_text(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It says what is wrong, as a sentence to show."""
    await say("My cat is called Miso.")

    tired = await try_embed_missing(
        replace(app, embedder=CountingEmbedder(calls=0)), chat_context.person.id
    )
    assert tired == "Search uses words alone for now: tired"
    assert (
        await try_embed_missing(replace(app, embedder=CountingEmbedder()), chat_context.person.id)
        is None
    )


async def test_belief_edited_during_embedding_is_embedded_again(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The vector of the old words never stands for the new ones."""
    await tell(app, chat_context, ["I live in Porto."])
    home = await the_one(app, chat_context, "Porto")
    given: list[str] = []

    class Interrupted(CountingEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            """Have the belief corrected meanwhile, once."""
            if any("Porto" in each for each in texts) and not given:
                await edit_belief_text(
                    app.db, app.clock, chat_context.person.id, home, "Lives in Porto, by the river."
                )
            given.extend(texts)
            return await super().embed(texts)

    await embed_beliefs(replace(app, embedder=Interrupted()), chat_context.person.id)

    assert given == ["Lives in Porto.", "Lives in Porto, by the river."]
    async with app.db.begin_read() as tx:
        assert not await list_unembedded_beliefs(tx, chat_context.person.id, "counting", limit=5)


async def test_startup_embedding_skips_messages_waiting_for_a_turn(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Else both would embed it; what was answered without a vector is made up for."""
    await say("I have bought a boat.")
    await accept_message(
        app, chat_context, MessageSubmission(text="It is a red one."), claim_now=False
    )
    embedder = CountingEmbedder()

    await start(replace(app, embedder=embedder))
    assert embedder.given == ["owner: I have bought a boat."]


async def test_version_restored_by_undo_is_embedded(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It lies before all that is known to have one."""
    person, embedder = chat_context.person.id, CountingEmbedder()
    counting = replace(app, embedder=embedder)
    given = await accept_message(
        app, chat_context, MessageSubmission(text="It is a red one."), claim_now=False
    )
    assert given is not None
    await edit_message(app, chat_context, given.message.id, "It is a blue one.")
    assert await embed_missing(counting, person) == 1
    async with app.db.begin_write() as tx:  # as the undo of an import does
        for sql in (
            "DELETE FROM message_vector WHERE person = :person",
            "DELETE FROM message WHERE version = 2 AND person = :person",
            "UPDATE message SET replaced_at = NULL WHERE person = :person",
            "UPDATE person SET rewritten = rewritten + 1 WHERE id = :person",
        ):
            await tx.run(sql, person=person)

    assert await embed_missing(counting, person) == 1
    assert embedder.given == ["owner: It is a blue one.", "owner: It is a red one."]
    assert await embed_missing(counting, person) == 0


async def test_message_of_a_stopped_turn_is_embedded_by_the_agenda(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The person has said stop before anybody began."""
    accepted = await accept_message(
        app, chat_context, MessageSubmission(text="It is a red one."), claim_now=False
    )
    assert accepted is not None
    embedder = CountingEmbedder()
    await start(replace(app, embedder=embedder))
    await stop_turn(app, chat_context, accepted.message.id)

    await work_off_agenda(replace(app, embedder=embedder))
    assert embedder.given == ["owner: It is a red one."]


async def start(app: AppContext) -> None:
    """Do what a start plans."""
    await plan_jobs(app.db, app.clock, app.settings)
    await work_off_agenda(app)


async def work_off_agenda(app: AppContext) -> None:
    """Do all jobs that are due."""
    while (claim := await claim_next_partition(app, "agenda")) is not None:
        await run_jobs(app, claim, asyncio.Event())


async def test_message_unembedded_by_a_concurrent_turn_is_embedded_by_the_job(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Whoever is at it has passed it over, for then its turn was to embed it."""
    await say("I have bought a boat.")
    await accept_message(
        app, chat_context, MessageSubmission(text="It is a red one."), claim_now=False
    )

    @dataclass
    class Meanwhile(CountingEmbedder):
        """One that fails for the turn that is answered while it is at something else."""

        was_answered: bool = False

        async def embed(self, texts: Sequence[str]) -> Vectors:
            if not self.was_answered:
                self.was_answered = True
                failing = replace(app, embedder=CountingEmbedder(calls=0))
                claim = await claim_next_partition(failing, "inbox")
                assert claim is not None
                await process_chat(failing, claim)
            return await super().embed(texts)

    embedder = Meanwhile()
    await start(replace(app, embedder=embedder))
    assert embedder.given == ["owner: I have bought a boat.", "owner: It is a red one."]
