"""Reminders and to-dos end to end without a model: set, asked about, delivered, put off, done."""

import asyncio
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.channels.channel import ChannelCapabilities
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.channels.whatsapp.spec import WHATSAPP
from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros, parse_timestamp
from oldfriend.forgetting.delete import DeletionRequest, forget
from oldfriend.goals.goal import STATUSES as GOAL_STATUSES
from oldfriend.goals.goal_store import list_goals
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_edit
from oldfriend.measurements.measurement_store import list_measurements
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_person_by_id, set_zone
from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.receipt_schemas import ReceiptSchema, format_intent
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.queues.outbox import mark_chat_blocked
from oldfriend.queues.queue import claim_jobs
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.job_handlers import plan_jobs, run_jobs
from oldfriend.tasks.task import STATUSES, Task
from oldfriend.tasks.task_edits import edit_task
from oldfriend.tasks.task_store import list_tasks, save_task
from oldfriend.tasks.task_wording import load_task_pack
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines
ZONE = "Europe/Madrid"


def at(text: str) -> Micros:
    """A moment in Madrid."""
    return parse_timestamp(text, ZONE)[0]


def find_phrase(told: str) -> str | None:
    """The name of the phrase that a reply ends with, in whichever language it is."""
    phrases = [load_task_pack(each)["phrases"].items() for each in ("en", "de", "es", "fr", "zh")]
    named = (name for known in phrases for name, text in known if told.endswith(text))
    return next(named, None)


class Desk:
    """A person who talks with the companion, offline."""

    def __init__(self, app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> None:
        """Begin on a Tuesday at two."""
        self.app, self.chat_context, self.clock = app, chat_context, clock
        clock.now = at("2026-11-24T14:00")

    async def say(self, text: str, *, minutes: float = 1) -> str:
        """Say something, and return the reply."""
        self.clock.tick(minutes=minutes)
        chat_context = replace(
            self.chat_context, person=replace(self.chat_context.person, zone=ZONE)
        )
        given = await answer_message(
            self.app, chat_context, MessageSubmission(text=text, zone=ZONE)
        )
        return given.reply.text

    async def tasks(self) -> list[Task]:
        """Everything there ever was."""
        async with self.app.db.begin_read() as tx:
            return await list_tasks(tx, self.chat_context.person.id, statuses=STATUSES)

    async def run(self) -> None:
        """Do the work that is due now."""
        while True:
            async with self.app.db.begin_write() as tx:
                lease = await claim_jobs(tx, "agenda", owner="me", now=self.clock(), lease_s=60)
            if lease is None:
                return
            await run_jobs(self.app, lease, asyncio.Event())

    async def heard(self) -> list[str]:
        """What was said without being asked."""
        async with self.app.db.begin_read() as tx:
            messages = await list_messages(tx, self.chat_context.person.id)
        return [
            each.text
            for each in messages
            if each.role == "companion" and (each.external_id or "").startswith("unprompted/")
        ]


@pytest.fixture
async def desk(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> Desk:
    """The owner, in Madrid."""
    async with app.db.begin_write() as tx:
        await set_zone(tx, chat_context.person.id, ZONE)
    return Desk(app, chat_context, clock)


async def test_reminder_is_confirmed_with_the_committed_time_and_sent_once(desk: Desk) -> None:
    """ACCEPTANCE L1, L4, L9: worded from the store, once, in the chat where it was asked."""
    told = await desk.say("Remind me to call mum tomorrow at 10am")
    assert "I'll remind you on Wed 25 November, 10:00: “call mum”." in told
    (task,) = await desk.tasks()
    assert (task.text, task.due_at, task.status) == ("call mum", at("2026-11-25T10:00"), "open")

    desk.clock.now = at("2026-11-25T09:59")
    await desk.run()
    assert await desk.heard() == []
    desk.clock.now = at("2026-11-25T10:00")
    await desk.run()
    await desk.run()

    assert await desk.heard() == ["Reminder: call mum"]
    (task,) = await desk.tasks()
    assert (task.status, task.delivered_at) == ("delivered", at("2026-11-25T10:00"))
    async with desk.app.db.begin_read() as tx:
        receipt = await find_receipt(tx, desk.chat_context.person.id)
        assert receipt is not None
        shown = ReceiptSchema.from_domain(await resolve_receipt(tx, receipt))
    assert shown.unprompted is not None
    assert shown.unprompted.reason == "You asked me to remind you."
    assert [each.text for each in shown.stood_on] == ["Remind me to call mum tomorrow at 10am"]
    assert "Done: “call mum”." in await desk.say("done")
    assert (await desk.tasks())[0].status == "done"


@pytest.mark.parametrize(
    ("answer", "hour"),
    [("in the morning", 8), ("evening please", 20), ("8 am", 8), ("20:00", 20), ("at 8 pm", 20)],
)
async def test_open_half_of_the_day_is_asked_and_the_answer_completes_it(
    desk: Desk, answer: str, hour: int
) -> None:
    """Neither eight is guessed."""
    asked = await desk.say("remind me to call mum tomorrow at 8")
    assert "08:00 or at 20:00" in asked
    assert (await desk.tasks())[0].status == "asking"
    told = await desk.say(answer)

    assert f"Wed 25 November, {hour:02}:00" in told
    (task,) = await desk.tasks()
    assert (task.status, task.due_at) == ("open", at(f"2026-11-25T{hour:02}:00"))


async def test_question_without_an_answer_keeps_nothing_from_the_talk(desk: Desk) -> None:
    """Something else is not taken for the answer, and "never mind" drops the reminder."""
    await desk.say("remind me to call mum")
    assert "remind" not in await desk.say("My sister Ana lives in Lisbon.")
    assert (await desk.tasks())[0].status == "asking"
    assert "dropped" in await desk.say("never mind")
    assert (await desk.tasks())[0].status == "cancelled"


async def test_day_that_was_asked_for_is_one_of_the_week_that_was_named(desk: Desk) -> None:
    """Wednesday of next week, not tomorrow."""
    assert "on which day" in await desk.say("remind me next week to call the plumber")
    await desk.say("wednesday at 9 am")
    assert (await desk.tasks())[0].due_at == at("2026-12-02T09:00")


async def test_same_reminder_is_not_set_twice(desk: Desk) -> None:
    """ACCEPTANCE L3: the same, or nearly the same words within half an hour."""
    await desk.say("remind me to call the old dentist tomorrow at 10am")
    told = await desk.say("remind me to call the old dentist tomorrow at 10:20am")
    assert "I have that already" in told
    assert "If you want both" in told
    await desk.say("remind me to call the old dentist tomorrow at 3pm")
    assert len(await desk.tasks()) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("take the white pill after breakfast", "take the red pill after breakfast"),
        ("have a meeting with Bob about money", "have a meeting with Ana about money"),
        ("take pill number 1 with water", "take pill number 2 with water"),
        ("take the white pill", "take the red pill"),
    ],
)
async def test_reminders_with_a_word_that_differs_are_two(desk: Desk, one: str, other: str) -> None:
    """A name, a number, a colour: whatever is in each and not in the other."""
    await desk.say(f"remind me to {one} tomorrow at 9am")
    assert "already" not in await desk.say(f"remind me to {other} tomorrow at 9:10am")
    assert len(await desk.tasks()) == 2


