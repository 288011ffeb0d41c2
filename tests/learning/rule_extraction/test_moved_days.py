"""What is said to be on another day than before takes its new day, without its name."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import from_micros
from oldfriend.inbound.accept import ChatContext
from tests.clock import FrozenClock
from tests.learning.test_learning_from_messages import believed, told

MOVED = [
    (
        "I have a dentist appointment on Friday at 10.",
        "not Friday any more, it's next Monday at 9",
    ),
    (
        "Ich habe am Freitag um 10 Uhr einen Zahnarzttermin.",
        "nicht mehr Freitag, es ist Montag um 9 Uhr",
    ),
    ("Tengo cita con el dentista el viernes a las 10.", "ya no es el viernes, es el lunes a las 9"),
]


@pytest.mark.parametrize("is_at_once", [True, False])
@pytest.mark.parametrize(("first", "moved"), MOVED)
async def test_day_that_is_denied_is_replaced_by_the_one_told_instead(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    first: str,
    moved: str,
    *,
    is_at_once: bool,
) -> None:
    """In one talk, and in a later one; the clock begins on a Tuesday."""
    if is_at_once:
        await told(app, chat_context, [first, moved])
    else:
        await told(app, chat_context, [first])
        clock.tick(minutes=60 * 5)
        await told(app, chat_context, [moved])

    (known,) = [each.memory for each in await believed(app, chat_context) if each.memory.due_at]
    assert known.due_at is not None
    due = from_micros(known.due_at, "UTC")
    assert (due.strftime("%A"), due.hour) == ("Monday", 9)


async def test_nothing_is_moved_where_two_things_are_on_the_denied_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is not known which of them is meant."""
    await told(
        app,
        chat_context,
        ["I have a dentist appointment on Friday at 10.", "I have an interview on Friday at 3."],
    )
    clock.tick(minutes=60 * 5)
    await told(app, chat_context, ["not Friday any more, it's next Monday at 9"])

    due = [each.memory.due_at for each in await believed(app, chat_context) if each.memory.due_at]
    assert {from_micros(each, "UTC").strftime("%A") for each in due} == {"Friday"}


@pytest.mark.parametrize("is_at_once", [True, False])
@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("My dentist appointment is on Thursday at 3.", "the dentist is on Friday"),
        ("Mein Zahnarzttermin ist am Donnerstag um 15 Uhr.", "der Zahnarzttermin ist am Freitag"),
        ("El dentista es el jueves a las 15.", "el dentista es el viernes"),
        ("Mon examen est jeudi à 15 h.", "l'examen est vendredi"),
        ("面试是周四下午三点。", "等下，说错了，面试是周五。"),
        ("我周四有体检。", "刚看了邮件 体检是周五"),
    ],
)
async def test_day_of_what_is_known_takes_the_place_of_its_day_before(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    first: str,
    again: str,
    *,
    is_at_once: bool,
) -> None:
    """Without a word for the change, too: it is told of "the" dentist."""
    await told(app, chat_context, [first, again] if is_at_once else [first])
    if not is_at_once:
        clock.tick(minutes=60 * 5)
        await told(app, chat_context, [again])

    (known,) = [each.memory for each in await believed(app, chat_context) if each.memory.due_at]
    assert known.due_at is not None
    assert from_micros(known.due_at, "UTC").strftime("%A") == "Friday"


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("My exam is on Thursday at 3.", "my chemistry exam is on Friday"),
        ("I have an interview on Thursday at 3.", "I have an interview on Friday"),
        ("The vet appointment for Rex is on Thursday.", "My appointment is on Friday."),
        ("My chemistry exam is on Thursday.", "The exam is on Friday."),
        ("Mein Arzttermin beim Kardiologen ist am Donnerstag.", "Mein Arzttermin ist am Freitag."),
        ("La boda de Mia es el jueves.", "La boda es el viernes."),
        ("我周四有数学考试。", "考试是周五。"),
    ],
)
async def test_another_one_on_another_day_is_beside_it(
    app: AppContext, chat_context: ChatContext, first: str, again: str
) -> None:
    """What is told with more words, or fewer, or of "an" interview, may be a second."""
    await told(app, chat_context, [first, again])
    assert len([each for each in await believed(app, chat_context) if each.memory.due_at]) == 2
