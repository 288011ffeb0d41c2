"""What was said becomes what is believed, whoever reads it, once for each generation."""

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.memories import MemoryState
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extraction import Extraction, ExtractionInput
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_entities, list_memories, list_summaries
from oldfriend.memory.consolidation_undo import undo_consolidation
from oldfriend.memory.evidence import list_evidence, list_stats_mismatches
from oldfriend.memory.journal import (
    list_object_journal,
    list_view_mismatches,
    rebuild_views,
)
from oldfriend.memory.message_log import edit_message
from oldfriend.memory.segments import (
    Segment,
    list_segment_messages,
    list_segments,
    reopen_segments,
)
from oldfriend.replies.reply_worker import answer_message
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.summaries import sum_up

DAY_ONE = [
    "I live in Porto, in a small flat by the river.",
    "My sister Ana is a nurse. She works nights at the hospital.",
    "I love jazz, and I can't stand coriander.",
    "My dog Rex died yesterday. I am heartbroken.",
]
LATER = [
    "Big news: I moved to Lisbon last week!",
    "The new flat is on the third floor, and bright.",
]


async def told(app: AppContext, chat_context: ChatContext, texts: list[str]) -> None:
    """Say some things, and have them read as after a pause."""
    for text in texts:
        await answer_message(app, chat_context, MessageSubmission(text=text))
    await form(app, chat_context)


async def form(app: AppContext, chat_context: ChatContext) -> None:
    """Read whatever there is."""
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)


async def believed(
    app: AppContext, chat_context: ChatContext, *, live: bool = True
) -> list[MemoryState]:
    """What is believed; checked to be what was decided, standing as the evidence has it."""
    async with app.db.begin_read() as tx:
        person = chat_context.person.id
        assert await list_view_mismatches(tx, person) == []
        assert await list_stats_mismatches(tx, person) == []
        return await list_memories(tx, person, live=live)


def facts(known: list[MemoryState]) -> dict[str, tuple[str, str]]:
    """The value and state of each fact, by its key; the last one said wins."""
    return {
        each.memory.key: (each.memory.value, each.memory.status)
        for each in sorted(known, key=lambda each: each.stats.last_seen)
        if each.memory.kind == "fact"
    }


