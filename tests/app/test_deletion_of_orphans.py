"""What stands on nothing any more goes with its words: what was rejected, what an undo has left."""

from collections.abc import Sequence

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import apply_belief_action, undo_import
from oldfriend.domain.clock import DAY
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.forgetting.delete import forget, preview_forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_views import get_memory_state, list_memories
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.evidence import NewEvidence, add_evidence, list_stats_mismatches
from oldfriend.memory.import_batches import (
    ImportSource,
    advance_batch,
    finish_batch,
    start_or_resume_batch,
)
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import edit_message, list_messages
from oldfriend.replies.reply_worker import answer_message
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.forgetting.test_delete import id_of
from tests.memory.deletion.life import rows_of

engine = both_engines


pytestmark = pytest.mark.usefixtures("settings_folder")

BAKER = (
    "I live in Lyon.",
    "I work as a baker in the oldest bakery of the town.",
    "My dog is called Balto.",
)


async def imported(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, texts: Sequence[str] = BAKER
) -> int:
    """Old talk is brought in and read; the number of the import."""
    told = [
        ImportedMessage(
            message=UnloggedMessage(
                role="person",
                speaker="owner",
                text=text,
                at=clock() - (9 - n) * DAY,
                zone="UTC",
                trust="person",
                external_id=f"wa{n}",
            )
        )
        for n, text in enumerate(texts)
    ]
    async with app.db.begin_write() as tx:
        reading = ImportSource(file="wa.txt", format="text", sha256="5", me="owner", zone="UTC")
        batch = await start_or_resume_batch(tx, chat_context.person.id, reading, now=clock())
        target = ImportTarget(chat=chat_context.chat, language="en", batch=batch.id)
        kept = await write_imported_messages(tx, target, told, now=clock())
        await advance_batch(tx, batch, added=kept.added, known=0)
        await finish_batch(tx, batch, now=clock())
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="import"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)
    clock.tick(minutes=5)
    return batch.number


async def left_of_it(app: AppContext, chat_context: ChatContext) -> str:
    """Everything that is kept of somebody, in which words of the import may stand."""
    held = repr(await rows_of(app.db, chat_context.person.id))
    return " ".join(word for word in ("Lyon", "baker", "Balto") if word in held)


async def tell_more(app: AppContext, chat_context: ChatContext) -> None:
    """Something else is said and read."""
    await answer_message(app, chat_context, MessageSubmission(text="I live in Porto."))
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)


async def test_rejected_belief_is_forgotten_with_its_message(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Nothing speaks for it, and it keeps nobody's name; what was confirmed stands by itself."""
    await say("My brother Otto plays the cello in the old city orchestra.")
    await say("My sister Ana works as a gardener in the botanical garden.")
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)
    async with app.db.begin_read() as tx:
        read_in_it = await list_memories(tx, chat_context.person.id)
    for each in read_in_it:
        is_otto = "Otto" in each.memory.text
        await apply_belief_action(
            app.db,
            app.clock,
            chat_context.person.id,
            "reject" if is_otto else "confirm",
            each.memory.id,
        )
    names = ("cello", "gardener")
    wish = DeletionRequest(ids=tuple([await id_of(app, chat_context, name) for name in names]))

    report = await forget(app, chat_context.person.id, wish)

    assert report.is_proved
    held = repr(await rows_of(app.db, chat_context.person.id))
    assert "Otto" not in held
    async with app.db.begin_read() as tx:
        left = [
            each.memory.text for each in await list_memories(tx, chat_context.person.id, live=False)
        ]
    assert left
    assert all("Ana" in text for text in left)


async def test_rejected_belief_is_not_kept_as_an_orphan(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Old words that are let go take it with them, while what is believed stays."""
    told = await say("My brother Otto plays the cello in the old city orchestra.")
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)
    async with app.db.begin_read() as tx:
        believed = await list_memories(tx, chat_context.person.id)
    await apply_belief_action(
        app.db, app.clock, chat_context.person.id, "reject", believed[0].memory.id
    )

    report = await forget(
        app, chat_context.person.id, DeletionRequest(ids=(told.message.id,)), orphan=True
    )

    assert believed[0].memory.id in report.ids
    assert believed[0].memory.id not in report.orphans
    assert report.is_proved


async def test_forgetting_an_undone_import_erases_its_ended_beliefs(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """By its number, and only that: its messages are gone, its beliefs were kept as history."""
    await tell_more(app, chat_context)
    other = await imported(app, chat_context, clock, ["I live in Oslo.", "I love old ships."])
    await undo_import(app.db, app.clock, app.settings, chat_context.person, other)
    second = await imported(app, chat_context, clock)
    await undo_import(app.db, app.clock, app.settings, chat_context.person, second)
    assert await left_of_it(app, chat_context) == "Lyon baker Balto"

    wish = DeletionRequest(batch=second)
    shown = await preview_forget(app.db, chat_context.person.id, wish)
    report = await forget(app, chat_context.person.id, wish)

    assert report.is_proved
    assert shown.counts == report.counts
    assert report.counts["memories"] >= len(BAKER) - 1
    async with app.db.begin_read() as tx:
        ended = await list_memories(tx, chat_context.person.id, live=False)
        assert await list_view_mismatches(tx, chat_context.person.id) == []
    assert await left_of_it(app, chat_context) == ""
    assert {"Lives in Oslo.", "Lives in Porto."} <= {each.memory.text for each in ended}


async def test_forgetting_an_import_also_erases_the_same_undone_import(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nothing that is kept speaks for it, and it is what somebody wants forgotten."""
    await tell_more(app, chat_context)
    await undo_import(
        app.db,
        app.clock,
        app.settings,
        chat_context.person,
        await imported(app, chat_context, clock),
    )
    clock.tick(minutes=5)
    again = await imported(app, chat_context, clock)

    report = await forget(app, chat_context.person.id, DeletionRequest(batch=again))

    assert report.is_proved
    assert await left_of_it(app, chat_context) == ""
    async with app.db.begin_read() as tx:
        (home,) = await list_memories(tx, chat_context.person.id)
        assert await list_view_mismatches(tx, chat_context.person.id) == []
    assert home.memory.text == "Lives in Porto."


async def test_import_undo_removes_its_evidence_from_other_beliefs(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Also of what was edited since; a belief that other words support, too, stands by these."""
    await tell_more(app, chat_context)
    number = await imported(app, chat_context, clock)
    person = chat_context.person.id
    async with app.db.begin_write() as tx:
        said = {each.text: each for each in await list_messages(tx, person)}
        edited = await edit_message(
            tx, person, said[BAKER[2]].id, "My dog is called Rex.", now=clock()
        )
        (home,) = [e for e in await list_memories(tx, person) if e.memory.value == "Porto"]
        words = [
            NewEvidence(source=each, quote=each.text) for each in (said[BAKER[1]], edited) if each
        ]
        await add_evidence(tx, person, home.memory.id, words, extractor="borrow/1", now=clock())
        stood_by = (await get_memory_state(tx, person, home.memory.id)).stats.times_seen
    await undo_import(app.db, app.clock, app.settings, chat_context.person, number)

    async with app.db.begin_read() as tx:
        assert await list_stats_mismatches(tx, person) == []
        stands_by = (await get_memory_state(tx, person, home.memory.id)).stats.times_seen
    assert (stood_by, stands_by) == (3, 1)
    assert not [row for row in (await rows_of(app.db, person))["evidence"] if "Rex" in repr(row)]