async def test_series_goes_on_and_fires_once_after_a_long_sleep(desk: Desk) -> None:
    """ACCEPTANCE L4: overdue for days, it comes once, says so, and goes on from now."""
    told = await desk.say("remind me every day at 8am to take my pills")
    assert "every day" in told
    assert "Wed 25 November, 08:00" in told
    desk.clock.now = at("2026-11-28T12:00")
    await desk.run()
    heard = await desk.heard()
    assert len(heard) == 1
    assert "Wed 25 November, 08:00" in heard[0]
    desk.clock.now = at("2026-11-29T08:00")
    await desk.run()
    assert (await desk.heard())[1:] == ["Reminder: take my pills"]
    assert (await desk.tasks())[0].due_at == at("2026-11-30T08:00")


async def test_snooze_change_and_cancel_by_words(desk: Desk) -> None:
    """What was delivered comes again; what was changed comes at its new time only."""
    await desk.say("remind me in 20 minutes to take the pizza out")
    desk.clock.tick(minutes=20)
    await desk.run()
    told = await desk.say("in 10 minutes again")
    assert "again" in told
    desk.clock.tick(minutes=10)
    await desk.run()
    assert await desk.heard() == ["Reminder: take the pizza out"] * 2

    await desk.say("remind me to call mum tomorrow at 10am")
    assert "Wed 25 November, 11:00" in await desk.say("make it 11 instead")
    await desk.say("remind me to buy milk tomorrow at 5pm")
    assert "won't remind you of “buy milk”" in await desk.say("forget the reminder about milk")
    desk.clock.now = at("2026-11-25T18:00")
    await desk.run()
    assert [each.splitlines()[0] for each in (await desk.heard())[2:]] == ["Reminder: call mum"]


async def test_commands_number_and_id_name_tasks(desk: Desk) -> None:
    """ACCEPTANCE L5, W5, M3: own tasks, by number or the first letters of an id."""
    await desk.say("/todo fix the bike")
    await desk.say("/Remind@my_bot tomorrow at 9am water the plants")
    listed = await desk.say("/tasks")
    first, second = await desk.tasks()
    assert f"1. water the plants, Wed 25 November, 09:00 ({first.id[:8]})" in listed
    assert f"2. fix the bike ({second.id[:8]})" in listed
    assert "nothing like that" in await desk.say("/cancel %")
    assert "nothing like that" in await desk.say("/cancel ____")
    assert "fix the bike" in await desk.say("/done 2")
    assert "water the plants" in await desk.say(f"/cancel {first.id[:8]}")
    assert [each.status for each in await desk.tasks()] == ["cancelled", "done"]
    assert "empty" in await desk.say("what's on my list?")


@pytest.mark.parametrize(
    "text",
    [
        "This song reminds me of grandma",
        "I reminded Tom tomorrow at 9am",
        "Tom said: remind me tomorrow at 9am",
        "Did you remind me of the dentist?",
        "remind me what my doctor said",
    ],
)
async def test_other_words_about_reminding_set_nothing(desk: Desk, text: str) -> None:
    """Told, reported or asked."""
    await desk.say(text)
    assert await desk.tasks() == []


async def test_forgetting_the_message_forgets_the_task(desk: Desk) -> None:
    """Also what was delivered of it: nothing of the words is left."""
    await desk.say("remind me to call the Wexford clinic in 20 minutes")
    desk.clock.tick(minutes=20)
    await desk.run()
    assert len(await desk.heard()) == 1
    async with desk.app.db.begin_read() as tx:
        messages = await list_messages(tx, desk.chat_context.person.id)
    (asked,) = (each.id for each in messages if each.role == "person")
    await forget(desk.app, desk.chat_context.person.id, DeletionRequest(ids=(asked,)))

    assert await desk.tasks() == []
    async with desk.app.db.begin_read() as tx:
        messages = await list_messages(tx, desk.chat_context.person.id)
    assert [each.text for each in messages if "Wexford" in each.text] == []


async def test_blocked_chat_gets_it_later(desk: Desk) -> None:
    """It waits while nobody can hear it, and says that it is late."""
    app = desk.app = replace(desk.app, platforms=frozenset({"terminal"}), channels={})
    await desk.say("remind me in 20 minutes to take the pizza out")
    async with app.db.begin_write() as tx:
        chat = desk.chat_context.chat
        await mark_chat_blocked(tx, chat.channel, chat.address, "blocked", now=desk.clock())
    desk.clock.tick(minutes=20)
    await desk.run()
    assert await desk.heard() == []
    async with app.db.begin_write() as tx:
        await tx.run("DELETE FROM closed_place")
    desk.clock.now += HOUR + MINUTE
    await desk.run()
    assert "sorry" in (await desk.heard())[0]


