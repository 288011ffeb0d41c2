"""Goals: set in words, listed, told of, reached and put aside (ACCEPTANCE L20)."""

import pytest

from oldfriend.domain.clock import DAY, from_micros
from oldfriend.forgetting.delete import forget
from oldfriend.goals.goal import STATUSES, GoalState, Period, Rhythm
from oldfriend.goals.goal_store import list_goals
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.turn.reason_texts import format_handled
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say


async def goals(talk: Talk) -> list[GoalState]:
    """All goals, whatever became of them."""
    async with talk.app.db.begin_read() as tx:
        return await list_goals(tx, talk.chat_context.person.id, statuses=STATUSES)


@pytest.mark.parametrize(
    ("text", "goal", "rhythm"),
    [
        ("My goal is to run twice a week.", "run twice a week", (2, "week")),
        ("my new goal: read a book a month", "read a book a month", (1, "month")),
        ("Goal: meditate every day", "meditate every day", (1, "day")),
        ("I've set myself the goal of learning Spanish", "learning Spanish", None),
        ("/goal run 3 times a week", "run 3 times a week", (3, "week")),
        ("Mein Ziel ist, zweimal pro Woche zu laufen.", "zweimal pro Woche zu laufen", (2, "week")),
        ("Mi meta es correr dos veces por semana.", "correr dos veces por semana", (2, "week")),
        (
            "Mon objectif est de courir deux fois par semaine.",
            "courir deux fois par semaine",
            (2, "week"),
        ),
        ("我的目标是每周跑步两次。", "每周跑步两次", (2, "week")),
    ],
)
async def test_goal_is_set_in_the_persons_words(
    talk: Talk, text: str, goal: str, rhythm: tuple[int, str] | None
) -> None:
    """In five languages and by a command, confirmed from what is stored (ACCEPTANCE L9)."""
    outcome = await say(talk, text)

    (state,) = await goals(talk)
    assert state.goal.text == goal
    expected = None if rhythm is None else Rhythm(times=rhythm[0], period=rhythm[1])  # type: ignore[arg-type]
    assert state.goal.rhythm == expected
    assert goal in outcome.reply.text
    assert outcome.reply.details["handled"] == ["goals"]


@pytest.mark.parametrize(
    "text",
    [
        "He scored a goal.",
        "What a goal!",
        "Is my goal too high?",
        "My boss said: my goal is to grow twice a year.",
        "我们进了一个目标",
    ],
)
async def test_what_only_speaks_of_goals_sets_none(talk: Talk, text: str) -> None:
    """It goes to the talk."""
    await say(talk, text)
    assert await goals(talk) == []


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("My goal is to learn 500 words by 24 December.", "learn 500 words"),
        (
            "Mein Ziel ist es, bis zum 24. Dezember 500 Wörter zu lernen.",
            "500 Wörter zu lernen",
        ),
        ("我的目标是在12月24日之前学500个词", "学500个词"),
        ("Mi meta es aprender 500 palabras antes del 24 de diciembre.", "aprender 500 palabras"),
        (
            "Mon objectif est d'apprendre 500 mots avant le 24 décembre.",
            "apprendre 500 mots",
        ),
    ],
)
async def test_day_of_a_goal_is_read(talk: Talk, text: str, goal: str | None) -> None:
    """Wherever in the sentence it stands."""
    await say(talk, text)

    (state,) = await goals(talk)
    assert state.goal.text == goal
    assert state.goal.deadline is not None
    day = from_micros(state.goal.deadline, "Europe/Lisbon").date()
    assert (day.month, day.day) == (12, 24)


@pytest.mark.parametrize(
    "text", ["My goal is to get up before 7 every day", "Goal: by hand, daily"]
)
async def test_other_times_are_no_day_of_a_goal(talk: Talk, text: str) -> None:
    """They belong to what is wanted."""
    await say(talk, text)
    (state,) = await goals(talk)
    assert state.goal.deadline is None
    assert state.goal.rhythm == Rhythm(times=1, period="day")


