"""Reply style: chooses how to talk, as a pure function of persona, person, relationship and hour.

It chooses among a few options; the wording for each is in the prompt file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.domain.memories import Mood
from oldfriend.domain.working_memory import StyleMode, UserEmotion
from oldfriend.turn.intent import Signal

StyleWeights = Mapping[StyleMode, float]
EmojiLevel = Literal["none", "light", "moderate"]
ReplyLength = Literal["brief", "normal", "detailed"]

STYLE_MODES: Final[tuple[StyleMode, ...]] = get_args(StyleMode)
DEFAULT_WEIGHTS: Final[StyleWeights] = MappingProxyType(
    {"genuine": 60, "mirroring": 20, "sarcastic": 10, "contrary": 10}
)
"""The weights of a persona that names none."""
DISTRESS_EMOTIONS: Final[frozenset[UserEmotion]] = frozenset(
    {"anxious", "overwhelmed", "frustrated"}
)
"""Emotions in which the person is not teased."""
SAFE_MODES: Final = frozenset[StyleMode]({"genuine", "mirroring"})
KEEP_MODE_WEIGHT: Final = 0.2
"""The current style is kept while it has at least this share of the weight, so that it does not
change with each message.
"""
EVENING_HOUR, NIGHT_HOUR, MORNING_HOUR, FIRST_WEEKEND_DAY = 18, 23, 6, 5

_WEIGHT = re.compile(
    r"\b(genuine|mirroring|sarcastic|contrary)\s*+(?:[:=]\s*+)?(\d{1,3})\b", re.IGNORECASE
)
_LINE = re.compile(r"^[^\S\n]*+style modes[^\S\n]*+:(.*)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTone:
    """How a reply fits an emotion; the emotion's name is a part of the prompt."""

    emotion: UserEmotion
    emoji: EmojiLevel
    length: ReplyLength


TONE_BY_EMOTION: Final[Mapping[UserEmotion, ReplyTone]] = MappingProxyType(
    {
        each.emotion: each
        for each in (
            ReplyTone(emotion="neutral", emoji="light", length="normal"),
            ReplyTone(emotion="excited", emoji="moderate", length="normal"),
            ReplyTone(emotion="grateful", emoji="light", length="brief"),
            ReplyTone(emotion="curious", emoji="none", length="detailed"),
            ReplyTone(emotion="nostalgic", emoji="none", length="normal"),
            ReplyTone(emotion="frustrated", emoji="none", length="brief"),
            ReplyTone(emotion="anxious", emoji="none", length="normal"),
            ReplyTone(emotion="overwhelmed", emoji="none", length="brief"),
        )
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyStyle:
    """How to talk, and the style that was rejected, if any."""

    mode: StyleMode
    tone: ReplyTone
    rejected_mode: StyleMode | None = None  # chosen by chance, but out of place


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleInputs:
    """What the choice of a style depends on, apart from the persona."""

    signal: Signal
    emotion: UserEmotion
    emotions_before: Sequence[UserEmotion] = ()  # before this message, oldest first
    mood: Mood | None = None
    local_time: datetime  # by the person's clock
    has_used_tool: bool = False  # there is a plain result to report
    random_value: float  # from 0 to below 1; always the same for a message


def choose_style(
    weights: StyleWeights, inputs: StyleInputs, previous: StyleMode | None
) -> ReplyStyle:
    """Choose how to talk; ``previous`` is the style of the previous turn."""
    style, tone = (
        choose_mode(adjust_weights(weights, inputs), previous, inputs.random_value),
        TONE_BY_EMOTION[inputs.emotion],
    )
    if is_out_of_place(style, inputs):
        return ReplyStyle(mode="genuine", tone=tone, rejected_mode=style)
    return ReplyStyle(mode=style, tone=tone)


def adjust_weights(weights: StyleWeights, inputs: StyleInputs) -> dict[StyleMode, float]:
    """Return the persona's weights adjusted to the inputs; they add up to 1."""
    adjusted = {style: float(weights.get(style, 0)) for style in STYLE_MODES}
    for style, more in list_adjustments(inputs):
        if adjusted[style] or style in SAFE_MODES:  # an unused joking style stays unused
            adjusted[style] = max(0.0, adjusted[style] + more)
    if inputs.emotion in DISTRESS_EMOTIONS or inputs.signal == "stressed":
        adjusted = {style: adjusted[style] if style in SAFE_MODES else 0.0 for style in STYLE_MODES}
    total = sum(adjusted.values())
    if total == 0:
        return {style: float(style == "genuine") for style in STYLE_MODES}
    return {style: weight / total for style, weight in adjusted.items()}


def list_adjustments(inputs: StyleInputs) -> list[tuple[StyleMode, float]]:
    """Return what each input adds to or takes from a style's weight."""
    adjustments: list[tuple[StyleMode, float]] = []
    if inputs.signal == "dry":
        adjustments += [("sarcastic", 5), ("genuine", 10), ("contrary", -5)]
    if inputs.signal == "roasting":
        adjustments += [("sarcastic", 20), ("contrary", 15)]
    if inputs.signal == "stressed" or inputs.emotion in DISTRESS_EMOTIONS:
        adjustments += [("genuine", 40)]
    if inputs.emotion in {"excited", "grateful", "nostalgic"}:
        adjustments += [("mirroring", 20), ("sarcastic", -5)]
    if inputs.has_used_tool:
        adjustments += [("genuine", 10)]
    if inputs.mood is not None and inputs.mood.signal in {"cool", "frustrated", "tired"}:
        adjustments += [("genuine", 15), ("sarcastic", -10), ("contrary", -10)]
    return adjustments + list_hour_adjustments(inputs.local_time)


def list_hour_adjustments(local_time: datetime) -> list[tuple[StyleMode, float]]:
    """Return the adjustments by hour: looser in the evening and at weekends, gentle at night."""
    if local_time.hour >= NIGHT_HOUR or local_time.hour < MORNING_HOUR:
        return [("genuine", 15), ("contrary", -10)]
    if local_time.hour >= EVENING_HOUR or local_time.weekday() >= FIRST_WEEKEND_DAY:
        return [("sarcastic", 5), ("contrary", 5)]
    return []


def choose_mode(
    weights: StyleWeights, previous: StyleMode | None, random_value: float
) -> StyleMode:
    """Return the previous style while it still suits, else one chosen by ``random_value``."""
    if previous is not None and weights[previous] >= KEEP_MODE_WEIGHT:
        return previous
    for style in STYLE_MODES:
        random_value -= weights[style]
        if random_value < 0:
            return style
    return "genuine"


def is_out_of_place(mode: StyleMode, inputs: StyleInputs) -> bool:
    """Tell whether a style does not suit the emotions of the last two turns.

    Who was in distress a moment ago is not mocked, even if this message does not show it.
    """
    return mode not in SAFE_MODES and any(
        each in DISTRESS_EMOTIONS for each in inputs.emotions_before[-2:]
    )


def parse_style_weights(text: str) -> StyleWeights | None:
    """Parse the persona's line "Style modes: genuine 50, sarcastic 30 …"; None without one."""
    line = _LINE.search(text)
    if line is None:
        return None
    named = {name.lower(): float(weight) for name, weight in _WEIGHT.findall(line.group(1))}
    weights: dict[StyleMode, float] = {style: named.get(style, 0.0) for style in STYLE_MODES}
    return weights if any(weights.values()) else None