async def test_task_without_a_job_gets_one_at_start(desk: Desk) -> None:
    """Such as after an export was restored."""
    await desk.say("remind me in 20 minutes to take the pizza out")
    async with desk.app.db.begin_write() as tx:
        await tx.run("DELETE FROM job WHERE queue = 'agenda'")
        await tx.run("DELETE FROM job_key WHERE queue = 'agenda'")
    await plan_jobs(desk.app.db, desk.app.clock, desk.app.settings)
    desk.clock.now += DAY
    await desk.run()
    assert len(await desk.heard()) == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Remind me to call Bob tomorrow at 15:00! Make it 16:00 instead", ["2026-11-25T16:00"]),
        ("Remind me to call Bob tomorrow at 15:00.\nCancel that reminder", []),
    ],
)
async def test_two_changes_of_one_reminder_in_a_message_are_one(
    desk: Desk, text: str, kept: list[str]
) -> None:
    """The later one counts, although some time passes before it is stored."""

    def think(step: CrashPoint) -> None:
        desk.clock.now += step == "decided"

    desk.app = replace(desk.app, on_crash_point=think)
    await desk.say(text)
    assert [each.due_at for each in await desk.tasks() if each.is_active] == [*map(at, kept)]


async def test_open_time_of_a_move_leaves_the_old_one_until_it_is_answered(desk: Desk) -> None:
    """Nothing is lost by a question that nobody answers."""
    await desk.say("Remind me to see the dentist on Friday at 5pm")
    asked = await desk.say("Change the dentist reminder to next week")
    assert "on which day" in asked
    (task,) = await desk.tasks()
    assert (task.status, task.due_at) == ("open", at("2026-11-27T17:00"))
    assert "Wed 2 December, 10:00" in await desk.say("wednesday at 10am")
    (task,) = await desk.tasks()
    assert (task.status, task.due_at, task.question) == ("open", at("2026-12-02T10:00"), None)

    await desk.say("Change the dentist reminder to next week")
    assert "Wed 2 December, 10:00" in await desk.say("never mind")
    assert [each.due_at for each in await desk.tasks()] == [at("2026-12-02T10:00")]


@pytest.mark.parametrize(
    ("text", "due", "said"),
    [
        ("remind me to call mum tomorrow at 8", "2026-11-25T08:00", "08:00 or 20:00"),
        ("remind me to call mum", "2026-11-25T09:00", "did not say when"),
    ],
)
async def test_reminder_that_is_never_made_clear_comes_at_the_earlier_time(
    desk: Desk, text: str, due: str, said: str
) -> None:
    """And says why."""
    await desk.say(text)
    desk.clock.now = at(due) - MINUTE
    await desk.run()
    assert await desk.heard() == []
    desk.clock.now = at(due)
    await desk.run()
    (heard,) = await desk.heard()
    assert heard.startswith("Reminder: call mum")
    assert said in heard
    assert [each.status for each in await desk.tasks()] == ["delivered"]


async def test_reminder_that_is_told_anew_takes_the_place_of_the_question(desk: Desk) -> None:
    """It does not come twice."""
    await desk.say("remind me to call mum")
    await desk.say("remind me to call mum tomorrow at 8pm")
    desk.clock.now = at("2026-11-25T20:00")
    await desk.run()
    assert [each.splitlines()[0] for each in await desk.heard()] == ["Reminder: call mum"]


async def test_reminder_that_is_told_anew_in_more_words_is_not_asked_about_still(
    desk: Desk,
) -> None:
    """What was tried before does not stay on the list; another one does."""
    await desk.say("/remind asdf")
    await desk.say("/remind call mum")
    await desk.say("/remind call mum about the party tomorrow at 8pm")
    assert {each.text: each.status for each in await desk.tasks()} == {
        "asdf": "asking",
        "call mum": "cancelled",
        "call mum about the party": "open",
    }


@pytest.mark.parametrize(
    ("first", "minutes", "second"),
    [
        (
            "remind me tomorrow at 7 to call mum and on Friday at 8pm to call mum about the party",
            None,
            "",
        ),
        (
            "remind me next Friday at 7 to call Anna",
            24 * 60,
            "Remind me tomorrow at noon to call Anna about the tickets",
        ),
        ("remind me to buy milk", 1, "add milk to my list"),
        ("remind me to call mum about the party", 1, "remind me to call mum tomorrow at 8pm"),
    ],
)
async def test_question_about_another_reminder_stays(
    desk: Desk, first: str, minutes: float | None, second: str
) -> None:
    """One of the same message, of yesterday, without a time or in fewer words is another one."""
    await desk.say(first)
    if minutes is not None:
        await desk.say(second, minutes=minutes)
    assert sorted(each.status for each in await desk.tasks()) == ["asking", "open"]


async def test_reminder_that_another_one_takes_the_place_of_is_named(desk: Desk) -> None:
    """Nothing leaves the list without a word."""
    await desk.say("remind me to call mum")
    told = await desk.say("remind me to call mum about the party tomorrow at 8pm")
    assert "won't remind you of “call mum” any more" in told