@pytest.mark.parametrize(
    ("text", "rhythm"),
    [
        ("I want to read 12 books this year", (12, "year")),
        ("I'd like to visit two museums this month", (2, "month")),
        ("I want to run twice a week", (2, "week")),
        ("Quiero leer 12 libros este año", (12, "year")),
        ("Ich will dieses Jahr 12 Bücher lesen", (12, "year")),
        ("Je veux lire 12 livres cette année", (12, "year")),
        ("我今年想读12本书", (12, "year")),
    ],
)
async def test_wish_with_a_number_is_a_goal(talk: Talk, text: str, rhythm: tuple[int, str]) -> None:
    """By the end of the period that it names."""
    await say(talk, text)
    (state,) = await goals(talk)
    assert state.goal.rhythm is not None
    assert (state.goal.rhythm.times, state.goal.rhythm.period) == rhythm
    assert (state.goal.deadline is None) == (rhythm[1] == "week")


@pytest.mark.parametrize(
    "text",
    [
        "I want to see my mother this year",
        "I want two coffees",
        "I don't want to read 12 books this year",
        "Do I want to read 12 books this year?",
    ],
)
async def test_wish_without_a_number_of_things_is_no_goal(talk: Talk, text: str) -> None:
    """It is talk."""
    await say(talk, text)
    assert await goals(talk) == []


@pytest.mark.parametrize(
    ("text", "kept", "deadline"),
    [
        ("I want to run 50 km this month", "run 50 km this month", "2023-11-30"),
        ("I want to lose 5 kg this year", "lose 5 kg this year", "2023-12-31"),
        ("This month I want to save $400", "save $400 This month", "2023-11-30"),
        ("Ich will diesen Monat 10 Stunden Geige üben", "10 Stunden Geige üben", "2023-11-30"),
        ("Este mes quiero nadar 20 horas", "nadar 20 horas Este mes", "2023-11-30"),
        ("Ce mois-ci je veux courir 80 km", "courir 80 km Ce mois-ci", "2023-11-30"),
        ("我这个月想存2000块", "存2000块", "2023-11-30"),
    ],
)
async def test_wish_for_an_amount_in_the_running_period_is_a_goal(
    talk: Talk, text: str, kept: str, deadline: str
) -> None:
    """By the end of the period, wherever it stands."""
    await say(talk, text)
    (state,) = await goals(talk)
    assert kept in state.goal.text
    assert state.goal.deadline is not None
    assert from_micros(state.goal.deadline, state.goal.zone).date().isoformat() == deadline


async def test_day_that_has_passed_is_asked_about(talk: Talk) -> None:
    """No goal is set for it, and none without a day."""
    told = await say(talk, "My goal is to write a book by 3 March 2020")
    assert "By which day" in told.reply.text
    assert await goals(talk) == []


@pytest.mark.parametrize("text", ["My goal is by Friday", "/goal " + "run " * 99, "/goal done 99"])
async def test_odd_requests_are_answered(talk: Talk, text: str) -> None:
    """None fails the turn."""
    await say(talk, text)


async def test_goals_are_listed_with_how_far_they_are(talk: Talk) -> None:
    """By command and in words; what was done this week counts, and what was before does not."""
    await say(talk, "My goal is to run twice a week.")
    await say(talk, "/goal did 1")
    assert "1 of 2" in (await say(talk, "What are my goals?")).reply.text
    talk.clock.now += 8 * DAY
    outcome = await say(talk, "/goals")

    assert "1. run twice a week (this week 0 of 2)" in outcome.reply.text
    assert [each.kind for each in outcome.reply.items] == ["message"]


@pytest.mark.parametrize("name", ["run", "1", "run twice a week", ""])
async def test_goal_is_reached(talk: Talk, name: str) -> None:
    """By its words, its number, or as the only one."""
    await say(talk, "My goal is to run twice a week.")
    outcome = await say(talk, f"/goal done {name}".strip())

    assert "run twice a week" in outcome.reply.text
    assert [each.goal.status for each in await goals(talk)] == ["completed"]
    assert "no goals" in (await say(talk, "/goals")).reply.text


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I finally reached my goal!", "completed"),
        ("I give up on my goal to run.", "abandoned"),
        ("Ich habe mein Ziel erreicht.", "completed"),
        ("He alcanzado mi objetivo.", "completed"),
        ("J'abandonne mon objectif.", "abandoned"),
        ("我达成了我的目标", "completed"),
    ],
)
async def test_end_of_a_goal_is_told_in_words(talk: Talk, text: str, status: str) -> None:
    """In five languages."""
    await say(talk, "My goal is to run twice a week.")
    await say(talk, text)

    assert [each.goal.status for each in await goals(talk)] == [status]


