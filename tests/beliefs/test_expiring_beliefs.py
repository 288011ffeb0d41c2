"""What was told to hold until some day holds no more from then on."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.memory.expiry import expire_overdue, find_next_expiry
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from tests.beliefs.life import believed, tell
from tests.clock import FrozenClock

A_DAY = 60 * 24

UNTIL = [
    ("I live in Bruges until June by the way, then we move to Ghent.", "Bruges"),
    ("Vivo en Brujas hasta junio.", "Brujas"),
    ("J'habite à Bruges jusqu'en juin.", "Bruges"),
    ("Ich wohne bis Juni in Brügge.", "Brügge"),
    ("我在布鲁日住到六月。", "布鲁日"),
]


async def the_home(app: AppContext, chat_context: ChatContext) -> StoredBelief:
    """Where somebody lives or lived."""
    told = [each.content for each in await believed(app, chat_context, live=False)]
    (home,) = [each for each in told if isinstance(each, StoredBelief) and each.key == "location"]
    return home


@pytest.mark.parametrize(("said", "place"), UNTIL)
async def test_location_with_an_until_date_is_superseded_after_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str, place: str
) -> None:
    """It is believed until then, and history afterwards."""
    await tell(app, chat_context, [said])
    before = await the_home(app, chat_context)
    assert before.holds_until is not None
    ends = from_micros(before.holds_until, chat_context.person.zone)
    assert (before.value, before.status, ends.month, ends.day) == (place, "active", 6, 1)

    clock.tick(minutes=A_DAY * 365)
    async with app.db.begin_write() as tx:
        expires = await find_next_expiry(tx, chat_context.person.id)
        await expire_overdue(tx, chat_context.person.id, now=app.clock())

    assert expires is not None
    assert 0 < expires - before.holds_until < 3 * DAY
    after = await the_home(app, chat_context)
    assert (after.status, after.holds_until) == ("superseded", before.holds_until)


async def test_location_consolidated_after_its_end_is_superseded_at_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """As in a chat of long ago."""
    await answer_message(app, chat_context, MessageSubmission(text="I live in Bruges until June."))
    clock.tick(minutes=A_DAY * 365)
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    home = await the_home(app, chat_context)

    assert (home.status, home.ended_at is not None) == ("superseded", True)


async def test_statement_after_the_until_date_keeps_the_belief_active(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Plans change."""
    await tell(app, chat_context, ["I live in Bruges until December 10."])
    until = (await the_home(app, chat_context)).holds_until
    assert until is not None
    clock.tick(minutes=round((until - app.clock()) / DAY * A_DAY) + A_DAY)
    await tell(app, chat_context, ["I still live in Bruges."])
    home = await the_home(app, chat_context)

    assert (home.status, home.holds_until) == ("active", None)
