"""The gates of speaking first, in their order (ACCEPTANCE L13, decision X13)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.proactive.policy import (
    GATES,
    PACES,
    Impulse,
    ImpulseKind,
    Level,
    PersonState,
    check_active_conversation,
    check_channel,
    check_cold_user,
    check_cooldown,
    check_master_switch,
    check_mood,
    check_quiet_hours,
    check_rate,
    check_trigger,
    check_turn_in_flight,
    decide,
)
from oldfriend.proactive.quiet_hours import QuietHours, align_to_clock
from tests.proactive.lived_time import at

NOON = at("2026-11-18T12:00")
IMPULSE = Impulse(
    person=PersonId("p"),
    kind="follow_up",
    key="follow_up:1",
    sources=("1",),
    not_before=NOON - HOUR,
    expires_at=NOON + DAY,
    urgency=0.5,
)
STATE = PersonState(
    now=NOON,
    zone="Europe/Lisbon",
    level="normal",
    quiet=QuietHours(),
    person_spoke_at=NOON - DAY,
    talked_at=NOON - DAY,
)


def test_gates_are_asked_in_the_order_of_the_acceptance() -> None:
    """Master switch first, trigger last (ACCEPTANCE L13)."""
    assert (
        check_master_switch,
        check_quiet_hours,
        check_cold_user,
        check_rate,
        check_cooldown,
        check_active_conversation,
        check_turn_in_flight,
        check_channel,
        check_mood,
        check_trigger,
    ) == GATES


@pytest.mark.parametrize(
    ("state", "verdict", "reason", "until"),
    [
        ({"level": "off"}, "drop", "master_switch", None),
        ({"muted": frozenset({"follow_up"})}, "drop", "muted", None),
        ({"now": at("2026-11-18T23:00")}, "wait", "quiet_hours", at("2026-11-19T08:00")),
        ({"now": at("2026-11-18T03:00")}, "wait", "quiet_hours", at("2026-11-18T08:00")),
        ({"said_at": (NOON - 11 * HOUR, NOON - 6 * HOUR)}, "wait", "cold_user", None),
        (
            {"said_at": (NOON - 23 * HOUR, NOON - 15 * HOUR, NOON - 8 * HOUR)},
            "wait",
            "rate",
            NOON + HOUR,
        ),
        ({"said_at": (NOON - 3 * HOUR,)}, "wait", "cooldown", NOON + HOUR),
        ({"talked_at": NOON - 2 * MINUTE}, "wait", "active_conversation", NOON + 3 * MINUTE),
        ({"has_open_turn": True}, "wait", "turn_in_flight", NOON + MINUTE),
        ({"has_channel": False}, "wait", "no_channel", None),
        ({"window_ends_at": NOON}, "wait", "reply_window", None),
        ({"mood": "tired", "mood_at": NOON - HOUR}, "wait", "mood", NOON + 11 * HOUR),
        ({}, "say", "trigger", None),
    ],
)
def test_each_gate_objects_with_its_reason(
    state: dict[str, object], verdict: str, reason: str, until: Micros | None
) -> None:
    """What waits says until when, where that is known (ACCEPTANCE L13, L14)."""
    spoke_at = STATE.person_spoke_at if reason != "rate" else NOON - MINUTE * 30
    decision = decide(IMPULSE, replace(STATE, person_spoke_at=spoke_at, **state))

    assert (decision.verdict, decision.reason, decision.until) == (verdict, reason, until)


def test_earlier_gate_decides() -> None:
    """However many object (ACCEPTANCE L13)."""
    everything = replace(
        STATE,
        now=at("2026-11-18T23:00"),
        said_at=(at("2026-11-18T22:58"),),
        has_open_turn=True,
        has_channel=False,
    )

    assert decide(IMPULSE, everything).reason == "quiet_hours"


def test_cold_user_is_left_alone_until_they_speak() -> None:
    """Two within six hours without an answer; then nothing until they speak (ACCEPTANCE L13)."""
    said = (NOON - 9 * DAY, NOON - 9 * DAY + 5 * HOUR)
    cold = replace(STATE, said_at=said, person_spoke_at=NOON - 10 * DAY)

    assert decide(IMPULSE, cold).reason == "cold_user"
    assert decide(IMPULSE, replace(cold, person_spoke_at=NOON - 8 * DAY)).verdict == "say"


def test_who_never_answers_is_left_alone_after_four() -> None:
    """Also where they were days apart."""
    said = tuple(NOON - days * DAY for days in (8, 6, 4, 2))
    state = replace(STATE, said_at=said, person_spoke_at=NOON - 9 * DAY)

    assert decide(IMPULSE, state).reason == "cold_user"
    assert decide(IMPULSE, replace(state, said_at=said[1:])).verdict == "say"


@pytest.mark.parametrize(
    ("level", "kinds"),
    [
        ("off", {"digest", "recap", "watch", "checklist"}),
        ("shy", {"promise", "follow_up", "goal", "watch", "digest", "recap", "checklist"}),
        (
            "normal",
            {
                "promise",
                "follow_up",
                "goal",
                "watch",
                "digest",
                "recap",
                "checklist",
                "day_opening",
                "number",
                "diary",
                "anniversary",
                "silence",
            },
        ),
    ],
)
def test_levels_speak_of_more_and_more(level: Level, kinds: set[ImpulseKind]) -> None:
    """Off, shy, normal, lively; what was ordered comes in each (ACCEPTANCE L12, L19)."""
    assert PACES[level].kinds == kinds
    assert kinds < PACES["lively"].kinds


@pytest.mark.parametrize(
    "state",
    [
        {"said_at": (NOON - 11 * HOUR, NOON - 6 * HOUR)},
        {"said_at": (NOON - 23 * HOUR, NOON - 15 * HOUR, NOON - 8 * HOUR)},
        {"said_at": (NOON - 3 * HOUR,)},
        {"talked_at": NOON - 2 * MINUTE},
        {"mood": "tired", "mood_at": NOON - HOUR},
    ],
)
def test_what_was_asked_for_waits_for_no_pace(state: dict[str, object]) -> None:
    """A watch that has fired is told, but not in quiet hours."""
    watch = replace(IMPULSE, kind="watch")
    now = replace(STATE, **state)  # type: ignore[arg-type]
    assert decide(watch, now).verdict == "say"
    night = replace(now, quiet=QuietHours(begins=11 * 60, ends=13 * 60))
    assert decide(watch, night).reason == "quiet_hours"


def test_promise_is_kept_whatever_the_mood_was() -> None:
    """What was promised cannot wait for a better day."""
    tired = replace(STATE, mood="tired", mood_at=NOON - HOUR)

    assert decide(replace(IMPULSE, kind="promise"), tired).verdict == "say"


def test_time_over_is_dropped_and_time_ahead_waits() -> None:
    """The trigger comes last (ACCEPTANCE L13)."""
    late = replace(IMPULSE, expires_at=NOON)
    early = replace(IMPULSE, not_before=NOON + HOUR)

    assert decide(late, STATE).reason == "expired"
    assert decide(early, STATE).until == NOON + HOUR


def test_priority_is_urgency_times_relevance_times_recency() -> None:
    """Recency halves over the time in which an impulse is open (ACCEPTANCE L17)."""
    impulse = replace(IMPULSE, urgency=0.8, relevance=0.5, not_before=0, expires_at=100)

    assert impulse.get_priority(0) == pytest.approx(0.4)
    assert impulse.get_priority(100) == pytest.approx(0.2)


def test_lively_is_chance_that_can_be_repeated() -> None:
    """Gaps of 15, 30 and 60 minutes, with .45, .55 and .65, at most five a day (ACCEPTANCE L16)."""
    lively = replace(STATE, level="lively", person_spoke_at=NOON - HOUR)
    chances = [
        decide(replace(IMPULSE, kind="moment", key=f"moment:{number}"), lively).verdict
        for number in range(2_000)
    ]
    again = [
        decide(replace(IMPULSE, kind="moment", key=f"moment:{number}"), lively).verdict
        for number in range(2_000)
    ]

    assert chances == again
    assert chances.count("say") / 2_000 == pytest.approx(0.45, abs=0.04)
    assert [(gap.gap // MINUTE, gap.probability) for gap in PACES["lively"].gaps] == [
        (15, 0.45),
        (30, 0.55),
        (60, 0.65),
    ]
    assert PACES["lively"].max_per_day == 5
    assert decide(IMPULSE, replace(lively, talked_at=NOON - 29 * MINUTE)).verdict == "wait"


def test_lively_gap_has_a_jitter_of_five_minutes() -> None:
    """So it never comes by the clock (ACCEPTANCE L16)."""
    state = replace(STATE, level="lively", person_spoke_at=NOON - HOUR, said_at=(NOON,))
    untils = {
        decide(replace(IMPULSE, key=f"moment:{number}"), state).until for number in range(200)
    }

    assert all(
        until is not None and abs(until - NOON - 15 * MINUTE) <= 5 * MINUTE for until in untils
    )
    assert len(untils) > 100


ZONES = ("Europe/Lisbon", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "+05:30")


@given(
    begins=st.integers(0, 1439),
    ends=st.integers(0, 1439),
    now=st.integers(NOON - 200 * DAY, NOON + 200 * DAY),
    zone=st.sampled_from(ZONES),
)
def test_end_of_quiet_hours_is_never_quiet(begins: int, ends: int, now: Micros, zone: str) -> None:
    """In every zone, also where clocks change, around midnight or not (ACCEPTANCE L14)."""
    quiet = QuietHours(begins=begins, ends=ends)
    if quiet.contains(now, zone):
        over = quiet.get_end(now, zone)
        assert now < over <= now + 26 * HOUR
        assert not quiet.contains(over, zone)
    aligned = align_to_clock(now, zone)
    assert 0 <= aligned - now < 30 * MINUTE
