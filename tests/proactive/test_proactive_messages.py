"""What is said unasked: what it rests on, its receipt, and who may word it."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.channels.telegram.spec import TELEGRAM
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import DAY, HOUR
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.domain.messages import PRESSED_DETAIL
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel, ScriptedReply
from oldfriend.memory.core_blocks import write_block
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.receipt_schemas import receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.proactive.look_planner import LOOK_JOB
from oldfriend.proactive.proactive_settings import ProactiveSettings, load_proactive_settings
from oldfriend.queues.outbox import parse_reply_part
from oldfriend.queues.queue import list_jobs
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.maintenance import maintain
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.learning.test_learning_scheduler import with_model
from tests.proactive.lived_time import (
    at,
    choose,
    list_decided,
    list_unasked,
    live_until,
    tell,
)

engine = both_engines
EXAM = "My exam is on November 22nd."
TOLD_AT = at("2026-11-18T15:00")


async def test_what_was_expected_is_followed_up_the_day_after(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In their words, with the day; once; and the receipt says why (ACCEPTANCE I9, L12, L22)."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-30T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-23T10:00")
    assert said.text == f"On 18 November 2026 you said: “{EXAM}” How did it go?"
    assert said.role == "companion"
    (impulse,) = await list_decided(app, chat_context)
    assert (impulse.status, impulse.message) == ("said", said.id)
    assert impulse.decisions[-1][1].reason == "trigger"
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, chat_context.person.id, said.id)
        assert receipt is not None
        text = receipt_as_text(await resolve_receipt(tx, receipt))
    assert "I wrote without being asked" in text
    assert "its day has passed" in text
    assert EXAM in text
    assert [each.object for each in receipt.items] == list(impulse.impulse.sources)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Mi examen es el 22 de noviembre.", "¿Qué tal fue?"),
        ("Meine Prüfung ist am 22. November.", "Wie ist es gelaufen?"),
        ("Mon examen est le 22 novembre.", "Comment ça s’est passé ?"),
        ("我11月22日考试。", "后来怎么样？"),
    ],
)
async def test_it_speaks_the_language_of_the_person(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str, asked: str
) -> None:
    """By plain phrases without a model (ACCEPTANCE L22)."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, said)
    await live_until(app, clock, at("2026-11-24T12:00"))

    texts = [each.text for each in await list_unasked(app, chat_context)]
    assert [text for text in texts if said in text and text.endswith(asked)] == texts != []


