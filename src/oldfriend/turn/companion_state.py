"""Companion state: working memory, mood, thoughts, views and style at the start of a turn.

Used only where a model answers: the offline companion quotes and has no style. Reads and never
writes; the updated working memory is part of what the turn decides.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import BELIEF_KINDS
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import MemoryKind, MemoryState, Mood
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.mood import find_mood
from oldfriend.memory.reflection_log import select_thoughts
from oldfriend.memory.working_memory import (
    EMPTY_WORKING_MEMORY,
    Plan,
    Slot,
    StyleMode,
    TurnBrief,
    UserEmotion,
    WorkingMemory,
    load_working_memory,
    truncate_line,
)
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.turn.intent import Signal
from oldfriend.turn.message_analysis import MessageAnalysis
from oldfriend.turn.turn_outcome import Utterance

StyleWeights = Mapping[StyleMode, float]
EmojiLevel = Literal["none", "light", "moderate"]
ReplyLength = Literal["brief", "normal", "detailed"]

STYLE_MODES: Final[tuple[StyleMode, ...]] = get_args(StyleMode)
DEFAULT_WEIGHTS: Final[StyleWeights] = MappingProxyType(
    {"genuine": 75, "mirroring": 25, "sarcastic": 0, "contrary": 0}
)
"""The weights of a persona that names none: jokes are not drawn by lot, unless it wants that."""
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
    is_plain_question: bool = False
    random_value: float  # from 0 to below 1; always the same for a message


def choose_style(
    weights: StyleWeights, inputs: StyleInputs, previous: StyleMode | None
) -> ReplyStyle:
    """Choose how to talk; ``previous`` is the style of the previous turn."""
    style, tone = (
        choose_mode(adjust_weights(weights, inputs), previous, inputs.random_value),
        TONE_BY_EMOTION[inputs.emotion],
    )
    if style not in SAFE_MODES and is_out_of_place(inputs):
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


def is_out_of_place(inputs: StyleInputs) -> bool:
    """Tell whether a joke would not suit a plain question, or the emotions of the last two turns.

    Who was in distress a moment ago is not mocked, even if this message does not show it.
    """
    return inputs.is_plain_question or any(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanionState:
    """What the companion has in mind when a turn begins."""

    working_memory: WorkingMemory = EMPTY_WORKING_MEMORY
    mood: Mood | None = None  # None: neutral
    thoughts: tuple[MemoryState, ...] = ()  # always available
    on_topic: Mapping[MemoryKind, tuple[MemoryState, ...]] = field(default_factory=dict)
    analysis: MessageAnalysis | None = None
    style: ReplyStyle | None = None

    @property
    def beliefs(self) -> tuple[MemoryState, ...]:
        """Return all beliefs that the companion has in mind."""
        return (*self.thoughts, *(each for known in self.on_topic.values() for each in known))

    @property
    def needs_search(self) -> bool:
        """Tell whether memory is to be searched for the reply; the profile is there anyway."""
        return self.analysis is None or self.analysis.needs_search


EMPTY_COMPANION_STATE = CompanionState()


async def load_companion_state(
    tx: Transaction, index_cache: IndexCache, utterance: Utterance
) -> CompanionState:
    """Load the companion's state before the message is analyzed."""
    person, message = utterance.person.id, utterance.message
    working_memory = await load_working_memory(tx, person, message.session, now=message.at)
    mood = await find_mood(tx, person, at=message.at)
    beliefs = await index_cache.get_belief_index(tx, person)
    return CompanionState(
        working_memory=working_memory,
        mood=mood,
        thoughts=tuple(select_thoughts(beliefs.list_live("thought"))),
        on_topic={
            kind.name: select_on_topic(
                beliefs.list_live(kind.name),
                utterance.text,
                message.language,
                limit=kind.section.max_beliefs,
            )
            for kind in BELIEF_KINDS
            if kind.section is not None
        },
    )


