"""All that is kept of somebody is forgotten at their own yes, once they saw it in numbers."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import API_CHANNEL
from oldfriend.db.stored_tables import STORED_TABLES
from oldfriend.domain.job_types import Job
from oldfriend.memory.deletion.audit_log import list_audit_entries
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_person
from oldfriend.queues.jobs_table import get_job_group
from oldfriend.replies.confirmed_deletions import purge_person
from oldfriend.runtime.maintenance import maintain
from oldfriend.tasks.task_edits import add_task
from oldfriend.tasks.task_store import list_tasks
from tests.chat_fixtures import Say
from tests.clock import FrozenClock


async def texts_of(app: AppContext, person: str | None = None) -> list[str]:
    """What the log of somebody holds."""
    async with app.db.begin_read() as tx:
        return [each.text for each in await list_messages(tx, (await get_person(tx, person)).id)]


async def work(app: AppContext) -> None:
    """Do what is due."""
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
    await maintain(app, person, within_s=60, overdue_s=15.0)


@pytest.mark.parametrize(
    ("asked", "answer", "shown"),
    [
        ("/purge", "yes", "reminders and to-dos: 1"),
        ("Forget everything about me!", "yes please", "messages, yours and mine: 4"),
        ("Vergiss alles über mich.", "ja", "Erinnerungen und Aufgaben: 1"),
        ("Borra todos mis datos", "sí", "recordatorios y tareas: 1"),
        ("Oublie tout ce que tu sais de moi", "oui", "rappels et tâches : 1"),
        ("忘掉关于我的一切", "是", "提醒和待办：1"),
    ],
)
async def test_everything_is_forgotten_at_a_yes(
    app: AppContext, say: Say, asked: str, answer: str, shown: str
) -> None:
    """Not before; afterwards only that it is gone is told, where it was asked for."""
    await say("My boat is called Dora.", channel="phone")
    await say("Remind me tomorrow at 9 to call Eva")
    question = (await say(asked)).reply
    assert shown in question.text
    await work(app)
    assert "My boat is called Dora." in await texts_of(app)

    await say(answer)
    await work(app)
    (told,) = await texts_of(app)
    assert "oldfriend doctor" not in told  # it is proved
    assert "Dora" not in told
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
        (entry,) = await list_audit_entries(tx, person)
        (notice,) = await list_messages(tx, person)
        for table in STORED_TABLES:
            if table.name in {"task", "goal", "measurement", "diary_entry", "pending_call"}:
                assert not await tx.rows(
                    f"SELECT 1 FROM {table.name} WHERE person = :person", person=person
                )
    assert (entry.what, entry.counts["tasks"]) == ("purge", 1)
    assert entry.proved_at is not None
    assert notice.channel == "terminal"


async def test_anything_else_forgets_nothing(app: AppContext, say: Say) -> None:
    """And so does a no."""
    await say("My boat is called Dora.")
    for answer in ("no", "What is my boat called?"):
        await say("/purge")
        await say(answer)
        await say("yes")
        await work(app)
        assert "My boat is called Dora." in await texts_of(app)


async def test_what_others_said_stays(app: AppContext, say: Say) -> None:
    """Only what belongs to whoever asked is forgotten."""
    await say("My boat is called Dora.")
    await say("My cat is called Miso.", person="Ben", channel="phone")
    await say("/purge")
    await say("yes")
    await work(app)
    assert "My cat is called Miso." in await texts_of(app, "Ben")
    assert len(await texts_of(app)) == 1


async def test_what_is_said_after_the_yes_stays(app: AppContext, say: Say) -> None:
    """With what it made: the yes covers what was there, and not what the job finds later."""
    await say("My boat is called Dora.")
    await say("Remind me tomorrow at 9 to call Eva")
    await say("/purge")
    await say("yes")
    await say("My cat is called Miso.")
    await say("Remind me tomorrow at 10 to feed Miso")
    await work(app)
    texts = await texts_of(app)
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
        tasks = await list_tasks(tx, person)
        (entry,) = await list_audit_entries(tx, person)

    assert "My cat is called Miso." in texts
    assert "Remind me tomorrow at 10 to feed Miso" in texts
    assert not any("Dora" in each or "Eva" in each or each == "yes" for each in texts)
    assert [each.text for each in tasks] == ["feed Miso"]
    assert entry.proved_at is not None


async def test_what_is_put_on_the_list_after_the_yes_stays(
    app: AppContext, say: Say, clock: FrozenClock
) -> None:
    """By hand, without a message that could tell when; what was there before the yes goes."""
    await say("My boat is called Dora.")
    async with app.db.begin_write() as tx:
        person = await get_person(tx, None)
        await add_task(tx, person, "paint Dora", now=clock())
    clock.tick(minutes=1)
    await say("/purge")
    await say("yes")
    clock.tick(minutes=1)
    async with app.db.begin_write() as tx:
        await add_task(tx, person, "feed Miso", now=clock())
    await work(app)
    async with app.db.begin_read() as tx:
        tasks = await list_tasks(tx, person.id)
        (entry,) = await list_audit_entries(tx, person.id)

    assert [each.text for each in tasks] == ["feed Miso"]
    assert entry.proved_at is not None


async def test_nothing_later_goes_when_it_is_done_again(
    app: AppContext, say: Say, clock: FrozenClock
) -> None:
    """As after a crash between the deletion and its notice; it is told once."""
    await say("My boat is called Dora.")
    await say("/purge")
    asked_at = clock() + 60_000_000
    response = await say("yes")
    await work(app)
    await say("My cat is called Miso.")
    message = response.message
    job = Job(
        queue="agenda",
        partition="purge",
        seq=1,
        person=message.person,
        dedup_key=None,
        group=None,
        payload={
            "name": "purge",
            "arguments": {"chat": message.chat, "purges": 0, "language": "en"},
        },
        enqueued_at=asked_at,
        due_at=asked_at,
        attempts=1,
        error=None,
        is_dead_letter=False,
    )
    await purge_person(app, job)
    texts = await texts_of(app)
    assert "My cat is called Miso." in texts
    assert sum("new beginning" in each for each in texts) == 1


async def test_it_is_done_once_whatever_the_clock_shows(
    app: AppContext, say: Say, clock: FrozenClock
) -> None:
    """It may be set back after the yes."""
    await say("My boat is called Dora.")
    await say("/purge")
    clock.tick(minutes=1)
    await say("yes")
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
        (row,) = await tx.rows(
            "SELECT seq FROM job WHERE queue = 'agenda' AND partition = :partition",
            partition=f"purge/{person}",
        )
        job = (await get_job_group(tx, "agenda", f"purge/{person}", row[0]))[0]
    clock.tick(minutes=-1)
    await purge_person(app, job)
    await purge_person(app, job)

    async with app.db.begin_read() as tx:
        assert len(await list_audit_entries(tx, person)) == 1
    assert sum("new beginning" in each for each in await texts_of(app)) == 1


async def test_nothing_is_asked_where_nothing_is_kept(say: Say) -> None:
    """The command itself does not count."""
    assert (await say("/purge")).reply.text.endswith("I keep nothing of you yet.")


async def test_program_behind_a_front_end_cannot_purge(app: AppContext, say: Say) -> None:
    """It is told where it can be done."""
    await say("My boat is called Dora.", channel=API_CHANNEL)
    assert "--everything" in (await say("/purge", channel=API_CHANNEL)).reply.text
    await say("yes", channel=API_CHANNEL)
    await work(app)
    assert "My boat is called Dora." in await texts_of(app)


@pytest.mark.parametrize(
    ("before", "asked", "shown"),
    [
        ("My boat is called Dora.", "/Export@friend", "oldfriend export FILE"),
        ("My boat is called Dora.", "Give me a copy of my data, please", "Save what is mine"),
        ("Mein Boot heißt Dora.", "Exportiere meine Daten", "Meine Daten sichern"),
        ("Mi barco se llama Dora.", "Exporta mis datos", "Guardar lo mío"),
        ("Mon bateau s'appelle Dora.", "Exporte mes données", "Enregistrer ce qui est à moi"),
        ("我的船叫多拉。", "导出我的数据", "保存我的"),
    ],
)
async def test_export_tells_where_the_file_is(
    say: Say, before: str, asked: str, shown: str
) -> None:
    """In numbers, too; no chat carries it."""
    await say(before)
    told = (await say(asked)).reply.text
    assert shown in told
    assert "2" in told.splitlines()[1]
