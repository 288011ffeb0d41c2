"""Something is forgotten from everywhere, it is shown to be, and it does not come back."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.accepting import Line, Said, accept
from oldfriend.app.answering import answer
from oldfriend.app.choices.forgetting_key import ensure_forgetting_key, find_forgetting_key
from oldfriend.app.choices.sections import Retention
from oldfriend.app.choices.settings import Settings
from oldfriend.app.forgetting import forget, preview, retain
from oldfriend.app.forgotten import forgotten_of
from oldfriend.app.forming.means import means_for
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.app.jobs import RETAIN, do_jobs, plan_jobs
from oldfriend.background.consolidating import consolidate
from oldfriend.background.extraction import Claim, Extraction, Material, Quote
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import NotFound
from oldfriend.domain.memories import Memory
from oldfriend.domain.messages import Spoken
from oldfriend.evals.roles import with_models
from oldfriend.llm.model import Request
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.beliefs import list_memories, list_summaries
from oldfriend.memory.bringing import Target, Told, bring
from oldfriend.memory.core_blocks import list_blocks, write_block
from oldfriend.memory.forgetting.auditing import list_audited
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import get_message, list_messages
from oldfriend.memory.notes import list_notes
from oldfriend.memory.segments import list_segments, reopen_segment
from oldfriend.queues.lanes import claim
from oldfriend.queues.outbox import Part
from oldfriend.queues.places import count_delivered, write_delivered
from tests.app.conftest import Say, log_of
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY
from tests.memory.forgetting.life import rows_of

SECRET = "my sister Ana is terribly allergic to hazelnuts"
QUARREL = "I had a terrible fight with my brother Otto yesterday"
TAKEN_BACK = "(I took back what I had said here, because you asked me to forget it.)"


pytestmark = pytest.mark.usefixtures("settings_folder")


async def id_of(house: House, line: Line, text: str) -> str:
    """The id of the message that holds a text."""
    async with house.db.reading() as tx:
        said = await list_messages(tx, line.person.id)
    return next(each.id for each in said if text in each.text and each.role == "person")


async def test_a_secret_leaves_every_table_and_file(
    house: House, line: Line, say: Say, settings: Settings
) -> None:
    """With the note that was made of it, and the replies that repeat it."""
    await say(f"Remember: {SECRET}")
    await say("we had a very long walk along the river")
    await say("what is Ana allergic to?")
    wish = Wish(ids=(await id_of(house, line, SECRET),))
    shown = await preview(house, line.person.id, wish)
    report = await forget(house, line.person.id, wish)

    assert shown.counts == report.counts
    assert report.counts["messages"] == 1
    assert report.counts["memories"] >= 1  # the note, and what was read in it
    assert report.is_proved
    held = repr(await rows_of(house.db, line.person.id))
    assert "hazelnuts" not in held
    assert not [piece async for _, piece in house.db.bytes_held() if b"hazelnuts" in piece]
    log = await log_of(house, line)
    assert [text for role, text in log if role == "companion"].count(TAKEN_BACK) == 2
    assert ("person", "we had a very long walk along the river") in log
    async with house.db.reading() as tx:
        assert await list_notes(tx, line.person.id) == []
        (entry,) = await list_audited(tx, line.person.id)
    assert (entry.what, entry.digest) == ("forget", report.digest)


async def test_after_it_the_companion_does_not_find_it(house: House, line: Line, say: Say) -> None:
    """Also not from what it keeps ready."""
    await say(f"Remember: {SECRET}")
    before = await say("what is Ana allergic to?")
    await forget(house, line.person.id, Wish(about="Ana"))
    after = await say("what is Ana allergic to?")

    assert "hazelnuts" in before.reply.text
    assert "hazelnuts" not in after.reply.text


async def test_the_same_words_are_not_brought_in_again(
    house: House, line: Line, say: Say, clock: FrozenClock
) -> None:
    """Until the person says them anew."""
    await say(SECRET)
    await forget(house, line.person.id, Wish(ids=(await id_of(house, line, SECRET),)))

    def told(at: int) -> list[Told]:
        spoken = Spoken(
            role="person", speaker="x", text=SECRET.upper(), at=at, trust="person",
            external_id=str(at),
        )  # fmt: skip
        return [Told(spoken=spoken)]

    async def brought(at: int) -> int:
        async with house.db.writing() as tx:
            forgotten = await forgotten_of(house.settings, tx, line.person.id)
            target = Target(chat=line.chat, language="en", forgotten=forgotten)
            return (await bring(tx, target, told(at), now=clock())).added

    assert await brought(clock() - DAY) == 0
    assert await brought(clock.tick(minutes=1)) == 1
    assert await brought(clock() - DAY) == 1


@SQLITE_ONLY
async def test_files_beside_the_database_lose_it_too(
    house: House, line: Line, say: Say, settings: Settings
) -> None:
    """What was typed, and the copies from before a migration."""
    typed = settings.data / f"chat-history-{line.person.id}"
    typed.write_text(f"\n# 2026\n+{SECRET}\n+again\n\n# 2026\n+we had a long walk\n")
    theirs = settings.data / "chat-history-somebody-else"
    theirs.write_text(f"\n# 2026\n+{SECRET}\n")
    copy = settings.data / "oldfriend.db.before-8"
    copy.write_bytes(SECRET.encode())
    await say(SECRET)
    wish = Wish(ids=(await id_of(house, line, SECRET),))
    assert (await preview(house, line.person.id, wish)).backups == (copy.name,)
    report = await forget(house, line.person.id, wish)

    assert report.is_proved
    assert typed.read_text() == "\n# 2026\n+we had a long walk\n"
    assert SECRET in theirs.read_text()
    assert not copy.exists()


@SQLITE_ONLY
async def test_what_is_found_elsewhere_is_said(
    house: House, line: Line, say: Say, settings: Settings
) -> None:
    """A file that somebody put into the data folder is not ours to change."""
    (settings.data / "mine.txt").write_text(f"keep: {SECRET}")
    await say(SECRET)
    report = await forget(house, line.person.id, Wish(everything=True))

    assert not report.is_proved
    assert [each.place for each in report.left] == ["mine.txt"]


async def test_what_a_person_wrote_by_hand_stays_as_it_reads_now(
    house: House, line: Line, say: Say, clock: FrozenClock
) -> None:
    """Its earlier versions do not, and with everything it goes, too."""
    await say(SECRET)
    for text in (f"Know that {SECRET}.", "Likes tea."):
        async with house.db.writing() as tx:
            await write_block(tx, line.person.id, "user", text, now=clock())
    report = await forget(house, line.person.id, Wish(about="Ana"))
    async with house.db.reading() as tx:
        assert [each.text for each in await list_blocks(tx, line.person.id)] == ["Likes tea."]
    await forget(house, line.person.id, Wish(everything=True))

    assert report.is_proved
    async with house.db.reading() as tx:
        assert await list_blocks(tx, line.person.id) == []


async def test_a_message_that_waits_is_not_answered_any_more(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Its letter goes with it."""
    accepted = await accept(house, line, Said(text=SECRET), to_answer=False)
    assert accepted is not None
    await forget(house, line.person.id, Wish(ids=(accepted.message.id,)))

    async with house.db.reading() as tx:
        assert await tx.rows("SELECT * FROM letter WHERE queue = 'inbox'") == []
    assert await log_of(house, line) == []


