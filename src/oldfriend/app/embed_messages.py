"""Embedding: resumable backfill of missing vectors for messages and beliefs.

A process that dies loses at most one batch; the next run continues from there. After a change of
the embedding model all messages lack its vectors; until a message has one, search uses the vector
of the previous model.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import MAX_CLOCK_SKEW, Clock, Micros
from oldfriend.domain.errors import AllowanceUsedUp, OldfriendError
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.messages import Message
from oldfriend.llm.embedding import Embedder
from oldfriend.llm.glosses import gloss_for_embedder
from oldfriend.memory.vectors import (
    EmbeddingModelChoice,
    EmbeddingProgress,
    UnembeddedMessage,
    delete_embedding_progress,
    delete_legacy_vectors,
    find_newest_model_choice,
    get_embedding_status,
    list_unembedded_beliefs,
    list_unembedded_messages,
    list_vector_models,
    record_model_choice,
    save_belief_vectors,
    save_embedding_progress,
    save_message_vectors,
)
from oldfriend.queues.jobs_table import list_last_jobs
from oldfriend.queues.queue import get_last_claimed_seq
from oldfriend.queues.scheduled_jobs import JobSpec, schedule_job
from oldfriend.search import build_embedding_text
from oldfriend.usage.model_calls import CallContext

EMBED_JOB = "embed"
BATCH_SIZE = 512
CATCH_UP_LIMIT = 256
"""How many messages without a vector one call embeds after it has replied."""
DELETE_BATCH_SIZE = 10_000


@dataclass(slots=True)
class EmbeddingBackfill:
    """The progress of one call."""

    count: int = 0
    last_seq: int = 0
    has_skipped: bool = False  # messages before last_seq were left to others
    is_complete: bool = False  # nothing is left to embed


async def try_embed_missing(
    app: AppContext,
    person: PersonId,
    *,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> str | None:
    """Embed what lacks a vector, without failing where the words are stored already.

    Returns None, or what to tell the person if it did not work.
    """
    try:
        await embed_missing(app, person, limit=limit, progress=progress)
    except OldfriendError as error:
        return f"Search uses words alone for now: {error}"
    return None


async def embed_missing(
    app: AppContext,
    person: PersonId,
    *,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
    excluded_turns: Collection[TurnId] = (),
) -> int:
    """Embed messages without a vector of the current model, at most ``limit``, and return how many.

    Those of ``excluded_turns`` are left to their turns. The cost counts as background work, even if
    somebody is watching. Once none is left, the vectors of former models that are no longer needed
    are deleted. Raises EmbeddingFailed, AllowanceUsedUp; what was stored before stays.
    """
    app = app.with_asker(CallContext(person=person, is_background=True))
    async with app.db.begin_read() as tx:
        former = [
            model for model in await list_vector_models(tx, person) if model != app.embedder.model
        ]
    if former:
        if not await claim_model_choice(app):
            return 0
        # the stored progress may count vectors that were deleted by a switch
        async with app.db.begin_write() as tx:
            await delete_embedding_progress(tx, person, app.embedder.model)
    done = EmbeddingBackfill()
    while not done.is_complete and (limit is None or done.count < limit):
        batch_limit = BATCH_SIZE if limit is None else limit - done.count
        await embed_batch(app.db, app.embedder, person, done, batch_limit, excluded_turns)
        if progress is not None and not done.is_complete:
            progress(done.count)
    if done.is_complete:
        await embed_beliefs(app, person)
        for model in former:
            await delete_old_vectors(app.db, app.embedder, person, model)
    return done.count


async def embed_batch(
    db: Database,
    embedder: Embedder,
    person: PersonId,
    run: EmbeddingBackfill,
    limit: int,
    excluded_turns: Collection[TurnId],
) -> None:
    """Embed the next batch of messages, and store their vectors and the progress."""
    model = embedder.model
    async with db.begin_read() as tx:
        status = await get_embedding_status(tx, person, model)
        after = run.last_seq if run.has_skipped else status.done.seq
        waiting = await list_unembedded_messages(
            tx, person, model, after=after, limit=min(BATCH_SIZE, limit)
        )
    if not waiting:
        run.is_complete = True
        is_far_behind = status.last_seq - status.done.seq >= BATCH_SIZE
        if is_far_behind and not run.has_skipped:
            await store_progress(db, embedder, person, replace(status.done, seq=status.last_seq))
        return
    ours = [each for each in waiting if each.turn not in excluded_turns]
    run.last_seq = waiting[-1].seq
    run.has_skipped = run.has_skipped or len(ours) < len(waiting)
    if not ours:
        return
    vectors = await embedder.embed(await format_for_embedding(model, ours))
    async with db.begin_write() as tx:
        await save_message_vectors(tx, person, model, [each.seq for each in ours], vectors)
        if not run.has_skipped:
            await save_embedding_progress(tx, person, model, replace(status.done, seq=run.last_seq))
    run.count += len(ours)


async def embed_beliefs(app: AppContext, person: PersonId) -> None:
    """Embed beliefs that lack a vector, in the words of their last decision."""
    model = app.embedder.model
    while True:
        async with app.db.begin_read() as tx:
            status = await get_embedding_status(tx, person, model)
            if status.done.last_change == status.last_change:
                return
            waiting = await list_unembedded_beliefs(tx, person, model, limit=BATCH_SIZE)
        if not waiting:
            progress = replace(status.done, last_change=status.last_change)
            await store_progress(app.db, app.embedder, person, progress)
            return
        texts = await gloss_for_embedder(model, [(each.text, each.language) for each in waiting])
        vectors = await app.embedder.embed(texts)
        vectors_by_belief = {each.memory: row for each, row in zip(waiting, vectors, strict=True)}
        bases = {each.memory: each.base for each in waiting}
        async with app.db.begin_write() as tx:
            await save_belief_vectors(tx, person, model, vectors_by_belief, bases=bases)


async def store_progress(
    db: Database, embedder: Embedder, person: PersonId, progress: EmbeddingProgress
) -> None:
    """Store how far embedding has come."""
    async with db.begin_write() as tx:
        await save_embedding_progress(tx, person, embedder.model, progress)


async def format_for_embedding(
    model: str, messages: Sequence[UnembeddedMessage | Message]
) -> list[str]:
    """Return the texts of messages as a model embeds them. Raises EmbeddingFailed."""
    texts = await gloss_for_embedder(model, [(each.text, each.language) for each in messages])
    return [
        build_embedding_text(each.speaker, text) for each, text in zip(messages, texts, strict=True)
    ]


async def claim_model_choice(app: AppContext) -> bool:
    """Return whether this process may re-embed with its model, as the latest choice of a model.

    Otherwise two processes with different models would undo each other's work forever.
    """
    ours = EmbeddingModelChoice(model=app.embedder.model, chosen_at=app.opened_at)
    async with app.db.begin_read() as tx:
        newest = await find_newest_model_choice(tx)
    if newest is None or (newest.model != ours.model and is_older_choice(newest, ours, app.clock)):
        async with app.db.begin_write() as tx:
            newest = await find_newest_model_choice(tx)  # another process may have been faster
            if newest is None or is_older_choice(newest, ours, app.clock):
                await record_model_choice(tx, ours)
                newest = ours
    return newest.model == ours.model


def is_older_choice(other: EmbeddingModelChoice, ours: EmbeddingModelChoice, clock: Clock) -> bool:
    """Return whether another choice is older than ours; one from the future had a wrong clock."""
    return other.chosen_at <= ours.chosen_at or other.chosen_at > clock() + MAX_CLOCK_SKEW


async def delete_old_vectors(
    db: Database, embedder: Embedder, person: PersonId, model: str
) -> None:
    """Delete the vectors of a former model that are no longer needed, in batches."""
    after: int | None = 0
    while after is not None:
        async with db.begin_write() as tx:
            after = await delete_legacy_vectors(
                tx, person, embedder.model, model, after=after, limit=DELETE_BATCH_SIZE
            )


async def plan_embedding(tx: Transaction, *, now: Micros) -> None:
    """Schedule a job that embeds what lacks a vector, unless one is waiting already.

    A job that is running now may have passed over what has been added since.
    """
    last_claimed = await get_last_claimed_seq(tx, "agenda", EMBED_JOB)
    if not any(each.seq > last_claimed for each in await list_last_jobs(tx, "agenda", EMBED_JOB)):
        await schedule_job(tx, EMBED_JOB, JobSpec(name=EMBED_JOB), person=None, now=now)


async def find_embedding_resume_at(tx: Transaction, *, now: Micros) -> Micros | None:
    """Return when embedding that waits for a new allowance resumes; None if it does not wait."""
    jobs = await list_last_jobs(tx, "agenda", EMBED_JOB)
    waiting = [
        job.due_at
        for job in jobs
        if job.due_at > now and (job.error or "").startswith(AllowanceUsedUp.__name__)
    ]
    return min(waiting, default=None)
