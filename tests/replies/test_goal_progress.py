"""What is done for a goal is counted when it is told (ACCEPTANCE L20)."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.goals.goal import GoalState
from oldfriend.goals.goal_desk import add_up
from oldfriend.goals.goal_store import list_goals
from oldfriend.inbound.accept import ChatContext
from oldfriend.measurements.measurement_store import list_told_lately
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.edited_requests import edit_answered
from tests.chat_fixtures import Say

RUN = "My goal is to run twice a week."
CALL = "My goal is to call my mother every week."


async def goals(app: AppContext, chat_context: ChatContext) -> list[GoalState]:
    """The goals, with what was counted for them."""
    async with app.db.begin_read() as tx:
        return await list_goals(tx, chat_context.person.id)


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        (RUN, "I ran 5 km this morning."),
        (RUN, "I ran today."),
        (RUN, "I went running today."),
        ("My goal is to study Spanish every day.", "Today I studied Spanish for an hour."),
        ("My goal is to read 20 books.", "I've read two books this month."),
        ("Mein Ziel ist, zweimal pro Woche zu laufen.", "Ich bin heute 5 km gelaufen."),
        ("Mein Ziel ist, jeden Tag Spanisch zu lernen.", "Ich habe heute Spanisch gelernt."),
        ("Mi meta es correr dos veces por semana.", "Hoy he corrido 5 km."),
        ("Mi meta es estudiar español cada día.", "He estudiado español una hora."),
        ("Mon objectif est de lire un livre par mois.", "J'ai lu un livre."),
        ("Mon objectif est de courir deux fois par semaine.", "J'ai couru 5 km ce matin."),
        (RUN, "ran 5 km this morning"),
        (RUN, "ran 5k today, took 33 min"),
        ("My goal is to drink 2 litres of water a day.", "drank 2 litres of water"),
        ("Mein Ziel ist, 10000 Schritte am Tag zu gehen.", "heute 11200 Schritte gegangen"),
        ("My goal is to read Virgil every day.", "read a chapter of Virgil"),
        ("My goal is to read more of Virgil this winter.", "I read a chapter of Virgil."),
        ("My goal is to read Virgil every day.", "did 20 pages of Virgil"),
        ("My goal is to go running regularly.", "I ran for half an hour."),
        ("Mein Ziel ist, wieder regelmäßig laufen zu gehen.", "Heute bin ich 6 km gelaufen"),
        ("Mein Ziel ist, jeden Tag Vergil zu lesen.", "ein Kapitel Vergil gelesen"),
        ("Mi meta es leer a Virgilio cada día.", "leí un capítulo de Virgilio"),
        ("Mi meta es caminar 8000 pasos al día.", "hoy he caminado 9200 pasos"),
        ("Mon objectif est de lire Virgile chaque jour.", "lu un chapitre de Virgile"),
        ("我的目标是每天读维吉尔。", "读了一章维吉尔"),
        ("我的目标是每周跑步两次。", "我今天跑步了。"),
        ("我的目标是每天读书。", "我今天读了一本书。"),
    ],
)
async def test_what_was_done_is_counted_once_and_told(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str
) -> None:
    """In five languages; the reply says what it is counted for."""
    await say(goal)
    reply = await say(told)

    (state,) = await goals(app, chat_context)
    assert len(state.progress) == 1
    assert state.goal.text in reply.reply.text


async def test_count_of_the_week_is_told(say: Say) -> None:
    """From what is stored (ACCEPTANCE L9)."""
    await say(RUN)
    await say("I ran this morning.")
    reply = await say("I ran 3 km.")

    assert "“run twice a week” (this week 2 of 2)" in reply.reply.text


@pytest.mark.parametrize(
    "told",
    [
        "I will run tomorrow.",
        "I did not run today.",
        "Did I run today?",
        "My brother ran 5 km.",
        "I read the news.",
        "I almost ran today.",
        "I want to run.",
        "ran into Tom",
        "run tomorrow",
        "my brother ran 5 km",
        "“ran 5 km” is what he wrote",
    ],
)
async def test_what_is_in_doubt_counts_for_nothing(
    app: AppContext, chat_context: ChatContext, say: Say, told: str
) -> None:
    """What is planned, denied, asked or done by others."""
    await say(RUN)
    await say(told)
    assert [each.progress for each in await goals(app, chat_context)] == [()]


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        (RUN, "I ran into Tom."),
        (RUN, "I ran into Tom today."),
        (RUN, "I ran out of milk."),
        (RUN, "I ran a red light."),
        (RUN, "I ran late."),
        (RUN, "I ran the meeting this morning."),
        (RUN, "I ran a marathon in 2010."),
        (RUN, "I ran 5 km last year."),
        (RUN, "I ran 5 km when I was a child."),
        (CALL, "I called my mother a liar."),
        (CALL, "I called my mother names."),
        (CALL, "I called the doctor of my mother."),
        ("My goal is to read a book a month.", "I read a review of the book."),
        ("Mein Ziel ist, zweimal pro Woche zu laufen.", "Ich bin letztes Jahr 5 km gelaufen."),
        ("Mein Ziel ist, zweimal pro Woche zu laufen.", "Ich bin gegen eine Laterne gelaufen."),
        ("Mi meta es correr dos veces por semana.", "He corrido un riesgo."),
        ("Mon objectif est de courir deux fois par semaine.", "J'ai couru un risque."),
        ("我的目标是每周跑步两次。", "我去年跑步了。"),
    ],
)
async def test_words_of_another_sense_or_time_count_for_nothing(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str
) -> None:
    """What a verb means with what stands by it, and what was before the period that it is."""
    await say(goal)
    await say(told)
    assert [each.progress for each in await goals(app, chat_context)] == [()]


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        (RUN, "I ran for 30 minutes."),
        (RUN, "I ran 5 km with Tom in the park."),
        (RUN, "I ran three miles."),
        (CALL, "I called my mother."),
        (CALL, "I called my mother about the party."),
    ],
)
async def test_measures_and_circumstances_leave_the_sense(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str
) -> None:
    """How far and how long, with whom and what about."""
    await say(goal)
    await say(told)
    assert [len(each.progress) for each in await goals(app, chat_context)] == [1]


@pytest.mark.parametrize(
    ("goal", "told", "counted"),
    [
        ("I want to read 12 books this year", "I read a book today", 1),
        ("I want to read 12 books this year", "I finished reading Dune", 1),
        ("I want to read 12 books this year", "I finished a book", 1),
        ("I want to read 12 books this year", "I read my book for an hour", 0),
        ("I want to read 12 books this year", "I read a bit of my book", 0),
        ("I want to read 12 books this year", "I finished my tea", 0),
        ("Ich will dieses Jahr 12 Bücher lesen", "Ich habe ein Buch gelesen", 1),
        ("Ich will dieses Jahr 12 Bücher lesen", "Ich habe das Buch zu Ende gelesen", 1),
        ("Ich will dieses Jahr 12 Bücher lesen", "Ich habe in meinem Buch gelesen", 0),
        ("Quiero leer 12 libros este año", "Terminé de leer un libro", 1),
        ("Je veux lire 12 livres cette année", "J'ai fini un livre", 1),
        ("我今年想读12本书", "我读完了一本书", 1),
        ("我今年想读12本书", "我今天读了一点书", 0),
    ],
)
async def test_whole_things_are_counted_not_what_is_told_of_them(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str, counted: int
) -> None:
    """A book that was finished, not an hour with one."""
    await say(goal)
    await say(told)
    async with app.db.begin_read() as tx:
        (state,) = await list_goals(tx, chat_context.person.id)
    assert len(state.progress) == counted


@pytest.mark.parametrize(
    ("denied", "kept"),
    [("I didn't run 5 km", []), ("that doesn't count", [("running", 5.0)])],
)
async def test_number_goes_with_a_run_that_was_not(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    denied: str,
    kept: list[tuple[str, float]],
) -> None:
    """A number that only does not count for the goal stays."""
    await say("I set a goal: run 100 km by June")
    await say("I ran 5 km")
    reply = await say(denied)
    async with app.db.begin_read() as tx:
        numbers = await list_told_lately(tx, chat_context.person.id, since=0)

    assert "no longer count" in reply.reply.text
    assert [(each.name, each.value) for each in numbers] == kept


@pytest.mark.parametrize(
    "taken_back", ["no, I didn't run today", "that doesn't count", "/goal undo 1"]
)
async def test_count_is_taken_back(
    app: AppContext, chat_context: ChatContext, say: Say, taken_back: str
) -> None:
    """In words or by the command; what was not counted stays talk."""
    await say("My goal is to run twice a week.")
    await say("I ran this morning.")
    reply = await say(taken_back)
    async with app.db.begin_read() as tx:
        (state,) = await list_goals(tx, chat_context.person.id)
    assert state.progress == ()
    assert "no longer count" in reply.reply.text


@pytest.mark.parametrize(
    ("said", "amounts"),
    [
        (["My goal is to run twice a week.", "I ran this morning.", "undo"], []),
        (["I want to do 500 squats by June", "I did 30 squats", "undo that"], []),
        (
            ["I want to do 500 squats by June", "I did 30 squats", "not 30, 25 squats", "undo"],
            [30_000],
        ),
        (["Ich will bis Juni 500 Kniebeugen machen", "30 Kniebeugen gemacht", "rückgängig"], []),
        (["我想这个月做500个深蹲", "我做了30个深蹲", "撤销"], []),
        (["I want to do 500 squats by June", "I did 30 squats", "I like tea", "undo"], [30_000]),
    ],
)
async def test_bare_undo_takes_back_what_was_counted_just_now(
    app: AppContext, chat_context: ChatContext, say: Say, said: list[str], amounts: list[int]
) -> None:
    """Or what was put right; nothing that was counted before the last message."""
    for each in said:
        await say(each)
    async with app.db.begin_read() as tx:
        (state,) = await list_goals(tx, chat_context.person.id)
    assert [each.amount for each in state.progress] == amounts


@pytest.mark.parametrize(
    ("goal", "deed", "count"),
    [
        ("I want to read 100 books this year", "I read 3 books this week", 3),
        ("I want to read 100 books this year", "I read two books", 2),
        ("I want to read 100 books this year", "I finished the book", 1),
        ("I want to learn 500 words this month", "I learned 30 words today", 30),
        ("Ich möchte dieses Jahr 100 Bücher lesen", "Ich habe 3 Bücher gelesen", 3),
        ("Quiero leer 100 libros este año", "He leído 3 libros", 3),
        ("我今年想读100本书", "我读了3本书", 3),
        ("Je veux lire 100 livres cette année", "J'ai lu 3 livres", 3),
    ],
)
async def test_as_many_as_are_told_are_counted(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, deed: str, count: int
) -> None:
    """For a goal that counts things."""
    await say(goal)
    told = (await say(deed)).reply.text

    (state,) = await goals(app, chat_context)
    assert [each.amount for each in state.progress] == [count], told
    assert str(count) in told


@pytest.mark.parametrize(
    ("goal", "told", "count"),
    [
        ("/goal swim twice a week", "did my swim this morning, arms like jelly", 1),
        ("/goal swim twice a week", "skipped the swim again lol, too tired", 0),
        ("/goal swim twice a week", "they swim like fish, those two", 0),
        ("/goal yoga", "listo el yoga de hoy ✅", 1),
        ("/goal piscine", "séance de piscine faite, chui morte", 1),
        ("/goal 每天背单词", "背了50个单词，打卡", 1),
    ],
)
async def test_report_in_any_words_counts_for_the_goal_that_it_names(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str, count: int
) -> None:
    """What was not done does not, nor does talk."""
    await say(goal)
    await say(told)

    (state,) = await goals(app, chat_context)
    assert len(state.progress) == count


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("Mein Ziel ist, jeden Tag Vergil zu lesen.", "ein Kapitel Vergil gelesen"),
        ("Mi meta es correr dos veces por semana.", "hoy he corrido 6 km"),
        ("我的目标是每周跑步两次。", "跑步了"),
    ],
)
async def test_few_words_are_read_in_the_language_of_the_goal(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str
) -> None:
    """Somebody speaks more than one, and has goals in each."""
    await say("I walked the dog this morning, and it was lovely.")
    await say(goal)
    await say(RUN.replace("run", "swim"))
    await say(told)
    assert sorted(len(each.progress) for each in await goals(app, chat_context)) == [0, 1]


@pytest.mark.parametrize(
    ("goal", "less", "enough"),
    [
        (
            "Mein Ziel ist, jede Woche 20 km zu laufen.",
            "bin gerade 3 km gelaufen",
            "21 km gelaufen",
        ),
        ("Mi meta es correr 20 km por semana.", "hoy he corrido 3 km", "hoy he corrido 21 km"),
        ("My goal is to drink 2 litres of water a day.", "drank 1 litre of water", ""),
        ("Mi meta es correr al menos 20 km por semana.", "hoy he corrido 3 km", ""),
    ],
)
async def test_less_than_the_amount_of_a_goal_is_not_the_whole_of_it(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, less: str, enough: str
) -> None:
    """3 km are noted, and are not "1 of 1" of 20."""
    await say(goal)
    await say(less)
    assert [len(each.progress) for each in await goals(app, chat_context)] == [0]
    if enough:
        await say(enough)
        assert [len(each.progress) for each in await goals(app, chat_context)] == [1]


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("My goal is to run 5 km in under 30 minutes.", "I ran 5 km in 28 minutes"),
        ("My goal is to run 5 km in at most 30 minutes every week.", "I ran 5 km in 28 minutes"),
        ("Mein Ziel ist, jede Woche 5 km unter 30 Minuten zu laufen.", "5 km in 28 min gelaufen"),
        ("Mi meta es correr 5 km en menos de 30 minutos.", "hoy he corrido 5 km en 28 minutos"),
    ],
)
async def test_less_is_enough_of_a_limit(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str
) -> None:
    """28 minutes are under 30."""
    await say(goal)
    await say(told)
    assert [len(each.progress) for each in await goals(app, chat_context)] == [1]


@pytest.mark.parametrize(
    ("goal", "told", "state"),
    [
        (
            "My goal is to run 100 km by June.",
            ["I ran 5 km.", "I ran 2.5 km today."],
            "7.5 of 100 km",
        ),
        ("My goal is to lose 5 kg by June.", ["I lost 2 kg."], "2 of 5 kg"),
        (
            "My goal is to save $400 this month",
            ["Put 50 dollars aside today", "saved another 30"],
            "80 of 400 USD",
        ),
        (
            "Ich will diesen Monat 10 Stunden Geige üben",
            ["heute 1,5 stunden geige geübt", "2 std geübt"],
            "3.5 von 10 h",
        ),
        ("Este mes quiero nadar 20 horas", ["hoy nadé 2 horas"], "2 de 20 h"),
        ("我的目标是这个月存2000块", ["今天存了300块", "又存了200"], "500/2000 CNY"),
        ("Mein Ziel ist, bis Juni 100 km zu laufen.", ["Ich bin 5 km gelaufen."], "5 von 100 km"),
        ("Mi meta es correr 100 km hasta junio.", ["Hoy he corrido 5 km."], "5 de 100 km"),
        ("Mon objectif est de courir 100 km d'ici juin.", ["J'ai couru 5 km."], "5 sur 100 km"),
        ("我的目标是六月前跑100公里。", ["我今天跑了5公里。"], "5/100 km"),
        ("我的目标是在六月之前跑步100公里。", ["跑步跑了5公里"], "5/100 km"),
        (
            "My goal is to run 100 km by June.",
            ["/goal did 1 5 km", "/goal did run 2.5 km"],
            "7.5 of 100 km",
        ),
        (
            "My goal is to run 100 km by June.",
            ["I ran 5 km. I ran 3 km in the evening."],
            "8 of 100 km",
        ),
        (
            "My goal is to lose 5 kg by June.",
            ["I lost 2 kg.", "I've lost 3 kg so far."],
            "3 of 5 kg",
        ),
        (
            "Mein Ziel ist, bis Juni 100 km zu laufen.",
            ["Ich bin insgesamt 40 km gelaufen.", "Ich bin bis jetzt 45 km gelaufen."],
            "45 von 100 km",
        ),
        (
            "Mi meta es correr 100 km hasta junio.",
            ["Hoy he corrido 5 km.", "He corrido 12 km en total."],
            "12 de 100 km",
        ),
        (
            "Mon objectif est de courir 100 km d'ici juin.",
            ["J'ai couru 5 km.", "J'ai couru 12 km en tout."],
            "12 sur 100 km",
        ),
    ],
)
async def test_what_is_told_is_added_up_to_a_total(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: list[str], state: str
) -> None:
    """Which is to be reached by a day, whatever one step is; and it is told how far that is."""
    await say(goal)
    for each in told:
        reply = await say(each)
    assert state in reply.reply.text


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("My goal is to save $400 this month", "I spent 60 dollars on shoes"),
        ("My goal is to save $400 this month", "My rent is $900"),
        ("My goal is to save $400 this month", "my brother saved 100 dollars"),
        ("我的目标是这个月存2000块", "买鞋花了500块"),
        ("I want to run 50 km this month", "gonna run 8 km tomorrow"),
        ("I want to run 50 km this month", "slept 5 hours"),
        ("Ich will diesen Monat 10 Stunden Geige üben", "2 Stunden gewartet"),
    ],
)
async def test_other_amounts_are_no_step_to_a_total(
    app: AppContext, chat_context: ChatContext, say: Say, goal: str, told: str
) -> None:
    """What is spent, owed, planned, or somebody else's."""
    await say(goal)
    await say(told)
    (state,) = await goals(app, chat_context)
    assert state.progress == ()


