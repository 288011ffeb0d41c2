"""Which messages and beliefs still lack a vector, and how do they get one? Resumably.

A process that dies loses at most one batch; whoever comes next goes on. When another model was
chosen, all messages lack its vectors; until each has one, it is found by the one of before.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import AllowanceUsedUp, OldfriendError
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.ledger.calls import Asker
from oldfriend.memory.meanings import list_meaningless, save_meanings
from oldfriend.memory.search import text_to_embed
from oldfriend.memory.vectors import (
    Choice,
    Unembedded,
    delete_former_vectors,
    list_unembedded,
    models_of,
    newest_choice,
    note_choice,
    save_vectors,
)
from oldfriend.queues.agenda import Job, put_job
from oldfriend.queues.lanes import handed_out
from oldfriend.queues.letters import last_letters

EMBED = "embed"
BATCH = 512
LEFT_OVER = 256
"""How many messages without a vector one call makes up for, after it has replied."""
DELETED_AT_ONCE = 10_000


@dataclass(slots=True)
class Done:
    """How far one call has come."""

    count: int = 0
    last_seq: int = 0
    is_whole: bool = False  # nothing is left to embed


async def make_up(
    house: House,
    person: PersonId,
    *,
    most: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> str | None:
    """Make up for missing vectors where words are kept already, whatever comes of it.

    None, or what to tell the person when it did not work.
    """
    try:
        await embed_missing(house, person, most=most, progress=progress)
    except OldfriendError as error:
        return f"Searching by words for now: {error}"
    return None


async def embed_missing(
    house: House,
    person: PersonId,
    *,
    most: int | None = None,
    progress: Callable[[int], None] | None = None,
    besides: Collection[TurnId] = (),
) -> int:
    """Give vectors to messages that have none of the present model, at most so many; how many.

    Those of some turns (``besides``) are left to the turns. It is work in the background, also
    while somebody looks on. Once none is left, the vectors of models of before go where they are
    not needed. Raises EmbeddingFailed, AllowanceUsedUp; what was done before stays.
    """
    house = house.on_behalf_of(Asker(person=person, is_background=True))
    async with house.db.reading() as tx:
        former = [model for model in await models_of(tx, person) if model != house.embedder.model]
    if former and not await is_ours_to_switch(house):
        return 0
    done = Done()
    while not done.is_whole and (most is None or done.count < most):
        some = BATCH if most is None else most - done.count
        await embed_some(house, person, done, some, besides)
        if progress is not None and not done.is_whole:
            progress(done.count)
    if done.is_whole:
        await embed_beliefs(house, person)
        for model in former:
            await drop_former(house, person, model)
    return done.count


async def embed_some(
    house: House, person: PersonId, done: Done, most: int, besides: Collection[TurnId]
) -> None:
    """Embed the next messages, and keep their vectors."""
    async with house.db.reading() as tx:
        waiting = await list_unembedded(
            tx, person, house.embedder.model, after=done.last_seq, limit=min(BATCH, most)
        )
    if not waiting:
        done.is_whole = True
        return
    done.last_seq = waiting[-1].seq
    ours = [each for each in waiting if each.turn not in besides]
    if not ours:
        return
    vectors = await house.embedder.embed([words_of(each) for each in ours])
    async with house.db.writing() as tx:
        await save_vectors(tx, person, house.embedder.model, [each.seq for each in ours], vectors)
    done.count += len(ours)


async def embed_beliefs(house: House, person: PersonId) -> None:
    """Give vectors to what is believed, in the words in which it was decided last."""
    model = house.embedder.model
    while True:
        async with house.db.reading() as tx:
            waiting = await list_meaningless(tx, person, model, limit=BATCH)
        if not waiting:
            return
        vectors = await house.embedder.embed([each.text for each in waiting])
        meanings = {each.memory: row for each, row in zip(waiting, vectors, strict=True)}
        bases = {each.memory: each.base for each in waiting}
        async with house.db.writing() as tx:
            await save_meanings(tx, person, model, meanings, bases=bases)


def words_of(message: Unembedded) -> str:
    """What is embedded of a message."""
    return text_to_embed(message.speaker, message.text)


async def is_ours_to_switch(house: House) -> bool:
    """Whether this process embeds anew, or a process that was started later, with another model.

    Else the two would undo each other's work for ever.
    """
    ours = Choice(model=house.embedder.model, at=house.opened_at)
    async with house.db.reading() as tx:
        newest = await newest_choice(tx)
    if newest is None or (newest.model != ours.model and newest.at <= ours.at):
        async with house.db.writing() as tx:
            newest = await newest_choice(tx)  # another may have been quicker
            if newest is None or newest.at <= ours.at:
                await note_choice(tx, ours)
                newest = ours
    return newest.model == ours.model


async def drop_former(house: House, person: PersonId, model: str) -> None:
    """Delete what is not needed any more of the vectors of a model of before, a part at a time."""
    after: int | None = 0
    while after is not None:
        async with house.db.writing() as tx:
            after = await delete_former_vectors(
                tx, person, house.embedder.model, model, after=after, limit=DELETED_AT_ONCE
            )


async def plan_embedding(tx: Transaction, *, now: Micros) -> None:
    """Have what lacks a vector embedded, unless that is waiting to be done already.

    Whoever is at it just now may have passed over what lacks one only since.
    """
    begun = await handed_out(tx, "agenda", EMBED)
    if not any(each.seq > begun for each in await last_letters(tx, "agenda", EMBED)):
        await put_job(tx, EMBED, Job(name=EMBED), person=None, now=now)


async def embedding_waits_until(tx: Transaction, *, now: Micros) -> Micros | None:
    """When embedding goes on that waits because too much was spent; None: it does not wait."""
    letters = await last_letters(tx, "agenda", EMBED)
    waiting = [
        letter.due_at
        for letter in letters
        if letter.due_at > now and (letter.error or "").startswith(AllowanceUsedUp.__name__)
    ]
    return min(waiting, default=None)
