"""Which messages still lack a vector, and how do they get one? A little at a time, resumably.

A process that dies loses at most one batch; whoever comes next goes on.
"""

from collections.abc import Callable

from oldfriend.app.wiring import House
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import PersonId
from oldfriend.memory.search import text_to_embed
from oldfriend.memory.vectors import list_unembedded, save_vectors

BATCH = 512
LEFT_OVER = 256
"""How many messages without a vector one call makes up for, after it has replied."""


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
) -> int:
    """Give vectors to messages that have none, at most so many; how many got one.

    Raises EmbeddingFailed; what was done before stays.
    """
    done, after = 0, 0
    while most is None or done < most:
        limit = BATCH if most is None else min(BATCH, most - done)
        async with house.db.reading() as tx:
            waiting = await list_unembedded(
                tx, person, house.embedder.model, after=after, limit=limit
            )
        if not waiting:
            break
        vectors = await house.embedder.embed(
            [text_to_embed(each.speaker, each.text) for each in waiting]
        )
        seqs = [each.seq for each in waiting]
        async with house.db.writing() as tx:
            await save_vectors(tx, person, house.embedder.model, seqs, vectors)
        done, after = done + len(waiting), seqs[-1]
        if progress is not None:
            progress(done)
    return done
