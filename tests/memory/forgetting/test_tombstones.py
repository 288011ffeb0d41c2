"""What was forgotten is known again by whoever has the key, and tells nothing to others."""

from oldfriend.domain.clock import DAY, MINUTE
from oldfriend.domain.memories import Memory
from oldfriend.memory.forgetting.tombstones import (
    NOTHING,
    Forgotten,
    belief_words,
    lay,
    lift,
    load_forgotten,
    prints_of,
    prints_of_belief,
)
from tests.memory.conftest import Friend

KEY = b"k" * 32
LONG = "my sister Ana is allergic to hazelnuts"


async def laid(friend: Friend, *texts: str, said_at: int) -> Forgotten:
    """What is known after some messages were forgotten."""
    async with friend.db.writing() as tx:
        prints = {each for text in texts for each in prints_of(KEY, text, said_at=said_at)}
        await lay(tx, friend.person.id, prints, now=friend.clock())
        return await load_forgotten(tx, friend.person.id, KEY)


async def test_the_same_words_are_known_again(nora: Friend, omar: Friend) -> None:
    """However they are written, whenever they were said before; and only hers."""
    now = nora.clock()
    forgotten = await laid(nora, LONG, said_at=now - DAY)

    assert forgotten.was_forgotten(LONG.upper() + "!", said_at=now - 2 * DAY)
    assert not forgotten.was_forgotten(LONG + " too", said_at=now)
    assert not forgotten.was_forgotten(LONG, said_at=now + 1)
    async with nora.db.reading() as tx:
        assert not (await load_forgotten(tx, omar.person.id, KEY)).laid
        other_key = await load_forgotten(tx, nora.person.id, b"other")
    assert not other_key.was_forgotten(LONG, said_at=now)


async def test_a_few_words_are_known_only_at_their_minute(nora: Friend) -> None:
    """For they are said every day."""
    then = nora.clock() - DAY
    forgotten = await laid(nora, "ok", said_at=then)

    assert forgotten.was_forgotten("OK.", said_at=then)
    assert not forgotten.was_forgotten("ok", said_at=then + MINUTE)


async def test_what_is_said_anew_lifts_it(nora: Friend) -> None:
    """Then old copies may come back, too."""
    forgotten = await laid(nora, LONG, said_at=nora.clock())
    async with nora.db.writing() as tx:
        assert await lift(tx, nora.person.id, forgotten, ["something else", LONG]) == 1
        after = await load_forgotten(tx, nora.person.id, KEY)

    assert not after.was_forgotten(LONG, said_at=0)


async def test_a_belief_is_known_by_its_text_and_by_what_it_says(nora: Friend) -> None:
    """As long as it is read in words that were said before."""
    now = nora.clock()
    memory = Memory(
        id="m", person=nora.person.id, kind="fact", text="Lives in Porto.", language="en",
        key="location", value="Porto", learned_at=now,
    )  # fmt: skip
    async with nora.db.writing() as tx:
        await lay(tx, nora.person.id, prints_of_belief(KEY, memory), now=now)
        forgotten = await load_forgotten(tx, nora.person.id, KEY)
    at = now - DAY

    assert forgotten.is_forgotten("lives in porto", at)
    assert forgotten.is_forgotten(belief_words("fact", "location", "PORTO"), at)
    assert not forgotten.is_forgotten(belief_words("fact", "location", "Lisbon"), at)
    assert not forgotten.is_forgotten(belief_words("event", "", ""), at)
    assert not forgotten.is_forgotten("lives in porto", now + 1)
    assert not NOTHING.is_forgotten("lives in porto", 0)


async def test_a_tombstone_tells_nothing(nora: Friend) -> None:
    """It is a number of 256 bits."""
    await laid(nora, LONG, "ok", said_at=0)
    async with nora.db.reading() as tx:
        rows = await tx.rows("SELECT print FROM tombstone")

    assert len(rows) == 2
    assert all(len(row[0]) == 64 and int(row[0], 16) for row in rows)
