"""What says the same is joined, with all its words; what faded is let go; what is kept stays."""

import json
from dataclasses import dataclass

import pytest

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import ModelUnavailable, StaleDecision
from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import MemoryState, ObjectLink, StoredBelief
from oldfriend.learning.merge_duplicates import (
    MAX_JUDGED_PAIRS,
    MAX_PATTERNS,
    merge_duplicate_memories,
)
from oldfriend.llm.model import Completion, CompletionRequest, TextCallback
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.belief_views import get_memory_state
from oldfriend.memory.evidence import (
    NewEvidence,
    add_evidence,
    list_object_evidence,
    list_stats_mismatches,
)
from oldfriend.memory.journal import (
    Provenance,
    list_object_journal,
    list_view_mismatches,
    record_decision,
)
from oldfriend.memory.vectors import save_belief_vectors
from tests.hashed_embedder import Hashed
from tests.two_people import Friend

EMBEDDER = Hashed.model
"""An embedder that was not measured, so that the usual thresholds hold for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What somebody is believed to be like."""

    friend: Friend

    async def believes(
        self, text: str, *, times: int = 1, sure: float = 0.7, like: str = "", **fields: object
    ) -> MemoryId:
        """Learn something from so many messages; it means what ``like`` does."""
        now = self.friend.clock.tick(seconds=1)
        memory = StoredBelief(
            **{
                "id": MemoryId(ObjectId(new_id(now))),
                "person": self.friend.person.id,
                "kind": "pattern",
                "text": text,
                "language": "en",
                "learned_at": now,
                **fields,
            }
        )
        said = [await self.friend.says(text) for _ in range(times)]
        async with self.friend.db.begin_write() as tx:
            await record_decision(
                tx, memory, op="learned", base=0, provenance=Provenance(author="t"), now=now
            )
            words = [NewEvidence(source=m, quote=text, confidence=sure) for m in said if m]
            await add_evidence(tx, memory.person, memory.id, words, extractor="t", now=now)
            vectors = {memory.id: Hashed.vector(like or text)}
            await save_belief_vectors(tx, memory.person, EMBEDDER, vectors)
        return memory.id

    async def known(self, memory_id: MemoryId) -> MemoryState:
        """How a belief stands."""
        async with self.friend.db.begin_read() as tx:
            return await get_memory_state(tx, self.friend.person.id, memory_id)

    async def is_sound(self) -> bool:
        """Whether everything is the fold of what was decided, and stands by its evidence."""
        person = self.friend.person.id
        async with self.friend.db.begin_read() as tx:
            return not await list_view_mismatches(tx, person) and not await list_stats_mismatches(
                tx, person
            )

    async def merges(
        self, model: ScriptedModel | None = None, *, dry_run: bool = False, since: Micros = 0
    ) -> tuple[dict[str, str], int, int]:
        """What was merged into what, how many pairs were asked about, and how many left open."""
        merged = await merge_duplicate_memories(
            self.friend.db,
            self.friend.person.id,
            model=model,
            embedder=EMBEDDER,
            now=self.friend.clock(),
            dry_run=dry_run,
            since=since,
        )
        joined = {each.weaker.memory.id: each.stronger.memory.id for each in merged.merges}
        return joined, merged.judged, merged.unclear


@pytest.fixture
def mind(nora: Friend) -> Mind:
    """Nora's."""
    return Mind(friend=nora)


def judge(*, is_same: bool) -> ScriptedModel:
    """A model that always says the same."""
    said = {"differences": [], "core_intent_match": is_same, "is_same": is_same}
    return ScriptedModel([json.dumps(said)])


async def test_weaker_duplicate_is_merged_into_the_stronger_with_evidence_and_tags(
    mind: Mind,
) -> None:
    """With its words, its tags and names, and everything that points to it."""
    strong = await mind.believes("Goes running every morning.", times=2, tags=("proud",))
    weak = await mind.believes("Every morning goes running.", tags=("calm",), entities=("e1",))
    relations = (ObjectLink(kind="supports", target=weak),)
    pointing = await mind.believes("Keeps fit.", kind="fact", relations=relations)

    assert await mind.merges() == ({weak: strong}, 0, 0)

    gone, stays = (await mind.known(weak)).memory, await mind.known(strong)
    assert (gone.status, gone.ended_at) == ("merged", mind.friend.clock())
    assert gone.relations == (ObjectLink(kind="merged_into", target=strong),)
    assert (stays.memory.tags, stays.memory.entities) == (("proud", "calm"), ("e1",))
    assert stays.stats.times_seen == 3
    linked = (await mind.known(pointing)).memory
    assert linked.relations == (ObjectLink(kind="supports", target=strong),)
    async with mind.friend.db.begin_read() as tx:
        evidence = await list_object_evidence(tx, gone.person, [weak, strong])
        decided = await list_object_journal(tx, gone.person, weak)
    assert {each: len(words) for each, words in evidence.items()} == {strong: 3}
    assert (decided[-1].op, decided[-1].author, len(decided[-1].causes)) == ("merged", "merge/1", 1)
    assert await mind.is_sound()
    assert await mind.merges() == ({}, 0, 0)


