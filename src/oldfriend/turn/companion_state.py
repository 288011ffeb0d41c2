"""Companion state: working memory, mood, thoughts, views and style at the start of a turn.

Used only where a model answers: the offline companion quotes and has no style. Reads and never
writes; the updated working memory is part of what the turn decides.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import BELIEF_KINDS
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import MemoryKind, MemoryState, Mood
from oldfriend.domain.working_memory import (
    EMPTY_WORKING_MEMORY,
    Plan,
    Slot,
    StyleMode,
    TurnBrief,
    UserEmotion,
    WorkingMemory,
    truncate_line,
)
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.mood import find_mood
from oldfriend.memory.thoughts import select_thoughts
from oldfriend.memory.working_memory import load_working_memory
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.turn.message_analysis import MessageAnalysis
from oldfriend.turn.reply_style import (
    DEFAULT_WEIGHTS,
    DISTRESS_EMOTIONS,
    ReplyStyle,
    StyleInputs,
    StyleWeights,
    choose_style,
    parse_style_weights,
)
from oldfriend.turn.turn_outcome import Utterance


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
        random_value=derive_random_value(message.id),
    )
    return choose_style(choose_weights(core_texts), inputs, companion_state.working_memory.style)


def choose_weights(core_texts: Sequence[str]) -> StyleWeights:
    """Return the style weights named last in the texts; else the defaults."""
    named = [weights for text in core_texts if (weights := parse_style_weights(text)) is not None]
    return named[-1] if named else DEFAULT_WEIGHTS


def derive_random_value(message: MessageId) -> float:
    """Return a number from 0 to below 1 that is always the same for a message."""
    return int(message.replace("-", "")[-8:], 16) / 2**32


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
