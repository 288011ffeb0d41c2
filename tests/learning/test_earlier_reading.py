"""What one reading knows is not ended by another one, whoever reads and why it is read again."""

import json
from collections.abc import Sequence

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import edit_belief_text, undo_import, undo_segment
from oldfriend.cli.consolidate_cmd import format_reading
from oldfriend.domain.clock import DAY, MINUTE
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_edit
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.learning.re_extraction import plan_reextraction, schedule_reextraction
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_entities, list_memories, list_summaries
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.evidence import list_stats_mismatches
from oldfriend.memory.import_batches import (
    ImportSource,
    advance_batch,
    finish_batch,
    start_or_resume_batch,
)
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.segments import Segment, list_segments, reopen_segment, set_segment_status
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now, process_due_segments
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines
pytestmark = pytest.mark.usefixtures("settings_folder")

JAM = "My gran makes plum jam every August."
BOAT = "The old boat down at the pier is mine, I bought it in 2019."
CODE = "The code of the shed is sealed in an envelope with Otto."
HOME = "I live in Porto, by the river."
PROMISE = "I promised Ana to water her plants."
CAT = "My cat is called Miso."


def quoting(number: int, words: str) -> list[dict[str, str]]:
    """A quote as a model gives it."""
    return [{"message": f"m{number}", "text": words}]


def build_answer(**parts: object) -> str:
    """What a model answers that has read something."""
    check = {"missed_peak": "none", "attribution": "the person's own words"}
    return json.dumps({"self_check": check, **parts})


def fact(number: int, words: str, key: str, value: str, text: str) -> dict[str, object]:
    """A fact as a model gives it."""
    return {"key": key, "value": value, "text": text, "quotes": quoting(number, words)}


BOAT_FACT = fact(3, BOAT, "boat", "an old boat", "Owns an old boat at the pier since 2019.")


def with_reading_model(app: AppContext, answer: str) -> AppContext:
    """The house with a model that gives this answer whenever it is to read."""

    def read(request: CompletionRequest) -> ScriptedReply:
        return ScriptedReply(text=answer)

    return with_models(app, {"small": ScriptedModel(read)})


async def say_all(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, texts: Sequence[str]
) -> None:
    """Say some things in one conversation, answered without a model."""
    for text in texts:
        await answer_message(with_models(app, {}), chat_context, MessageSubmission(text=text))
        clock.tick(minutes=1)


