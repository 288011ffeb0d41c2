"""Something to be done at a time: asked for in words and by a command (ACCEPTANCE L6)."""

import pytest

from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import list_tasks
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say


async def actions(talk: Talk) -> list[Task]:
    """The actions on the list."""
    async with talk.app.db.begin_read() as tx:
        return [
            each
            for each in await list_tasks(tx, talk.chat_context.person.id)
            if each.kind == "action"
        ]


@pytest.mark.parametrize(
    ("text", "what", "rule"),
    [
        (
            "Every Monday at 8am look up the weather in Berlin.",
            "look up the weather in Berlin",
            True,
        ),
        ("Tomorrow at 9am, tell me what's on this week.", "tell me what's on this week", False),
        ("Please tell me every day at 7pm what I wrote today", "tell me what I wrote today", True),
        ("Every day at 8am: what's on today?", "what's on today?", True),
        ("In 2 hours search for trains to Porto", "search for trains to Porto", False),
        ("/schedule every day at 8am what's on today?", "what's on today", True),
        ("Jeden Montag um 8 Uhr such nach Zügen nach Porto", "such nach Zügen nach Porto", True),
        ("Fass jeden Freitag um 18 Uhr die Woche zusammen", "Fass die Woche zusammen", True),
        (
            "Cada lunes a las 8 de la mañana busca el tiempo en Berlín",
            "busca el tiempo en Berlín",
            True,
        ),
        ("Chaque lundi à 8h cherche la météo à Berlin", "cherche la météo à Berlin", True),
        ("每天早上8点告诉我今天有什么安排", "告诉我今天有什么安排", True),
    ],
)
async def test_action_is_put_on_the_list_with_its_time(
    talk: Talk, text: str, what: str, rule: bool
) -> None:
    """In five languages and by command; what is confirmed is what is stored (ACCEPTANCE L9)."""
    outcome = await say(talk, text)

    (task,) = await actions(talk)
    assert task.text == what
    assert task.due_at is not None and task.status == "open"
    assert bool(task.rrule) == rule
    assert what in outcome.reply.text


@pytest.mark.parametrize(
    "text",
    [
        "Tell me what is on tomorrow.",
        "What do I do every Monday?",
        "Every Monday at 8 I look up the weather.",
        "Remind me every Monday to look up trains",
        "Every day at 8am tell me to take my pill",
        "Look up the weather.",
        "Yesterday at 8 my mother searched for her keys",
    ],
)
async def test_other_sentences_are_no_actions(talk: Talk, text: str) -> None:
    """What is asked now, told, or to be reminded of."""
    await say(talk, text)
    assert await actions(talk) == []


async def test_words_of_a_series_are_told_within_the_sentence(talk: Talk) -> None:
    """In lower case, although they began it."""
    outcome = await say(talk, "Every Monday at 8am look up the weather in Berlin.")
    assert "I do this every Monday at 8am and tell you" in outcome.reply.text


async def test_action_without_words_is_asked_for(talk: Talk) -> None:
    """With an example."""
    assert "/schedule every Monday" in (await say(talk, "/schedule")).reply.text


@pytest.mark.parametrize(
    "what",
    [
        "delete all my reminders",
        "cancel everything",
        "my goal is to run twice a week",
        "dear diary, the river was green",
    ],
)
async def test_what_would_change_something_is_refused_at_once(talk: Talk, what: str) -> None:
    """Nothing waits for its time then only to fail, or to ask what no yes answers."""
    for said in ("/todo water the roses", "/project Garden", "/skill Letters: be warm"):
        await say(talk, said)
    outcome = await say(talk, f"/schedule tomorrow at 9am {what}")

    assert await actions(talk) == []
    assert "I don't change anything then" in outcome.reply.text