async def test_platform_that_will_be_closed_is_told_with_the_first_reminder(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before one waits for a word of theirs, and nobody knows why."""
    limits = ChannelCapabilities(longest_text=4_000, reply_window=DAY)
    monkeypatch.setitem(
        CHANNELS, desk.chat_context.chat.channel, replace(WHATSAPP, capabilities=limits)
    )
    soon = await desk.say("Remind me in 2 hours to stretch")
    await desk.say("cancel it")
    later = await desk.say("Remind me in 3 days at 9am to call mum")
    known = find_phrase(later)
    assert (find_phrase(soon), known) == (None, "within_window")


async def test_platform_that_will_be_closed_is_told_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the first entry of the list was one that nothing could hold back."""
    limits = ChannelCapabilities(longest_text=4_000, reply_window=DAY)
    monkeypatch.setitem(
        CHANNELS, desk.chat_context.chat.channel, replace(WHATSAPP, capabilities=limits)
    )
    told = [
        await desk.say(each)
        for each in (
            "add milk to my list",
            "Remind me in 2 hours to stretch",
            "Remind me in 3 days at 9am to call mum",
            "Remind me in 4 days at 9am to call dad",
        )
    ]
    assert [find_phrase(each) == "within_window" for each in told] == [False, False, True, False]


async def test_answer_counts_from_when_the_request_was_said(desk: Desk) -> None:
    """Not from when it arrived; if nobody answers, it comes at the half of the day to come."""
    desk.clock.now = at("2026-11-25T07:30")
    said = MessageSubmission(
        text="remind me tomorrow at 7 to call mum", zone=ZONE, at=at("2026-11-24T22:00")
    )
    chat_context = replace(desk.chat_context, person=replace(desk.chat_context.person, zone=ZONE))
    await answer_message(desk.app, chat_context, said)
    asked = [(each.status, each.due_at) for each in await desk.tasks()]
    await desk.say("in the evening")
    (task,) = await desk.tasks()
    assert asked == [("asking", at("2026-11-25T19:00"))]
    assert (task.status, task.due_at) == ("open", at("2026-11-25T19:00"))


async def test_answer_that_comes_late_after_other_words_is_none(desk: Desk) -> None:
    """The next message is one however late it comes; another only within some minutes."""
    await desk.say("Remind me to call mum tomorrow at 8")
    await desk.say("How is the weather?", minutes=30)
    await desk.say("Tonight", minutes=300)
    assert [each.status for each in await desk.tasks()] == ["asking"]
    await desk.say("Remind me to call dad tomorrow at 8")
    await desk.say("in the evening", minutes=300)
    assert [each.due_at for each in await desk.tasks() if each.status == "open"] == [
        at("2026-11-25T20:00")
    ]


async def test_list_ends_with_what_was_delivered_lately(desk: Desk) -> None:
    """What is older has left it, and takes no place."""
    await desk.say("remind me to stretch in 20 minutes")
    desk.clock.tick(minutes=20)
    await desk.run()
    await desk.say("remind me to pay tomorrow at 9am")
    listed = (await desk.say("/tasks")).splitlines()
    assert ["pay" in listed[1], "stretch" in listed[2]] == [True, True]
    desk.clock.now += 3 * DAY
    listed = (await desk.say("/tasks")).splitlines()
    assert [each for each in listed if "stretch" in each] == []


async def test_done_before_the_last_time_of_a_series_ends_it(desk: Desk) -> None:
    """It does not come once more."""
    await desk.say("remind me to take my pills every day at 8am")
    (task,) = await desk.tasks()
    async with desk.app.db.begin_write() as tx:
        await save_task(tx, replace(task, rrule=f"{task.rrule};COUNT=2"))
    desk.clock.now = at("2026-11-25T08:00")
    await desk.run()
    desk.clock.now = at("2026-11-26T07:50")
    await desk.say("mark the pills as done", minutes=0)
    assert [each.status for each in await desk.tasks()] == ["done"]


async def test_words_of_others_set_nothing(desk: Desk) -> None:
    """Only the person does."""
    chat_context = desk.chat_context
    said = MessageSubmission(text="remind me tomorrow at 7am to leave", zone=ZONE, trust="other")
    await answer_message(desk.app, chat_context, said)
    assert await desk.tasks() == []


@pytest.mark.parametrize(
    "text",
    [
        "lmao an npc in my game says 'remind me to feed the dragon at 6pm' and it woke my roommate",
        'my sister hits "remind me tomorrow at 9" every single time the update pops up',
    ],
)
async def test_words_that_ask_in_quotation_marks_set_nothing(desk: Desk, text: str) -> None:
    """They are a thing's, or somebody else's."""
    await desk.say(text)
    assert await desk.tasks() == []


async def edit(desk: Desk, text: str, *, back: int = 0) -> None:
    """Edit the message that was said last, or some before it, and have it read."""
    async with desk.app.db.begin_read() as tx:
        messages = await list_messages(tx, desk.chat_context.person.id)
    last = [each for each in messages if each.role == "person"][-1 - back]
    desk.clock.tick(minutes=1)
    await accept_edit(desk.app, desk.chat_context, last.id, text)
    await desk.say("Hello.")


async def test_mended_word_of_a_request_leaves_its_time(desk: Desk) -> None:
    """Also on another day, from which "tomorrow" would be another one."""
    await desk.say("Remind me tomorrow at 10am to call mun")
    desk.clock.now = at("2026-11-25T08:00")
    await edit(desk, "Remind me tomorrow at 10am to call mum")
    assert [(each.text, each.due_at) for each in await desk.tasks()] == [
        ("call mum", at("2026-11-25T10:00"))
    ]
    await edit(desk, "Remind me tomorrow at 11am to call mum", back=1)
    assert [each.due_at for each in await desk.tasks()] == [at("2026-11-25T11:00")]


async def test_edited_request_moves_its_reminder_and_says_so(desk: Desk) -> None:
    """Or says that it stays, if the new words ask for none."""
    await desk.say("Remind me to pay the rent tomorrow at 15:00")
    await edit(desk, "Remind me to pay the rent tomorrow at 16:00")
    assert [each.due_at for each in await desk.tasks()] == [at("2026-11-25T16:00")]
    assert [each for each in await desk.heard() if "Changed" in each and "16:00" in each]

    await desk.say("Remind me to swim tomorrow at 19:00")
    await edit(desk, "I like to swim.")
    assert (await desk.heard())[-1] == "I'll remind you on Wed 25 November, 19:00: “swim”."
    assert [each.is_active for each in await desk.tasks()] == [True, True]


async def test_message_that_asks_for_a_reminder_since_it_was_edited_sets_one(desk: Desk) -> None:
    """Nothing of what was asked is passed over in silence."""
    await desk.say("I have to pay the rent")
    await edit(desk, "Remind me to pay the rent tomorrow at 16:00")
    assert [each.due_at for each in await desk.tasks()] == [at("2026-11-25T16:00")]
    assert "16:00" in (await desk.heard())[-1]


async def test_reminder_that_an_edit_set_goes_when_the_edit_is_taken_back(desk: Desk) -> None:
    """The message says again what it said before, which asked for nothing."""
    await desk.say("I have to pay the rent")
    await edit(desk, "Remind me to pay the rent tomorrow at 16:00")
    await edit(desk, "I have to pay the rent", back=1)
    assert [each.is_active for each in await desk.tasks()] in ([], [False])
    assert "won't remind you" in (await desk.heard())[-1]


async def test_edit_of_a_reminder_that_came_sets_it_anew_or_says_that_it_is_over(
    desk: Desk,
) -> None:
    """A new time is set; other words for what is over change nothing, which is said."""
    await desk.say("Remind me to pay the rent tomorrow at 15:00")
    desk.clock.now = at("2026-11-25T15:00")
    await desk.run()
    await edit(desk, "Remind me to pay all the rent tomorrow at 15:00")
    assert "is over already" in (await desk.heard())[-1]
    await edit(desk, "Remind me to pay the rent on Friday at 16:00", back=1)
    assert "Fri 27 November, 16:00" in (await desk.heard())[-1]
    assert {each.status for each in await desk.tasks()} == {"open", "delivered"}


async def test_edit_of_a_told_number_corrects_it(desk: Desk) -> None:
    """And takes it out, if the new words tell none; where the number stays, nothing is said."""
    await desk.say("My weight is 47.4 kg")
    await edit(desk, "My weight is 74.4 kg")
    assert "weight 74.4 kg" in (await desk.heard())[-1]
    async with desk.app.db.begin_read() as tx:
        kept = await list_measurements(tx, desk.chat_context.person.id, "weight")
    assert [each.value for each in kept] == [74.4]

    count = len(await desk.heard())
    await edit(desk, "Well, my weight is 74.4 kg", back=1)
    assert len(await desk.heard()) == count
    await edit(desk, "I like to swim.", back=2)
    assert "Taken out: weight 74.4 kg" in (await desk.heard())[-1]


@pytest.mark.parametrize(
    "text",
    [
        "Monday again.",
        "Tomorrow again?",
        "Montag wieder.",
        "¿Mañana otra vez?",
        "Demain encore ?",
        "Done with work, finally.",
    ],
)
async def test_sigh_changes_no_reminder(desk: Desk, text: str) -> None:
    """Though one was heard just now, and another is on the list."""
    await desk.say("add write the report for work to my list")
    desk.clock.tick(minutes=120)
    await desk.say("Remind me to stretch in 5 minutes")
    desk.clock.tick(minutes=6)
    await desk.run()
    before = [(each.status, each.due_at) for each in await desk.tasks()]
    told = await desk.say(text)
    assert [(each.status, each.due_at) for each in await desk.tasks()] == before
    assert "list" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Remind me at 8 to call mum", "I read “at 8” as Tue 24 November, 20:00."),
        ("Remind me tonight to call mum", "I read “tonight” as Tue 24 November, 20:00."),
        ("Remind me at 8pm to call mum", None),
        ("Remind me in 20 minutes to call mum", None),
        ("Remind me tomorrow at 16:30 to call mum", None),
    ],
)
async def test_receipt_says_how_an_open_hour_was_read(
    desk: Desk, text: str, told: str | None
) -> None:
    """Where the words leave the half of the day open, or name no hour."""
    await desk.say(text)
    async with desk.app.db.begin_read() as tx:
        receipt = await find_receipt(tx, desk.chat_context.person.id)
    assert receipt is not None
    intent = format_intent(receipt)
    assert told in intent if told else "I read" not in intent


