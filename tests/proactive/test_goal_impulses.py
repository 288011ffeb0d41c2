"""Goals are asked about when nothing is said of them, and on their day (ACCEPTANCE L12, L20)."""

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY
from oldfriend.goals.goal_desk import GoalWishes
from oldfriend.goals.goal_edits import add_goal
from oldfriend.goals.goal_store import list_goals
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.people import get_person_by_id
from oldfriend.memory.receipts import find_receipt
from tests.clock import FrozenClock
from tests.proactive.lived_time import at, list_unasked, live_until, tell

SET_AT = at("2026-11-18T15:00")
GOAL = "My goal is to run twice a week."


async def test_goal_that_nobody_speaks_of_is_asked_about(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """After its rhythm, then after longer; with the receipt of the message that set it."""
    await tell(app, clock, chat_context, SET_AT, GOAL)
    await live_until(app, clock, at("2026-11-27T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-26T18:00")
    assert said.text == (
        "On 18 November 2026 you set yourself a goal: “run twice a week” How is it going?"
    )
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, chat_context.person.id, said.id)
        (state,) = await list_goals(tx, chat_context.person.id)
    assert receipt is not None
    assert [each.object for each in receipt.items] == [state.goal.message]


async def test_goal_of_a_program_is_asked_about_alike(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """There is no message to quote, but the person's goal all the same."""
    await tell(app, clock, chat_context, SET_AT, "Hello.")
    async with app.db.begin_write() as tx:
        person = await get_person_by_id(tx, chat_context.person.id)
        await add_goal(tx, person, "run twice a week", GoalWishes(), now=clock())
    await live_until(app, clock, at("2026-11-27T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert "you set yourself a goal: “run twice a week”" in said.text


async def test_goal_is_left_alone_after_a_few_times(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Whoever does not answer is not asked for ever."""
    await tell(app, clock, chat_context, SET_AT, GOAL)
    await live_until(app, clock, SET_AT + 200 * DAY)

    assert len(await list_unasked(app, chat_context)) == 3


async def test_goal_that_was_told_of_is_asked_about_later(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What was told counts, and its time begins anew."""
    await tell(app, clock, chat_context, SET_AT, GOAL)
    await tell(app, clock, chat_context, at("2026-11-25T15:00"), "I ran 5 km this morning.")
    await live_until(app, clock, at("2026-12-04T12:00"))

    assert [each.at for each in await list_unasked(app, chat_context)] == [at("2026-12-03T18:00")]


async def test_goal_that_was_reached_is_not_asked_about(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nor one that was put aside."""
    await tell(app, clock, chat_context, SET_AT, GOAL)
    await tell(app, clock, chat_context, at("2026-11-20T15:00"), "I reached my goal!")
    await live_until(app, clock, at("2026-12-31T12:00"))

    assert await list_unasked(app, chat_context) == []


async def test_day_of_a_goal_is_asked_about_in_its_morning(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Once."""
    await tell(app, clock, chat_context, SET_AT, "My goal is to learn 500 words by 22 November.")
    await live_until(app, clock, at("2026-12-31T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-22T09:00")
    assert "by today" in said.text


async def test_goals_are_not_asked_about_again_if_that_is_not_wanted(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """By the word for them."""
    await tell(app, clock, chat_context, SET_AT, GOAL)
    await tell(app, clock, chat_context, SET_AT + DAY, "no more goals")
    await live_until(app, clock, SET_AT + 30 * DAY)

    assert await list_unasked(app, chat_context) == []
