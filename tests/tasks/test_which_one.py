"""Which of several tasks is meant: asked, answered by a number, and what "it" names."""

import pytest

from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.receipt_schemas import ReceiptSchema
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.tasks.task import Task
from tests.engines import both_engines
from tests.tasks.test_reminders import Desk, at, desk

engine = both_engines
__all__ = ["desk", "engine"]
ENGLISH = "remind me to stretch in 5 minutes"
SPANISH = "recuérdame en 5 minutos estirar las piernas"
GERMAN = "erinnere mich in 5 Minuten daran, die Beine zu strecken"
FRENCH = "rappelle-moi dans 5 minutes de faire une pause"
CHINESE = "5分钟后提醒我拉伸"


async def set_plants(desk: Desk) -> None:
    """Two reminders of plants, and one whose time is still asked."""
    await desk.say("remind me to water the plants tomorrow at 10am")
    await desk.say("remind me to buy plants food tomorrow at 11am")
    await desk.say("remind me to call mum")


async def get_task(desk: Desk, text: str) -> Task:
    """The task that was set in these words."""
    return next(each for each in await desk.tasks() if each.text == text)


@pytest.mark.parametrize("answer", ["1", "1.", "the first one", "number 1"])
async def test_number_applies_what_was_asked_to_that_task(desk: Desk, answer: str) -> None:
    """The number names a task to forget; it sets no time for another one."""
    await set_plants(desk)
    asked = await desk.say("forget the reminder about the plants")
    assert "Which one do you mean?\n1. water the plants" in asked
    told = await desk.say(answer)
    assert "I won't remind you of “water the plants”" in told
    assert (await get_task(desk, "water the plants")).status == "cancelled"
    assert (await get_task(desk, "buy plants food")).status == "open"
    assert (await get_task(desk, "call mum")).status == "asking"


async def test_number_keeps_the_time_that_was_asked_for(desk: Desk) -> None:
    """A change carries its time to the task that is named afterwards."""
    await set_plants(desk)
    assert "Which one" in await desk.say("move the plants reminder to 4pm")
    assert "16:00" in await desk.say("2")
    assert (await get_task(desk, "buy plants food")).due_at == at("2026-11-25T16:00")


async def test_number_after_something_else_answers_nothing(desk: Desk) -> None:
    """Only the next message is an answer."""
    await set_plants(desk)
    await desk.say("forget the reminder about the plants")
    await desk.say("My sister Ana lives in Lisbon.")
    await desk.say("1")
    assert (await get_task(desk, "water the plants")).status == "open"


async def test_last_task_spoken_of_is_it(desk: Desk) -> None:
    """A duration is counted from now, and "it" is what was said last."""
    await desk.say("remind me to call mum tomorrow at 10am")
    await desk.say("remind me to stretch in 5 minutes")
    desk.clock.tick(minutes=5)
    await desk.run()
    await desk.say("in 10 minutes again")
    now = desk.clock.now
    told = await desk.say("make it 8 minutes instead")
    assert "stretch" in told
    assert (await get_task(desk, "stretch")).due_at == now + 9 * 60 * 1_000_000


@pytest.mark.parametrize(
    ("asked", "text", "hour", "minute"),
    [
        (ENGLISH, "snooze for 2 minutes", 14, 10),
        (ENGLISH, "snooze 1 minute", 14, 9),
        (ENGLISH, "snooze 5 minutes", 14, 13),
        (SPANISH, "pospón 10 minutos", 14, 18),
        (SPANISH, "mejor a las 16", 16, 0),
        (GERMAN, "mach 16 draus", 16, 0),
        (FRENCH, "fais plutôt 16h", 16, 0),
        (CHINESE, "推迟10分钟", 14, 18),
    ],
)
async def test_delivered_task_is_put_off(
    desk: Desk, asked: str, text: str, hour: int, minute: int
) -> None:
    """Any of these puts off what has just been said."""
    await desk.say(asked)
    desk.clock.tick(minutes=6)
    await desk.run()
    await desk.say(text)
    (task,) = await desk.tasks()
    assert (task.status, task.due_at) == ("open", at(f"2026-11-24T{hour}:{minute:02}"))