DISTANCES = {
    "en": "My goal is to run 100 km by June",
    "de": "Mein Ziel ist, bis Juni 100 km zu laufen",
    "es": "Mi meta es correr 100 km hasta junio",
    "fr": "Mon objectif est de courir 100 km d'ici juin",
    "zh": "我的目标是六月前跑100公里",
}


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "I went for a run at 7pm"),
        ("en", "I ran at 7 in the park"),
        ("de", "Ich war um 19 Uhr laufen"),
        ("es", "He corrido a las 7 de la tarde"),
        ("fr", "J'ai couru à 19 h 30"),
        ("zh", "我晚上7点跑步了"),
        ("en", "I ran 1e9 km"),
        ("de", "Ich bin 3.5.5 km gelaufen"),
        ("es", "He corrido 1e9 km"),
        ("fr", "J'ai couru 3.5.5 km"),
        ("zh", "我跑了3.5.5公里"),
        ("en", "/goal run 7 km every week"),
    ],
)
async def test_hours_and_unclear_numbers_add_up_to_nothing(
    app: AppContext, chat_context: ChatContext, say: Say, language: str, told: str
) -> None:
    """Nor does what another goal wants."""
    await say(DISTANCES[language])
    await say(told)
    first, *_ = await goals(app, chat_context)
    assert first.progress == ()


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "I ran 5 km and 3 miles"),
        ("de", "Ich bin 5 km und 3 Meilen gelaufen"),
        ("es", "He corrido 5 km y 3 millas"),
        ("fr", "J'ai couru 5 km et 3 miles"),
        ("zh", "我跑了5公里和3英里"),
    ],
)
async def test_amounts_of_two_units_add_up(
    app: AppContext, chat_context: ChatContext, say: Say, language: str, told: str
) -> None:
    """In that of the goal."""
    await say(DISTANCES[language])
    await say(told)
    (state,) = await goals(app, chat_context)
    assert [each.amount for each in state.progress] == [9828]


