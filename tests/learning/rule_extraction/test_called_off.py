"""What was to be and will not be, or has been, no longer comes up, and its history says why."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.memories import MemoryState
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.belief_views import list_entities
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.journal import list_object_journal
from tests.clock import FrozenClock
from tests.learning.test_learning_from_messages import believed, told

CLOSED = [
    ("We are moving to Hamburg in March.", "We are NOT moving to Hamburg after all.", "expired"),
    ("We are moving to Hamburg in March.", "we aren't moving to Hamburg any more", "expired"),
    ("We're flying to Rome on 3 December.", "The trip to Rome is off.", "expired"),
    ("We're flying to Rome on 3 December.", "the trip is off :(", "expired"),
    ("I have an interview on Friday at 10.", "The interview got cancelled.", "expired"),
    (
        "I have a dentist appointment on Friday at 10.",
        "Dentist done, two fillings.",
        "fulfilled",
    ),
    ("I have an interview on Friday at 10.", "the interview went really well!", "fulfilled"),
    ("Ich habe am Freitag um 10 einen Zahnarzttermin.", "Zahnarzttermin erledigt.", "fulfilled"),
    (
        "Ich habe am Freitag um 10 ein Vorstellungsgespräch.",
        "Das Vorstellungsgespräch fällt aus.",
        "expired",
    ),
    ("Wir fliegen am 3. Dezember nach Rom.", "Wir fliegen doch nicht nach Rom.", "expired"),
    ("Wir fliegen am 3. Dezember nach Rom.", "Die Reise nach Rom ist abgesagt.", "expired"),
    (
        "Tengo cita con el dentista el viernes a las 10.",
        "La cita con el dentista se canceló.",
        "expired",
    ),
    ("El 3 de diciembre viajamos a Roma.", "Al final no viajamos a Roma.", "expired"),
    ("J'ai un entretien vendredi à 10 h.", "L'entretien est annulé.", "expired"),
    ("On part à Rome le 3 décembre.", "Finalement on ne part pas à Rome.", "expired"),
    ("下周五我有面试。", "面试取消了。", "expired"),
]
OPEN = [
    ("We are moving to Hamburg in March.", "I'm not looking forward to Hamburg."),
    ("I have a dentist appointment on Friday at 10.", "I'm not scared of the dentist."),
    ("I have an interview on Friday at 10.", "My sister's interview was cancelled."),
    ("We're flying to Rome on 3 December.", "The trip to Paris is off."),
    ("I have an interview on Friday at 10.", "If the interview is cancelled I'll be glad."),
    ("I have an interview on Friday at 10.", "Has the interview been cancelled?"),
    ("Ich habe am Freitag um 10 ein Vorstellungsgespräch.", "Mein Konzert ist abgesagt."),
]


async def awaited(
    app: AppContext, chat_context: ChatContext, *, live: bool = True
) -> list[MemoryState]:
    """What is to come, or was to."""
    known = await believed(app, chat_context, live=live)
    return [each for each in known if each.memory.kind in FUTURE_KINDS]


@pytest.mark.parametrize(("first", "later", "status"), CLOSED)
async def test_what_is_called_off_or_done_no_longer_comes_up(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    first: str,
    later: str,
    status: str,
) -> None:
    """The decision rests on the words that say so."""
    await told(app, chat_context, [first])
    (before,) = await awaited(app, chat_context)
    clock.tick(minutes=60 * 5)
    await told(app, chat_context, [later])

    assert await awaited(app, chat_context) == []
    (after,) = await awaited(app, chat_context, live=False)
    assert (after.memory.id, after.memory.status) == (before.memory.id, status)
    async with app.db.begin_read() as tx:
        last = (await list_object_journal(tx, chat_context.person.id, before.memory.id))[-1]
        evidence = (await list_evidence(tx, chat_context.person.id))[before.memory.id]
    assert any(later.startswith(each.quote) for each in evidence)
    assert last.causes


@pytest.mark.parametrize(("first", "later", "status"), CLOSED)
async def test_what_is_called_off_in_the_same_talk_is_not_awaited(
    app: AppContext, chat_context: ChatContext, first: str, later: str, status: str
) -> None:
    """It was over before it was read."""
    await told(app, chat_context, [first, later])

    assert status
    assert await awaited(app, chat_context) == []


@pytest.mark.parametrize(("first", "later"), OPEN)
async def test_what_only_resembles_the_end_of_a_plan_leaves_it_open(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, first: str, later: str
) -> None:
    """In doubt it is still to come."""
    await told(app, chat_context, [first])
    clock.tick(minutes=60 * 5)
    await told(app, chat_context, [later])

    assert len(await awaited(app, chat_context)) == 1


async def test_two_that_could_be_meant_stay_open(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is not known which of them is off."""
    await told(
        app,
        chat_context,
        ["I have an interview at Bosch on Friday.", "I have an interview at Aldi on Monday."],
    )
    clock.tick(minutes=60 * 5)
    await told(app, chat_context, ["The interview is off."])

    assert len(await awaited(app, chat_context)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "I promised Mehmet to fix his amp by Friday.",
        "Ich habe Mehmet versprochen, am Freitag seinen Verstärker zu reparieren.",
        "Le prometí a Mehmet arreglarle el ampli el viernes.",
        "J'ai promis à Mehmet de réparer son ampli vendredi.",
    ],
)
async def test_whom_somebody_promises_something_is_known_by_name(
    app: AppContext, chat_context: ChatContext, text: str
) -> None:
    """With the promise, which is the person's own and has a day."""
    await told(app, chat_context, [text])

    (promise,) = await awaited(app, chat_context)
    assert (promise.memory.kind, promise.memory.subject) == ("commitment", "person")
    assert promise.memory.due_at is not None
    async with app.db.begin_read() as tx:
        (mehmet,) = await list_entities(tx, chat_context.person.id)
    assert (mehmet.name, mehmet.kind) == ("Mehmet", "person")
    assert promise.memory.entities == (mehmet.id,)