@pytest.mark.parametrize(
    ("before", "text", "says"),
    [
        ("My sister lives in Lisbon.", "snooze for 2 minutes", "nothing to put off"),
        ("Mi hermana vive en Lisboa desde hace años.", "pospón 10 minutos", "nada que posponer"),
        ("Ma sœur habite à Lisbonne.", "reporte de 10 minutes", "rien à reporter"),
        ("Meine Schwester wohnt in Berlin.", "snooze 10 Minuten", "ist nichts"),
        ("我的姐姐住在上海。", "推迟10分钟", "没有"),
    ],
)
async def test_nothing_to_put_off_is_said(desk: Desk, before: str, text: str, says: str) -> None:
    """Without a task, no model and no memory is asked."""
    await desk.say(before)
    assert says in (await desk.say(text)).lower()


async def test_task_named_in_plain_words_is_moved_or_cancelled(desk: Desk) -> None:
    """A word of the task is enough."""
    await desk.say("add milk to my list")
    await desk.say("remind me to put out the recycling tomorrow at 10am")
    await desk.say("cancel the milk")
    assert (await get_task(desk, "milk")).status == "cancelled"
    await desk.say("move the recycling to 4pm")
    task = await get_task(desk, "put out the recycling")
    assert task.due_at == at("2026-11-25T16:00")


async def test_why_names_what_rules_did(desk: Desk) -> None:
    """A reminder that was set is no statement that something was searched for."""
    await desk.say("remind me to call mum tomorrow at 10am")
    async with desk.app.db.begin_read() as tx:
        receipt = await find_receipt(tx, desk.chat_context.person.id)
        assert receipt is not None
        shown = ReceiptSchema.from_domain(await resolve_receipt(tx, receipt))
    assert "something about your reminders" in shown.intent
    assert "Fixed rules read it" in shown.as_text
    assert "You told me something" not in shown.as_text


async def test_command_is_not_quoted_as_a_memory(desk: Desk) -> None:
    """What was done for it is kept; its words tell nothing else."""
    await desk.say("/quiet 23-9")
    await desk.say("/remind me tomorrow at 10am to call Ana")
    await desk.say("/journal Ana came by with Leo.")
    told = await desk.say("what did I write about Ana?")
    assert "/" not in told.partition("://")[0]
    assert "Ana came by with Leo" in told


@pytest.mark.parametrize(
    ("asked", "put_off", "shows"),
    [
        ("Remind me tomorrow at 15:00 to call Eva", "snooze it for an hour", "25 November, 16:00"),
        (
            "Remind me tomorrow at 15:00 to call Eva",
            "push the Eva reminder back by an hour",
            "16:00",
        ),
        (
            "Remind me tomorrow at 15:00 to call Eva",
            "remind me again in an hour",
            "24 November, 15:02",
        ),
        ("Recuérdame mañana a las 15:00 llamar a Eva", "pospón lo de Eva una hora", "16:00"),
        ("Erinnere mich morgen um 15 Uhr, Eva anzurufen", "verschieb es um eine Stunde", "16:00"),
        ("Rappelle-moi demain à 15h d'appeler Eva", "repousse-le d'une heure", "16:00"),
        ("明天下午三点提醒我给Eva打电话", "推迟一小时", "16:00"),
    ],
)
async def test_what_is_not_yet_due_is_put_off_from_its_time(
    desk: Desk, asked: str, put_off: str, shows: str
) -> None:
    """By so much; "in an hour" is from now."""
    await desk.say(asked)
    assert shows in await desk.say(put_off)


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ("Remind me every Tuesday at 7pm to put out the bins", "no more reminders about the bins"),
        ("Remind me every Tuesday at 7pm to put out the bins", "stop reminding me about the bins"),
        (
            "Recuérdame cada martes a las 19:00 sacar la basura",
            "no quiero más recordatorios de la basura",
        ),
        (
            "Erinnere mich jeden Dienstag um 19 Uhr an den Müll",
            "keine Erinnerungen mehr an den Müll",
        ),
        (
            "Rappelle-moi chaque mardi à 19h de sortir les poubelles",
            "plus de rappels pour les poubelles",
        ),
        ("每周二晚上七点提醒我倒垃圾", "以后别再有倒垃圾的提醒了"),
    ],
)
async def test_series_that_is_not_wanted_any_more_ends(
    desk: Desk, asked: str, refused: str
) -> None:
    """And nothing new is asked about."""
    await desk.say(asked)
    await desk.say(refused)
    assert [each.status for each in await desk.tasks()] == ["cancelled"]