async def test_a_turn_that_rests_on_it_is_not_committed(house: House, line: Line, say: Say) -> None:
    """It was forgotten while the turn was being decided."""
    await say(f"Remember: {SECRET}")
    secret = await id_of(house, line, SECRET)

    async def forget_it() -> None:
        await forget(house, line.person.id, Wish(ids=(secret,)))

    async with asyncio.TaskGroup() as tasks:

        def answer_meanwhile(request: Request) -> Scripted:
            knows = SECRET in repr(request)
            if knows:
                tasks.create_task(forget_it())
            text = f"You said {SECRET}." if knows else "I can't say."
            return Scripted(text=text, delay_s=0.3)

        watched = with_models(house, {"main": ScriptedModel(answer_meanwhile)})
        answered = await answer(watched, line, Said(text="what is Ana allergic to?"))

    assert answered.reply.text == "I can't say."
    assert "hazelnuts" not in repr(await rows_of(house.db, line.person.id))


async def test_everything_goes_but_the_person(house: House, line: Line, say: Say) -> None:
    """And nobody else's."""
    await say(SECRET)
    toms = await say("I am Tom and I like tea with milk", person="Tom")
    await forget(house, line.person.id, Wish(everything=True))
    left = await rows_of(house.db, line.person.id)

    assert {name for name, rows in left.items() if rows} <= {
        "person", "identity", "chat", "session", "model_call", "tombstone", "audit", "pace",
        "letter",
    }  # fmt: skip
    assert await log_of(house, line) == []
    async with house.db.reading() as tx:
        assert await get_message(tx, toms.reply.person, toms.reply.id) == toms.reply