async def test_total_asks_how_much_it_was(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """A bare "did" adds no meter to it."""
    await say("My goal is to run 100 km by June.")
    reply = await say("/goal did 1")
    (state,) = await goals(app, chat_context)
    assert state.progress == ()
    assert "How much" in reply.reply.text


@pytest.mark.parametrize(
    ("goal", "told", "unit"),
    [
        ("My goal is to lift 100 kg by June.", "I lifted 60 kg.", "of 100 kg"),
        ("My goal is to run 10 km by June without stopping.", "I ran 5 km.", "of 10 km"),
        ("My goal is to run 60 km by June without stopping.", "I ran 5 km.", "of 60 km"),
        ("My goal is to swim 1 km by June.", "I swam 500 m.", "of 1 km"),
        ("My goal is to hold a plank for 3 minutes by June.", "I held a plank for 1 min.", "of 3"),
        ("Mein Ziel ist, bis Juni 100 kg zu heben.", "Ich habe 60 kg gehoben.", "von 100 kg"),
    ],
)
async def test_what_is_wanted_at_once_is_not_added_up(
    say: Say, goal: str, told: str, unit: str
) -> None:
    """Who lifts 60 kg twice has not lifted 120."""
    await say(goal)
    assert unit not in (await say(told)).reply.text


async def test_step_without_an_amount_adds_nothing(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Neither one that is only said to be done, nor one that was counted once for itself."""
    await say("My goal is to run 100 km by June.")
    asked = await say("/goal did 1")
    await say("I ran 5 km.")
    (state,) = await goals(app, chat_context)
    single = replace(state.progress[0], id="single", message=None, amount=1)

    assert "of 100 km" not in asked.reply.text
    assert add_up((single, *state.progress)) == 5_000


async def test_level_is_no_step_to_a_total(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """71 kg on the scales are not 71 of 70."""
    await say("My goal is to weigh 70 kg by June.")
    reply = await say("I weighed 71 kg this morning.")
    (state,) = await goals(app, chat_context)
    assert state.progress == ()
    assert "of 70 kg" not in reply.reply.text


TOTAL = "My goal is to run 100 km by June."


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (["I ran 5 km", "I ran 7 km", "no, 8 km"], "13 of 100 km"),
        (["I ran 5 km", "I ran 7 km", "no, 8 km", "undo"], "12 of 100 km"),
        (["I ran 5 km", "I ran 7 km", "undo"], "5 of 100 km"),
        (["I ran 5 km", "I ran 7 km", "I didn't run 5 km"], "7 of 100 km"),
        (["I ran 10 km. Then I ran 3 km."], "13 of 100 km"),
        (["Ran 10 km today and 3 km yesterday"], "13 of 100 km"),
        (["I ran 5 km", "I ran 3000 km today", "I ran 5000000000 km"], "5 of 100 km"),
    ],
)
async def test_total_follows_the_numbers_that_are_told(
    say: Say, told: list[str], state: str
) -> None:
    """Corrected, taken back, told together, or refused because they cannot be right."""
    await say(TOTAL)
    for each in told:
        await say(each)
    assert state in (await say("/goals")).reply.text


async def test_total_follows_an_edit(app: AppContext, chat_context: ChatContext, say: Say) -> None:
    """What the message counted before goes."""
    await say(TOTAL)
    for each in ("I ran 5 km", "I ran 7 km"):
        await say(each)
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, chat_context.person.id)
    message = next(each for each in said if each.text == "I ran 5 km")
    await edit_answered(app, message, "I ran 50 km")
    assert "57 of 100 km" in (await say("/goals")).reply.text