@pytest.mark.parametrize(
    "text",
    [
        "don't text me about it at 9",
        "please do not remind me tomorrow at 8",
        "erinnere mich morgen nicht an den Arzt",
        "明天不要提醒我",
    ],
)
async def test_reminder_that_is_refused_is_none(desk: Desk, text: str) -> None:
    """Words that ask for one, under a no."""
    await desk.say(text)
    assert await desk.tasks() == []


@pytest.mark.parametrize(
    ("first", "second", "last"),
    [
        (
            "Remind me tomorrow at 15:00 to call Eva",
            "Remind me tomorrow at 16:00 to buy bread",
            "delete the last one",
        ),
        (
            "Erinnere mich morgen um 15 Uhr, Eva anzurufen",
            "Erinnere mich morgen um 16 Uhr, Brot zu kaufen",
            "lösch die letzte",
        ),
        ("明天下午三点提醒我给Eva打电话", "明天下午四点提醒我买面包", "删掉最后一个"),
    ],
)
async def test_last_one_is_the_one_that_was_set_last(
    desk: Desk, first: str, second: str, last: str
) -> None:
    """Not a request to forget what was said."""
    await desk.say(first)
    await desk.say(second)
    await desk.say(last)
    assert [each.status for each in await desk.tasks() if "Eva" in each.text] == ["open"]
    assert [each.status for each in await desk.tasks() if "Eva" not in each.text] == ["cancelled"]


@pytest.mark.parametrize(
    ("asked", "told", "left"),
    [
        ("add buy milk and bread to my list", "I bought the milk", "buy bread"),
        ("add buy milk, eggs and bread to my list", "I bought the eggs", "buy milk and bread"),
        ("add pick up the kids and go home to my list", "I picked up the kids", "go home"),
        ("add buy milk and bread to my list", "I bought the milk and the bread", None),
        ("añade comprar leche y pan a mi lista", "ya compré la leche", "comprar pan"),
        ("setz Milch und Brot kaufen auf meine Liste", "ich habe die Milch gekauft", "Brot kaufen"),
        ("ajoute acheter du lait et du pain à ma liste", "j'ai acheté le lait", "du pain"),
        ("把买牛奶和面包加到清单", "牛奶买了", "买面包"),
        ("put milk and eggs on my shopping list", "bought the milk", "eggs"),
        ("Setz Milch und Eier auf die Einkaufsliste", "Hab die Milch gekauft", "Eier"),
        ("Pon leche y huevos en la lista de la compra", "He comprado la leche", "huevos"),
        ("Ajoute du lait et des œufs à ma liste", "J'ai acheté le lait", "des œufs"),
        ("把牛奶和鸡蛋加到购物清单", "牛奶买好了", "鸡蛋"),
    ],
)
async def test_only_what_is_told_of_an_entry_is_done(
    desk: Desk, asked: str, told: str, left: str | None
) -> None:
    """The rest stays on the list, which is said."""
    await desk.say(asked)
    reply = await desk.say(told)
    (task,) = await desk.tasks()
    assert (task.text if task.is_active else None) == left
    assert left is None or (left in reply and "/done 1" in reply)
    await desk.say("/done 1")
    assert not any(each.is_active for each in await desk.tasks())


