"""What is believed is the fold of what was decided."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oldfriend.domain.errors import NotFound, OldfriendError, StaleDecision
from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import CHANGE_VERSION, Cause, Change, Memory
from oldfriend.memory.changes import (
    check_fold,
    decide,
    get_memory,
    list_changes,
    list_view,
    newest_change_of,
)
from tests.memory.conftest import Friend

CAUSE = Cause(message="m", version=1)


def belief(friend: Friend, text: str) -> Memory:
    """Something that might be believed."""
    return Memory(
        id=new_id(friend.clock()), person=friend.person.id, kind="note", text=text, language="en",
        learned_at=friend.clock(),
    )  # fmt: skip


async def decided(
    friend: Friend, after: Memory, *, base: int, ended: bool = False, author: str = "person"
) -> Change:
    """Decide, in a transaction of its own."""
    async with friend.db.writing() as tx:
        return await decide(
            tx, after, op="ended" if ended else "learned", causes=[CAUSE], author=author, base=base
        )


async def test_a_decision_can_be_read_back_whole(nora: Friend) -> None:
    """Who decided, when, because of what, and on top of which earlier decision."""
    change = await decided(nora, belief(nora, "drinks “té” ☕"), base=0)

    async with nora.db.reading() as tx:
        assert await list_changes(tx, nora.person.id) == [change]
    assert (change.seq, change.v, change.causes) == (1, CHANGE_VERSION, (CAUSE,))


async def test_a_stale_decision_is_refused_and_leaves_nothing(nora: Friend) -> None:
    """What it rested on has changed since; it is to be made again."""
    first = belief(nora, "lives in Porto")
    await decided(nora, first, base=0)
    second = await decided(nora, replace(first, text="lives in Lisbon"), base=1)

    for stale in (0, 1, second.seq + 1):
        with pytest.raises(StaleDecision):
            await decided(nora, replace(first, text="lives in Faro"), base=stale)

    async with nora.db.reading() as tx:
        assert (await get_memory(tx, nora.person.id, first.id)).text == "lives in Lisbon"
        assert await newest_change_of(tx, nora.person.id, first.id) == second.seq
        assert len(await list_changes(tx, nora.person.id)) == 2
    assert (await decided(nora, belief(nora, "next"), base=0)).seq == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 3), st.text(st.characters(exclude_categories=["Cs"])),
                  st.booleans()),
        max_size=12,
    )
)  # fmt: skip
async def test_folding_the_journal_finds_the_view_again(
    nora: Friend, steps: list[tuple[int, str, bool]]
) -> None:
    """Whatever was learned, changed and ended, in whichever order."""
    beliefs = [belief(nora, "") for _ in range(4)]
    bases = [0, 0, 0, 0]
    for which, text, ends in steps:
        clean = text.replace("\0", "")
        ended_at = nora.clock.tick(seconds=1) if ends else None
        after = replace(beliefs[which], text=clean, ended_at=ended_at)
        bases[which] = (await decided(nora, after, base=bases[which], ended=ends)).seq

    async with nora.db.reading() as tx:
        assert await check_fold(tx, nora.person.id) == []
        journal = await list_changes(tx, nora.person.id)
        view = {memory.id: memory for memory in await list_view(tx, nora.person.id)}
    assert view == {change.object: change.after for change in journal}
    assert [change.seq for change in journal] == list(range(1, len(journal) + 1))


async def test_a_view_that_was_tampered_with_is_found_out(nora: Friend) -> None:
    """A changed row, a row from nowhere, and a row that is gone."""
    changed, gone = belief(nora, "true"), belief(nora, "also true")
    await decided(nora, changed, base=0)
    await decided(nora, gone, base=0)
    async with nora.db.writing() as tx:
        await tx.run("UPDATE memory SET text = 'false' WHERE id = :id", id=changed.id)
        await tx.run("DELETE FROM memory WHERE id = :id", id=gone.id)
        await tx.run(
            """INSERT INTO memory (id, person, kind, text, language, learned_at, change_seq)
               VALUES ('made up', :person, 'note', '', 'en', 0, 9)""",
            person=nora.person.id,
        )
        found = await check_fold(tx, nora.person.id)

    assert found == sorted([changed.id, gone.id, "made up"])


async def test_nobody_can_decide_about_what_another_person_is_believed(
    nora: Friend, omar: Friend
) -> None:
    """Not even with the right id."""
    hers = belief(nora, "hers")
    await decided(nora, hers, base=0)

    with pytest.raises(OldfriendError):
        await decided(omar, replace(hers, person=omar.person.id, text="his"), base=0)

    async with nora.db.reading() as tx:
        assert await list_view(tx, nora.person.id) == [hers]
        assert await check_fold(tx, nora.person.id) == []
        assert await list_changes(tx, omar.person.id) == []
        with pytest.raises(NotFound):
            await get_memory(tx, omar.person.id, hers.id)
