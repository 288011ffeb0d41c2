"""What was forgotten is known again by whoever has the key, and tells nothing to others."""

from oldfriend.domain.clock import DAY, MINUTE
from oldfriend.domain.memories import Memory, MemoryKind
from oldfriend.memory.forgetting.tombstones import (
    NOTHING,
    Forgotten,
    belief_words,
    lay,
    lay_key,
    lift,
    load_forgotten,
    print_of,
    prints_of,
    prints_of_belief,
    quoted_words,
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
        await lift(tx, nora.person.id, [print_of(KEY, "something else")])
        between = await load_forgotten(tx, nora.person.id, KEY)
        await lift(tx, nora.person.id, [print_of(KEY, LONG)])
        after = await load_forgotten(tx, nora.person.id, KEY)

    assert between == forgotten
    assert not after.was_forgotten(LONG, said_at=0)


async def test_it_is_known_that_another_key_was_used(nora: Friend) -> None:
    """Also where both were."""
    async with nora.db.writing() as tx:
        await lay_key(tx, nora.person.id, KEY)
        own = await load_forgotten(tx, nora.person.id, KEY)
        none = await load_forgotten(tx, nora.person.id, b"")
        await lay_key(tx, nora.person.id, b"other")
        both = await load_forgotten(tx, nora.person.id, KEY)

    assert [each.is_by_another_key for each in (NOTHING, own, none, both)] == [
        False, False, True, True,
    ]  # fmt: skip


def test_a_quote_is_known_by_any_run_of_its_words() -> None:
    """A few words only at their minute."""

    def known_by(quote: str, at: int, kind: MemoryKind = "event", key: str = "") -> set[str]:
        return set(quoted_words(kind, key, quote, said_at=at))

    known = known_by(LONG, 0)
    assert known & known_by(f"I think {LONG}", DAY, "thought")
    assert known & known_by("sister Ana is allergic to", DAY)
    assert not known & known_by("my sister Ana", 0)
    assert not known & known_by(LONG, 0, "fact", "relation")
    assert known_by("ok", 0) == known_by("ok", 1)
    assert known_by("ok", 0) != known_by("ok", MINUTE)


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
