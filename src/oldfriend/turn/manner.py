"""How is the companion to talk just now? A pure function of who it is, of the person, of the hour.

It chooses among few; the words for each choice stand in the prompt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.domain.memories import Mood
from oldfriend.domain.working import Emotion, StyleMode
from oldfriend.turn.perceive import Signal

Weights = Mapping[StyleMode, float]
Emoji = Literal["none", "light", "moderate"]
Length = Literal["brief", "normal", "detailed"]

STYLES: Final[tuple[StyleMode, ...]] = get_args(StyleMode)
OLD_FRIEND: Final[Weights] = MappingProxyType(
    {"genuine": 60, "mirroring": 20, "sarcastic": 10, "contrary": 10}
)
"""Of a persona that names no weights of its own."""
HEAVY: Final[frozenset[Emotion]] = frozenset({"anxious", "overwhelmed", "frustrated"})
"""With whom nobody jokes."""
STEADY: Final = frozenset[StyleMode]({"genuine", "mirroring"})
SUITS: Final = 0.2
"""A style goes on that has at least this share of the weight: nobody changes with each message."""
EVENING, LATE, MORNING, WEEKEND = 18, 23, 6, 5

_WEIGHT = re.compile(
    r"\b(genuine|mirroring|sarcastic|contrary)\s*[:=]?\s*(\d{1,3})\b", re.IGNORECASE
)
_LINE = re.compile(r"^\s*style modes\s*:(.*)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tone:
    """What a feeling of the person asks of a reply; its name is a part of the prompt."""

    emotion: Emotion
    emoji: Emoji
    length: Length


TONES: Final[Mapping[Emotion, Tone]] = MappingProxyType({
    each.emotion: each
    for each in (
        Tone(emotion="neutral", emoji="light", length="normal"),
        Tone(emotion="excited", emoji="moderate", length="normal"),
        Tone(emotion="grateful", emoji="light", length="brief"),
        Tone(emotion="curious", emoji="none", length="detailed"),
        Tone(emotion="nostalgic", emoji="none", length="normal"),
        Tone(emotion="frustrated", emoji="none", length="brief"),
        Tone(emotion="anxious", emoji="none", length="normal"),
        Tone(emotion="overwhelmed", emoji="none", length="brief"),
    )
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How to talk, and what was kept from changing about it."""

    style: StyleMode
    tone: Tone
    kept_from: StyleMode | None = None  # the style it would have been, had that not jarred


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What the choice of a manner depends on beside who the companion is."""

    signal: Signal
    emotion: Emotion
    trajectory: Sequence[Emotion] = ()  # before this message, oldest first
    mood: Mood | None = None
    local: datetime  # by the person's clock
    used_tool: bool = False  # there is something plain to report
    chance: float  # from 0 to below 1; the same message has the same


def manner_of(weights: Weights, moment: Moment, before: StyleMode | None) -> Manner:
    """How to talk now; ``before`` is the style of the turn before."""
    style, tone = chosen(adjusted(weights, moment), before, moment.chance), TONES[moment.emotion]
    if jars(style, moment):
        return Manner(style="genuine", tone=tone, kept_from=style)
    return Manner(style=style, tone=tone)


def adjusted(weights: Weights, moment: Moment) -> dict[StyleMode, float]:
    """The weights of a persona as the moment asks for, together 1 (ACCEPTANCE I6)."""
    now = {style: float(weights.get(style, 0)) for style in STYLES}
    for style, more in wanted_by(moment):
        if now[style] or style in STEADY:  # who never jests does not begin because it is late
            now[style] = max(0.0, now[style] + more)
    if moment.emotion in HEAVY or moment.signal == "stressed":
        now = {style: now[style] if style in STEADY else 0.0 for style in STYLES}
    total = sum(now.values())
    if total == 0:
        return {style: float(style == "genuine") for style in STYLES}
    return {style: weight / total for style, weight in now.items()}


def wanted_by(moment: Moment) -> list[tuple[StyleMode, float]]:
    """What each side of a moment adds and takes away."""
    wishes: list[tuple[StyleMode, float]] = []
    if moment.signal == "dry":
        wishes += [("sarcastic", 5), ("genuine", 10), ("contrary", -5)]
    if moment.signal == "roasting":
        wishes += [("sarcastic", 20), ("contrary", 15)]
    if moment.signal == "stressed" or moment.emotion in HEAVY:
        wishes += [("genuine", 40)]
    if moment.emotion in {"excited", "grateful", "nostalgic"}:
        wishes += [("mirroring", 20), ("sarcastic", -5)]
    if moment.used_tool:
        wishes += [("genuine", 10)]
    if moment.mood is not None and moment.mood.signal in {"cool", "frustrated", "tired"}:
        wishes += [("genuine", 15), ("sarcastic", -10), ("contrary", -10)]
    return wishes + wanted_at(moment.local)


def wanted_at(local: datetime) -> list[tuple[StyleMode, float]]:
    """What an hour adds and takes away: looser in the evening and at weekends, gentle at night."""
    if local.hour >= LATE or local.hour < MORNING:
        return [("genuine", 15), ("contrary", -10)]
    if local.hour >= EVENING or local.weekday() >= WEEKEND:
        return [("sarcastic", 5), ("contrary", 5)]
    return []


def chosen(weights: Weights, before: StyleMode | None, chance: float) -> StyleMode:
    """The style of the turn before while it still suits, else the one that the chance falls on."""
    if before is not None and weights[before] >= SUITS:
        return before
    for style in STYLES:
        chance -= weights[style]
        if chance < 0:
            return style
    return "genuine"


def jars(style: StyleMode, moment: Moment) -> bool:
    """Whether a style would be out of place after the turns before (ACCEPTANCE B12).

    Who was in distress a moment ago is not mocked, also if this message does not show it.
    """
    return style not in STEADY and any(each in HEAVY for each in moment.trajectory[-2:])


def weights_in(text: str) -> Weights | None:
    """The weights that a persona names in a line "Style modes: genuine 50, sarcastic 30 …"."""
    line = _LINE.search(text)
    if line is None:
        return None
    named = {name.lower(): float(weight) for name, weight in _WEIGHT.findall(line.group(1))}
    weights: dict[StyleMode, float] = {style: named.get(style, 0.0) for style in STYLES}
    return weights if any(weights.values()) else None