async def test_a_dry_run_only_says_what_it_would_do(mind: Mind) -> None:
    """Nothing is written."""
    strong = await mind.believes("Goes running every morning.", times=2)
    weak = await mind.believes("Every morning goes running.")

    assert await mind.merges(dry_run=True) == ({weak: strong}, 0, 0)

    assert (await mind.known(weak)).memory.status == "active"
    assert await mind.merges() == ({weak: strong}, 0, 0)


@pytest.mark.parametrize("is_same", [True, False])
async def test_unclear_pair_is_sent_to_the_judge_and_merged_by_its_verdict(
    mind: Mind, *, is_same: bool
) -> None:
    """Their vectors are alike, but not all the words agree; without a model they stay two."""
    strong = await mind.believes("Swims in the lake with Ana.", times=2)
    weak = await mind.believes("Swims in the lake with Eva.", like="Swims in the lake with Ana.")

    assert await mind.merges() == ({}, 0, 1)
    assert await mind.merges(judge(is_same=is_same)) == ({weak: strong} if is_same else {}, 1, 0)

    async with mind.friend.db.begin_read() as tx:
        changes = await list_object_journal(tx, mind.friend.person.id, weak)
    assert changes[-1].author == ("adjudicate/2" if is_same else "t")


async def test_judged_pair_is_not_sent_to_the_judge_again(mind: Mind) -> None:
    """Only if one of them was learned since."""
    await mind.believes("Swims in the lake with Ana.")
    await mind.believes("Swims in the lake with Eva.", like="Swims in the lake with Ana.")
    judged_at = mind.friend.clock()

    assert await mind.merges(judge(is_same=False), since=judged_at) == ({}, 0, 0)
    await mind.believes("Swims in the lake with Uwe.", like="Swims in the lake with Ana.")
    assert await mind.merges(judge(is_same=False), since=judged_at) == ({}, 2, 0)


async def test_judged_pairs_per_run_are_limited(mind: Mind) -> None:
    """The rest is for the next time."""
    for name in ("Ana", "Eva", "Uwe", "Tom", "Leo", "Mia", "Zoe"):
        await mind.believes(f"Swims in the lake with {name}.", like="Swims in the lake.")

    assert await mind.merges(judge(is_same=False)) == ({}, MAX_JUDGED_PAIRS, 21 - MAX_JUDGED_PAIRS)


@pytest.mark.parametrize("kept", [{"is_pinned": True}, {"is_by_person": True}])
async def test_pinned_or_person_written_belief_is_never_merged_away(
    mind: Mind, kept: dict[str, object]
) -> None:
    """However weak it is: the other is merged into it; two such stay two."""
    other = await mind.believes("Every morning goes running.", times=3)
    mine = await mind.believes("Goes running every morning.", **kept)

    assert await mind.merges() == ({other: mine}, 0, 0)

    await mind.believes("Runs every morning, goes running.", like="a", **kept)
    await mind.believes("Goes running, runs every morning.", like="a", **kept)
    assert await mind.merges() == ({}, 0, 0)


async def test_duplicate_events_are_merged_only_within_thirty_days(mind: Mind) -> None:
    """What happens again later has happened twice; a peak keeps its height and its sign."""
    text, day = "Quarrelled with Marta about the rent.", 20_000 * DAY
    first = await mind.believes(text, kind="event", happened_at=day, impact=-3, times=2)
    again = await mind.believes(text, kind="event", happened_at=day + 9 * DAY, impact=-8)
    later = await mind.believes(text, kind="event", happened_at=day + 45 * DAY, impact=-3)

    assert await mind.merges() == ({again: first}, 0, 0)

    joined = (await mind.known(first)).memory
    assert (joined.impact, joined.happened_at) == (-8, day)
    assert (await mind.known(later)).memory.status == "active"


async def test_events_of_opposite_impact_are_merged_only_by_the_judge(mind: Mind) -> None:
    """And when somebody says that they are one, the sign of the stronger stays."""
    grief = await mind.believes("Left the old house.", kind="event", impact=-8, times=2)
    joy = await mind.believes("Left the old house.", kind="event", impact=9)

    assert await mind.merges() == ({}, 0, 1)
    assert await mind.merges(judge(is_same=True)) == ({joy: grief}, 1, 0)
    assert (await mind.known(grief)).memory.impact == -8