async def test_part_of_a_series_leaves_it_as_it_is(desk: Desk) -> None:
    """The next time it is all of it again."""
    await desk.say("Remind me every day at 8am to water the plants and feed the cat")
    assert "only a part" in await desk.say("I fed the cat")
    (task,) = await desk.tasks()
    assert (task.text, task.status) == ("water the plants and feed the cat", "open")


async def test_what_was_met_or_moved_is_no_thing_of_a_list(desk: Desk) -> None:
    """Only an entry that lists things alone is ticked off by one of them."""
    await desk.say("remind me tomorrow at 9am to call Anna and Tom")
    await desk.say("I met Tom")
    (task,) = await desk.tasks()
    assert (task.text, task.status) == ("call Anna and Tom", "open")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("put milk and eggs on my shopping list", "I spilled the milk"),
        ("add milk to my list", "I spilled the milk"),
        ("Setz Milch auf meine Liste", "ich hab die Milch verschüttet"),
        ("put milk and eggs on my shopping list", "I needed milk"),
        ("put milk and eggs on my shopping list", "I bought milk chocolate"),
        ("add milk to my list", "I forgot the milk"),
        ("Setz Milch und Eier auf die Einkaufsliste", "ich hab die Milch verschüttet"),
        ("Pon leche y huevos en la lista de la compra", "He olvidado la leche"),
        ("añade leche a mi lista", "He olvidado la leche"),
        ("Ajoute du lait et des œufs à ma liste", "j'ai renversé le lait"),
    ],
)
async def test_thing_of_a_list_that_was_not_got_stays_on_it(
    desk: Desk, asked: str, told: str
) -> None:
    """Spilled, forgotten and needed things are still to be got; so is what only sounds alike."""
    await desk.say(asked)
    (before,) = await desk.tasks()
    await desk.say(told)
    assert await desk.tasks() == [before]


@pytest.mark.parametrize(
    ("first", "second", "moved", "last", "answer"),
    [
        (
            "Remind me tomorrow at 15:00 to call Eva",
            "Remind me tomorrow at 16:00 to buy bread",
            "move Eva to 17:00",
            "delete the last one",
            "the bread",
        ),
        (
            "Erinnere mich morgen um 15 Uhr, Eva anzurufen",
            "Erinnere mich morgen um 16 Uhr, Brot zu kaufen",
            "verschieb Eva auf 17 Uhr",
            "lösch die letzte",
            "Brot",
        ),
    ],
)
async def test_last_one_is_asked_about_where_another_was_touched_since(
    desk: Desk, first: str, second: str, moved: str, last: str, answer: str
) -> None:
    """Set last, moved last, or last of the list: nothing is deleted before it is clear."""
    for text in (first, second, moved):
        await desk.say(text)
    asked = await desk.say(last)
    assert "Eva" in asked
    assert [each.status for each in await desk.tasks()] == ["open", "open"]
    await desk.say(answer)
    assert [each.status for each in await desk.tasks() if "Eva" in each.text] == ["open"]
    assert [each.status for each in await desk.tasks() if "Eva" not in each.text] == ["cancelled"]


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ("remind me to call mum tomorrow at 10", "whats on my list?"),
        ("Erinnere mich morgen um 10 an den Anruf", "was steht auf meiner Liste?"),
    ],
)
async def test_list_that_was_told_is_not_doubted_below(
    desk: Desk, asked: str, question: str
) -> None:
    """The list is all of the answer, where no promise is known beside it."""
    await desk.say(asked)
    assert "\n\n" not in await desk.say(question)