def select_on_topic(
    known: Iterable[MemoryState], text: str, language: str, *, limit: int
) -> tuple[MemoryState, ...]:
    """Return the beliefs whose topic the text mentions, those held longest first.

    A question for the companion's view may name the topic in other words, so the latest beliefs
    follow then.
    """
    by_age = sorted(known, key=lambda each: each.stats.first_seen)
    mentioned = [each for each in by_age if is_topic_mentioned(each, text)]
    if load_phrases(choose_language(language)).patterns.your_view.search(text):
        latest = sorted(by_age, key=lambda each: each.stats.last_seen, reverse=True)
        mentioned += [each for each in latest if each not in mentioned]
    return tuple(mentioned[:limit])


def is_topic_mentioned(known: MemoryState, text: str) -> bool:
    """Tell whether a text mentions the topic of a belief."""
    language = known.memory.language
    return not extract_content_terms(known.memory.key, language).isdisjoint(
        extract_content_terms(text, language)
    )


def choose_reply_style(
    utterance: Utterance,
    companion_state: CompanionState,
    analysis: MessageAnalysis,
    core_texts: Sequence[str],
) -> ReplyStyle:
    """Choose how to talk; ``core_texts`` are what people have written about the companion."""
    message = utterance.message
    inputs = StyleInputs(
        signal=analysis.signal,
        emotion=analysis.emotion,
        emotions_before=companion_state.working_memory.trajectory,
        mood=companion_state.mood,
        local_time=from_micros(message.at, message.zone),
        has_used_tool=analysis.tool is not None,
        is_plain_question=analysis.is_plain_question,
        random_value=derive_random_value(message.id),
    )
    return choose_style(choose_weights(core_texts), inputs, companion_state.working_memory.style)


def choose_weights(core_texts: Sequence[str]) -> StyleWeights:
    """Return the style weights named last in the texts; else the defaults."""
    named = [weights for text in core_texts if (weights := parse_style_weights(text)) is not None]
    return named[-1] if named else DEFAULT_WEIGHTS


def derive_random_value(message_id: MessageId) -> float:
    """Return a number from 0 to below 1 that is always the same for a message."""
    return int(message_id.replace("-", "")[-8:], 16) / 2**32


def build_next_working_memory(
    utterance: Utterance,
    companion_state: CompanionState,
    reply: str,
    *,
    tool_result: str,
    seen_ids: Sequence[str],
    now: Micros,
) -> WorkingMemory | None:
    """Return the working memory after a reply; None if the message was not analyzed.

    ``seen_ids`` are the ids of everything shown to the model that asked for ``tool_result``.
    """
    analysis = companion_state.analysis
    if analysis is None:
        return None
    messages = tuple(each.id for each in utterance.messages)
    return companion_state.working_memory.with_turn(
        TurnBrief(
            said=truncate_line(utterance.own_words),
            replied=truncate_line(reply),
            at=now,
            messages=messages,
        ),
        emotion=choose_emotion(analysis),
        style=find_style_mode(companion_state),
        plan=choose_plan(companion_state.working_memory, analysis),
        slots=choose_slots(companion_state.working_memory, analysis, now=now),
        result=truncate_line(tool_result),
        result_seen=seen_ids,
    )


def choose_plan(working_memory: WorkingMemory, analysis: MessageAnalysis) -> Plan | None:
    """Return the plan after this message; a changed one rests on all that its author saw."""
    before, plan = working_memory.plan, analysis.plan
    if plan is None or (before is not None and before.texts == plan.texts):
        return plan and before
    return replace(plan, seen=analysis.seen_ids)


def choose_emotion(analysis: MessageAnalysis) -> UserEmotion:
    """Return the emotion to remember; a stressed message without distress counts as overwhelmed."""
    is_heavy = analysis.emotion in DISTRESS_EMOTIONS or analysis.signal != "stressed"
    return analysis.emotion if is_heavy else "overwhelmed"


def find_style_mode(companion_state: CompanionState) -> StyleMode | None:
    """Return the style mode of the reply."""
    return None if companion_state.style is None else companion_state.style.mode


def choose_slots(
    working_memory: WorkingMemory, analysis: MessageAnalysis, *, now: Micros
) -> tuple[Slot, ...]:
    """Return what is still missing; a slot asked for before keeps its time and sources."""
    before = {slot.name: slot for slot in working_memory.slots}
    return tuple(
        before.get(name, Slot(name=name, asked_at=now, seen=analysis.seen_ids))
        for name in analysis.missing_slots
    )
