"""What the companion thinks should change in a block waits for people, and does not nag."""

from dataclasses import replace

import pytest

from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.memory.core_blocks import list_blocks, write_block
from oldfriend.memory.suggestions import (
    MAX_PENDING,
    Proposal,
    apply_suggestion,
    delete_suggestion,
    get_pending_suggestion,
    get_suggestion,
    list_suggestions,
    resolve_suggestion,
    suggest,
)
from tests.friends import Friend

SHORT = Proposal(
    block="style",
    text="Short in the morning.",
    reason="Asked for it three times.",
    author="reflect/1",
    cites=("m1", "m2"),
)


async def test_a_suggestion_says_who_makes_it_and_why_and_writes_nothing(
    nora: Friend, omar: Friend
) -> None:
    """And is one person's."""
    async with nora.db.begin_write() as tx:
        made = await suggest(tx, nora.person.id, SHORT, now=5)
        assert made is not None
        assert await list_suggestions(tx, nora.person.id) == [made]
        assert (made.proposal, made.status, made.made_at) == (SHORT, "pending", 5)
        assert await list_blocks(tx, nora.person.id) == []
        assert await list_suggestions(tx, omar.person.id) == []
        with pytest.raises(NotFound):
            await get_suggestion(tx, omar.person.id, made.id)
        assert await get_suggestion(tx, nora.person.id, made.id[-8:-4]) == made


async def test_what_waits_was_declined_or_stands_there_is_not_suggested_again(
    nora: Friend,
) -> None:
    """Whatever its capitals and dots; for another block it is another suggestion."""
    person = nora.person.id
    same = replace(SHORT, text="short,  in the MORNING")
    async with nora.db.begin_write() as tx:
        made = await suggest(tx, person, SHORT, now=1)
        assert made is not None
        assert await suggest(tx, person, same, now=2) is None
        await resolve_suggestion(tx, made, "declined", now=3)
        assert await suggest(tx, person, same, now=4) is None
        assert await suggest(tx, person, replace(SHORT, block="persona"), now=5) is not None
        await write_block(tx, person, "user", "Kind. Short in the morning. Tall.", now=6)
        assert await suggest(tx, person, replace(SHORT, block="user"), now=7) is None
        assert await suggest(tx, person, replace(SHORT, text="Short"), now=8) is not None
        await delete_suggestion(tx, made)
        assert await suggest(tx, person, same, now=9) is not None
        with pytest.raises(InvalidInput, match="declined already"):
            declined = await suggest(tx, person, replace(SHORT, text="x y"), now=10)
            assert declined is not None
            await resolve_suggestion(tx, declined, "declined", now=11)
            await get_pending_suggestion(tx, person, declined.id)


async def test_too_much_is_not_suggested(nora: Friend) -> None:
    """Nor nothing, nor what does not fit, nor more than somebody looks through."""
    person = nora.person.id
    async with nora.db.begin_write() as tx:
        for text in (" ", "x" * 5_001):
            with pytest.raises(InvalidInput, match="5,000"):
                await suggest(tx, person, replace(SHORT, text=text), now=1)
        many = [
            await suggest(tx, person, replace(SHORT, text=f"Point {number}."), now=number)
            for number in range(MAX_PENDING + 1)
        ]
        assert [each is not None for each in many] == [True] * MAX_PENDING + [False]


async def test_it_is_added_or_stands_in_for_words_that_are_there(nora: Friend) -> None:
    """Where they are gone by then it is refused, and not guessed."""
    person = nora.person.id
    instead = replace(SHORT, text="Long.", replaces="Short.")
    async with nora.db.begin_write() as tx:
        assert await suggest(tx, person, instead, now=1) is None
        await write_block(tx, person, "style", "Dry. Short. Kind.", now=2)
        made = await suggest(tx, person, instead, now=3)
        added = await suggest(tx, person, SHORT, now=4)
        assert made is not None
        assert added is not None
        assert apply_suggestion("Dry. Short. Kind.", made) == "Dry. Long. Kind."
        assert apply_suggestion("Dry.", added) == "Dry.\nShort in the morning."
        assert apply_suggestion("", added) == "Short in the morning."
        with pytest.raises(InvalidInput, match="stands there no more"):
            apply_suggestion("Dry.", made)