async def test_where_a_reply_was_sent_goes_with_it(house: House, line: Line, say: Say) -> None:
    """A platform's name of a message that is forgotten here is a trace of it."""
    given = await say(SECRET)
    part = Part(channel="x", address="1", reply=given.reply.id, ordinal=0, text="")
    async with house.db.writing() as tx:
        key, now = "message:1:1", house.clock()
        await write_delivered(tx, line.person.id, part, 0, chat=line.chat.id, key=key, now=now)
        assert await count_delivered(tx, line.person.id, part) == 1
    await forget(house, line.person.id, Wish(everything=True))

    async with house.db.reading() as tx:
        assert await tx.rows("SELECT * FROM delivered") == []


async def test_who_is_not_there_cannot_be_forgotten(house: House, line: Line, say: Say) -> None:
    """Which is said, and nothing happens."""
    await say("hello you")
    for wish in (Wish(about="Zoe"), Wish(ids=("abcdef",)), Wish(batch=3)):
        with pytest.raises(NotFound):
            await forget(house, line.person.id, wish)


async def test_old_messages_go_where_that_was_chosen(
    house: House, line: Line, say: Say, clock: FrozenClock
) -> None:
    """What was learned from them stays; nothing keeps them from coming back."""
    await say(f"Remember: {SECRET}")
    clock.tick(minutes=60 * 24 * 20)
    await say("we had a very long walk along the river")
    assert await retain(house, line.person.id) is None
    kept = replace(house, settings=replace(house.settings, retention=Retention(messages_days=10)))
    report = await retain(kept, line.person.id)

    assert report is not None
    assert report.is_proved
    assert len(report.orphans) == 1
    assert SECRET not in "".join(text for _, text in await log_of(house, line))
    async with house.db.reading() as tx:
        assert [note.text for note in await list_notes(tx, line.person.id)] == [SECRET]
        assert [each.what for each in await list_audited(tx, line.person.id)] == ["retain"]
        assert await tx.rows("SELECT * FROM tombstone") == []
    assert await retain(kept, line.person.id) is None


async def test_letting_go_is_a_job_that_comes_back_every_day(
    house: House, line: Line, say: Say, clock: FrozenClock
) -> None:
    """Only where it was chosen."""
    await say(SECRET)
    clock.tick(minutes=60 * 24 * 20)
    kept = replace(house, settings=replace(house.settings, retention=Retention(messages_days=10)))
    for each in (house, kept):
        await plan_jobs(each)
        async with house.db.writing() as tx:
            held = await claim(tx, "agenda", owner="w", now=clock(), lease_s=9, lane=RETAIN)
        assert (held is None) == (each is house)
    assert held is not None
    await do_jobs(kept, held, asyncio.Event())

    assert await log_of(house, line) == []
    async with house.db.reading() as tx:
        rows = await tx.rows("SELECT due_at FROM letter WHERE lane = :lane", lane=RETAIN)
    assert [row[0] for row in rows] == [clock() + DAY]


def test_the_key_is_made_once_and_kept_apart(settings: Settings, settings_folder: Path) -> None:
    """In a file that only its owner can read, or in a variable for several machines."""
    assert find_forgetting_key(settings) is None
    key = ensure_forgetting_key(settings)
    (file,) = [each for each in settings_folder.rglob("*") if each.is_file()]

    assert ensure_forgetting_key(settings) == find_forgetting_key(settings) == key
    assert file.stat().st_mode & 0o077 == 0
    shared = replace(settings, environment={"OLDFRIEND_FORGETTING_KEY": "ours"})
    assert find_forgetting_key(shared) == b"ours"