async def test_promise_falls_due_in_the_morning_of_its_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Once, and not again when it is overdue (ACCEPTANCE I9)."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, "I'll call the dentist on November 20th.")
    await live_until(app, clock, at("2026-11-30T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-20T09:00")
    assert said.text.endswith("That is today.")


async def test_nothing_is_said_and_nothing_planned_while_it_is_off(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The master switch comes first, and waiting costs nothing (ACCEPTANCE L10, L13)."""
    clock.now = TOLD_AT
    await choose(app, chat_context, level="off")
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-20T12:00"))

    async with app.db.begin_read() as tx:
        jobs = await list_jobs(tx, is_dead_letter=False)
    assert [each for each in jobs if LOOK_JOB in str(each.payload)] == []
    await live_until(app, clock, at("2026-11-30T12:00"))
    assert await list_unasked(app, chat_context) == []


async def test_only_the_next_look_is_planned(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """At the first moment at which something can be said, on the half hour (ACCEPTANCE L10)."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await tell(app, clock, chat_context, TOLD_AT, "My interview is on November 26th.")
    await live_until(app, clock, at("2026-11-19T12:00"))

    async with app.db.begin_read() as tx:
        jobs = await list_jobs(tx, is_dead_letter=False)
    looks = [each.due_at for each in jobs if LOOK_JOB in str(each.payload)]
    assert looks == [at("2026-11-23T10:00")]


async def test_quiet_hours_are_the_persons(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It waits until they are over (ACCEPTANCE L14)."""
    clock.now = TOLD_AT
    settings = await load(app, chat_context)
    await choose(
        app, chat_context, quiet=replace(settings.quiet, begins=20 * 60, ends=11 * 60 + 15)
    )
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-30T12:00"))

    assert [each.at for each in await list_unasked(app, chat_context)] == [at("2026-11-23T11:30")]


async def load(app: AppContext, chat_context: ChatContext) -> ProactiveSettings:
    """Return the settings of the person."""
    async with app.db.begin_read() as tx:
        return await load_proactive_settings(tx, chat_context.person.id)


async def test_day_opens_with_what_is_on_and_does_not_repeat_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In normal: the promise of that day is told with it (ACCEPTANCE L12)."""
    clock.now = TOLD_AT
    await choose(app, chat_context, level="normal")
    await tell(app, clock, chat_context, TOLD_AT, "I'll call the dentist on November 20th.")
    await live_until(app, clock, at("2026-11-20T14:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-20T08:00")
    assert said.text.splitlines() == [
        "Good morning! Today:",
        "• “I'll call the dentist on November 20th.”",
    ]
    reasons = {
        each.impulse.kind: each.decisions[-1][1].reason
        for each in await list_decided(app, chat_context)
    }
    assert reasons["promise"] == "covered"


async def test_birthday_opens_its_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is found in the value of the fact (ACCEPTANCE L12)."""
    clock.now = TOLD_AT
    await choose(app, chat_context, level="normal")
    await tell(app, clock, chat_context, TOLD_AT, "My birthday is on November 24th.")
    await tell(app, clock, chat_context, at("2026-11-23T15:00"), "Good evening.")
    await live_until(app, clock, at("2026-11-24T20:00"))

    (*_, said) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-24T08:00")
    assert "My birthday is on November 24th." in said.text


async def test_digest_comes_on_monday_when_it_was_ordered(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Also where nothing else may be said (ACCEPTANCE L19)."""
    clock.now = TOLD_AT
    await choose(app, chat_context, level="off", digest="weekly")
    await tell(app, clock, chat_context, TOLD_AT, "My exam is on November 26th.")
    await live_until(app, clock, at("2026-11-30T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-23T08:00")
    assert "26 November 2026: “My exam is on November 26th.”" in said.text


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("My grandmother died yesterday.", "That has stayed with me. How are you today?"),
        ("My daughter was born yesterday.", "I am still glad for you. How are you today?"),
    ],
)
async def test_what_is_grave_is_asked_about_on_the_next_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str, asked: str
) -> None:
    """Or of great joy; once, in their own words (ACCEPTANCE L12)."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, said)
    await live_until(app, clock, at("2026-11-21T12:00"))

    (message,) = await list_unasked(app, chat_context)
    assert message.at == at("2026-11-19T10:00")
    assert message.text == f"On 18 November 2026 you told me: “{said}” {asked}"


async def test_recap_comes_on_sunday_evening_when_it_was_ordered(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Once a week, also where it never speaks first otherwise; nothing of an empty week."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, at("2026-11-18T15:00"), "/active off")
    await tell(app, clock, chat_context, at("2026-11-18T15:05"), "/recap weekly")
    await tell(
        app, clock, chat_context, at("2026-11-18T15:10"), "Remind me today at 6pm to call Eva"
    )
    await tell(app, clock, chat_context, at("2026-11-18T19:00"), "/done 1")
    await live_until(app, clock, at("2026-12-12T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-22T18:00")
    assert said.text.splitlines()[0] == "Your week:"
    assert "• Done: call Eva" in said.text
    assert "• Reminders that came: 1" in said.text
    impulses = {each.impulse.key: each.status for each in await list_decided(app, chat_context)}
    assert impulses == {
        "recap:2026-11-22": "said",
        "recap:2026-11-29": "dropped",
        "recap:2026-12-06": "dropped",
    }


async def test_recap_that_is_ordered_on_a_monday_tells_nothing_of_the_week_before(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It begins with the week in which it was ordered."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, at("2026-11-18T15:00"), "/active off")
    await tell(app, clock, chat_context, at("2026-11-18T15:10"), "/todo call Eva")
    await tell(app, clock, chat_context, at("2026-11-18T19:00"), "/done 1")
    await tell(app, clock, chat_context, at("2026-11-23T08:30"), "/recap weekly")
    await live_until(app, clock, at("2026-11-24T12:00"))
    monday = await list_unasked(app, chat_context)
    await tell(app, clock, chat_context, at("2026-11-24T15:10"), "/todo call Ben")
    await tell(app, clock, chat_context, at("2026-11-24T19:00"), "/done 1")
    await live_until(app, clock, at("2026-11-30T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert monday == []
    assert said.at == at("2026-11-29T18:00")
    assert "call Ben" in said.text
    assert "call Eva" not in said.text


async def test_recap_waits_for_the_end_of_quiet_hours(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And then tells of the week that is over."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, at("2026-11-18T15:00"), "/quiet 17-9")
    await tell(
        app, clock, chat_context, at("2026-11-18T15:05"), "Send me a weekly recap every Sunday"
    )
    await tell(
        app, clock, chat_context, at("2026-11-22T16:00"), "Dear diary, I painted the fence today."
    )
    await live_until(app, clock, at("2026-11-25T12:00"))

    said = [each for each in await list_unasked(app, chat_context) if "Your week" in each.text]
    assert [each.at for each in said] == [at("2026-11-23T09:00")]
    assert "• Diary entries: 1" in said[0].text


async def test_long_silence_is_broken_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """After 48 hours, in normal (ACCEPTANCE L15)."""
    clock.now = TOLD_AT
    await choose(app, chat_context, level="normal")
    await tell(app, clock, chat_context, TOLD_AT, "I like my new garden.")
    await live_until(app, clock, at("2026-12-10T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == TOLD_AT + 48 * HOUR
    assert said.text == "We last talked on 18 November 2026. How are you?"


async def test_context_moments_are_only_for_the_lively(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A Friday evening, and the hours after a long talk (ACCEPTANCE W24, L16)."""
    clock.now = at("2026-11-18T10:00")
    await choose(app, chat_context, level="lively")
    for number in range(6):
        await tell(
            app, clock, chat_context, clock.tick(minutes=1), f"The garden has {number} new trees."
        )
    await live_until(app, clock, at("2026-11-21T00:00"))

    keys = [each.impulse.key.rsplit(":", 1)[0] for each in await list_decided(app, chat_context)]
    assert {"moment:pause", "moment:friday"} <= set(keys)


async def test_model_words_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It is told why, and on what it rests (ACCEPTANCE B11, L22)."""
    model = ScriptedModel(["So, how was your exam on the 22nd?"])
    await live_with(app, chat_context, clock, model)

    (said,) = await list_unasked(app, chat_context)
    assert said.text == "So, how was your exam on the 22nd?"
    (request,) = [each for each in model.requests if each.purpose == "proactive"]
    shown = "\n".join(turn.text for turn in request.turns)
    assert EXAM in shown
    assert "its day has passed" in shown


async def test_no_reply_sends_nothing(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A model may veto, and its veto is stored with its reason (ACCEPTANCE B11, L17)."""
    await live_with(app, chat_context, clock, ScriptedModel(["NO_REPLY"]))

    assert await list_unasked(app, chat_context) == []
    (impulse,) = await list_decided(app, chat_context)
    assert (impulse.status, impulse.decisions[-1][1].reason) == ("dropped", "no_reply")


@pytest.mark.parametrize(
    "answer",
    [
        ModelUnavailable("It is off."),
        "How was it? You have 3 exams left.",  # a number that nobody has said
        "word " * 200,
    ],
)
async def test_phrase_is_said_where_a_model_fails_or_makes_something_up(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, answer: ScriptedAnswer
) -> None:
    """The plain phrase would do (ACCEPTANCE L22)."""
    await live_with(app, chat_context, clock, ScriptedModel([answer]))

    (said,) = await list_unasked(app, chat_context)
    assert said.text.startswith("On 18 November 2026 you said:")


async def test_its_words_pass_the_filter_of_replies(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Without labels, markers or a name before them (ACCEPTANCE L22)."""
    answer = (
        'Oldfriend: <record day="2026-11-18">So, how was your exam?</record>\n'
        "SCHEDULE: ask again | 2026-12-01T09:00"
    )
    await live_with(app, chat_context, clock, ScriptedModel([answer]))

    (said,) = await list_unasked(app, chat_context)
    assert said.text == "So, how was your exam?"


async def test_words_that_broke_off_are_not_said(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The plain phrase is (ACCEPTANCE L22)."""
    cut = ScriptedReply(text="So, how was the exam that you", is_truncated=True)
    await live_with(app, chat_context, clock, ScriptedModel([cut]))

    (said,) = await list_unasked(app, chat_context)
    assert said.text.startswith("On 18 November 2026 you said:")


async def test_it_speaks_as_the_same_character_and_stands_in_the_same_talk(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The next reply sees it; no prompt names the app that it goes to (ACCEPTANCE L22, I12)."""
    async with app.db.begin_write() as tx:
        await write_block(
            tx, chat_context.person.id, "persona", "You are a dry old sailor.", now=clock()
        )
        await write_block(
            tx, chat_context.person.id, "style", "Never more than ten words.", now=clock()
        )
    model = ScriptedModel(["Survived the exam, did you?"])
    await live_with(app, chat_context, clock, model)

    (request,) = [each for each in model.requests if each.purpose == "proactive"]
    assert "You are a dry old sailor." in request.system_prompt
    assert "Never more than ten words." in request.system_prompt
    prompt = f"{request.system_prompt} {request.turns}".lower()
    assert chat_context.chat.channel not in prompt
    assert "telegram" not in prompt

    heard = ScriptedModel(["Glad to hear it."])
    clock.tick(minutes=5)
    answer = MessageSubmission(text="Yes, I passed!")
    await answer_message(with_model(app, "main", heard), chat_context, answer)
    assert "Survived the exam, did you?" in str(heard.requests[0].turns)


async def live_with(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, model: ScriptedModel
) -> None:
    """Tell of an exam offline, and live on with a model."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-20T12:00"))
    await live_until(with_model(app, "main", model), clock, at("2026-11-30T12:00"))


async def test_forgotten_is_not_spoken_of(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Neither what waits nor what was said holds a word of it afterwards (ACCEPTANCE L13)."""
    clock.now = TOLD_AT
    told = await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-22T12:00"))
    await forget(app, chat_context.person.id, DeletionRequest(ids=(told.message.id,)))
    await live_until(app, clock, at("2026-11-30T12:00"))

    assert await list_unasked(app, chat_context) == []
    assert await list_decided(app, chat_context) == []


async def test_what_was_said_is_redacted_with_what_it_quotes(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And its impulse is gone (ACCEPTANCE L22)."""
    clock.now = TOLD_AT
    told = await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-23T12:00"))
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(told.message.id,)))

    assert report.is_proved
    assert not any("exam" in each.text for each in await list_unasked(app, chat_context))
    assert await list_decided(app, chat_context) == []


async def test_reminder_is_not_doubled_by_a_promise(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What the person asked to be reminded of comes at its time, and only then (ACCEPTANCE L14)."""
    clock.now = TOLD_AT
    await tell(
        app,
        clock,
        chat_context,
        TOLD_AT,
        "Remind me to call the dentist on November 20th at 15:00.",
    )
    await live_until(app, clock, at("2026-11-22T12:00"))

    assert await list_unasked(app, chat_context) == []


async def test_day_opens_with_its_tasks(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In normal: what one is reminded of later is named in the morning (ACCEPTANCE L12)."""
    clock.now = TOLD_AT
    await choose(app, chat_context, level="normal")
    await tell(
        app,
        clock,
        chat_context,
        TOLD_AT,
        "Remind me to call the dentist on November 20th at 15:00.",
    )
    await live_until(app, clock, at("2026-11-20T12:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-20T08:00")
    assert "call the dentist" in said.text


async def test_look_runs_where_no_worker_does(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In a chat in the terminal: it is no job that waits for ever (ACCEPTANCE L10)."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-20T12:00"))
    clock.now = at("2026-11-23T12:00")
    await maintain(app, chat_context.person.id)

    assert len(await list_unasked(app, chat_context)) == 1


async def test_button_below_what_was_said_unasked_ends_that_kind(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Also when other things were said since; below anything else it changes nothing."""
    app = replace(app, platforms=frozenset({chat_context.chat.channel}))
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-24T12:00"))
    (said,) = await list_unasked(app, chat_context)
    async with app.db.begin_read() as tx:
        jobs = await list_jobs(tx, is_dead_letter=False)
    parts = [parse_reply_part(job) for job in jobs if job.queue == "outbox"]
    reply = (await tell(app, clock, chat_context, clock.now, "I like tea.")).reply

    assert [each.buttons for each in parts if each.reply == said.id] == [
        (Button("Not again", "/notagain"),)
    ]
    for pressed, is_muted in ((reply.id, False), (said.id, True)):
        submission = MessageSubmission(text="/notagain", details={PRESSED_DETAIL: pressed})
        told = (await answer_message(app, chat_context, submission)).reply.text
        async with app.db.begin_read() as tx:
            settings = await load_proactive_settings(tx, chat_context.person.id)
        assert ("follow_up" in settings.muted) is is_muted, told


async def test_platform_with_a_reply_window_is_not_written_to_behind_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits until the person writes again."""
    monkeypatch.setitem(
        CHANNELS,
        chat_context.chat.channel,
        replace(TELEGRAM, capabilities=replace(TELEGRAM.capabilities, reply_window=DAY)),
    )
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, EXAM)
    await live_until(app, clock, at("2026-11-30T12:00"))
    assert await list_unasked(app, chat_context) == []
