"""Summaries are folded level by level; nothing is lost when a model fails."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import DAY, HOUR
from oldfriend.domain.errors import ModelUnavailable, StaleDecision
from oldfriend.domain.ids import ObjectId, PersonId, SegmentId, SummaryId, new_id
from oldfriend.domain.memories import Summary
from oldfriend.learning.summary_rollup import (
    MAX_SUMMARIES,
    RollupResult,
    SummaryDraft,
    build_rollup,
    roll_up,
    select_for_rollup,
)
from oldfriend.llm.model import Completion, CompletionRequest, TextCallback
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.belief_views import list_summaries
from oldfriend.memory.journal import (
    Provenance,
    list_object_journal,
    list_view_mismatches,
    record_decision,
)
from oldfriend.memory.retraction import end_summaries
from tests.two_people import Friend

FOLDED = json.dumps({"text": "Five days in short.", "topics": ["rent", " rent", "Marta"]})


def summary(day: int, text: str = "", *, level: int = 1, person: str = "p") -> Summary:
    """What was said on a day."""
    at = 20_000 * DAY + day * DAY
    return Summary(
        id=SummaryId(ObjectId(new_id(at))),
        person=PersonId(person),
        level=level,
        text=text or f"On day {day} met Marta.",
        language="en",
        topics=("Marta", f"day {day}"),
        segments=(SegmentId(f"s{day}"),),
        from_at=at,
        until_at=at + 1,
        learned_at=at,
    )


async def learns(friend: Friend, *days: int) -> None:
    """A summary for each of these days."""
    async with friend.db.begin_write() as tx:
        for day in days:
            after, ground = summary(day, person=friend.person.id), Provenance(author="t")
            await record_decision(
                tx, after, op="learned", base=0, provenance=ground, now=friend.clock()
            )


def quoting(request: CompletionRequest) -> str:
    """The answer of a model that says all that it was shown once more."""
    told = re.findall(r"On day \d+ met Marta\.", request.turns[0].text)
    return json.dumps({"text": " ".join(told), "topics": []})


async def compacts(friend: Friend, model: ScriptedModel | None = None) -> RollupResult:
    """Fold what is due."""
    model = model or ScriptedModel(lambda request: FOLDED)
    return await roll_up(friend.db, friend.person.id, model=model, now=friend.clock())


async def levels(friend: Friend) -> list[int]:
    """The levels of what is active; the fold of what was decided is what is stored."""
    async with friend.db.begin_read() as tx:
        assert await list_view_mismatches(tx, friend.person.id) == []
        return [each.level for each in await list_summaries(tx, friend.person.id)]


async def test_sixth_summary_rolls_up_the_five_oldest(nora: Friend) -> None:
    """Not before; the new one covers all that they covered, and they are kept aside."""
    await learns(nora, 1, 2, 3, 4, 5)
    assert await compacts(nora, ScriptedModel([FOLDED])) == RollupResult()
    await learns(nora, 0)

    (folded,) = (await compacts(nora, model := ScriptedModel([FOLDED]))).summaries

    async with nora.db.begin_read() as tx:
        active = await list_summaries(tx, nora.person.id)
        whole = await list_summaries(tx, nora.person.id, active=False)
        (decided,) = await list_object_journal(tx, nora.person.id, folded.id)
    assert [(each.level, each.segments) for each in active] == [
        (2, ("s0", "s1", "s2", "s3", "s4")),
        (1, ("s5",)),
    ]
    assert active[0] == folded
    assert (folded.text, folded.topics) == ("Five days in short.", ("rent", "Marta"))
    assert set(folded.sources) == {each.id for each in whole if not each.is_active}
    assert (decided.author, model.requests[0].purpose) == ("summarise/2", "summary")
    assert model.requests[0].shown == folded.sources
    assert await levels(nora) == [2, 1]


async def test_rollup_prompt_dates_use_the_persons_time_zone(nora: Friend) -> None:
    """What was said half an hour after midnight in Lisbon was said on that day."""
    late = 23 * HOUR + HOUR // 2
    async with nora.db.begin_write() as tx:
        for day in range(6):
            plain = summary(day, person=nora.person.id)
            after = replace(plain, from_at=plain.from_at + late, until_at=plain.until_at + late)
            ground = Provenance(author="t")
            await record_decision(
                tx, after, op="learned", base=0, provenance=ground, now=nora.clock()
            )
    await compacts(nora, model := ScriptedModel([FOLDED]))

    days = re.findall(r'from="([^"]*)" until="([^"]*)"', model.requests[0].turns[0].text)
    assert days[0] == ("2024-10-05", "2024-10-05")


async def test_higher_summary_levels_are_rolled_up_and_cover_every_segment_once(
    nora: Friend,
) -> None:
    """A year of days leaves no more than ten, and every day is in exactly one of them."""
    for day in range(160):
        await learns(nora, day)
        await compacts(nora)
        async with nora.db.begin_read() as tx:
            active = await list_summaries(tx, nora.person.id)
        assert len(active) <= MAX_SUMMARIES
    covered = [segment for each in active for segment in each.segments]

    assert max(each.level for each in active) >= 3
    assert sorted(covered) == sorted(f"s{day}" for day in range(160))
    assert await levels(nora) == [each.level for each in active]


@pytest.mark.parametrize(
    "failing",
    [
        ModelUnavailable("away"),
        "no idea",
        json.dumps({"text": " ", "topics": []}),
        json.dumps({"text": "word " * 90, "topics": []}),
        json.dumps({"text": "ok"}),
    ],
)
async def test_failed_rollup_changes_nothing_and_returns_the_error(
    nora: Friend, failing: str | ModelUnavailable
) -> None:
    """They stay as they are, and are folded the next time; also what is longer than its sources."""
    await learns(nora, *range(6))

    done = await compacts(nora, ScriptedModel([failing]))

    assert done.summaries == ()
    assert done.error
    assert await levels(nora) == [1] * 6
    assert len((await compacts(nora, ScriptedModel([FOLDED]))).summaries) == 1


async def test_ended_rollup_reactivates_its_remaining_sources(nora: Friend) -> None:
    """A segment in it was changed or forgotten: what is left is told anew without it."""
    await learns(nora, *range(6))
    (folded,) = (await compacts(nora, ScriptedModel(quoting))).summaries

    async with nora.db.begin_write() as tx:
        ground = Provenance(author="t")
        await end_summaries(
            tx, nora.person.id, [SegmentId("s2")], provenance=ground, now=nora.clock()
        )
    assert await levels(nora) == [1] * 5
    await learns(nora, 9)
    (anew,) = (await compacts(nora, ScriptedModel(quoting))).summaries

    assert "day 2" in folded.text
    assert "day 2" not in anew.text
    assert anew.segments == ("s0", "s1", "s3", "s4", "s5")


async def test_rollup_fails_as_stale_when_a_source_ended_during_the_model_call(
    nora: Friend,
) -> None:
    """A segment is taken back meanwhile: nothing that tells of it is written."""
    await learns(nora, *range(6))

    class Meanwhile(ScriptedModel):
        async def complete(
            self, request: CompletionRequest, say: TextCallback | None = None
        ) -> Completion:
            async with nora.db.begin_write() as tx:
                ground, now = Provenance(author="t"), nora.clock()
                await end_summaries(
                    tx, nora.person.id, [SegmentId("s2")], provenance=ground, now=now
                )
            return await ScriptedModel.complete(self, request, say)

    with pytest.raises(StaleDecision):
        await compacts(nora, Meanwhile([FOLDED]))

    assert await levels(nora) == [1] * 5


async def test_rollup_counts_each_persons_summaries_separately(nora: Friend, omar: Friend) -> None:
    """Five of one and one of another are not six."""
    await learns(nora, *range(5))
    await learns(omar, 5)

    assert await compacts(nora) == await compacts(omar) == RollupResult()


@given(st.lists(st.integers(1, 5), max_size=40))
def test_repeated_rollup_stays_within_the_limit_and_loses_no_segment(below: list[int]) -> None:
    """From whatever levels: at most five of each and ten in all, and nothing is left out."""
    active = [summary(day, level=level) for day, level in enumerate(below)]
    covered = {segment for each in active for segment in each.segments}

    while sources := select_for_rollup(active):
        assert len(sources) > 1
        new = build_rollup(sources, SummaryDraft(text="In short.", topics=()), now=0)
        active = [each for each in active if each not in sources] + [new]

    assert len(active) <= MAX_SUMMARIES
    assert {segment for each in active for segment in each.segments} == covered
