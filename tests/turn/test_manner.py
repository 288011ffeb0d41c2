"""How it talks follows who it is, the person and the hour, and does not jar from turn to turn."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.memories import Mood
from oldfriend.domain.working import StyleMode
from oldfriend.turn.manner import (
    HEAVY,
    OLD_FRIEND,
    STEADY,
    STYLES,
    TONES,
    Moment,
    adjusted,
    manner_of,
    weights_in,
)

WITTY: dict[StyleMode, float] = {
    "genuine": 25, "mirroring": 10, "sarcastic": 30, "contrary": 25,
}  # fmt: skip
NOON = Moment(
    signal="normal", emotion="neutral", local=datetime(2026, 3, 4, 12, tzinfo=UTC), chance=0.99
)
MOODS = st.one_of(
    st.none(),
    st.builds(
        Mood, phrase=st.just("so"), energy=st.integers(0, 10),
        signal=st.sampled_from(["warm", "cool", "tired", "frustrated", None]),
    ),
)  # fmt: skip
MOMENTS = st.builds(
    Moment,
    signal=st.sampled_from(["dry", "stressed", "roasting", "normal"]),
    emotion=st.sampled_from([*TONES]),
    trajectory=st.lists(st.sampled_from([*TONES]), max_size=5),
    mood=MOODS,
    local=st.datetimes(timezones=st.just(UTC)),
    used_tool=st.booleans(),
    chance=st.floats(0, 1, exclude_max=True),
)
WEIGHTS = st.fixed_dictionaries({style: st.integers(0, 100) for style in STYLES})


@given(MOMENTS, WEIGHTS, st.sampled_from([None, *STYLES]))
def test_nobody_in_distress_is_mocked(
    moment: Moment, weights: dict[StyleMode, float], before: StyleMode | None
) -> None:
    """Whatever the persona, also right after a message that showed it."""
    manner = manner_of(weights, moment, before)

    lately = [*moment.trajectory[-2:], moment.emotion]
    if any(emotion in HEAVY for emotion in lately) or moment.signal == "stressed":
        assert manner.style in STEADY
    assert manner.tone.emotion == moment.emotion


@given(MOMENTS, WEIGHTS)
def test_the_weights_are_shares(moment: Moment, weights: dict[StyleMode, float]) -> None:
    """None below nothing, together all; the same moment gives the same."""
    shares = adjusted(weights, moment)

    assert min(shares.values()) >= 0
    assert sum(shares.values()) == pytest.approx(1)
    assert adjusted(weights, moment) == shares


def test_it_goes_on_as_it_was_while_that_suits() -> None:
    """Tone does not flip from message to message; the chance decides only at first."""
    assert manner_of(WITTY, NOON, None).style == "contrary"
    assert manner_of(WITTY, NOON, "sarcastic").style == "sarcastic"
    assert manner_of(OLD_FRIEND, NOON, "sarcastic").style == "contrary"  # 10 of 100 suit no more


def test_what_would_have_jarred_is_said() -> None:
    """So that the receipt can show what the check has found."""
    after_distress = replace(NOON, trajectory=("overwhelmed", "neutral"))

    manner = manner_of(WITTY, after_distress, "sarcastic")

    assert (manner.style, manner.kept_from) == ("genuine", "sarcastic")


def test_night_and_roasting_shift_the_weights() -> None:
    """Gentler at night, quicker with whoever teases."""
    night = replace(NOON, local=datetime(2026, 3, 4, 23, 30, tzinfo=UTC))
    teased = replace(NOON, signal="roasting")

    assert adjusted(WITTY, night)["genuine"] > adjusted(WITTY, NOON)["genuine"]
    assert adjusted(WITTY, teased)["sarcastic"] > adjusted(WITTY, NOON)["sarcastic"]


def test_a_persona_names_its_weights() -> None:
    """In people's words; without any it is an old friend's."""
    named = weights_in(
        "Dry, kind.\nStyle modes: genuine 50, Sarcastic: 40, mirroring 10\nNever late."
    )

    assert named == {"genuine": 50, "sarcastic": 40, "mirroring": 10, "contrary": 0}
    assert weights_in("She can be sarcastic 100 times a day.") is None
    assert weights_in("Style modes: none at all") is None