@pytest.mark.parametrize(
    ("asked", "question", "text"),
    [
        ("Remind me to buy milk yesterday", "past", "buy milk"),
        ("Remind me yesterday at 5 to buy milk", "past", "buy milk"),
        ("remind me last Monday to call Eva", "past", "call Eva"),
        ("/remind yesterday call Eva", "past", "call Eva"),
        ("Remind me at 25:00 to sleep", "no_such_hour", "sleep"),
        ("remind me at 25:00 tomorrow to buy bread", "no_such_hour", "buy bread"),
        ("Erinnere mich gestern an den Zahnarzt", "past", "den Zahnarzt"),
        ("Erinnere mich um 25 Uhr an den Müll", "no_such_hour", "den Müll"),
        ("Recuérdame ayer llamar a Eva", "past", "llamar a Eva"),
        ("recuérdame a las 25:00 dormir", "no_such_hour", "dormir"),
        ("Rappelle-moi hier d'appeler Eva", "past", "appeler Eva"),
        ("rappelle-moi à 25h de dormir", "no_such_hour", "dormir"),
        ("提醒我昨天下午三点开会", "past", "开会"),
        ("25点提醒我睡觉", "no_such_hour", "睡觉"),
    ],
)
async def test_time_that_cannot_come_is_said_and_asked_for(
    desk: Desk, asked: str, question: str, text: str
) -> None:
    """A day that is over, or an hour that no clock has; neither stands in the reminder."""
    await desk.say(asked)
    (task,) = await desk.tasks()
    assert (task.status, task.question, task.text) == ("asking", question, text)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("Remind me tomorrow at 9am about yesterday's meeting", "yesterday's meeting"),
        ("I forgot it yesterday. Remind me at 8pm to buy milk", "buy milk"),
        ("Remind me tomorrow at 9am to send the photos from yesterday", "send the photos from"),
        ("Erinnere mich morgen um 9 Uhr an die Fotos von gestern", "die Fotos von gestern"),
    ],
)
async def test_thing_of_yesterday_is_reminded_of(desk: Desk, asked: str, text: str) -> None:
    """Only the time must be one to come."""
    await desk.say(asked)
    (task,) = await desk.tasks()
    assert (task.status, task.text[: len(text)]) == ("open", text)


async def test_year_that_nobody_lives_to_see_is_asked_about(desk: Desk) -> None:
    """It does not become a word of what to remind of."""
    assert "When shall I remind you" in await desk.say("Remind me on 31 December 9999 to celebrate")