async def test_what_is_left_is_read_again_and_teaches_nothing_that_was_forgotten(
    house: House, line: Line, say: Say
) -> None:
    """A belief that was forgotten stays so, until the person tells it anew."""
    await say("I live in Porto, in a small flat by the river.")
    await say("I love jazz, and I can't stand coriander.")
    await form(house, line)
    home = next(each for each in await known(house, line) if each.value == "Porto")
    jazz = await id_of(house, line, "I love jazz")
    await forget(house, line.person.id, Wish(ids=(home.id, jazz)))
    await form(house, line)
    after = await known(house, line)

    assert {each.value for each in after} & {"Porto", "jazz", "coriander"} == set()
    async with house.db.reading() as tx:
        segments = await list_segments(tx, line.person.id)
        summaries = await list_summaries(tx, line.person.id)
    assert {segment.status for segment in segments} == {"done"}
    assert not any("jazz" in summary.text for summary in summaries)
    await say("I live in Porto.")
    await form(house, line)
    assert "Porto" in {each.value for each in await known(house, line)}


async def test_a_belief_is_not_learned_again_from_words_that_stay(
    house: House, line: Line, say: Say
) -> None:
    """The report does not say that it is nowhere; what else was read from them stays."""
    await say("I play the cello on Thursdays in an amateur orchestra.")
    await form(house, line)
    (cello,) = [each for each in await known(house, line) if each.kind == "fact"]
    said = await id_of(house, line, "cello")
    report = await forget(house, line.person.id, Wish(ids=(cello.id,)))
    kept = {each.text for each in await known(house, line)}
    async with house.db.writing() as tx:
        (segment,) = await list_segments(tx, line.person.id)
        segment = await reopen_segment(tx, segment)
    await consolidate(await means_for(house, segment), segment)

    assert (report.is_proved, report.read_from) == (True, (said,))
    assert {each.text for each in await known(house, line)} == kept != set()
    assert cello.text not in kept


async def test_what_was_forgotten_is_not_read_again_in_other_words(
    house: House, line: Line, say: Say
) -> None:
    """A model may word it as it likes: it rests on words that nothing else rests on."""
    await say(f"{QUARREL}, I am so ashamed.")
    await form(house, line)
    (event,) = [each for each in await known(house, line) if each.kind == "event"]
    await forget(house, line.person.id, Wish(ids=(event.id,)))
    async with house.db.writing() as tx:
        (segment,) = await list_segments(tx, line.person.id)
        segment = await reopen_segment(tx, segment)
    means = await means_for(house, segment)

    async def read_anew(material: Material) -> Extraction:
        (said,) = [each for each in material.messages if each.role == "person"]
        quotes = (Quote(message=said.id, text=QUARREL),)
        claim = Claim(kind="event", text="Fell out with Otto.", quotes=quotes, impact=-6)
        return Extraction(author="extract/2", claims=(claim,))

    await consolidate(replace(means, read=read_anew, read_small_talk=read_anew), segment)
    assert [each.text for each in await known(house, line) if each.kind == "event"] == []


async def test_what_is_said_anew_in_talk_may_be_brought_in_again(
    house: House, line: Line, say: Say, clock: FrozenClock
) -> None:
    """As when it is brought in anew."""
    await say(SECRET)
    await forget(house, line.person.id, Wish(about="Ana"))

    async def is_forgotten() -> bool:
        async with house.db.reading() as tx:
            forgotten = await forgotten_of(house.settings, tx, line.person.id)
        return forgotten.was_forgotten(SECRET, said_at=clock() - DAY)

    assert await is_forgotten()
    clock.tick(minutes=1)
    await say(SECRET)
    assert not await is_forgotten()


async def form(house: House, line: Line) -> None:
    """Read whatever waits to be read."""
    await tend(house, line.person.id, because="asked")
    async with house.db.reading() as tx:
        waiting = await list_segments(tx, line.person.id, status=["waiting"])
    for segment in waiting:
        await read(house, line.person.id, segment.id)


async def known(house: House, line: Line) -> list[Memory]:
    """What is believed now."""
    async with house.db.reading() as tx:
        return [each.memory for each in await list_memories(tx, line.person.id)]
