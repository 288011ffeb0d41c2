"""What is named is chosen, and nothing else."""

import pytest

from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.memory.deletion.selection import DeletionRequest, has_any_name, select_for_deletion
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.message_log import edit_message
from tests.two_people import Friend


async def knows(friend: Friend, name: str, *, aliases: tuple[str, ...] = ()) -> Entity:
    """Somebody is known by name."""
    now = friend.clock.tick(seconds=1)
    entity = Entity(
        id=new_id(now),
        person=friend.person.id,
        name=name,
        kind="person",
        aliases=aliases,
        learned_at=now,
    )
    async with friend.db.begin_write() as tx:
        await record_decision(
            tx, entity, op="learned", base=0, provenance=Provenance(author="x"), now=now
        )
    return entity


async def texts_chosen(friend: Friend, wish: DeletionRequest) -> list[str]:
    """The words of all that goes."""
    async with friend.db.begin_read() as tx:
        chosen = await select_for_deletion(tx, friend.person.id, wish)
        rows = await tx.rows("SELECT seq, text FROM message ORDER BY seq")
    return [text for seq, text in rows if seq in chosen.seqs]


async def test_message_is_selected_by_id_suffix_with_all_versions(nora: Friend) -> None:
    """What it said before an edit goes, too."""
    first = await nora.says("first")
    await nora.says("other")
    assert first is not None
    async with nora.db.begin_write() as tx:
        await edit_message(tx, nora.person.id, first.id, "second", now=0)

    assert await texts_chosen(nora, DeletionRequest(ids=(first.id[-8:],))) == ["first", "second"]
    assert await texts_chosen(nora, DeletionRequest(ids=(first.id.upper(),))) == ["first", "second"]


@pytest.mark.parametrize("prefix", ["abc", "", "%%%%", "____"])
async def test_invalid_id_is_rejected(nora: Friend, prefix: str) -> None:
    """Least of all does it stand for everything."""
    await nora.says("kept")
    with pytest.raises(InvalidInput):
        await texts_chosen(nora, DeletionRequest(ids=(prefix,)))


async def test_another_persons_messages_cannot_be_selected(nora: Friend, omar: Friend) -> None:
    """Not even with the whole id."""
    his = await omar.says("about Ana")
    assert his is not None
    for wish in (
        DeletionRequest(ids=(his.id,)),
        DeletionRequest(about="Ana"),
        DeletionRequest(batch=1),
    ):
        with pytest.raises(NotFound):
            await texts_chosen(nora, wish)
    assert await texts_chosen(nora, DeletionRequest(everything=True)) == []


async def test_ambiguous_id_prefix_is_rejected(nora: Friend) -> None:
    """It is asked for more of it."""
    said = [await nora.says("x") for _ in range(2)]
    assert said[0] is not None

    with pytest.raises(InvalidInput, match="several"):
        await texts_chosen(nora, DeletionRequest(ids=(said[0].id[:6],)))


async def test_about_selects_messages_and_beliefs_that_mention_the_entity(nora: Friend) -> None:
    """By name, by other names, and by what beliefs about them rest on."""
    ana = await knows(nora, "Ana", aliases=("Anita",))
    for text in ("Ana came", "ANITA sang", "bananas are ripe", "nothing of it"):
        await nora.says(text)
    told = await nora.says("she is allergic to nuts")
    assert told is not None
    now = nora.clock()
    memory = StoredBelief(
        id=new_id(now),
        person=nora.person.id,
        kind="fact",
        text="Ana is allergic to nuts.",
        language="en",
        entities=(ana.id,),
        learned_at=now,
    )
    async with nora.db.begin_write() as tx:
        await record_decision(
            tx, memory, op="learned", base=0, provenance=Provenance(author="x"), now=now
        )
        words = [NewEvidence(source=told, quote="she")]
        await add_evidence(tx, nora.person.id, memory.id, words, extractor="x", now=now)
        chosen = await select_for_deletion(tx, nora.person.id, DeletionRequest(about="ana"))

    expected = ["Ana came", "ANITA sang", "she is allergic to nuts"]
    assert await texts_chosen(nora, DeletionRequest(about="anita")) == expected
    assert chosen.objects == {ana.id, memory.id}


async def test_ambiguous_entity_name_is_rejected(nora: Friend) -> None:
    """And what only mentions the name may be about the other."""
    ana, _ = await knows(nora, "Ana"), await knows(nora, "Ana")
    await nora.says("Ana came")

    with pytest.raises(InvalidInput, match="several"):
        await texts_chosen(nora, DeletionRequest(about="Ana"))
    assert await texts_chosen(nora, DeletionRequest(about=ana.id)) == []


async def test_time_range_includes_its_start_and_excludes_its_end(nora: Friend) -> None:
    """And ends before its last."""
    start = nora.clock()
    for second in range(4):
        await nora.says(str(second), at=start + second * SECOND)
    wish = DeletionRequest(since=start + SECOND, until=start + 3 * SECOND)

    assert await texts_chosen(nora, wish) == ["1", "2"]
    assert await texts_chosen(nora, DeletionRequest(since=start + 3 * SECOND)) == ["3"]
    assert await texts_chosen(nora, DeletionRequest(retained_since=start + SECOND)) == ["0"]


@pytest.mark.parametrize(
    ("text", "name", "does"),
    [
        ("Ana.", "ana", True),
        ("banana", "ana", False),
        ("和小明去", "小明", True),
        ("C++!", "c++", True),
    ],
)
def test_name_matches_only_as_a_whole_word(text: str, name: str, does: bool) -> None:
    """Except where words have no blanks between them."""
    assert has_any_name(text, [name]) is does