async def test_edit_of_a_log_command_corrects_what_it_kept(desk: Desk) -> None:
    """Also under a name of the person's own."""
    await desk.say("/log coffee 3 cups")
    await edit(desk, "/log coffee 4 cups")
    async with desk.app.db.begin_read() as tx:
        kept = await list_measurements(tx, desk.chat_context.person.id, "coffee")
    assert [each.value for each in kept] == [4]


async def list_kept_goals(desk: Desk) -> list[tuple[str, str, int]]:
    """Every goal with its status and how much was counted for it."""
    async with desk.app.db.begin_read() as tx:
        states = await list_goals(tx, desk.chat_context.person.id, statuses=GOAL_STATUSES)
    return [(each.goal.text, each.goal.status, len(each.progress)) for each in states]


async def test_edited_goal_is_the_one_that_its_new_words_set(desk: Desk) -> None:
    """And none if they set none; what was counted for it stays."""
    await desk.say("My goal is to run twice a week")
    await desk.say("I ran this morning.")
    await edit(desk, "My goal is to run three times a week", back=1)
    assert await list_kept_goals(desk) == [("run three times a week", "active", 1)]
    await edit(desk, "I have no goal", back=2)
    assert await list_kept_goals(desk) == [("run three times a week", "abandoned", 1)]


async def test_edit_of_what_was_done_is_recounted(desk: Desk) -> None:
    """Counted no more, or now."""
    await desk.say("My goal is to run twice a week")
    await desk.say("I ran this morning.")
    await edit(desk, "I swam this morning.")
    assert await list_kept_goals(desk) == [("run twice a week", "active", 0)]
    await edit(desk, "I ran this morning.", back=1)
    assert await list_kept_goals(desk) == [("run twice a week", "active", 1)]


CORRECTIONS = [
    ("I have 2 cats", "No, 3 cats"),
    ("The film begins at 3 o'clock", "No, 4 o'clock"),
    ("Ich habe 2 Katzen", "Nein, 3 Katzen"),
    ("Der Film beginnt um 3", "Nein, um 4"),
    ("Tengo 2 gatos", "No, a las 4"),
    ("J'ai 2 chats", "Non, 3 chats"),
    ("J'ai 2 chats", "Non, à 4 heures"),
    ("我有两只猫", "还是四点吧"),
]


@pytest.mark.parametrize(("before", "text"), CORRECTIONS)
async def test_correction_of_other_talk_changes_no_reminder(
    desk: Desk, before: str, text: str
) -> None:
    """A bare "no, 4" corrects what the last reply told of, which is no reminder here."""
    await desk.say("Remind me to call mum on Friday at 10am")
    await desk.say(before)
    told = await desk.say(text)

    assert [each.due_at for each in await desk.tasks()] == [at("2026-11-27T10:00")], told


@pytest.mark.parametrize("text", ["No, 3 cats", "Nein, 3 Katzen", "Non, 3 chats", "No, 3 gatos"])
async def test_count_of_things_is_no_time(desk: Desk, text: str) -> None:
    """Even after the reply that set a reminder."""
    await desk.say("Remind me to call mum on Friday at 10am")
    told = await desk.say(text)

    assert [each.due_at for each in await desk.tasks()] == [at("2026-11-27T10:00")], told


@pytest.mark.parametrize("text", ["No, at 11", "no, 11am", "Nein, um 11", "Non, à 11 heures"])
async def test_correction_after_the_reply_that_set_it_moves_the_reminder(
    desk: Desk, text: str
) -> None:
    """Nothing else was said since."""
    await desk.say("Remind me to call mum on Friday at 10am")
    await desk.say(text)

    assert [each.due_at for each in await desk.tasks()] == [at("2026-11-27T11:00")]


@pytest.mark.parametrize(
    ("asked", "moved"),
    [
        ("Remind me on Tuesday at 15:00 of the dentist", "move the dentist to Friday"),
        ("Remind me on Tuesday at 15:00 of the dentist", "no, on Friday"),
        (
            "Erinnere mich am Dienstag um 15:00 an den Zahnarzt",
            "Verschieb den Zahnarzt auf Freitag",
        ),
        ("Recuérdame llamar al dentista el martes a las 15:00", "Mueve el dentista al viernes"),
        ("Rappelle-moi d'appeler le dentiste mardi à 15h", "Déplace le dentiste à vendredi"),
        ("周二15点提醒我看牙医", "把看牙医改到周五"),
    ],
)
async def test_move_to_another_day_keeps_the_hour(desk: Desk, asked: str, moved: str) -> None:
    """Only the day was told anew."""
    await desk.say(asked)
    told = await desk.say(moved)

    (task,) = await desk.tasks()
    assert (task.due_at, task.is_date_only) == (at("2026-11-27T15:00"), False), told


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("remind me to water the plants at 6pm", "I moved the plants to the balcony"),
        ("remind me to water the plants at 6pm", "I moved the plants"),
        ("remind me to water the plants at 6pm", "I brought the plants inside"),
        (
            "Erinnere mich um 18 Uhr daran, die Pflanzen zu gießen",
            "Ich habe die Pflanzen verschoben",
        ),
        ("Recuérdame a las 18 regar las plantas", "He movido las plantas al balcón"),
        ("Rappelle-moi à 18h d'arroser les plantes", "J'ai déplacé les plantes"),
    ],
)
async def test_other_deed_with_the_same_thing_ticks_nothing_off(
    desk: Desk, entry: str, text: str
) -> None:
    """What was done has another verb than what was to be done."""
    await desk.say(entry)
    told = await desk.say(text)

    assert [each.status for each in await desk.tasks()] == ["open"], told


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("remind me to water the plants at 6pm", "I watered the plants"),
        ("remind me to water the plants at 6pm", "I did the plants"),
        ("remind me to buy milk at 6pm", "I bought the milk"),
        ("remind me of the milk at 6pm", "I picked up the milk"),
        ("Erinnere mich um 18 Uhr daran, die Pflanzen zu gießen", "Ich habe die Pflanzen gegossen"),
        ("Recuérdame a las 18 regar las plantas", "He regado las plantas"),
        ("Rappelle-moi à 18h d'arroser les plantes", "J'ai arrosé les plantes"),
    ],
)
async def test_deed_that_was_to_be_done_is_ticked_off(desk: Desk, entry: str, text: str) -> None:
    """Its verb, a verb that says only that it was done, or all of the entry."""
    await desk.say(entry)
    told = await desk.say(text)

    assert [each.status for each in await desk.tasks()] == ["done"], told


