"""Something is forgotten from everywhere, it is shown to be, and it does not come back."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import load_deletion_filter
from oldfriend.config.keys import ensure_deletion_key, find_deletion_key
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import RetentionSettings
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.forgetting.delete import apply_retention, forget, preview_forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_memories, list_summaries
from oldfriend.memory.core_blocks import list_blocks, write_block
from oldfriend.memory.deletion.audit_log import list_audit_entries
from oldfriend.memory.deletion.deletion_plan import plan_deletion
from oldfriend.memory.deletion.erase import RedactionMarker, erase
from oldfriend.memory.deletion.selection import DeletionRequest, select_about
from oldfriend.memory.deletion.verification import (
    build_text_fingerprints,
    format_fingerprints_json,
    list_residuals,
    parse_fingerprints_json,
)
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.message_log import get_message, list_messages
from oldfriend.memory.notes import list_notes
from oldfriend.memory.segments import list_segments, reopen_segment
from oldfriend.memory.sessions import close_session, ensure_open_session
from oldfriend.presenters.deletion_text import preview_as_text
from oldfriend.proactive.checklist import load_checklist
from oldfriend.queues.outbox import ReplyPart, count_delivered_pieces, record_piece
from oldfriend.queues.queue import claim_jobs
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.job_handlers import RETENTION_JOB, plan_jobs, run_jobs
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.model_roles import with_models
from tests.chat_fixtures import Say, log_of
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY, both_engines
from tests.memory.deletion.life import rows_of
from tests.summaries import sum_up

engine = both_engines


SECRET = "my sister Ana is terribly allergic to hazelnuts"
DIVORCE = "I got divorced from Otto yesterday"
TAKEN_BACK = "(I took back what I had said here, because you asked me to forget it.)"


pytestmark = pytest.mark.usefixtures("settings_folder")


async def id_of(app: AppContext, chat_context: ChatContext, text: str) -> str:
    """The id of the message that holds a text."""
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, chat_context.person.id)
    return next(each.id for each in said if text in each.text and each.role == "person")


async def test_forgotten_message_is_gone_from_every_table_and_file(
    app: AppContext, chat_context: ChatContext, say: Say, settings: Settings
) -> None:
    """With the note that was made of it, and the replies that repeat it."""
    await say(f"Remember: {SECRET}")
    await say("we had a very long walk along the river")
    await say("what is Ana allergic to?")
    wish = DeletionRequest(ids=(await id_of(app, chat_context, SECRET),))
    shown = await preview_forget(app.db, chat_context.person.id, wish)
    report = await forget(app, chat_context.person.id, wish)

    assert shown.counts == report.counts
    assert report.counts["messages"] == 1
    assert report.counts["memories"] >= 1  # the note, and what was read in it
    assert report.is_proved
    held = repr(await rows_of(app.db, chat_context.person.id))
    assert "hazelnuts" not in held
    assert not [piece async for _, piece in app.db.iter_raw_bytes() if b"hazelnuts" in piece]
    log = await log_of(app, chat_context)
    assert [text for role, text in log if role == "companion"].count(TAKEN_BACK) == 2
    assert ("person", "we had a very long walk along the river") in log
    async with app.db.begin_read() as tx:
        assert await list_notes(tx, chat_context.person.id) == []
        (entry,) = await list_audit_entries(tx, chat_context.person.id)
    assert (entry.what, entry.digest) == ("forget", report.digest)


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("71.4 kg this morning", "measurements", "weight 71.4 kg"),
        ("Dear diary, the river was green.", "diary_entries", "river was green"),
        ("Remind me tomorrow at 15:00 to call Otto", "tasks", "call Otto"),
        ("My goal is to run twice a week", "goals", "run twice a week"),
        ("/project Garden", "projects", "Garden"),
        ("/skill Letters: short and warm", "skills", "Letters"),
        ("/learning add Read scans: of letters", "limitations", "Read scans"),
    ],
)
async def test_preview_lists_what_the_message_had_set(
    app: AppContext, chat_context: ChatContext, say: Say, text: str, kind: str, shown: str
) -> None:
    """Its numbers, diary entries, reminders, goals and the like go with it, and are counted."""
    await say(text)
    await say("I slept 6 hours last night")
    wish = DeletionRequest(ids=(await id_of(app, chat_context, text),))
    preview = await preview_forget(app.db, chat_context.person.id, wish)
    (record,) = preview.plan.records
    report = await forget(app, chat_context.person.id, wish)

    assert (record.kind, shown in record.text) == (kind, True)
    assert shown in preview_as_text(preview)
    assert report.counts == preview.counts
    assert report.counts[kind] == 1
    everything = await preview_forget(
        app.db, chat_context.person.id, DeletionRequest(everything=True)
    )
    assert [each.kind for each in everything.plan.records] == ["measurements"]


async def test_forgotten_text_is_not_recalled_in_later_replies(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Also not from what it keeps ready."""
    await say(f"Remember: {SECRET}")
    before = await say("what is Ana allergic to?")
    await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))
    after = await say("what is Ana allergic to?")

    assert "hazelnuts" in before.reply.text
    assert "hazelnuts" not in after.reply.text