async def read_by(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> None:
    """Read whatever is due."""
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    clock.tick(minutes=1)


async def read_by_model(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> None:
    """Have a model read what rules have read."""
    plan = await plan_reextraction(app.db, app.settings, chat_context.person.id)
    await schedule_reextraction(app.db, app.clock, app.notifier, plan)
    await process_due_segments(app, chat_context.person.id)
    clock.tick(minutes=1)


async def list_texts(app: AppContext, chat_context: ChatContext) -> set[str]:
    """What is believed now; checked to be what was decided, standing as the evidence has it."""
    async with app.db.begin_read() as tx:
        assert await list_view_mismatches(tx, chat_context.person.id) == []
        assert await list_stats_mismatches(tx, chat_context.person.id) == []
        return {each.memory.text for each in await list_memories(tx, chat_context.person.id)}


async def get_message_id(app: AppContext, chat_context: ChatContext, text: str) -> MessageId:
    """The id of the message with a text."""
    async with app.db.begin_read() as tx:
        return next(e.id for e in await list_messages(tx, chat_context.person.id) if e.text == text)


async def get_segment(app: AppContext, chat_context: ChatContext) -> Segment:
    """The only conversation."""
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
    return segment


async def forget_text(app: AppContext, chat_context: ChatContext, text: str) -> None:
    """Forget a message."""
    message = await get_message_id(app, chat_context, text)
    await forget(app, chat_context.person.id, DeletionRequest(ids=(message,)))


async def test_forgetting_without_the_model_keeps_what_it_had_learned(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Of messages that remain; rules add nothing to them, and a model may read them again."""
    await say_all(app, chat_context, clock, [JAM, BOAT, CODE])
    jam = {"text": "The gran of the person makes plum jam.", "quotes": quoting(1, JAM)}
    reader = with_reading_model(
        app, build_answer(facts=[BOAT_FACT], patterns=[jam], summary="They spoke of a boat.")
    )
    await read_by(reader, chat_context, clock)
    learned = await list_texts(app, chat_context)
    assert BOAT_FACT["text"] in learned
    await forget_text(app, chat_context, CODE)
    await read_by(app, chat_context, clock)

    assert await list_texts(app, chat_context) == learned
    segment = await get_segment(app, chat_context)
    assert segment.status == "done"
    plan = await plan_reextraction(app.db, app.settings, chat_context.person.id)
    assert [each.id for each in plan.segments] == [segment.id]
    await forget_text(app, chat_context, BOAT)
    assert await list_texts(app, chat_context) == learned - {str(BOAT_FACT["text"])}


async def test_edited_message_is_read_by_rules_beside_what_a_model_had_learned(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What the model had read in the edited words ends; what rests on other words stays."""
    await say_all(app, chat_context, clock, [HOME, BOAT])
    home = fact(1, HOME, "location", "Porto", "Lives in Porto, by the river.")
    await read_by(
        with_reading_model(app, build_answer(facts=[home, BOAT_FACT])), chat_context, clock
    )
    message = await get_message_id(app, chat_context, HOME)
    await accept_edit(app, chat_context, message, "I live in Faro, by the sea.")
    clock.tick(minutes=1)
    await read_by(app, chat_context, clock)

    assert await list_texts(app, chat_context) == {"Lives in Faro.", str(BOAT_FACT["text"])}


async def test_model_that_leaves_out_what_rules_read_does_not_end_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """An open promise, a name and a fact stay, also if a model reads once more."""
    await say_all(app, chat_context, clock, [PROMISE, BOAT, CAT])
    await read_by(app, chat_context, clock)
    by_rules = await list_texts(app, chat_context)
    async with app.db.begin_read() as tx:
        names = {each.name for each in await list_entities(tx, chat_context.person.id)}
    assert any("Ana" in text for text in by_rules)
    assert "Miso" in names
    reader = with_reading_model(app, build_answer(facts=[BOAT_FACT]))
    await read_by_model(reader, chat_context, clock)
    for _ in range(2):
        told = await list_texts(app, chat_context)
        quotes = {text for text in by_rules if "pier" in text}
        assert told == by_rules - quotes | {str(BOAT_FACT["text"])}
        async with app.db.begin_read() as tx:
            assert {each.name for each in await list_entities(tx, chat_context.person.id)} == names
        segment = await get_segment(app, chat_context)
        async with app.db.begin_write() as tx:
            await reopen_segment(tx, segment)
        await consolidate_segment(reader, chat_context.person.id, segment.id)
        clock.tick(minutes=1)
    await forget_text(app, chat_context, PROMISE)
    left = await list_texts(app, chat_context)
    assert not any("Ana" in text for text in left)
    await read_by(app, chat_context, clock)
    assert await list_texts(app, chat_context) == left


async def test_model_that_reads_again_ends_nothing_that_it_is_shown_as_known(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It does not tell anew what it knows; only what rests on forgotten words goes."""
    await say_all(app, chat_context, clock, [HOME, BOAT, CODE])
    home = fact(1, HOME, "location", "Porto", "Lives in Porto, by the river.")
    await read_by(
        with_reading_model(app, build_answer(facts=[home, BOAT_FACT])), chat_context, clock
    )
    learned = await list_texts(app, chat_context)
    assert len(learned) == 2
    await forget_text(app, chat_context, CODE)
    await read_by(with_reading_model(app, build_answer()), chat_context, clock)

    assert await list_texts(app, chat_context) == learned
    assert (await get_segment(app, chat_context)).author == "extract/9"


@pytest.mark.parametrize("is_by_model", [False, True])
async def test_belief_ends_whose_words_were_edited_even_in_part(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, is_by_model: bool
) -> None:
    """The other words alone may say nothing of it; whoever reads them next."""
    moving, mood = "We're moving to Faro in May, the van is booked.", "so happy about Faro!!"
    await say_all(app, chat_context, clock, [moving, mood, BOAT])
    move = {"text": "Moves to Faro in May.", "quotes": quoting(1, moving) + quoting(3, mood)}
    boat = {**BOAT_FACT, "quotes": quoting(5, BOAT)}
    answer = build_answer(facts=[boat], expectations=[move])
    await read_by(with_reading_model(app, answer), chat_context, clock)
    assert "Moves to Faro in May." in await list_texts(app, chat_context)
    message = await get_message_id(app, chat_context, moving)
    await accept_edit(
        app, chat_context, message, "We're moving to Lagos in May, the van is booked."
    )
    clock.tick(minutes=1)
    reader = with_reading_model(app, build_answer()) if is_by_model else app
    await read_by(reader, chat_context, clock)

    told = await list_texts(app, chat_context)
    assert "Moves to Faro in May." not in told
    assert str(BOAT_FACT["text"]) in told


async def test_model_that_reads_the_same_words_otherwise_replaces_what_rules_read(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is not believed in two ways."""
    await say_all(app, chat_context, clock, [HOME])
    await read_by(app, chat_context, clock)
    assert await list_texts(app, chat_context) == {"Lives in Porto."}
    home = fact(1, HOME, "location", "Porto, by the river", "Lives in Porto, by the river.")
    await read_by_model(with_reading_model(app, build_answer(facts=[home])), chat_context, clock)

    assert await list_texts(app, chat_context) == {"Lives in Porto, by the river."}
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        listed = await format_reading(tx, segment, zone=chat_context.person.zone)
    (ending,) = listed.splitlines()[1:]
    assert "Lives in Porto." in ending
    assert "read again" in ending


async def test_undoing_a_models_reading_brings_back_what_it_had_replaced(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Beliefs, evidence and summaries; the earlier reading counts again, and can be undone, too."""
    await say_all(app, chat_context, clock, [HOME, PROMISE])
    await read_by(app, chat_context, clock)
    by_rules = await list_texts(app, chat_context)
    home = fact(1, HOME, "location", "Porto, by the river", "Lives in Porto, by the river.")
    answer = build_answer(facts=[home], summary="They live in Porto, by the river.")
    await read_by_model(with_reading_model(app, answer), chat_context, clock)
    assert await list_texts(app, chat_context) != by_rules
    async with app.db.begin_read() as tx:
        assert len(await list_summaries(tx, chat_context.person.id)) == 1
    undone = await undo_segment(app.db, app.clock, chat_context.person.id, None)
    clock.tick(minutes=1)

    assert {getattr(each, "text", "") for each in undone.reopened} == {"Lives in Porto."}
    assert await list_texts(app, chat_context) == by_rules
    async with app.db.begin_read() as tx:
        assert await list_summaries(tx, chat_context.person.id) == []
    segment = await get_segment(app, chat_context)
    assert (segment.status, segment.author) == ("done", "rules/6")
    await undo_segment(app.db, app.clock, chat_context.person.id, None)
    assert await list_texts(app, chat_context) == set()
    assert (await get_segment(app, chat_context)).status == "taken back"


async def test_undoing_a_reading_that_had_replaced_nothing_takes_back_only_what_it_added(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What rules had read and the model left out stays."""
    await say_all(app, chat_context, clock, [PROMISE, "the boat is mine, down at the pier"])
    await read_by(app, chat_context, clock)
    by_rules = await list_texts(app, chat_context)
    boat = fact(3, "the boat is mine", "boat", "a boat", "Owns a boat at the pier.")
    await read_by_model(with_reading_model(app, build_answer(facts=[boat])), chat_context, clock)
    assert await list_texts(app, chat_context) == by_rules | {"Owns a boat at the pier."}
    await undo_segment(app.db, app.clock, chat_context.person.id, None)

    assert await list_texts(app, chat_context) == by_rules
    assert (await get_segment(app, chat_context)).status == "done"


async def test_rules_read_again_what_a_model_had_read_and_was_taken_back(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A reading that was undone counts no more, once a message is edited."""
    await say_all(app, chat_context, clock, [HOME, BOAT, PROMISE])
    home = fact(1, HOME, "location", "Porto", "Lives in Porto.")
    await read_by(
        with_reading_model(app, build_answer(facts=[home, BOAT_FACT])), chat_context, clock
    )
    assert await list_texts(app, chat_context) == {"Lives in Porto.", str(BOAT_FACT["text"])}
    await undo_segment(app.db, app.clock, chat_context.person.id, None)
    assert await list_texts(app, chat_context) == set()
    clock.tick(minutes=1)
    await accept_edit(
        app, chat_context, await get_message_id(app, chat_context, PROMISE), "I work as a baker."
    )
    await read_by(app, chat_context, clock)

    assert {"Lives in Porto.", "Works as a baker."} <= await list_texts(app, chat_context)


async def test_undoing_a_reading_after_another_failed_takes_it_back(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is not reported as done with everything in its place."""
    await say_all(app, chat_context, clock, [HOME])
    await read_by(app, chat_context, clock)
    assert await list_texts(app, chat_context) == {"Lives in Porto."}
    async with app.db.begin_write() as tx:
        again = await reopen_segment(tx, await get_segment(app, chat_context))
        await set_segment_status(tx, again, "failed", error="out of memory", now=clock())
    clock.tick(minutes=1)

    undone = await undo_segment(app.db, app.clock, chat_context.person.id, again.id)
    assert "Lives in Porto." in {getattr(each, "text", "") for each in undone.ended}
    assert await list_texts(app, chat_context) == set()
    assert (await get_segment(app, chat_context)).status == "taken back"


async def test_rules_after_a_model_end_nothing_that_it_had_superseded(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What a model has ended by words that still stand stays ended."""
    await say_all(app, chat_context, clock, ["I live in Porto."])
    await read_by(app, chat_context, clock)
    clock.tick(minutes=60 * 24 * 40)
    moved = "so the van is unpacked, the Faro flat is home now"
    await say_all(app, chat_context, clock, [moved, CODE])
    home = fact(1, moved, "location", "Faro", "Lives in Faro.")
    await read_by(with_reading_model(app, build_answer(facts=[home])), chat_context, clock)
    assert await list_texts(app, chat_context) == {"Lives in Faro."}
    await forget_text(app, chat_context, CODE)
    await read_by(app, chat_context, clock)

    assert await list_texts(app, chat_context) == {"Lives in Faro."}


async def edit_text(app: AppContext, chat_context: ChatContext, old: str, new: str) -> None:
    """Correct a belief."""
    async with app.db.begin_read() as tx:
        known = await list_memories(tx, chat_context.person.id)
    (memory,) = [each.memory for each in known if each.memory.text == old]
    await edit_belief_text(app.db, app.clock, chat_context.person.id, memory.id, new)


EDITS = [
    (HOME, "Lives in Porto.", "Lives in Faro.", {}),
    (
        PROMISE,
        "Promised Ana to water her plants.",
        "Promised Ana to water her roses.",
        {
            "commitments": [
                {"text": "Promised to water the plants of Ana.", "quotes": quoting(1, PROMISE)}
            ]
        },
    ),
    (
        HOME,
        "Lives in Porto.",
        "Lives in Faro.",
        {"facts": [fact(1, "live in Porto", "home_town", "Porto", "Has a home in Porto.")]},
    ),
    (
        JAM,
        f"Says: “{JAM[:-1]}.”",
        "Says: “My gran makes fig jam every August.”",
        {"facts": [fact(1, JAM, "gran:jam", "plum", "The gran of the person makes plum jam.")]},
    ),
]


@pytest.mark.parametrize(("said", "read", "right", "by_model"), EDITS)
async def test_edited_belief_stands_for_its_words_in_every_later_reading(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    read: str,
    right: str,
    by_model: dict[str, object],
) -> None:
    """By rules, after something else is forgotten, and by a model that words it otherwise."""
    await say_all(app, chat_context, clock, [said, CODE])
    await read_by(app, chat_context, clock)
    await edit_text(app, chat_context, read, right)
    clock.tick(minutes=1)
    reader = with_reading_model(app, build_answer(**by_model))
    await read_by_model(reader, chat_context, clock)
    assert await list_texts(app, chat_context) == {right}
    await forget_text(app, chat_context, CODE)
    await read_by(app, chat_context, clock)

    assert await list_texts(app, chat_context) == {right}


async def test_new_message_changes_an_edited_belief(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Also back to what it was before."""
    await say_all(app, chat_context, clock, [HOME])
    await read_by(app, chat_context, clock)
    await edit_text(app, chat_context, "Lives in Porto.", "Lives in Faro.")
    clock.tick(minutes=60 * 24 * 40)
    await say_all(
        app, chat_context, clock, ["I moved to Porto last week, and I live in Porto now."]
    )
    await read_by(app, chat_context, clock)

    assert any("Porto" in text for text in await list_texts(app, chat_context))
    assert "Lives in Faro." not in await list_texts(app, chat_context)


async def import_text(app: AppContext, chat_context: ChatContext, text: str, *, minute: int) -> int:
    """Import a message of last week, and nothing is read yet; return the number of the import."""
    said = ImportedMessage(
        message=UnloggedMessage(
            role="person",
            speaker="owner",
            text=text,
            at=app.clock() - 7 * DAY + minute * MINUTE,
            zone="UTC",
            trust="person",
            external_id=text,
        )
    )
    source = ImportSource(file=text, format="text", sha256=text, me="owner", zone="UTC")
    async with app.db.begin_write() as tx:
        batch = await start_or_resume_batch(tx, chat_context.person.id, source, now=app.clock())
        target = ImportTarget(chat=chat_context.chat, language="en", batch=batch.id)
        await write_imported_messages(tx, target, [said], now=app.clock())
        await advance_batch(tx, batch, added=1, known=0)
        await finish_batch(tx, batch, now=app.clock())
    return batch.number


async def test_undoing_an_import_keeps_what_a_model_had_learned_from_other_messages(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Two imports have brought one conversation; what the second one had ended holds again."""
    await say_all(app, chat_context, clock, ["I live in Porto."])
    await read_by(app, chat_context, clock)
    clock.tick(minutes=60 * 24 * 40)
    await import_text(app, chat_context, BOAT, minute=0)
    number = await import_text(app, chat_context, "the Faro flat is home now", minute=1)
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="import"
    )
    async with app.db.begin_read() as tx:
        (segment,) = [
            e for e in await list_segments(tx, chat_context.person.id) if e.status == "waiting"
        ]
    boat = {**BOAT_FACT, "quotes": quoting(1, BOAT)}
    home = fact(2, "the Faro flat is home now", "location", "Faro", "Lives in Faro.")
    reader = with_reading_model(app, build_answer(facts=[boat, home]))
    await consolidate_segment(reader, chat_context.person.id, segment.id, extractor="model")
    clock.tick(minutes=1)
    assert await list_texts(app, chat_context) == {"Lives in Faro.", str(BOAT_FACT["text"])}
    await undo_import(app.db, app.clock, app.settings, chat_context.person, number)

    for _ in range(2):
        assert await list_texts(app, chat_context) == {"Lives in Porto.", str(BOAT_FACT["text"])}
        clock.tick(minutes=1)
        await read_by(app, chat_context, clock)
