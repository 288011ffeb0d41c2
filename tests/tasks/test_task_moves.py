"""What becomes of a task that is moved, put off or put back: its kind, its zone and its series."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import HOUR, Micros, from_micros, parse_timestamp
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.ids import PersonId
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.calendar_files import write_calendar
from oldfriend.tasks.request_sentences import read_requests
from oldfriend.tasks.snooze_times import SnoozeChoice
from oldfriend.tasks.task import Task, TaskKind, find_end
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_edits import TaskAction, build_task, decide, revise
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.task_store import advance
from oldfriend.tasks.task_wording import load_task_pack
from oldfriend.turn.request_handlers.agenda_requests import list_times

HERE, THERE = "Europe/Madrid", "America/New_York"
TUESDAY = "2026-11-24T12:00"
LANGUAGES = ("en", "es", "de", "fr", "zh")


def at(text: str, zone: str = HERE) -> Micros:
    """A moment by the clocks of a zone."""
    return parse_timestamp(text, zone)[0]


def open_desk(*tasks: Task, now: str = TUESDAY, zone: str = HERE, language: str = "en") -> TaskDesk:
    """The tasks of somebody in a zone at a moment."""
    scope = DeskScope(person=PersonId("p"), zone=zone, now=at(now, zone), language=language)
    return TaskDesk(scope, load_task_phrases(language), tasks)


def guess(desk: TaskDesk, time: str, what: str = "call mum") -> Task:
    """What is stored of a reminder whose time was understood, in doubt."""
    told = desk.phrases.read_time(time)
    assert told is not None
    asked = AskedTask(
        action="remind", what=what, told=replace(told, doubt="guess"), time_words=time
    )
    decision = desk.handle(asked)
    assert decision is not None
    return keep(decision)


def say(text: str, *tasks: Task, now: str = TUESDAY, zone: str = HERE) -> DeskDecision:
    """What is decided about a sentence."""
    _, (asked,), _ = read_requests(text, ("en", "en", "en"))
    decision = open_desk(*tasks, now=now, zone=zone).handle(asked)
    assert decision is not None
    return decision


def keep(decision: DeskDecision) -> Task:
    """The task that is stored."""
    return decision.saved[0][0]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("action", ["change", "snooze"])
def test_action_that_is_moved_stays_one_and_says_so(language: str, action: TaskAction) -> None:
    """What is to be looked up is still looked up, not only reminded of."""
    desk = open_desk(language=language)
    action_task = replace(desk.build("the weather in Paris"), kind="action", due_at=at(TUESDAY))
    decision = decide(desk, action_task, action, due_at=at("2026-11-25T10:00"))
    reminded = decide(
        desk, replace(action_task, kind="reminder"), action, due_at=at("2026-11-25T10:00")
    )
    assert (keep(decision).kind, keep(decision).due_at) == ("action", at("2026-11-25T10:00"))
    assert "10:00" in decision.text
    assert decision.text != reminded.text


def test_words_of_a_time_are_those_that_were_told_last() -> None:
    """A length of time that is told after an hour is one; a button tells no words."""
    heard = replace(
        open_desk().build("call mum"),
        status="delivered",
        due_at=at("2026-11-24T11:59"),
        delivered_at=at("2026-11-24T11:59"),
        time_words="at 11:59",
    )
    put_off = keep(say("snooze for 20 minutes", heard))
    pressed = keep(open_desk(heard).put_off(heard, "tomorrow"))
    assert (put_off.time_words, pressed.time_words) == ("in 20 minutes", "")


def test_to_do_that_is_given_a_time_is_a_reminder() -> None:
    """It has to come at that time."""
    desk = open_desk()
    decision = decide(
        desk, desk.build("oil the gate", kind="todo"), "change", due_at=at(TUESDAY) + HOUR
    )
    assert keep(decision).kind == "reminder"


@pytest.mark.parametrize(("kind", "then"), [("action", "action"), ("todo", "reminder")])
def test_task_that_is_revised_stays_what_it_does(kind: TaskKind, then: TaskKind) -> None:
    """Other words or another time make no plain reminder of what is to be looked up."""
    desk = open_desk()
    task = replace(desk.build("the weather in Paris"), kind=kind, due_at=at(TUESDAY) + HOUR)
    moved = revise(desk, task, text="", due_at=at("2026-11-25T10:00"), rrule="")
    worded = revise(desk, task, text="the weather in Rome", due_at=None, rrule="")
    assert [keep(each).kind for each in (moved, worded)] == [then, then]
    bare = revise(desk, replace(task, due_at=None), text="the sun", due_at=None, rrule="")
    assert keep(bare).kind == kind


def remind(text: str) -> Task:
    """A reminder that was set in Madrid, a day before it is spoken of."""
    return keep(say(text, now="2026-11-23T12:00"))


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("change the stretch reminder to every day at 9am", "2026-11-25T09:00"),
        ("move the stretch reminder to 11am", "2026-11-26T11:00"),
        ("move the stretch reminder to Friday at 3pm", "2026-11-27T15:00"),
    ],
)
def test_time_that_is_told_anew_is_one_of_where_the_person_is(text: str, local: str) -> None:
    """Nine in New York stays nine there, whatever the clocks in Madrid do."""
    told = remind("remind me on 26 November at 4pm to stretch")
    moved = keep(say(text, told, zone=THERE))
    assert (moved.zone, moved.due_at) == (THERE, at(local, THERE))


@pytest.mark.parametrize("choice", ["10m", "tomorrow"])
def test_series_that_is_only_put_off_keeps_its_zone(choice: SnoozeChoice) -> None:
    """Its rule counts there; what comes once has none."""
    series = remind("remind me every day at 9am to stretch")
    once = remind("remind me on 26 November at 9am to stretch")
    desk = open_desk(series, once, zone=THERE)
    assert keep(desk.put_off(series, choice)).zone == HERE
    assert keep(desk.put_off(once, choice)).zone == THERE


def test_hour_of_a_reminder_is_the_one_that_the_list_shows() -> None:
    """Four in the afternoon in Madrid is ten in the morning in New York."""
    told = remind("remind me on 26 November at 4pm to stretch")
    other = remind("remind me on 27 November at 10am to call Ana")
    assert "10:00" in open_desk(told, zone=THERE).wording.list_tasks([told])
    assert open_desk(told, other, zone=THERE).find_by_time("the ten o'clock one") == [told]


def test_other_day_keeps_the_hour_that_the_list_shows() -> None:
    """Ten stays ten."""
    told = remind("remind me on 26 November at 4pm to stretch")
    moved = keep(say("move the stretch reminder to Friday", told, zone=THERE))
    assert from_micros(moved.due_at or 0, THERE).isoformat()[:16] == "2026-11-27T10:00"


@pytest.mark.parametrize(
    ("set_by", "asked", "now", "times"),
    [
        (
            "remind me every day at 9am and 6pm to stretch",
            "move the stretch reminder to 10am",
            "2026-11-24T13:00",
            ["2026-11-24T18:00", "2026-11-25T10:00", "2026-11-25T18:00", "2026-11-26T10:00"],
        ),
        (
            "remind me every Friday at 9am to stretch",
            "move the stretch reminder to Saturday",
            TUESDAY,
            ["2026-11-28T09:00", "2026-12-05T09:00"],
        ),
        (
            "remind me every Friday at 9am to stretch",
            "move the stretch reminder to Saturday at 11am",
            TUESDAY,
            ["2026-11-28T11:00", "2026-12-05T11:00"],
        ),
        (
            "remind me every Friday at 9am to stretch",
            "move the stretch reminder to 3 December",  # a Thursday
            TUESDAY,
            ["2026-12-03T09:00", "2026-12-04T09:00", "2026-12-11T09:00"],
        ),
        (
            "remind me on the 1st of every month at 9am to stretch",
            "move the stretch reminder to 3 December",
            TUESDAY,
            ["2026-12-03T09:00", "2027-01-01T09:00"],
        ),
        (
            "remind me every day at 9am to stretch",
            "move the stretch reminder to 10am",
            TUESDAY,
            ["2026-11-25T10:00", "2026-11-26T10:00"],
        ),
    ],
)
def test_series_that_is_moved_comes_when_it_says(
    set_by: str, asked: str, now: str, times: list[str]
) -> None:
    """Another hour is for good; another day only where it is clear, else this once."""
    task: Task | None = keep(say(asked, remind(set_by), now=now))
    found: list[Micros] = []
    for _ in times:
        assert task is not None
        assert task.due_at is not None
        found.append(task.due_at)
        task = advance(task, now=task.due_at)
    assert found == [at(each) for each in times]


def test_series_of_several_hours_without_a_clear_one_is_left_as_it_is() -> None:
    """Half past ten and six do not fit into one rule: better say so than come at other times."""
    series = remind("remind me every day at 9am and 6pm to stretch")
    decision = say("move the stretch reminder to 10:30am", series, now="2026-11-24T13:00")
    assert decision.saved == ()
    assert "stretch" in decision.text


def test_counted_series_that_is_moved_comes_no_more_often_than_it_was_to() -> None:
    """Of three times one is over."""
    series = remind("remind me every day at 9am for 3 days to stretch")
    assert "COUNT=3" in (series.rrule or "")
    series = advance(series, now=series.due_at or 0)
    moved: Task = keep(say("move the stretch reminder to 10am", series))
    moved = advance(moved, now=moved.due_at or 0)
    assert (moved.status, moved.due_at) == ("open", at("2026-11-26T10:00"))
    assert advance(moved, now=moved.due_at or 0).status == "delivered"


def test_words_of_a_series_are_those_that_it_goes_by() -> None:
    """A list does not say nine when it comes at ten."""
    series = remind("remind me every day at 9am to stretch")
    moved = keep(say("move the stretch reminder to 10am", series))
    assert "daily" in open_desk().wording.list_tasks([moved])
    anew = keep(say("change the stretch reminder to every Monday at 8am", series))
    assert "every Monday at 8am" in open_desk().wording.list_tasks([anew])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("rule", "often"),
    [
        ("FREQ=DAILY", "daily"),
        ("INTERVAL=1;FREQ=WEEKLY", "weekly"),
        ("BYDAY=FR;FREQ=WEEKLY", "weekly"),
        ("FREQ=MINUTELY;INTERVAL=20", "minutely"),
        ("INTERVAL=2;FREQ=WEEKLY", ""),
        ("FREQ=DAILY;INTERVAL=2", ""),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "workdays"),
        ("BYDAY=FR,MO,TU,WE,TH;FREQ=DAILY", "workdays"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;INTERVAL=2", ""),
        ("FREQ=WEEKLY;BYDAY=MO,WE", ""),
        ("FREQ=DAILY;BYDAY=MO", ""),
        ("FREQ=DAILY;BYHOUR=9,18", ""),
    ],
)
def test_rule_is_listed_with_a_word_only_where_that_is_all_of_it(
    rule: str, often: str, language: str
) -> None:
    """A program or a model may name its parts in any order, and no words for it."""
    desk = open_desk(language=language)
    task = build_task(desk, "stretch", due_at=at(TUESDAY) + HOUR, rrule=rule)
    repeats = load_task_pack(language)["repeats"]
    listed = desk.wording.format_listed_time(task)
    assert [name for name, word in repeats.items() if word in listed] == [often] * bool(often)
    assert listed.endswith(desk.wording.format_task_time(task))


@pytest.mark.parametrize("language", LANGUAGES)
def test_reminder_put_back_after_its_time_is_not_promised_for_the_past(language: str) -> None:
    """It stands on the list as one whose time has passed, and that is what is said."""
    desk = open_desk(language=language)
    set_one = replace(desk.build("stretch"), due_at=at("2026-11-24T11:50"))
    decision = desk.reopen(replace(set_one, status="done"))
    opened = keep(decision)
    assert (opened.status, opened.delivered_at) == ("delivered", at(TUESDAY))
    assert "11:50" in decision.text
    assert decision.text != desk.wording.confirm(set_one)


def test_series_put_back_goes_on_with_its_next_time() -> None:
    """The time that passed meanwhile is left out."""
    series = remind("remind me every day at 9am to stretch")
    opened = keep(open_desk().reopen(replace(series, status="cancelled")))
    assert (opened.status, opened.due_at) == ("open", at("2026-11-25T09:00"))
    assert opened.delivered_at is None


@pytest.mark.parametrize(
    ("language", "time", "offered", "answer"),
    [
        ("en", "tomorrow at 7 am", "Wed 25 November, 07:00", "yes please"),
        ("de", "morgen um 7 uhr früh", "Mi, 25. November, 07:00", "ja, genau"),
        ("es", "mañana a las 7 de la mañana", "mié 25 de noviembre, 07:00", "si"),
        ("fr", "demain à 7h du matin", "mer. 25 novembre, 07:00", "oui c'est ça"),
        ("zh", "明天早上7点", "11月25日周三 07:00", "对的"),
    ],
)
def test_time_that_was_understood_in_doubt_is_offered_and_a_yes_sets_it(
    language: str, time: str, offered: str, answer: str
) -> None:
    """ACCEPTANCE L2: asked about, with what would be set."""
    desk = open_desk(language=language)
    task = guess(desk, time)
    assert task.status == "asking"
    assert offered in desk.wording.ask(task)
    decision = desk.answer(task, answer)
    assert decision is not None
    assert (keep(decision).status, keep(decision).due_at) == ("open", at("2026-11-25T07:00"))
    assert offered in decision.text


def test_offered_series_and_day_are_set_as_they_were_understood() -> None:
    """With their rule, and without an hour that nobody told."""
    desk = open_desk()
    task = guess(desk, "every friday at 5pm")
    assert "every friday at 5pm" in desk.wording.ask(task)
    series = desk.answer(task, "yes")
    day = desk.answer(guess(desk, "on friday", "water the plants"), "ok")
    assert series is not None
    assert day is not None
    assert keep(series).rrule == "FREQ=WEEKLY;BYDAY=FR"
    assert (keep(day).is_date_only, keep(day).due_at) == (True, at("2026-11-27T09:00"))


def test_other_time_in_place_of_the_offered_one_is_set() -> None:
    """And a no drops it."""
    desk = open_desk()
    changed = desk.answer(guess(desk, "tomorrow at 7 am"), "tomorrow at 8 am")
    dropped = desk.answer(guess(desk, "tomorrow at 9 am", "buy bread"), "never mind")
    assert changed is not None
    assert dropped is not None
    assert keep(changed).due_at == at("2026-11-25T08:00")
    assert keep(dropped).status == "cancelled"


def test_yes_to_a_time_that_has_passed_since_asks_again() -> None:
    """Nothing is set for the past."""
    task = guess(open_desk(), "in 20 minutes")
    decision = open_desk(task, now="2026-11-24T13:00").answer(task, "yes")
    assert decision is not None
    assert (keep(decision).status, keep(decision).question) == ("asking", "past")


@pytest.mark.parametrize("choice", ["10m", "evening", "tomorrow"])
@pytest.mark.parametrize("is_date_only", [True, False])
def test_reminder_of_what_has_an_end_is_put_off_and_it_stays(
    choice: SnoozeChoice, is_date_only: bool
) -> None:
    """Its days, its hours and its file are as before; only when it is said again is told."""
    begins = at("2026-11-24T09:00" if is_date_only else "2026-11-24T11:30")
    heard = replace(
        build_task(open_desk(), "Conference", due_at=at("2026-11-24T13:00"), rrule=None),
        status="delivered",
        due_at=begins,
        is_date_only=is_date_only,
        duration_s=5 * 86_400 if is_date_only else 5_400,
    )
    desk = open_desk(heard)
    decision = decide(desk, heard, "snooze", due_at=None, later=choice)
    put_off = keep(decision)
    again = keep(decide(open_desk(put_off), put_off, "snooze", due_at=at("2026-11-26T10:00")))
    reworded = revise(open_desk(put_off), put_off, text="Congress", due_at=None, rrule="")
    file = write_calendar([heard])

    for each in (put_off, again, advance(put_off, now=put_off.due_at or 0)):
        assert (each.begins_at, find_end(each)) == (begins, find_end(heard))
        assert list_times(each, begins, begins + 1) == [begins]
        assert desk.wording.format_task_time(each) == desk.wording.format_task_time(heard)
        assert read_ends(write_calendar([each])) == read_ends(file)
    assert (keep(reworded).begins_at, keep(reworded).due_at) == (begins, put_off.due_at)
    assert (
        decision.text
        == {
            "10m": "I'll remind you again on Tue 24 November, 12:10: “Conference”.",
            "evening": "I'll remind you again on Tue 24 November, 19:00: “Conference”.",
            "tomorrow": "I'll remind you again on Wed 25 November"
            + (": “Conference”." if is_date_only else ", 09:00: “Conference”."),
        }[choice]
    )


def read_ends(content: bytes) -> list[bytes]:
    """The lines of a calendar that say when something is."""
    return [each for each in content.splitlines() if each.startswith((b"DTSTART", b"DTEND"))]


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "I'll remind you on Tue 8 December: “Conference”."),
        ("de", "Ich erinnere dich am Di, 8. Dezember: „Conference“."),
        ("zh", "我会在12月8日周二提醒你：“Conference”。"),
    ],
)
def test_when_one_is_reminded_of_whole_days_is_one_time(language: str, told: str) -> None:
    """Not from when to when they last."""
    desk = open_desk(language=language)
    task = build_task(desk, "Conference", due_at=at("2026-12-08T09:00"), rrule=None)
    for days in (1, 5):
        lasts = replace(task, is_date_only=True, duration_s=days * 86_400)
        assert desk.wording.confirm(lasts) == told
