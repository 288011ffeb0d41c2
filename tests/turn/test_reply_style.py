"""How it talks follows who it is, the person and the hour, and does not jar from turn to turn."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.memories import Mood
from oldfriend.memory.working_memory import StyleMode
from oldfriend.turn.companion_state import (
    DEFAULT_WEIGHTS,
    DISTRESS_EMOTIONS,
    SAFE_MODES,
    STYLE_MODES,
    TONE_BY_EMOTION,
    StyleInputs,
    adjust_weights,
    choose_style,
    parse_style_weights,
)

WITTY: dict[StyleMode, float] = {
    "genuine": 25,
    "mirroring": 10,
    "sarcastic": 30,
    "contrary": 25,
}
NOON = StyleInputs(
    signal="normal",
    emotion="neutral",
    local_time=datetime(2026, 3, 4, 12, tzinfo=UTC),
    random_value=0.99,
)
MOODS = st.one_of(
    st.none(),
    st.builds(
        Mood,
        phrase=st.just("so"),
        energy=st.integers(0, 10),
        signal=st.sampled_from(["warm", "cool", "tired", "frustrated", None]),
    ),
)
MOMENTS = st.builds(
    StyleInputs,
    signal=st.sampled_from(["dry", "stressed", "roasting", "normal"]),
    emotion=st.sampled_from([*TONE_BY_EMOTION]),
    emotions_before=st.lists(st.sampled_from([*TONE_BY_EMOTION]), max_size=5),
    mood=MOODS,
    local_time=st.datetimes(timezones=st.just(UTC)),
    has_used_tool=st.booleans(),
    random_value=st.floats(0, 1, exclude_max=True),
)
WEIGHTS = st.fixed_dictionaries({style: st.integers(0, 100) for style in STYLE_MODES})


@given(MOMENTS, WEIGHTS, st.sampled_from([None, *STYLE_MODES]))
def test_style_is_safe_after_distress_or_stress(
    moment: StyleInputs, weights: dict[StyleMode, float], before: StyleMode | None
) -> None:
    """Whatever the persona, also right after a message that showed it."""
    manner = choose_style(weights, moment, before)

    lately = [*moment.emotions_before[-2:], moment.emotion]
    if any(emotion in DISTRESS_EMOTIONS for emotion in lately) or moment.signal == "stressed":
        assert manner.mode in SAFE_MODES
    assert manner.tone.emotion == moment.emotion


@given(MOMENTS, WEIGHTS)
def test_adjusted_style_weights_sum_to_one_and_are_deterministic(
    moment: StyleInputs, weights: dict[StyleMode, float]
) -> None:
    """None below nothing, together all; the same moment gives the same."""
    shares = adjust_weights(weights, moment)

    assert min(shares.values()) >= 0
    assert sum(shares.values()) == pytest.approx(1)
    assert adjust_weights(weights, moment) == shares


def test_previous_style_is_kept_while_its_weight_allows() -> None:
    """Tone does not flip from message to message; the chance decides only at first."""
    assert choose_style(WITTY, NOON, None).mode == "contrary"
    assert choose_style(WITTY, NOON, "sarcastic").mode == "sarcastic"
    mostly_genuine = {**WITTY, "genuine": 85, "sarcastic": 10}
    assert choose_style(mostly_genuine, NOON, "sarcastic").mode == "contrary"  # 10 suit no more


@given(MOMENTS, st.sampled_from([None, *STYLE_MODES]))
def test_default_weights_never_choose_a_joking_style(
    moment: StyleInputs, before: StyleMode | None
) -> None:
    """A lot does not know what is talked about: it may be an accident."""
    assert choose_style(DEFAULT_WEIGHTS, moment, before).mode in SAFE_MODES


@given(MOMENTS, WEIGHTS, st.sampled_from([None, *STYLE_MODES]))
def test_style_is_safe_for_a_plain_question(
    moment: StyleInputs, weights: dict[StyleMode, float], before: StyleMode | None
) -> None:
    """Whatever the persona."""
    plain = replace(moment, is_plain_question=True)

    assert choose_style(weights, plain, before).mode in SAFE_MODES


def test_rejected_style_is_recorded_when_distress_forces_genuine() -> None:
    """So that the receipt can show what the check has found."""
    after_distress = replace(NOON, emotions_before=("overwhelmed", "neutral"))

    manner = choose_style(WITTY, after_distress, "sarcastic")

    assert (manner.mode, manner.rejected_mode) == ("genuine", "sarcastic")


def test_night_and_roasting_shift_the_weights() -> None:
    """Gentler at night, quicker with whoever teases."""
    night = replace(NOON, local_time=datetime(2026, 3, 4, 23, 30, tzinfo=UTC))
    teased = replace(NOON, signal="roasting")

    assert adjust_weights(WITTY, night)["genuine"] > adjust_weights(WITTY, NOON)["genuine"]
    assert adjust_weights(WITTY, teased)["sarcastic"] > adjust_weights(WITTY, NOON)["sarcastic"]


def test_style_weights_are_parsed_from_the_persona_text() -> None:
    """In people's words; without any it is an old friend's."""
    named = parse_style_weights(
        "Dry, kind.\nStyle modes: genuine 50, Sarcastic: 40, mirroring 10\nNever late."
    )

    assert named == {"genuine": 50, "sarcastic": 40, "mirroring": 10, "contrary": 0}
    assert parse_style_weights("She can be sarcastic 100 times a day.") is None
    assert parse_style_weights("Style modes: none at all") is None
