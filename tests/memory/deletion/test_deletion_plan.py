"""What follows from forgetting something: what goes with it, what stays, and as what."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import Cause, Entity, JournalEntry, JournalOp, StoredBelief, Summary
from oldfriend.domain.messages import Message
from oldfriend.memory.belief_views import list_entities, list_memories, list_summaries
from oldfriend.memory.deletion.deletion_plan import DeletionPlan, plan_deletion
from oldfriend.memory.deletion.erase import RedactionMarker, erase
from oldfriend.memory.deletion.journal_redaction import ORPHAN_AUTHOR
from oldfriend.memory.deletion.selection import DeletionRequest, select_for_deletion
from oldfriend.memory.evidence import NewEvidence, add_evidence, list_stats_mismatches
from oldfriend.memory.journal import (
    Provenance,
    list_object_journal,
    list_view_mismatches,
    record_decision,
)
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.segments import (
    cut_segment,
    list_segments,
    list_uncut_spans,
    set_segment_status,
)
from oldfriend.prompts.locale_phrases import load_phrases
from tests.two_people import Friend

MARKER = RedactionMarker(text="(taken back)", language="en")
SAID = "we moved to a yellow house near the harbour"
AGAIN = "the house by the sea is where I live now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Believing:
    """Somebody of whom something is believed."""

    friend: Friend

    async def heard(self, text: str, **more: str) -> Message:
        """Something was said."""
        message = await self.friend.says(text, **more)
        assert message is not None
        return message

    async def learned(
        self, text: str, sources: Sequence[Message], *, op: JournalOp = "learned", **more: object
    ) -> StoredBelief:
        """Something is believed because of that."""
        now = self.friend.clock.tick(seconds=1)
        fields: dict[str, object] = {
            "id": new_id(now),
            "person": self.friend.person.id,
            "kind": "fact",
            "text": text,
            "language": "en",
            "learned_at": now,
            **more,
        }
        memory = StoredBelief(**fields)
        await self.decided(memory, sources, op=op)
        return memory

    async def decided(
        self,
        after: StoredBelief | Entity | Summary,
        sources: Sequence[Message] = (),
        *,
        op: JournalOp = "learned",
        base: int = 0,
        quotes: bool = True,
    ) -> JournalEntry:
        """Something is decided because of that, and rests on it."""
        causes = tuple(Cause(message=each.id, version=each.version) for each in sources)
        ground = Provenance(author="rules/1", causes=causes)
        now = self.friend.clock.tick(seconds=1)
        async with self.friend.db.begin_write() as tx:
            change = await record_decision(tx, after, op=op, base=base, provenance=ground, now=now)
            if quotes:
                words = [NewEvidence(source=each, quote=each.text) for each in sources]
                await add_evidence(tx, after.person, after.id, words, extractor="rules/1", now=now)
        return change

    async def forget(self, *ids: str, orphan: bool = False) -> DeletionPlan:
        """Forget some of it; what was foreseen."""
        person = self.friend.person.id
        async with self.friend.db.begin_write() as tx:
            chosen = await select_for_deletion(tx, person, DeletionRequest(ids=ids))
            plan = await plan_deletion(tx, person, chosen, orphan=orphan)
            await erase(tx, plan, MARKER, now=self.friend.clock.tick(seconds=1))
            assert await list_view_mismatches(tx, person) == []
            assert await list_stats_mismatches(tx, person) == []
        return plan

    async def believed(self, *, live: bool = True) -> list[str]:
        """The texts of what is believed."""
        async with self.friend.db.begin_read() as tx:
            known = await list_memories(tx, self.friend.person.id, live=live)
        return [each.memory.text for each in known]


@pytest.fixture
def of_nora(nora: Friend) -> Believing:
    """What is believed of her."""
    return Believing(friend=nora)


async def test_belief_is_deleted_with_its_last_evidence(of_nora: Believing) -> None:
    """One with other evidence stays, and stands on that alone."""
    first, second = await of_nora.heard(SAID), await of_nora.heard(AGAIN)
    lost = await of_nora.learned("Moved house.", [first])
    stays = await of_nora.learned("Lives by the sea.", [first, second])
    plan = await of_nora.forget(first.id)

    assert [*plan.deleted] == [lost.id]
    assert plan.remaining_evidence == {stays.id: 1}
    assert await of_nora.believed(live=False) == ["Lives by the sea."]


async def test_belief_repeating_deleted_words_is_relearned_from_its_other_evidence(
    of_nora: Believing,
) -> None:
    """The segment of its other evidence is read again."""
    first, second = await of_nora.heard(SAID), await of_nora.heard(AGAIN)
    memory = await of_nora.learned(f"Said: {SAID}.", [first, second])
    plan = await of_nora.forget(first.id)

    assert plan.relearned == {memory.id}
    assert plan.reread_messages == {second.id}
    assert await of_nora.believed(live=False) == []


async def test_orphan_option_keeps_the_belief_and_marks_it(of_nora: Believing) -> None:
    """It is not forgotten, and nobody says that it is."""
    first = await of_nora.heard(SAID)
    memory = await of_nora.learned(f"Said: {SAID}.", [first])
    plan = await of_nora.forget(first.id, orphan=True)

    assert [*plan.orphans] == [memory.id]
    assert plan.deleted == {}
    assert await of_nora.believed() == [memory.text]
    async with of_nora.friend.db.begin_read() as tx:
        changes = await list_object_journal(tx, memory.person, memory.id)
    assert [each.author for each in changes].count(ORPHAN_AUTHOR) == 1


async def test_belief_written_by_the_person_is_deleted_only_when_named(of_nora: Believing) -> None:
    """It goes only when it is named."""
    first = await of_nora.heard(SAID)
    memory = await of_nora.learned("Lives by the harbour.", [first], is_by_person=True)
    await of_nora.forget(first.id)
    assert await of_nora.believed() == [memory.text]

    await of_nora.forget(memory.id)
    assert await of_nora.believed() == []


async def test_merged_belief_is_deleted_with_its_causing_message(of_nora: Believing) -> None:
    """Its evidence has moved to the one that it was merged into."""
    first = await of_nora.heard(SAID)
    merged = await of_nora.learned("x", [])
    now = of_nora.friend.clock()
    ended = replace(merged, text="Moved house.", status="merged", ended_at=now)
    await of_nora.decided(ended, [first], op="merged", base=1, quotes=False)
    plan = await of_nora.forget(first.id)

    assert [*plan.deleted] == [merged.id]


async def test_deleting_the_superseding_belief_restores_the_superseded_one(
    of_nora: Believing,
) -> None:
    """As it was before."""
    old, new = await of_nora.heard("I live in Porto"), await of_nora.heard(SAID)
    before = await of_nora.learned("Lives in Porto.", [old])
    after = await of_nora.learned("Lives by the harbour.", [new])
    ended = replace(before, status="superseded", ended_at=of_nora.friend.clock())
    await of_nora.decided(ended, [new], op="superseded", base=1, quotes=False)
    plan = await of_nora.forget(new.id)

    assert [*plan.deleted] == [after.id]
    assert await of_nora.believed() == ["Lives in Porto."]


async def test_deleted_words_are_removed_from_the_journal_of_a_kept_belief(
    of_nora: Believing,
) -> None:
    """What was decided last stays."""
    first, second = await of_nora.heard(SAID), await of_nora.heard(AGAIN)
    memory = await of_nora.learned(f"Said: {SAID}.", [first])
    better = replace(memory, text="Lives by the sea.")
    await of_nora.decided(better, [second], op="revised", base=1)
    await of_nora.forget(first.id)

    async with of_nora.friend.db.begin_read() as tx:
        changes = await list_object_journal(tx, memory.person, memory.id)
    assert [(change.op, change.after.text) for change in changes] == [
        ("revised", "Lives by the sea.")
    ]
    assert changes[0].causes == (Cause(message=second.id, version=1),)


async def test_entities_and_aliases_are_deleted_with_their_last_source(of_nora: Believing) -> None:
    """A name that something else still needs stays, without the other names said only there."""
    person, now = of_nora.friend.person.id, of_nora.friend.clock()
    first, second = await of_nora.heard("Ana, that is Pepa, came"), await of_nora.heard("Ana sang")
    ana = Entity(
        id=new_id(now), person=person, name="Ana", kind="person", aliases=("Pepa",), learned_at=now
    )
    tom = replace(ana, id=new_id(now), name="Tom", aliases=())
    await of_nora.decided(ana, [first])
    await of_nora.decided(tom, [first])
    await of_nora.learned("Ana sings.", [second], entities=(ana.id, tom.id))
    await of_nora.forget(first.id)
    async with of_nora.friend.db.begin_read() as tx:
        left = await list_entities(tx, person)
        assert sorted((each.name, each.aliases) for each in left) == [
            ("Ana", ()),
            ("Tom", ()),
        ]

    plan = await of_nora.forget(second.id)
    assert {ana.id, tom.id} <= plan.deleted.keys()


async def test_deletion_removes_affected_summaries_and_reactivates_the_rest(
    of_nora: Believing,
) -> None:
    """Of the stretches that it stood in, and those above them; their other parts come back."""
    friend, segments = of_nora.friend, []
    for text in (SAID, AGAIN):
        message = await of_nora.heard(text)
        friend.clock.tick(minutes=60)
        async with friend.db.begin_write() as tx:
            (uncut,) = await list_uncut_spans(tx, friend.person.id)
            segment = await cut_segment(tx, friend.person.id, uncut, cut_by="idle", now=0)
            await set_segment_status(tx, segment, "done", outcome={"learned": 1}, error="x", now=0)
        segments.append((segment, message))
    below = []
    for segment, _ in segments:
        now = friend.clock.tick(seconds=1)
        summary = Summary(
            id=new_id(now),
            person=friend.person.id,
            level=1,
            text=segment.id,
            language="en",
            segments=(segment.id,),
            from_at=now,
            until_at=now,
            learned_at=now,
            is_active=False,
        )
        await of_nora.decided(summary)
        below.append(summary)
    above = replace(
        below[0],
        id=new_id(friend.clock()),
        level=2,
        text="both",
        is_active=True,
        segments=tuple(s.id for s, _ in segments),
        sources=tuple(s.id for s in below),
    )
    await of_nora.decided(above)
    plan = await of_nora.forget(segments[1][1].id)

    assert plan.deleted.keys() == {below[1].id, above.id}
    async with friend.db.begin_read() as tx:
        left = await list_summaries(tx, friend.person.id)
        assert [(s.id, s.is_active) for s in left] == [(below[0].id, True)]
        (segment,) = await list_segments(tx, friend.person.id)
    assert segment.status == "done"


async def test_reply_repeating_deleted_words_is_redacted(of_nora: Believing) -> None:
    """What others say is nobody's echo; nor are the companion's own sayings."""
    saying = load_phrases("en").phrases["acknowledgement"]
    await of_nora.heard(saying, role="companion")
    first = await of_nora.heard(SAID)
    await of_nora.heard("I see, you moved to a yellow house near the harbour", role="companion")
    await of_nora.heard("How is the new yellow house?", role="companion")
    near = await of_nora.heard("oh we moved to a yellow house near the harbour!", role="other")
    plan = await of_nora.forget(first.id)
    assert plan.redacted_replies == ()  # somebody else says it, too
    assert [each.id for each in plan.near_duplicates] == [near.id]

    quote = await of_nora.heard(f"why do you say {saying}")
    plan = await of_nora.forget(near.id, quote.id)
    assert [each.text for each in plan.redacted_replies] == [
        "I see, you moved to a yellow house near the harbour"
    ]
    async with of_nora.friend.db.begin_read() as tx:
        texts = [each.text for each in await list_messages(tx, of_nora.friend.person.id)]
    assert texts == [saying, "(taken back)", "How is the new yellow house?"]


async def test_companions_list_reply_causes_no_near_duplicates(of_nora: Believing) -> None:
    """Its list goes with the talk that it was shown in; what it quotes from elsewhere stays."""
    first = await of_nora.heard(SAID)
    await of_nora.heard("the spare key hangs behind the old clock")
    listed = await of_nora.heard(
        f"• {SAID}\n• the spare key hangs behind the old clock", role="companion"
    )
    plan = await of_nora.forget(first.id, listed.id)

    assert plan.near_duplicates == ()