async def test_repeated_merging_joins_all_duplicates_into_one(mind: Mind) -> None:
    """Whatever their order, after a few times at the latest."""
    texts = ["Goes running every morning.", "Every morning goes running."] * 3
    ids = [
        await mind.believes(text, times=1 + place % 3, tags=(f"tag{place}",))
        for place, text in enumerate(texts)
    ]

    while (await mind.merges())[0]:
        assert await mind.is_sound()

    (last,) = [k for each in ids if (k := await mind.known(each)).memory.status == "active"]
    assert last.stats.times_seen == 12
    assert sorted(last.memory.tags) == [f"tag{place}" for place in range(6)]


async def test_merge_fails_as_stale_when_a_belief_changed_during_judging(mind: Mind) -> None:
    """The person corrects the stronger one while a model thinks; nothing at all is written."""
    strong = await mind.believes("Swims in the lake with Ana.", times=2)
    weak = await mind.believes("Swims in the lake with Eva.", like="Swims in the lake with Ana.")
    base = (await mind.known(strong)).base_seq
    before = (await mind.known(strong)).memory

    class Meanwhile(ScriptedModel):
        async def complete(
            self, request: CompletionRequest, say: TextCallback | None = None
        ) -> Completion:
            async with mind.friend.db.begin_write() as tx:
                ground, now = Provenance(author="person"), mind.friend.clock()
                await record_decision(
                    tx, before, op="corrected", base=base, provenance=ground, now=now
                )
            return await ScriptedModel.complete(self, request, say)

    with pytest.raises(StaleDecision):
        await mind.merges(Meanwhile(judge(is_same=True).answers))

    assert (await mind.known(weak)).memory.status == "active"
    assert await mind.is_sound()


async def test_model_outage_during_merging_writes_nothing(mind: Mind) -> None:
    """It is raised, so that the job comes again."""
    await mind.believes("Swims in the lake with Ana.")
    await mind.believes("Swims in the lake with Eva.", like="Swims in the lake with Ana.")
    strong = await mind.believes("Goes running every morning.", times=2)
    weak = await mind.believes("Every morning goes running.")

    with pytest.raises(ModelUnavailable):
        await mind.merges(ScriptedModel([ModelUnavailable("away")]))

    assert (await mind.known(weak)).memory.status == "active"
    assert await mind.merges() == ({weak: strong}, 0, 1)


@pytest.mark.parametrize(
    ("fields", "is_let_go"),
    [
        ({}, True),
        ({"kind": "fact"}, True),
        ({"sure": 0.3}, False),
        ({"times": 2}, False),
        ({"is_pinned": True}, False),
        ({"is_by_person": True}, False),
        ({"kind": "event", "impact": -9}, False),
        ({"kind": "commitment"}, False),
    ],
)
async def test_unsure_belief_seen_once_is_deprecated_after_ninety_days(
    mind: Mind, fields: dict[str, object], *, is_let_go: bool
) -> None:
    """Seen once, more than ninety days ago; not what the person keeps, promises, or peaks."""
    memory = await mind.believes("Perhaps collects stamps.", **{"sure": 0.2, **fields})
    mind.friend.clock.tick(minutes=89 * 24 * 60)
    await mind.merges()
    assert (await mind.known(memory)).memory.status == "active"
    mind.friend.clock.tick(minutes=2 * 24 * 60)

    await mind.merges()

    expected = "deprecated" if is_let_go else "active"
    assert (await mind.known(memory)).memory.status == expected
    assert await mind.is_sound()


async def test_deprecated_belief_keeps_links_to_a_belief_merged_in_the_same_run(mind: Mind) -> None:
    """In one go: its link is not moved to what takes the other in, for it is history."""
    evening = "Walks by the river every evening."
    two = [await mind.believes(evening, times=2), await mind.believes(f"{evening}.", like=evening)]
    links = tuple(ObjectLink(kind="parent_of", target=each) for each in two)
    faded = await mind.believes("Perhaps collects stamps.", sure=0.2, relations=links)
    mind.friend.clock.tick(minutes=91 * 24 * 60)

    joined, _, _ = await mind.merges()

    assert joined == {two[1]: two[0]}
    assert (await mind.known(faded)).memory.status == "deprecated"
    assert await mind.is_sound()


@pytest.mark.slow
async def test_least_valuable_patterns_above_the_limit_are_deprecated(mind: Mind) -> None:
    """What the person keeps stays, however little it is worth; what is let go can be read."""
    kept = await mind.believes("Perhaps whistles at night.", sure=0.4, is_pinned=True)
    weakest = [await mind.believes(f"Maybe reads page {n}.", sure=0.5) for n in range(2)]
    others = [
        await mind.believes(f"Walks to the bridge number {n}.", sure=0.9)
        for n in range(MAX_PATTERNS - 2)
    ]
    joined, _, _ = await mind.merges(dry_run=True)
    assert joined == {}

    await mind.merges()

    gone = {each: (await mind.known(each)).memory.status for each in (kept, *weakest, *others)}
    assert [gone[each] for each in (kept, *weakest)] == ["active", "deprecated", "active"]
    assert {gone[each] for each in others} == {"active"}
    assert await mind.is_sound()