@pytest.mark.parametrize(
    ("text", "told", "due"),
    [
        ("Remind me to call mum in ten days at 9 am", "2026-11-20T18:00", "2026-11-30T09:00"),
        ("Erinnere mich am Freitag um 9 Uhr an Eva", "2026-11-22T12:00", "2026-11-27T09:00"),
        ("Remind me tomorrow at 5pm to stretch", "2026-11-23T23:58", "2026-11-24T17:00"),
    ],
)
async def test_words_of_time_count_from_when_they_were_said(
    desk: Desk, text: str, told: str, due: str
) -> None:
    """Of what is told later, or was on its way for a while."""
    chat_context = replace(desk.chat_context, person=replace(desk.chat_context.person, zone=ZONE))
    said = MessageSubmission(text=text, at=at(told), zone=ZONE)
    await answer_message(desk.app, chat_context, said)
    assert [(each.status, each.due_at) for each in await desk.tasks()] == [("open", at(due))]


async def test_time_that_passed_after_it_was_said_is_asked_about(desk: Desk) -> None:
    """It neither comes at once nor a day late; a series goes on from now."""
    chat_context = replace(desk.chat_context, person=replace(desk.chat_context.person, zone=ZONE))
    for text in ("Remind me tomorrow at 10am to call mum", "Remind me every day at 8am to stretch"):
        said = MessageSubmission(text=text, at=at("2026-11-01T18:00"), zone=ZONE)
        await answer_message(desk.app, chat_context, said)
    mum, stretch = sorted(await desk.tasks(), key=lambda each: each.text)
    assert (mum.status, mum.question) == ("asking", "past")
    assert (stretch.status, stretch.due_at) == ("open", at("2026-11-25T08:00"))


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("Today was a long day at work.", "done"),
        ("Today was a long day at work.", "cancel it"),
        ("Heute war ein langer Tag im Büro.", "erledigt"),
        ("Hoy ha sido un día muy largo en la oficina.", "ya está"),
        ("Aujourd'hui la journée a été longue au bureau.", "c'est fait"),
        ("今天在公司待了一整天。", "完成了"),
    ],
)
async def test_word_that_ends_nothing_is_answered_so(desk: Desk, before: str, text: str) -> None:
    """Nothing is on the list."""
    await desk.say(before)
    told = await desk.say(text)
    assert find_phrase(told) == "not_found"
    assert await desk.tasks() == []


async def test_undo_takes_the_task_off_that_was_just_set_and_no_other(desk: Desk) -> None:
    """What was said last is undone, a number as well, and nothing before it."""
    await desk.say("Remind me tomorrow at 10am to call mum")
    await desk.say("Remind me tomorrow at 11am to call dad")
    await desk.say("undo")
    assert sorted(each.status for each in await desk.tasks()) == ["cancelled", "open"]
    await desk.say("I weigh 71 kg")
    assert "71" in await desk.say("undo")
    await desk.say("I had a long day")
    told = await desk.say("undo")
    assert find_phrase(told) == "nothing_to_undo"
    assert sorted(each.status for each in await desk.tasks()) == ["cancelled", "open"]


@pytest.mark.parametrize(
    "said",
    [
        ("remind me to buy milk", "tomorrow at 5pm"),
        ("Remind me tomorrow at 10am to call mum and on Friday at 11am to call dad",),
    ],
)
async def test_undo_takes_everything_off_that_the_last_reply_has_set(
    desk: Desk, said: tuple[str, ...]
) -> None:
    """Also what was asked about before."""
    for each in said:
        await desk.say(each)
    await desk.say("undo")
    assert {each.status for each in await desk.tasks()} == {"cancelled"}


@pytest.mark.parametrize(
    ("change", "undo"),
    [
        ("move it to Friday at 5pm", "undo"),
        ("cancel the reminder to call mum", "undo that"),
        ("/done 1", "undo"),
    ],
)
async def test_undo_of_a_change_puts_the_task_back(desk: Desk, change: str, undo: str) -> None:
    """Where it stood before, and only what the last reply has changed."""
    await desk.say("Remind me tomorrow at 11am to call dad")
    await desk.say("Remind me tomorrow at 10am to call mum")
    before = {each.id: (each.status, each.due_at, each.rrule) for each in await desk.tasks()}
    await desk.say(change)
    changed = {each.id: (each.status, each.due_at, each.rrule) for each in await desk.tasks()}
    told = await desk.say(undo)
    after = {each.id: (each.status, each.due_at, each.rrule) for each in await desk.tasks()}

    assert changed != before
    assert after == before
    assert "10" in told or "11" in told
    await desk.say("I had a long day")
    assert find_phrase(await desk.say("undo")) == "nothing_to_undo"


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        ("Remind me tomorrow at 10am to call mum", "/undo"),
        ("Erinnere mich morgen um 10 Uhr daran, Mama anzurufen", "/rückgängig"),
        ("Recuérdame mañana a las 10 llamar a mamá", "/undo"),
        ("Rappelle-moi demain à 10h d'appeler maman", "/défaire"),
        ("明天上午十点提醒我给妈妈打电话", "/undo"),
    ],
)
async def test_command_undoes_what_was_done_last(desk: Desk, asked: str, command: str) -> None:
    """As the word does, in each language."""
    await desk.say(asked)
    (before,) = await desk.tasks()
    await desk.say(command)
    assert [(before.status, each.status) for each in await desk.tasks()] == [("open", "cancelled")]