async def test_forgotten_text_is_not_imported_again_until_said_anew(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """Until the person says them anew."""
    await say(SECRET)
    await forget(
        app, chat_context.person.id, DeletionRequest(ids=(await id_of(app, chat_context, SECRET),))
    )

    def told(at: int) -> list[ImportedMessage]:
        spoken = UnloggedMessage(
            role="person",
            speaker="x",
            text=SECRET.upper(),
            at=at,
            trust="person",
            external_id=str(at),
        )
        return [ImportedMessage(message=spoken)]

    async def brought(at: int) -> int:
        async with app.db.begin_write() as tx:
            forgotten = await load_deletion_filter(app.settings, tx, chat_context.person.id)
            target = ImportTarget(chat=chat_context.chat, language="en", tombstones=forgotten)
            return (await write_imported_messages(tx, target, told(at), now=clock())).added

    assert await brought(clock() - DAY) == 0
    assert await brought(clock.tick(minutes=1)) == 1
    assert await brought(clock() - DAY) == 1


@SQLITE_ONLY
async def test_forgotten_text_is_removed_from_input_history_and_backups(
    app: AppContext, chat_context: ChatContext, say: Say, settings: Settings
) -> None:
    """What was typed, and the copies from before a migration."""
    typed = settings.data / f"chat-history-{chat_context.person.id}"
    typed.write_text(f"\n# 2026\n+{SECRET}\n+again\n\n# 2026\n+we had a long walk\n")
    theirs = settings.data / "chat-history-somebody-else"
    theirs.write_text(f"\n# 2026\n+{SECRET}\n")
    copy = settings.data / "oldfriend.db.before-8"
    copy.write_bytes(SECRET.encode())
    await say(SECRET)
    wish = DeletionRequest(ids=(await id_of(app, chat_context, SECRET),))
    assert (await preview_forget(app.db, chat_context.person.id, wish)).backups == (copy.name,)
    report = await forget(app, chat_context.person.id, wish)

    assert report.is_proved
    assert typed.read_text() == "\n# 2026\n+we had a long walk\n"
    assert SECRET in theirs.read_text()
    assert not copy.exists()


@SQLITE_ONLY
async def test_foreign_file_with_forgotten_text_is_reported_and_not_changed(
    app: AppContext, chat_context: ChatContext, say: Say, settings: Settings
) -> None:
    """A file that somebody put into the data folder is not ours to change."""
    (settings.data / "mine.txt").write_text(f"keep: {SECRET}")
    await say(SECRET)
    report = await forget(app, chat_context.person.id, DeletionRequest(everything=True))

    assert not report.is_proved
    assert [each.place for each in report.left] == ["mine.txt"]


async def test_forget_keeps_the_current_core_block_and_erases_older_versions(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """Its earlier versions do not, and with everything it goes, too."""
    await say(SECRET)
    for text in (f"Know that {SECRET}.", "Likes tea."):
        async with app.db.begin_write() as tx:
            await write_block(tx, chat_context.person.id, "user", text, now=clock())
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))
    async with app.db.begin_read() as tx:
        assert [each.text for each in await list_blocks(tx, chat_context.person.id)] == [
            "Likes tea."
        ]
    await forget(app, chat_context.person.id, DeletionRequest(everything=True))

    assert report.is_proved
    async with app.db.begin_read() as tx:
        assert await list_blocks(tx, chat_context.person.id) == []


async def test_forget_takes_lines_from_the_checklist(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """Those that hold deleted words; the others stay, and how often it is looked at."""
    await say(SECRET)
    await say(f"/heartbeat add Remember that {SECRET}.")
    for words in ("every 60", "add Do I drink enough?"):
        await say(f"/heartbeat {words}")
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))
    async with app.db.begin_read() as tx:
        kept = await load_checklist(tx, chat_context.person.id)

    assert (kept.lines, kept.minutes) == (("Do I drink enough?",), 60)
    assert report.is_proved


