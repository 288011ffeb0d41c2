"""What is told to be off is left out once, or asked about, where a reminder of it is listed."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import from_micros, parse_timestamp
from oldfriend.inbound.accept import ChatContext
from oldfriend.tasks.task import STATUSES, Task
from oldfriend.tasks.task_store import list_tasks
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

ZONE = "Europe/Lisbon"


@pytest.fixture(autouse=True)
def monday(clock: FrozenClock) -> None:
    """It is two on a Monday."""
    clock.now = parse_timestamp("2026-11-30T14:00", ZONE)[0]


async def find_task(app: AppContext, chat_context: ChatContext) -> Task:
    """The one task there is, whatever became of it."""
    async with app.db.begin_read() as tx:
        (task,) = await list_tasks(tx, chat_context.person.id, statuses=STATUSES)
    return task


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            "Remind me every Tuesday at 4pm to go to football practice",
            "football practice is cancelled tomorrow",
        ),
        (
            "Erinnere mich jeden Dienstag um 16 Uhr ans Fußballtraining",
            "Fußballtraining fällt morgen aus",
        ),
        (
            "Recuérdame cada martes a las 16:00 el entrenamiento de fútbol",
            "El entrenamiento de fútbol de mañana se ha cancelado",
        ),
        (
            "Rappelle-moi chaque mardi à 16 h l'entraînement de foot",
            "L'entraînement de foot de demain est annulé",
        ),
    ],
)
async def test_series_goes_on_after_the_day_that_is_off(
    app: AppContext, chat_context: ChatContext, say: Say, asked: str, told: str
) -> None:
    """It is said when it comes next."""
    await say(asked)
    reply = (await say(told)).reply.text

    task = await find_task(app, chat_context)
    assert task.status == "open"
    assert task.due_at is not None
    assert f"{from_micros(task.due_at, ZONE):%Y-%m-%d %H:%M}" == "2026-12-08 16:00"
    assert task.text in reply


@pytest.mark.parametrize(
    ("asked", "told", "yes"),
    [
        (
            "Remind me tomorrow at 5pm to go to football practice",
            "football practice is cancelled tomorrow",
            "yes",
        ),
        (
            "Erinnere mich morgen um 16 Uhr ans Fußballtraining",
            "Fußballtraining fällt morgen aus",
            "ja",
        ),
        (
            "Recuérdame mañana a las 16:00 el entrenamiento de fútbol",
            "El entrenamiento de fútbol de mañana se ha cancelado",
            "sí",
        ),
        (
            "Rappelle-moi demain à 17 h l'entraînement de foot",
            "L'entraînement de foot de demain est annulé",
            "oui",
        ),
    ],
)
async def test_what_comes_once_is_taken_off_at_a_yes(
    app: AppContext, chat_context: ChatContext, say: Say, asked: str, told: str, yes: str
) -> None:
    """Not before: it may be another practice."""
    await say(asked)
    await say(told)
    assert (await find_task(app, chat_context)).status == "open"
    await say(yes)
    assert (await find_task(app, chat_context)).status == "cancelled"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Remind me on Friday at 5pm of football practice", "football practice is off tomorrow"),
        ("Remind me tomorrow at 5pm of football practice", "Is football practice cancelled?"),
        ("Remind me tomorrow at 5pm of football practice", "The concert is cancelled tomorrow."),
        ("Remind me every Tuesday of football practice", "The football practice was cancelled."),
        ("Erinnere mich jeden Freitag ans Fußballtraining", "Fußballtraining fällt morgen aus"),
    ],
)
async def test_what_is_off_on_another_day_or_is_another_thing_changes_nothing(
    app: AppContext, chat_context: ChatContext, say: Say, asked: str, told: str
) -> None:
    """Nor does a question."""
    await say(asked)
    before = await find_task(app, chat_context)
    reply = (await say(told)).reply

    assert await find_task(app, chat_context) == before
    assert "called off" not in reply.details.get("handled", ())
