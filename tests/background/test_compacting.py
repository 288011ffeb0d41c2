"""Summaries are folded level by level; nothing is lost when a model fails."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.background.compacting import (
    MOST_IN_ALL,
    MOST_WORDS,
    RULE,
    Compacted,
    compact,
    count_words,
    due_for_folding,
    fold_by_rules,
    folded_from,
)
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import ModelUnavailable, StaleDecision
from oldfriend.domain.ids import ObjectId, PersonId, SegmentId, SummaryId, new_id
from oldfriend.domain.memories import Summary
from oldfriend.llm.model import Completion, Request, Say
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.beliefs import list_summaries
from oldfriend.memory.changes import Ground, check_fold, decide, list_changes_of
from oldfriend.memory.withdrawing import end_summaries
from tests.memory.conftest import Friend

FOLDED = json.dumps({"text": "Five days in short.", "topics": ["rent", " rent", "Marta"]})


def summary(day: int, text: str = "", *, level: int = 1, person: str = "p") -> Summary:
    """What was said on a day."""
    at = 20_000 * DAY + day * DAY
    return Summary(
        id=SummaryId(ObjectId(new_id(at))), person=PersonId(person), level=level,
        text=text or f"On day {day} met Marta.", language="en", topics=("Marta", f"day {day}"),
        segments=(SegmentId(f"s{day}"),), from_at=at, until_at=at + 1, learned_at=at,
    )  # fmt: skip


async def learns(friend: Friend, *days: int) -> None:
    """A summary for each of these days."""
    async with friend.db.writing() as tx:
        for day in days:
            after, ground = summary(day, person=friend.person.id), Ground(author="t")
            await decide(tx, after, op="learned", base=0, ground=ground, now=friend.clock())


async def compacts(friend: Friend, model: ScriptedModel | None = None) -> Compacted:
    """Fold what is due."""
    return await compact(friend.db, friend.person.id, model=model, now=friend.clock())


async def levels(friend: Friend) -> list[int]:
    """The levels of what is active; the fold of what was decided is what is stored."""
    async with friend.db.reading() as tx:
        assert await check_fold(tx, friend.person.id) == []
        return [each.level for each in await list_summaries(tx, friend.person.id)]


async def test_the_sixth_folds_the_five_oldest(nora: Friend) -> None:
    """Not before; the new one covers all that they covered, and they are kept aside."""
    await learns(nora, 1, 2, 3, 4, 5)
    assert await compacts(nora, ScriptedModel([FOLDED])) == Compacted()
    await learns(nora, 0)

    (folded,) = (await compacts(nora, model := ScriptedModel([FOLDED]))).folded

    async with nora.db.reading() as tx:
        active = await list_summaries(tx, nora.person.id)
        whole = await list_summaries(tx, nora.person.id, active=False)
        (decided,) = await list_changes_of(tx, nora.person.id, folded.id)
    assert [(each.level, each.segments) for each in active] == [
        (2, ("s0", "s1", "s2", "s3", "s4")), (1, ("s5",)),
    ]  # fmt: skip
    assert active[0] == folded
    assert (folded.text, folded.topics) == ("Five days in short.", ("rent", "Marta"))
    assert set(folded.sources) == {each.id for each in whole if not each.is_active}
    assert (decided.author, model.asked[0].purpose) == ("summarise/1", "summary")
    assert model.asked[0].shown == folded.sources
    assert await levels(nora) == [2, 1]


async def test_levels_are_folded_like_what_is_below_them(nora: Friend) -> None:
    """A year of days leaves no more than ten, and every day is in exactly one of them."""
    for day in range(160):
        await learns(nora, day)
        await compacts(nora)
        async with nora.db.reading() as tx:
            active = await list_summaries(tx, nora.person.id)
        assert len(active) <= MOST_IN_ALL
    covered = [segment for each in active for segment in each.segments]

    assert max(each.level for each in active) >= 3
    assert sorted(covered) == sorted(f"s{day}" for day in range(160))
    assert await levels(nora) == [each.level for each in active]


@pytest.mark.parametrize(
    "failing",
    [
        ModelUnavailable("away"), "no idea", json.dumps({"text": " ", "topics": []}),
        json.dumps({"text": "word " * 90, "topics": []}), json.dumps({"text": "ok"}),
    ],
)  # fmt: skip
async def test_a_model_that_fails_changes_nothing_and_is_named(
    nora: Friend, failing: str | ModelUnavailable
) -> None:
    """They stay as they are, and are folded the next time; also what is longer than its sources."""
    await learns(nora, *range(6))

    done = await compacts(nora, ScriptedModel([failing]))

    assert done.folded == ()
    assert done.failed
    assert await levels(nora) == [1] * 6
    assert len((await compacts(nora, ScriptedModel([FOLDED]))).folded) == 1


async def test_what_was_folded_comes_back_when_the_fold_ends(nora: Friend) -> None:
    """A segment in it was changed or forgotten: what is left is told anew without it."""
    await learns(nora, *range(6))
    (folded,) = (await compacts(nora)).folded

    async with nora.db.writing() as tx:
        ground = Ground(author="t")
        await end_summaries(tx, nora.person.id, [SegmentId("s2")], ground=ground, now=nora.clock())
    assert await levels(nora) == [1] * 5
    await learns(nora, 9)
    (anew,) = (await compacts(nora)).folded

    assert "day 2" in folded.text
    assert "day 2" not in anew.text
    assert anew.segments == ("s0", "s1", "s3", "s4", "s5")


async def test_what_changed_while_a_model_wrote_is_not_folded(nora: Friend) -> None:
    """A segment is taken back meanwhile: nothing that tells of it is written."""
    await learns(nora, *range(6))

    class Meanwhile(ScriptedModel):
        async def complete(self, request: Request, say: Say | None = None) -> Completion:
            async with nora.db.writing() as tx:
                ground, now = Ground(author="t"), nora.clock()
                await end_summaries(tx, nora.person.id, [SegmentId("s2")], ground=ground, now=now)
            return await ScriptedModel.complete(self, request, say)

    with pytest.raises(StaleDecision):
        await compacts(nora, Meanwhile([FOLDED]))

    assert await levels(nora) == [1] * 5


async def test_only_ones_own_are_folded(nora: Friend, omar: Friend) -> None:
    """Five of one and one of another are not six."""
    await learns(nora, *range(5))
    await learns(omar, 5)

    assert await compacts(nora) == await compacts(omar) == Compacted()


def test_without_a_model_the_most_telling_sentences_stay() -> None:
    """Each once, in their order, as they stand there, and not more than there is room for."""
    filler = "Talked about this and that and about nothing much at all. "
    sources = [
        summary(day, f"{filler * 3}Moved to Porto in May {2010 + day}. {'Chatted on. ' * day}")
        for day in range(5)
    ]

    told = fold_by_rules(sources)

    assert told.author == RULE
    assert told.topics[0] == "Marta"
    assert told.text.count("Talked about") == 1
    places = [told.text.index(f"Moved to Porto in May {2010 + day}.") for day in range(5)]
    assert places == sorted(places)


def test_what_is_too_much_leaves_the_names_and_dates() -> None:
    """When not everything has room, what tells nothing goes first."""
    chat = " ".join(f"so they went on and on about word{n} again and again." for n in range(60))
    sources = [summary(day, f"{chat} Ana married Tom on 3 May 2019.") for day in range(5)]

    told = fold_by_rules(sources)

    assert "Ana married Tom on 3 May 2019." in told.text
    assert count_words(told.text) <= MOST_WORDS


@pytest.mark.parametrize(
    "text", ["搬到了波尔图。和小马吵架了。", "Zog nach Porto. Stritt mit Marta."]
)
def test_a_language_without_spaces_has_none_between_its_sentences(text: str) -> None:
    """And others have."""
    assert fold_by_rules([summary(1, text)]).text == text


@given(st.lists(st.integers(1, 5), max_size=40))
def test_folding_always_ends_with_room(below: list[int]) -> None:
    """From whatever levels: at most five of each and ten in all, and nothing is left out."""
    active = [summary(day, level=level) for day, level in enumerate(below)]
    covered = {segment for each in active for segment in each.segments}

    while sources := due_for_folding(active):
        assert len(sources) > 1
        new = folded_from(sources, fold_by_rules(sources), now=0)
        active = [each for each in active if each not in sources] + [new]

    assert len(active) <= MOST_IN_ALL
    assert {segment for each in active for segment in each.segments} == covered