async def test_forget_takes_an_unlearned_name_from_the_checklist(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """What was asked for goes from it and from its earlier versions, also if it is no entity."""
    for words in ("Is Quirkwort near?", "Do I drink enough?"):
        await say(f"/heartbeat add {words}")
    await say("My friend Quirkwort lives in Oslo.")
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Quirkwort"))
    async with app.db.begin_read() as tx:
        kept = await load_checklist(tx, chat_context.person.id)
        blocks = await tx.rows("SELECT text FROM core_block")

    assert kept.lines == ("Do I drink enough?",)
    assert "Quirkwort" not in repr(blocks)
    assert report.is_proved


async def test_proof_sees_an_asked_word_that_stands_on_the_checklist(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """It is not said that nothing is left."""
    await say("My friend Quirkwort lives in Oslo.")
    person = chat_context.person.id
    async with app.db.begin_write() as tx:
        selection = await select_about(tx, person, "Quirkwort")
        plan = await plan_deletion(tx, person, selection)
        sought = build_text_fingerprints(plan, b"key")
        restored = parse_fingerprints_json(format_fingerprints_json(sought), b"key")
        await erase(tx, plan, RedactionMarker(text="-", language="en"), now=clock.now)
        await write_block(tx, person, "checklist", "Is Quirkwort near?", now=clock.now)
        assert restored == sought
        found = await list_residuals(tx, person, sought)

    assert [(each.place, each.count) for each in found] == [("core_block.text", 1)]


async def test_forgotten_pending_message_is_not_answered(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Its letter goes with it."""
    accepted = await accept_message(
        app, chat_context, MessageSubmission(text=SECRET), claim_now=False
    )
    assert accepted is not None
    await forget(app, chat_context.person.id, DeletionRequest(ids=(accepted.message.id,)))

    async with app.db.begin_read() as tx:
        assert await tx.rows("SELECT * FROM job WHERE queue = 'inbox'") == []
    assert await log_of(app, chat_context) == []


async def test_turn_using_a_message_forgotten_meanwhile_is_run_again(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It was forgotten while the turn was being decided."""
    await say(f"Remember: {SECRET}")
    secret = await id_of(app, chat_context, SECRET)

    async def forget_it() -> None:
        await forget(app, chat_context.person.id, DeletionRequest(ids=(secret,)))

    async with asyncio.TaskGroup() as tasks:

        def answer_meanwhile(request: CompletionRequest) -> ScriptedReply:
            knows = SECRET in repr(request)
            if knows:
                tasks.create_task(forget_it())
            text = f"You said {SECRET}." if knows else "I can't say."
            return ScriptedReply(text=text, delay_s=0.3)

        watched = with_models(app, {"main": ScriptedModel(answer_meanwhile)})
        answered = await answer_message(
            watched, chat_context, MessageSubmission(text="what is Ana allergic to?")
        )

    assert answered.reply.text == "I can't say."
    assert "hazelnuts" not in repr(await rows_of(app.db, chat_context.person.id))


async def test_forget_everything_keeps_only_the_person_and_other_people(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """And nobody else's."""
    await say(SECRET)
    toms = await say("I am Tom and I like tea with milk", person="Tom")
    await forget(app, chat_context.person.id, DeletionRequest(everything=True))
    left = await rows_of(app.db, chat_context.person.id)

    assert {name for name, rows in left.items() if rows} <= {
        "person",
        "identity",
        "chat",
        "session",
        "model_call",
        "tombstone",
        "audit",
        "pace",
        "job",
    }
    assert await log_of(app, chat_context) == []
    async with app.db.begin_read() as tx:
        assert await get_message(tx, toms.reply.person, toms.reply.id) == toms.reply


@pytest.mark.parametrize("is_taken", [False, True])
async def test_open_chat_context_works_after_its_chat_was_forgotten(
    app: AppContext, chat_context: ChatContext, say: Say, is_taken: bool
) -> None:
    """Also where somebody has opened another at its place meanwhile."""
    await say(SECRET)
    async with app.db.begin_write() as tx:
        session = await ensure_open_session(tx, chat_context.chat, app.clock())
        await close_session(tx, chat_context.chat, session, at=app.clock(), trigger="idle")
    await forget(app, chat_context.person.id, DeletionRequest(everything=True))
    assert (await rows_of(app.db, chat_context.person.id))["chat"] == []
    if is_taken:
        await open_local_chat(
            app.db,
            app.clock,
            app.settings,
            person=chat_context.person.name,
            channel=chat_context.chat.channel,
        )
    await answer_message(app, chat_context, MessageSubmission(text="I like tea."))

    assert (await log_of(app, chat_context))[0] == ("person", "I like tea.")


async def test_delivery_records_of_forgotten_replies_are_erased(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """A platform's name of a message that is forgotten here is a trace of it."""
    given = await say(SECRET)
    part = ReplyPart(channel="x", address="1", reply=given.reply.id, ordinal=0, text="")
    async with app.db.begin_write() as tx:
        key, now = "message:1:1", app.clock()
        await record_piece(
            tx, chat_context.person.id, part, 0, chat=chat_context.chat.id, external_id=key, now=now
        )
        assert await count_delivered_pieces(tx, chat_context.person.id, part) == 1
    await forget(app, chat_context.person.id, DeletionRequest(everything=True))

    async with app.db.begin_read() as tx:
        assert await tx.rows("SELECT * FROM delivered") == []


async def test_forgetting_something_unknown_raises_not_found(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Which is said, and nothing happens."""
    await say("hello you")
    for wish in (
        DeletionRequest(about="Zoe"),
        DeletionRequest(ids=("abcdef",)),
        DeletionRequest(batch=3),
    ):
        with pytest.raises(NotFound):
            await forget(app, chat_context.person.id, wish)


async def test_retention_erases_old_messages_and_keeps_beliefs(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """What was learned from them stays; nothing keeps them from coming back."""
    await say(f"Remember: {SECRET}")
    clock.tick(minutes=60 * 24 * 20)
    await say("we had a very long walk along the river")
    assert await apply_retention(app, chat_context.person.id) is None
    kept = replace(
        app, settings=replace(app.settings, retention=RetentionSettings(messages_days=10))
    )
    report = await apply_retention(kept, chat_context.person.id)

    assert report is not None
    assert report.is_proved
    assert len(report.orphans) == 1
    assert SECRET not in "".join(text for _, text in await log_of(app, chat_context))
    async with app.db.begin_read() as tx:
        assert [note.text for note in await list_notes(tx, chat_context.person.id)] == [SECRET]
        assert [each.what for each in await list_audit_entries(tx, chat_context.person.id)] == [
            "retain"
        ]
        assert await tx.rows("SELECT * FROM tombstone") == []
    assert await apply_retention(kept, chat_context.person.id) is None


async def test_retention_job_is_scheduled_daily_only_if_configured(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """Only where it was chosen."""
    await say(SECRET)
    clock.tick(minutes=60 * 24 * 20)
    kept = replace(
        app, settings=replace(app.settings, retention=RetentionSettings(messages_days=10))
    )
    for each in (app, kept):
        await plan_jobs(each.db, each.clock, each.settings)
        async with app.db.begin_write() as tx:
            held = await claim_jobs(
                tx, "agenda", owner="w", now=clock(), lease_s=9, partition=RETENTION_JOB
            )
        assert (held is None) == (each is app)
    assert held is not None
    await run_jobs(kept, held, asyncio.Event())

    assert await log_of(app, chat_context) == []
    async with app.db.begin_read() as tx:
        rows = await tx.rows(
            "SELECT due_at FROM job WHERE partition = :partition", partition=RETENTION_JOB
        )
    assert [row[0] for row in rows] == [clock() + DAY]


def test_deletion_key_is_created_once_in_a_private_file(
    settings: Settings, settings_folder: Path
) -> None:
    """In a file that only its owner can read, or in a variable for several machines."""
    assert find_deletion_key(settings) is None
    key = ensure_deletion_key(settings)
    (file,) = [each for each in settings_folder.rglob("*") if each.is_file()]

    assert ensure_deletion_key(settings) == find_deletion_key(settings) == key
    assert file.stat().st_mode & 0o077 == 0
    shared = replace(settings, environment={"OLDFRIEND_FORGETTING_KEY": "ours" * 4})
    assert find_deletion_key(shared) == b"ours" * 4


@pytest.mark.parametrize("key", ["x", "\x01", "fifteen letters", f"  {'y' * 15}  "])
async def test_short_deletion_key_is_refused(settings: Settings, key: str) -> None:
    """Before anything is opened; an empty variable is none."""
    shared = replace(settings, environment={"OLDFRIEND_FORGETTING_KEY": key})
    with pytest.raises(InvalidInput, match="at least 16"):
        async with open_app(shared):
            pass

    with pytest.raises(InvalidInput, match="at least 16"):
        ensure_deletion_key(shared)
    empty = replace(settings, environment={"OLDFRIEND_FORGETTING_KEY": " "})
    assert find_deletion_key(empty) is None


async def test_reread_segments_do_not_relearn_forgotten_beliefs(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """A belief that was forgotten stays so, until the person tells it anew."""
    await say("I live in Porto, in a small flat by the river.")
    await say("I love jazz, and I can't stand coriander.")
    await form(app, chat_context)
    await sum_up(app.db, chat_context.person.id, "Loves jazz.")
    home = next(each for each in await known(app, chat_context) if each.value == "Porto")
    jazz = await id_of(app, chat_context, "I love jazz")
    await forget(app, chat_context.person.id, DeletionRequest(ids=(home.id, jazz)))
    await form(app, chat_context)
    after = await known(app, chat_context)

    assert {each.value for each in after} & {"Porto", "jazz", "coriander"} == set()
    async with app.db.begin_read() as tx:
        segments = await list_segments(tx, chat_context.person.id)
        summaries = await list_summaries(tx, chat_context.person.id)
    assert {segment.status for segment in segments} == {"done"}
    assert summaries == []
    await say("I live in Porto.")
    await form(app, chat_context)
    assert "Porto" in {each.value for each in await known(app, chat_context)}


async def test_forgotten_belief_is_not_relearned_from_kept_messages(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The report does not say that it is nowhere; what else was read from them stays."""
    await say("I live in Porto with my sister Ana.")
    await form(app, chat_context)
    (home,) = [each for each in await known(app, chat_context) if "Porto" in each.text]
    said = await id_of(app, chat_context, "Porto")
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(home.id,)))
    kept = {each.text for each in await known(app, chat_context)}
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        segment = await reopen_segment(tx, segment)
    await consolidate(await build_consolidation_deps(app, segment), segment)

    assert (report.is_proved, report.read_from) == (True, (said,))
    assert {each.text for each in await known(app, chat_context)} == kept != set()
    assert home.text not in kept


async def test_forgotten_belief_is_not_relearned_in_other_words(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """A model may word it as it likes: it rests on words that nothing else rests on."""
    await say(f"{DIVORCE}, I am so ashamed.")
    await form(app, chat_context)
    (event,) = [each for each in await known(app, chat_context) if each.kind == "event"]
    await forget(app, chat_context.person.id, DeletionRequest(ids=(event.id,)))
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        segment = await reopen_segment(tx, segment)
    means = await build_consolidation_deps(app, segment)

    async def read_anew(material: ExtractionInput) -> Extraction:
        (said,) = [each for each in material.messages if each.role == "person"]
        quotes = (Quote(message=said.id, text=DIVORCE),)
        claim = Claim(
            kind="event", text="The marriage with Otto is over.", quotes=quotes, impact=-6
        )
        return Extraction(author="extract/2", claims=(claim,))

    await consolidate(replace(means, extract=read_anew, extract_small_talk=read_anew), segment)
    assert [each.text for each in await known(app, chat_context) if each.kind == "event"] == []


async def test_message_said_anew_is_no_longer_filtered_on_import(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """As when it is brought in anew."""
    await say(SECRET)
    await forget(app, chat_context.person.id, DeletionRequest(about="Ana"))

    async def is_forgotten() -> bool:
        async with app.db.begin_read() as tx:
            forgotten = await load_deletion_filter(app.settings, tx, chat_context.person.id)
        return forgotten.is_message_forgotten(SECRET, said_at=clock() - DAY)

    assert await is_forgotten()
    clock.tick(minutes=1)
    await say(SECRET)
    assert not await is_forgotten()


async def form(app: AppContext, chat_context: ChatContext) -> None:
    """Read whatever waits to be read."""
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    async with app.db.begin_read() as tx:
        waiting = await list_segments(tx, chat_context.person.id, status=["waiting"])
    for segment in waiting:
        await consolidate_segment(app, chat_context.person.id, segment.id)


async def known(app: AppContext, chat_context: ChatContext) -> list[StoredBelief]:
    """What is believed now."""
    async with app.db.begin_read() as tx:
        return [each.memory for each in await list_memories(tx, chat_context.person.id)]