async def test_why_names_what_was_read(talk: Talk) -> None:
    """In words that people know."""
    outcome = await say(talk, "My goal is to run twice a week.")
    assert "your goals" in format_handled(outcome.reply.details)


async def test_one_of_several_is_asked_for(talk: Talk) -> None:
    """Nothing is ended while it is in doubt."""
    await say(talk, "My goal is to run twice a week.")
    await say(talk, "My goal is to read every day.")
    outcome = await say(talk, "I reached my goal!")

    assert "1. run twice a week" in outcome.reply.text
    assert {each.goal.status for each in await goals(talk)} == {"active"}


async def test_same_goal_is_set_once(talk: Talk) -> None:
    """In whatever case."""
    await say(talk, "My goal is to run twice a week.")
    outcome = await say(talk, "My goal is to RUN twice a week")

    assert "already" in outcome.reply.text
    assert len(await goals(talk)) == 1


async def test_goal_goes_with_the_message_that_set_it(talk: Talk) -> None:
    """And what was done for it tells no words."""
    await say(talk, "My goal is to run twice a week.")
    (state,) = await goals(talk)
    assert state.goal.message is not None
    await forget(talk.app, talk.chat_context.person.id, DeletionRequest(ids=(state.goal.message,)))

    assert await goals(talk) == []


@pytest.mark.parametrize(
    ("text", "times", "period"),
    [
        ("I want to read 100 books this year", 100, "year"),
        ("I want to learn 500 words this month", 500, "month"),
        ("My goal is to learn 1,500 words a year", 1500, "year"),
        ("Ich möchte dieses Jahr 100 Bücher lesen", 100, "year"),
        ("Mein Ziel ist, 500 Wörter pro Monat zu lernen", 500, "month"),
        ("Quiero leer 100 libros este año", 100, "year"),
        ("Je veux lire 100 livres cette année", 100, "year"),
        ("我今年想读100本书", 100, "year"),
    ],
)
async def test_whole_number_of_a_goal_is_read(
    talk: Talk, text: str, times: int, period: Period
) -> None:
    """None of its digits is cut."""
    await say(talk, text)

    (state,) = await goals(talk)
    assert state.goal.rhythm == Rhythm(times=times, period=period)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I want to read -5 books this year", "above 0"),
        ("/goal run 0 km this month", "above 0"),
        ("Mein Ziel ist, diesen Monat 0 Bücher zu lesen", "über 0"),
        ("Mi meta es correr 0 km este mes", "mayor que 0"),
        ("Mon objectif est de courir 0 km ce mois-ci", "au-dessus de 0"),
        ("我的目标是这个月跑0公里", "大于0"),
    ],
)
async def test_nothing_or_less_is_no_goal(talk: Talk, text: str, told: str) -> None:
    """It is said so: nothing could be counted."""
    assert told in (await say(talk, text)).reply.text
    assert await goals(talk) == []


@pytest.mark.parametrize(
    "text",
    [
        "My goal is to go from 0 km to 5 km",
        "My goal is to read 12 books with 0 excuses",
        "My goal is to wake up at 0 o'clock 5 times",
        "Mein Ziel ist, von 0 km auf 5 km zu kommen",
        "Mi meta es pasar de 0 km a 5 km",
        "Mon objectif est de passer de 0 km à 5 km",
        "我的目标是从0公里到5公里",
    ],
)
async def test_goal_of_something_that_names_nothing_too_is_set(talk: Talk, text: str) -> None:
    """Something of it is counted."""
    await say(talk, text)
    assert len(await goals(talk)) == 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("drop the goal about piano", "You have no goals set"),
        ("Streich das Ziel mit dem Klavier", "noch kein Ziel gesetzt"),
        ("quita la meta del piano", "no tienes metas"),
        ("supprime l'objectif sur le piano", "pas encore d’objectif"),
        ("取消钢琴的目标", "还没有定目标"),
    ],
)
async def test_goal_that_was_never_set_is_not_dropped_silently(
    talk: Talk, text: str, named: str
) -> None:
    """Without a model nobody else would say so."""
    assert named in (await say(talk, text)).reply.text


async def test_other_goal_is_not_dropped_for_one_that_is_not_there(talk: Talk) -> None:
    """It is said that there is none."""
    await say(talk, "My goal is to run twice a week.")
    assert "do not find that goal" in (await say(talk, "drop the goal about piano")).reply.text
    assert "run twice a week" in (await say(talk, "/goals")).reply.text
