"""What is believed is the fold of what was decided."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oldfriend.domain.errors import NotFound, OldfriendError, StaleDecision
from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import (
    JOURNAL_VERSION,
    Cause,
    Entity,
    JournalEntry,
    JournalObject,
    ObjectLink,
    StoredBelief,
    Summary,
)
from oldfriend.memory.belief_views import get_memory, list_memories
from oldfriend.memory.journal import (
    Provenance,
    count_changes_by_day,
    get_latest_seq,
    list_journal,
    list_journal_as_of,
    list_view_mismatches,
    load_views,
    rebuild_views,
    record_decision,
)
from tests.two_people import Friend

RELEASED = Path(__file__).parent / "released"

CAUSE = Cause(message="m", version=1)


def belief(friend: Friend, text: str) -> StoredBelief:
    """Something that might be believed."""
    return StoredBelief(
        id=new_id(friend.clock()),
        person=friend.person.id,
        kind="note",
        text=text,
        language="en",
        learned_at=friend.clock(),
    )


async def decided(
    friend: Friend, after: JournalObject, *, base: int, ended: bool = False, author: str = "person"
) -> JournalEntry:
    """Decide, in a transaction of its own."""
    async with friend.db.begin_write() as tx:
        ground = Provenance(author=author, causes=(CAUSE,))
        op = "ended" if ended else "learned"
        return await record_decision(
            tx, after, op=op, base=base, provenance=ground, now=friend.clock()
        )


async def test_journal_entry_is_read_back_complete(nora: Friend) -> None:
    """Who decided, when, because of what, and on top of which earlier decision."""
    change = await decided(nora, belief(nora, "drinks “té” ☕"), base=0)

    async with nora.db.begin_read() as tx:
        assert await list_journal(tx, nora.person.id) == [change]
    assert (change.seq, change.format_version, change.causes) == (1, JOURNAL_VERSION, (CAUSE,))


async def test_a_stale_decision_is_refused_and_leaves_nothing(nora: Friend) -> None:
    """What it rested on has changed since; it is to be made again."""
    first = belief(nora, "lives in Porto")
    await decided(nora, first, base=0)
    second = await decided(nora, replace(first, text="lives in Lisbon"), base=1)

    for stale in (0, 1, second.seq + 1):
        with pytest.raises(StaleDecision):
            await decided(nora, replace(first, text="lives in Faro"), base=stale)

    async with nora.db.begin_read() as tx:
        assert (await get_memory(tx, nora.person.id, first.id)).text == "lives in Lisbon"
        assert await get_latest_seq(tx, nora.person.id, first.id) == second.seq
        assert len(await list_journal(tx, nora.person.id)) == 2
    assert (await decided(nora, belief(nora, "next"), base=0)).seq == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 3), st.text(st.characters(exclude_categories=["Cs"])), st.booleans()
        ),
        max_size=12,
    )
)
async def test_view_equals_the_fold_of_the_journal(
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

    async with nora.db.begin_read() as tx:
        assert await list_view_mismatches(tx, nora.person.id) == []
        journal = await list_journal(tx, nora.person.id)
        view = {k.memory.id: k.memory for k in await list_memories(tx, nora.person.id, live=False)}
    assert view == {change.object_id: change.after for change in journal}
    assert [change.seq for change in journal] == list(range(1, len(journal) + 1))


async def test_tampered_view_rows_are_reported_as_mismatches(nora: Friend) -> None:
    """A changed row, a row from nowhere, and a row that is gone."""
    changed, gone = belief(nora, "true"), belief(nora, "also true")
    await decided(nora, changed, base=0)
    await decided(nora, gone, base=0)
    async with nora.db.begin_write() as tx:
        await tx.run("UPDATE memory SET text = 'false' WHERE id = :id", id=changed.id)
        await tx.run("DELETE FROM memory WHERE id = :id", id=gone.id)
        await tx.run(
            """INSERT INTO memory (id, person, kind, text, language, learned_at, change_seq)
               VALUES ('made up', :person, 'note', '', 'en', 0, 9)""",
            person=nora.person.id,
        )
        found = await list_view_mismatches(tx, nora.person.id)

    assert found == sorted([changed.id, gone.id, "made up"])


async def test_decision_about_another_persons_belief_is_rejected(
    nora: Friend, omar: Friend
) -> None:
    """Not even with the right id."""
    hers = belief(nora, "hers")
    await decided(nora, hers, base=0)

    with pytest.raises(OldfriendError):
        await decided(omar, replace(hers, person=omar.person.id, text="his"), base=0)

    async with nora.db.begin_read() as tx:
        assert [k.memory for k in await list_memories(tx, nora.person.id)] == [hers]
        assert await list_view_mismatches(tx, nora.person.id) == []
        assert await list_journal(tx, omar.person.id) == []
        with pytest.raises(NotFound):
            await get_memory(tx, omar.person.id, hers.id)


async def test_journal_as_of_a_time_gives_the_decisions_made_by_then(nora: Friend) -> None:
    """Not what is believed now; what had ended by then says so."""
    home = belief(nora, "lives in Porto")
    days = [nora.clock()]
    first = await decided(nora, home, base=0)
    days.append(nora.clock.tick(minutes=1))
    moved = replace(home, text="lives in Lisbon")
    second = await decided(nora, moved, base=first.seq)
    days.append(nora.clock.tick(minutes=1))
    await decided(nora, replace(moved, ended_at=days[2]), base=second.seq, ended=True)

    async with nora.db.begin_read() as tx:
        then = [await list_journal_as_of(tx, nora.person.id, day) for day in (days[0] - 1, *days)]
    texts = [[(each.after.text, each.after.ended_at) for each in day] for day in then]
    assert texts == [
        [],
        [("lives in Porto", None)],
        [("lives in Lisbon", None)],
        [("lives in Lisbon", days[2])],
    ]


async def test_each_belief_counts_once_on_a_day_however_often_it_was_decided(nora: Friend) -> None:
    """By what the day made of it; what came and went within it was never there."""
    home, passing = belief(nora, "lives in Porto"), belief(nora, "thinks of Faro")
    for base, text in enumerate(("lives in Porto", "lives in Porto now", "lives in Lisbon")):
        await decided(nora, replace(home, text=text), base=base)
    went = await decided(nora, passing, base=0)
    await decided(nora, replace(passing, ended_at=nora.clock()), base=went.seq, ended=True)
    nora.clock.tick(minutes=24 * 60)
    await decided(nora, replace(home, ended_at=nora.clock()), base=3, ended=True)

    async with nora.db.begin_read() as tx:
        days = await count_changes_by_day(tx, nora.person.id, zone="UTC")
    assert [(each.added, each.changed, each.ended) for each in days] == [(1, 0, 0), (0, 0, 1)]


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
MANY = st.lists(NAMES, max_size=3).map(tuple)
MOMENTS = st.none() | st.integers(0, 1 << 52)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_every_object_kind_round_trips_through_journal_and_views(
    nora: Friend, data: st.DataObject
) -> None:
    """From the journal, from the view, and from a view that was folded anew."""
    now, person = nora.clock.tick(seconds=1), nora.person.id
    memory = data.draw(
        st.builds(
            StoredBelief,
            id=st.just(new_id(now)),
            person=st.just(person),
            kind=st.just("event"),
            text=NAMES,
            language=NAMES,
            key=NAMES,
            value=NAMES,
            impact=st.integers(-10, 10),
            tags=MANY,
            entities=MANY,
            happened_at=MOMENTS,
            holds_until=MOMENTS,
            due_at=MOMENTS,
            relations=st.lists(
                st.builds(ObjectLink, kind=st.just("supersedes"), target=NAMES), max_size=2
            ).map(tuple),
            is_pinned=st.booleans(),
            importance=st.floats(0, 1),
            learned_at=st.just(now),
        )
    )
    entity = data.draw(
        st.builds(
            Entity,
            id=st.just(new_id(now)),
            person=st.just(person),
            name=NAMES,
            kind=st.just("pet"),
            aliases=MANY,
            description=NAMES,
            same_as=st.none() | NAMES,
            is_by_person=st.booleans(),
            learned_at=st.just(now),
        )
    )
    summary = data.draw(
        st.builds(
            Summary,
            id=st.just(new_id(now)),
            person=st.just(person),
            level=st.integers(1, 5),
            text=NAMES,
            language=NAMES,
            topics=MANY,
            segments=MANY,
            sources=MANY,
            from_at=st.just(now),
            until_at=st.just(now),
            is_active=st.booleans(),
            learned_at=st.just(now),
        )
    )
    for each in (memory, entity, summary):
        await decided(nora, each, base=0)

    async with nora.db.begin_write() as tx:
        journal = {change.object_id: change.after for change in await list_journal(tx, person)}
        before = await load_views(tx, person)
        assert await list_view_mismatches(tx, person) == []
        await rebuild_views(tx, person)
        assert await load_views(tx, person) == before
    for each in (memory, entity, summary):
        assert journal[each.id] == before[each.id][0] == each


@pytest.mark.parametrize("version", [1, 2, 3, JOURNAL_VERSION])
async def test_journal_changes_of_every_released_format_version_are_read(
    nora: Friend, version: int
) -> None:
    """As they were written then, they fold to what was meant then."""
    written = json.loads((RELEASED / f"change_v{version}.json").read_text("utf-8"))
    async with nora.db.begin_write() as tx:
        for row in written["rows"]:
            await tx.run(
                """INSERT INTO change (person, seq, object, kind, op, v, learned_at, after,
                     cause, author, base)
                   VALUES (:person, :seq, :object, :kind, :op, :v, :learned_at, :after,
                     :cause, :author, :base)""",
                person=nora.person.id,
                **{**row, "after": json.dumps({**row["after"], **whose(nora, row)})},
            )
        await rebuild_views(tx, nora.person.id)
        known = await list_memories(tx, nora.person.id, live=False)

    told = [
        {name: listed(getattr(each.memory, name)) for name in written["expected"][0]}
        for each in known
    ]
    assert told == written["expected"]


def whose(friend: Friend, row: dict[str, int]) -> dict[str, str]:
    """The person of the test, where a change names one."""
    return {"person": friend.person.id} if row["v"] > 1 else {}


def listed(value: object) -> object:
    """A value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value