@pytest.mark.parametrize(
    ("asked", "phrase", "status"),
    [
        (["cancel it", "/undo", "/undo"], "cancelled", "cancelled"),
        (["/undo", "/undo", "/undo"], "cancelled", "cancelled"),
        (["/done 1", "/undo", "/undo"], "done", "done"),
        (["/undo", "/undo"], "set", "open"),
    ],
)
async def test_undo_of_an_undo_tells_what_stands(
    desk: Desk, asked: list[str], phrase: str, status: str
) -> None:
    """What is told to ring rings, and what is taken off is told to be."""
    answers = [await desk.say(text) for text in ["remind me tomorrow at 10am to call mum", *asked]]
    (task,) = await desk.tasks()
    said = load_task_pack("en")["phrases"][phrase].partition("{")[0]
    assert (task.status, answers[-1].startswith(said)) == (status, True)


async def test_undo_takes_back_all_of_a_mixed_reply(desk: Desk) -> None:
    """What it set goes, and what it ended or moved comes back."""
    await desk.say("Remind me tomorrow at 10am to call mum")
    before = await desk.tasks()
    await desk.say(
        "Cancel the reminder to call mum. Remind me on Friday at 9am to water the plants."
    )
    changed = {each.text: each.status for each in await desk.tasks()}
    await desk.say("undo")
    after = {each.text: each.status for each in await desk.tasks()}

    assert [each.status for each in before] == ["open"]
    assert changed == {"call mum": "cancelled", "water the plants": "open"}
    assert after == {"call mum": "open", "water the plants": "cancelled"}


async def test_undo_of_a_move_that_was_asked_about_takes_its_question_back(desk: Desk) -> None:
    """The reminder stands as before, and a time that is told later answers nothing."""
    await desk.say("Remind me tomorrow at 10am to call mum")
    (before,) = await desk.tasks()
    await desk.say("move the reminder to call mum to February 30 at 10am")
    (asked,) = await desk.tasks()
    await desk.say("undo")
    (after,) = await desk.tasks()

    assert asked.question is not None
    assert (after.question, after.due_at) == (None, before.due_at)


async def test_undo_of_a_time_makes_a_to_do_of_what_was_one(desk: Desk) -> None:
    """It comes at no time, so it is no reminder."""
    await desk.say("/todo Fix the bike")
    (before,) = await desk.tasks()
    await desk.say("Remind me of the bike tomorrow at 10am")
    await desk.say("/snooze 1 tomorrow at 11am")
    changed = await desk.tasks()
    if len(changed) == 1:
        await desk.say("undo")
        (after,) = await desk.tasks()
        assert (before.kind, after.kind, after.due_at) == ("todo", "todo", None)


async def test_undo_of_changed_words_says_that_it_is_none(desk: Desk) -> None:
    """What was taken out of a to-do is not told to be back."""
    await desk.say("/todo buy milk and bread")
    await desk.say("I bought the milk")
    (left,) = await desk.tasks()
    told = await desk.say("undo")

    assert "milk" not in left.text
    assert await desk.tasks() == [left]
    assert find_phrase(told) == "nothing_to_undo"


async def test_undo_after_a_list_takes_nothing_off(desk: Desk) -> None:
    """It was only told."""
    await desk.say("Remind me tomorrow at 10am to call mum")
    await desk.say("what's on my list?")
    assert find_phrase(await desk.say("undo")) == "nothing_to_undo"
    assert [each.status for each in await desk.tasks()] == ["open"]


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("Apunta en la lista: leche, huevos y pan", "leche, huevos y pan"),
        ("Note sur la liste : lait, œufs", "lait, œufs"),
        ("记在清单上：牛奶、鸡蛋", "牛奶、鸡蛋"),
    ],
)
async def test_what_is_noted_on_the_list_is_a_to_do(desk: Desk, text: str, entry: str) -> None:
    """Though the word for it is that for a note."""
    await desk.say(text)
    assert [(each.kind, each.text) for each in await desk.tasks()] == [("todo", entry)]


@pytest.mark.parametrize(
    "text",
    [
        "Remember: my locker code is 4512",
        "Note: the plumber is called Tom",
        "Apunta: Ana es vegana",
        "Merk dir: Der WLAN-Code hängt am Kühlschrank",
    ],
)
async def test_what_is_to_be_remembered_is_no_to_do(desk: Desk, text: str) -> None:
    """It is kept word for word."""
    await desk.say(text)
    assert await desk.tasks() == []


async def test_reminder_of_days_ago_that_is_put_back_is_on_the_list(desk: Desk) -> None:
    """Else putting it back would be seen nowhere."""
    await desk.say("remind me to stretch in 20 minutes")
    desk.clock.tick(minutes=20)
    await desk.run()
    (task,) = await desk.tasks()
    desk.clock.tick(minutes=5 * 24 * 60)
    async with desk.app.db.begin_write() as tx:
        person = await get_person_by_id(tx, desk.chat_context.person.id)
        await edit_task(tx, person, task.id, "done", now=desk.clock())
        await edit_task(tx, person, task.id, "reopen", now=desk.clock())
        shown = await list_tasks(tx, person.id, now=desk.clock())
    assert [each.text for each in shown] == ["stretch"]


async def test_hour_alone_answers_the_question_and_is_no_action(desk: Desk) -> None:
    """In each language; there would be nothing to do."""
    await desk.say("Ich war heute mit dem Hund im Park.")
    await desk.say("Erinnere mich morgen an Eva")
    await desk.say("/erinnere an Tom")
    await desk.say("abends um 8")
    tasks = {each.text: (each.kind, each.due_at) for each in await desk.tasks()}
    assert tasks["Tom"] == ("reminder", at("2026-11-24T20:00"))
    assert "" not in tasks


async def test_hour_of_another_zone_is_confirmed_by_the_own_clock(desk: Desk) -> None:
    """A place behind an hour may be where it happens: one asks, and "yes" sets it."""
    told = await desk.say("remind me at 5 pm EST tomorrow to call the bank")
    assert "23:00" in told or "11:00" in told or "11 pm" in told.lower()
    asked = await desk.say("remind me friday at 9:00 in tokyo to call Ken")
    assert "1:00" in asked
    await desk.say("yes")
    tasks = {each.text: each.due_at for each in await desk.tasks()}
    assert tasks == {"call the bank": at("2026-11-25T23:00"), "call Ken": at("2026-11-27T01:00")}