async def test_consolidation_stores_beliefs_entities_and_evidence(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Facts, likes, what happened, who is in it; each with the very words it rests on."""
    await told(app, chat_context, DAY_ONE)
    known = await believed(app, chat_context)

    assert facts(known)["location"] == ("Porto", "active")
    (event,) = [k.memory for k in known if k.memory.kind == "event" and k.memory.impact < -5]
    assert "Rex" in event.text
    liked = {k.memory.key: k.memory.value for k in known if k.memory.kind == "preference"}
    assert (liked["interests"], liked["dislikes"]) == ("jazz", "coriander")
    async with app.db.begin_read() as tx:
        names = {each.name: each.kind for each in await list_entities(tx, chat_context.person.id)}
        evidence = await list_evidence(tx, chat_context.person.id)
        summaries = await list_summaries(tx, chat_context.person.id, active=False)
    assert (names["Ana"], names["Rex"]) == ("person", "pet")
    for each in known:
        assert evidence[each.memory.id]
        assert all(
            any(words.quote in text for text in DAY_ONE) for words in evidence[each.memory.id]
        )
    assert summaries == []  # sentences that rules paste one after another would be none


async def test_new_location_supersedes_the_old_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The old home is history, the new one holds."""
    await told(app, chat_context, DAY_ONE)
    clock.tick(minutes=60 * 24 * 30)
    await told(app, chat_context, LATER)

    assert facts(await believed(app, chat_context))["location"] == ("Lisbon", "active")
    ended = [k.memory for k in await believed(app, chat_context, live=False) if k.memory.ended_at]
    assert [(m.value, m.status) for m in ended if m.key == "location"] == [("Porto", "superseded")]


async def test_consolidating_a_segment_again_adds_no_duplicate_evidence(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A segment that is done is not read again; whoever reads it all the same joins all of it."""
    await told(app, chat_context, DAY_ONE)
    before = {
        k.memory.text: k.stats.times_seen for k in await believed(app, chat_context, live=False)
    }
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
    assert await consolidate_segment(app, chat_context.person.id, segment.id) is None

    async with app.db.begin_write() as tx:
        said = (await list_evidence(tx, chat_context.person.id)).popitem()[1][0]
        await reopen_segments(tx, chat_context.person.id, [said.message])
    await consolidate_segment(app, chat_context.person.id, segment.id)
    after = {
        k.memory.text: k.stats.times_seen for k in await believed(app, chat_context, live=False)
    }
    assert after == before


async def test_belief_from_edited_away_text_is_ended(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Nor kept as something that was so once: it was never meant."""
    await told(app, chat_context, DAY_ONE)
    async with app.db.begin_write() as tx:
        home = [
            words
            for each in (await list_evidence(tx, chat_context.person.id)).values()
            for words in each
            if "Porto" in words.quote
        ]
        edited = DAY_ONE[0].replace("Porto", "Faro")
        await edit_message(tx, chat_context.person.id, home[0].message, edited, now=app.clock())
        (segment,) = await reopen_segments(tx, chat_context.person.id, [home[0].message])
    await consolidate_segment(app, chat_context.person.id, segment)

    known = await believed(app, chat_context, live=False)
    homes = {
        (k.memory.value, k.memory.status, k.memory.ended_at is None)
        for k in known
        if k.memory.key == "location"
    }
    assert homes == {("Faro", "active", True), ("Porto", "active", False)}


async def test_undoing_a_consolidation_restores_the_earlier_beliefs(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What it put an end to holds again."""
    await told(app, chat_context, DAY_ONE)
    before = {k.memory.text for k in await believed(app, chat_context)}
    clock.tick(minutes=60 * 24 * 30)
    await told(app, chat_context, LATER)
    await sum_up(app.db, chat_context.person.id)
    async with app.db.begin_write() as tx:
        last = (await list_segments(tx, chat_context.person.id))[-1]
        await undo_consolidation(tx, chat_context.person.id, last.id, now=app.clock())
        summaries = await list_summaries(tx, chat_context.person.id)

    assert {k.memory.text for k in await believed(app, chat_context)} == before
    assert len(summaries) == 1


async def test_rewording_is_journaled_and_undone_with_its_consolidation(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The belief is the same; its words are those of the model until then."""
    await told(app, chat_context, ["I love jazz."])
    first, better = "Loves jazz.", "Loves jazz from Lisbon above all other music."
    clock.tick(minutes=60 * 24)

    def read_it(request: CompletionRequest) -> ScriptedReply:
        if request.purpose != "extract":
            return ScriptedReply(text="{}")
        claim = {"text": better, "bearing": "reinforces", "target": "k1"}
        quotes = [{"message": "m1", "text": "I love jazz from Lisbon above all other music"}]
        read = {
            "self_check": {"missed_peak": "none", "attribution": "own"},
            "preferences": [{**claim, "key": "interests", "value": "jazz", "quotes": quotes}],
        }
        return ScriptedReply(text=json.dumps(read))

    by_model = with_models(app, {"main": ScriptedModel(["Nice."]), "small": ScriptedModel(read_it)})
    await told(by_model, chat_context, ["You know, I love jazz from Lisbon above all other music."])
    (reworded,) = [
        k.memory for k in await believed(app, chat_context) if k.memory.kind == "preference"
    ]
    async with app.db.begin_write() as tx:
        ops = [
            each.op for each in await list_object_journal(tx, chat_context.person.id, reworded.id)
        ]
        last = (await list_segments(tx, chat_context.person.id))[-1]
        await undo_consolidation(tx, chat_context.person.id, last.id, now=app.clock())

    assert (reworded.text, ops) == (better, ["learned", "revised"])
    assert {k.memory.text for k in await believed(app, chat_context)} == {first}


async def test_dedup_judge_is_asked_once_per_pair_even_after_reconsolidation(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Not the other way round, nor for another reason, nor when the segment is read again."""
    said = "We moved into the flat by the river at last, and had dinner on boxes."

    def read_it(request: CompletionRequest) -> ScriptedReply:
        if request.purpose == "adjudicate":
            verdict = {"differences": ["where"], "core_intent_match": True, "is_same": False}
            return ScriptedReply(text=json.dumps(verdict))
        quotes = [
            {
                "message": "m1",
                "text": "We moved into the flat by the river at last, and had dinner on boxes",
            }
        ]
        events = [
            {"text": text, "quotes": quotes, "impact": 4}
            for text in ("Moved into the flat by the river.", "Had dinner on boxes in the flat.")
        ]
        checked = {"missed_peak": "none", "attribution": "own"}
        return ScriptedReply(text=json.dumps({"self_check": checked, "events": events}))

    reader = ScriptedModel(read_it)
    app = with_models(app, {"main": ScriptedModel(["Nice."] * 2), "small": reader})
    await told(app, chat_context, [said])
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        message, *_ = await list_segment_messages(tx, segment)
        await reopen_segments(tx, chat_context.person.id, [message.id])
    await consolidate_segment(app, chat_context.person.id, segment.id)

    purposes = Counter(request.purpose for request in reader.requests)
    assert (purposes["extract"], purposes["adjudicate"]) == (2, 1)


async def test_rebuilding_views_from_the_journal_gives_the_same_beliefs(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Folded into empty views, and standing as the evidence makes them."""
    await told(app, chat_context, [*DAY_ONE, *LATER])
    before = await believed(app, chat_context, live=False)
    async with app.db.begin_write() as tx:
        await rebuild_views(tx, chat_context.person.id)
    assert await believed(app, chat_context, live=False) == before


async def test_concurrent_consolidation_of_one_segment_is_committed_once(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The second finds, in the commit, that it is done."""
    for text in DAY_ONE:
        await answer_message(app, chat_context, MessageSubmission(text=text))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    means = await build_consolidation_deps(app, segment)
    barrier = asyncio.Barrier(2)

    async def read_slowly(material: ExtractionInput) -> Extraction:
        await barrier.wait()
        return replace(await means.extract(material), summary="Lives in Porto.")

    slow = replace(means, extract=read_slowly)
    async with asyncio.TaskGroup() as both:
        readers = [both.create_task(consolidate(slow, segment)) for _ in range(2)]

    assert [reader.result() for reader in readers].count(None) == 1
    known = await believed(app, chat_context, live=False)
    assert len({k.memory.text for k in known}) == len(known)
    async with app.db.begin_read() as tx:
        assert len(await list_summaries(tx, chat_context.person.id)) == 1
        names = [each.name for each in await list_entities(tx, chat_context.person.id)]
    assert len(set(names)) == len(names)


async def test_concurrently_consolidated_segments_are_resolved_against_each_other(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Who is later decides anew, on what the other has found; nothing is read again for it."""
    first, second = DAY_ONE[:2], ["I live in Braga now, near Ana.", "And I love jazz."]
    segments = []
    for texts in (first, second):
        for text in texts:
            await answer_message(app, chat_context, MessageSubmission(text=text))
        segments += await schedule_learning(
            app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
        )
        clock.tick(minutes=60 * 24 * 40)
    barrier = asyncio.Barrier(2)
    readings = 0

    async def together(segment: Segment) -> None:
        means = await build_consolidation_deps(app, segment)

        async def read_slowly(material: ExtractionInput) -> Extraction:
            nonlocal readings
            readings += 1
            await barrier.wait()
            return await means.extract(material)

        await consolidate(replace(means, extract=read_slowly), segment)

    async with asyncio.TaskGroup() as both:
        for segment in segments:
            both.create_task(together(segment))

    homes = [
        k.memory.value for k in await believed(app, chat_context) if k.memory.key == "location"
    ]
    assert (homes, readings) == (["Braga"], 2)
    async with app.db.begin_read() as tx:
        names = [each.name for each in await list_entities(tx, chat_context.person.id)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("texts", [["ok"], ["hi"]])
async def test_trivial_segment_yields_no_belief_and_no_summary(
    app: AppContext, chat_context: ChatContext, texts: list[str]
) -> None:
    """No belief, no summary; and it is not looked at again."""
    await told(app, chat_context, texts)
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        assert (segment.status, await list_summaries(tx, chat_context.person.id)) == ("trivial", [])
    assert await believed(app, chat_context, live=False) == []


async def test_model_reading_of_small_talk_keeps_only_the_companions_opinion(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Whatever else it reads into it is more than was said."""
    thinks = "I think jazz is best late at night."
    view = {"key": "jazz", "text": "Jazz is best late at night.", "subject": "companion"}
    more = {"key": "mood", "value": "sceptical", "text": "Is sceptical."}

    def read_it(request: CompletionRequest) -> ScriptedReply:
        if request.purpose != "extract":
            return ScriptedReply(text="{}")
        return ScriptedReply(
            text=json.dumps(
                {
                    "self_check": {"missed_peak": "none", "attribution": "each their own"},
                    "opinions": [{**view, "quotes": [{"message": "m2", "text": thinks}]}],
                    "facts": [{**more, "quotes": [{"message": "m1", "text": "Oh, really?"}]}],
                }
            )
        )

    app = with_models(app, {"main": ScriptedModel([thinks]), "small": ScriptedModel(read_it)})
    await told(app, chat_context, ["Oh, really?"])

    async with app.db.begin_read() as tx:
        words = await list_evidence(tx, chat_context.person.id)
        (segment,) = await list_segments(tx, chat_context.person.id)
    assert [each.memory.kind for each in await believed(app, chat_context)] == ["opinion"]
    assert {row.extractor for rows in words.values() for row in rows} == {"extract/9"}
    assert segment.author == "extract/9"
