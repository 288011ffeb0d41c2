"""Message analysis: what a message needs, judged by the small model or by rules.

The analysis chooses among a few options; it triggers nothing and is never taken for what was said.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeVar, get_args

from oldfriend.domain.errors import BrokenOutput, ModelError
from oldfriend.domain.json import JsonValue
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.lang.message_acts import classify_act
from oldfriend.llm.model import CompletionRequest, LanguageModel, PromptTurn
from oldfriend.memory.working_memory import (
    Plan,
    ReplyGoal,
    TurnComplexity,
    UserEmotion,
    WorkingMemory,
    truncate_line,
)
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.injection_detection import strip_hidden_characters
from oldfriend.turn.intent import RULES_VERSION, Perception, Signal, split_sentences
from oldfriend.turn.prompt_labels import sanitize
from oldfriend.turn.structured_output import complete_structured

EMOTIONS: Final[tuple[UserEmotion, ...]] = get_args(UserEmotion)
MAX_SCANNED_CHARS: Final = 2000
"""Characters scanned; a longer text is about more than the current emotion."""
MAX_WORDS_BETWEEN: Final = 2
"""The most words between a negation and what it negates: "not at all worried"."""
NEGATION_WINDOW_CHARS: Final = 80
"""Characters before a word that are searched for a negation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmotionCues:
    """The words for each emotion in a language, and its negations."""

    patterns: Mapping[UserEmotion, re.Pattern[str]]  # the more serious first
    denial: re.Pattern[str]  # negates what follows


def detect_emotion(text: str, language: str) -> UserEmotion:
    """Return the most frequent emotion of a text; of a tie, the more serious one."""
    visible = strip_hidden_characters(text[:MAX_SCANNED_CHARS]).lower().replace("\u2019", "'")
    cues = load_emotion_cues(choose_language_with("emotions", language))
    counts = {
        emotion: sum(not is_negated_before(visible, found.start(), cues) for found in matches)
        for emotion, expression in cues.patterns.items()
        if (matches := list(expression.finditer(visible)))
    }
    found_emotions = [emotion for emotion, count in counts.items() if count]
    return max(found_emotions, key=counts.__getitem__, default="neutral")


def is_negated_before(text: str, position: int, cues: EmotionCues) -> bool:
    """Tell whether the words just before a position negate what stands there."""
    return cues.denial.search(text, max(0, position - NEGATION_WINDOW_CHARS), position) is not None


@cache
def load_emotion_cues(language: str) -> EmotionCues:
    """Load the emotion words of a language."""
    pack = load_language_pack(language)
    word_lists, has_spaces = pack.read("emotions"), pack.traits.spaces
    edge = r"\b" if has_spaces else ""
    between = rf"\s(?:\w+\s){{0,{MAX_WORDS_BETWEEN}}}" if has_spaces else ""
    return EmotionCues(
        patterns={
            emotion: re.compile(rf"{edge}(?:{build_alternation(words)})")
            for name, words in word_lists.items()
            for emotion in EMOTIONS
            if emotion == name
        },
        denial=re.compile(rf"{edge}(?:{build_alternation(word_lists['not'])}){between}$"),
    )


def build_alternation(words: Sequence[str]) -> str:
    """Build a pattern that matches any of these words."""
    return "|".join(re.escape(word) for word in words)


ANALYSIS_PROMPT: Final = "understand/3"
MAX_TOKENS: Final = 400
ANALYSIS_TIMEOUT_S: Final = 6.0
"""A reply waits no longer than this for the analysis."""
LONG_WORDS, VERY_LONG_WORDS = 30, 120
"""Words; in Chinese two characters count as one."""
MAX_SLOTS: Final = 3
MIN_SURE_QUESTION: Final = 0.9
"""Probability of a question that is analyzed without a model."""

COMPLEXITIES: Final[tuple[TurnComplexity, ...]] = get_args(TurnComplexity)
GOALS: Final[tuple[ReplyGoal, ...]] = get_args(ReplyGoal)
SIGNALS: Final[tuple[Signal, ...]] = get_args(Signal)
T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnText:
    """What the person has said themselves, with the ids of its messages."""

    text: str
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAnalysis:
    """What a message needs."""

    author: str  # the rules or the prompt with its version
    complexity: TurnComplexity
    emotion: UserEmotion
    goal: ReplyGoal
    signal: Signal
    is_plain_question: bool = False  # it asks, tells nothing beside, and shows no feeling
    needs_search: bool = True  # whether memory may be relevant
    tool: str | None = None  # that seems to be needed; None: none
    plan: Plan | None = None  # as it stands after this message
    missing_slots: tuple[str, ...] = ()  # what is still missing for the plan
    seen_ids: tuple[str, ...] = ()  # ids of what a model was shown for it
    error: str = ""  # why the configured model did not analyze it


def analyze_by_rules(
    perception: Perception, working_memory: WorkingMemory, *, error: str = ""
) -> MessageAnalysis:
    """Return what a message needs, by rules; a plan is kept as it was."""
    emotion = detect_emotion(perception.told_text, perception.language)
    return MessageAnalysis(
        author=RULES_VERSION,
        complexity=estimate_complexity(perception),
        emotion=emotion,
        goal=choose_goal(perception, emotion),
        signal=perception.signal,
        is_plain_question=is_plain_question(perception, emotion, perception.signal),
        needs_search=not perception.is_small_talk,
        plan=working_memory.plan,
        missing_slots=tuple(slot.name for slot in working_memory.slots),
        error=error,
    )


def is_plain_question(perception: Perception, emotion: UserEmotion, signal: Signal) -> bool:
    """Tell whether a message only asks, and neither feeling nor teasing shows in it."""
    return perception.is_plain_question and emotion == "neutral" and signal in {"normal", "dry"}


def estimate_complexity(perception: Perception) -> TurnComplexity:
    """Estimate the complexity of a message by its length and number of questions."""
    if perception.is_small_talk:
        return "trivial"
    words = estimate_word_count(perception.text)
    questions = sum(
        sentence.rstrip("\"')\u201d ").endswith(("?", "\uff1f"))
        for sentence in split_sentences(perception.text)
    )
    if words > VERY_LONG_WORDS or questions > 2:
        return "complex"
    return "moderate" if words > LONG_WORDS or questions > 1 else "simple"


def estimate_word_count(text: str) -> int:
    """Estimate the number of words; two CJK characters count as one."""
    wide = sum(character >= "\u2e80" for character in text)
    return len(text.split()) + wide // 2


def choose_goal(perception: Perception, emotion: UserEmotion) -> ReplyGoal:
    """Choose the goal of the reply."""
    if emotion == "anxious":
        return "reassure"
    if emotion in {"overwhelmed", "frustrated"} or perception.signal == "stressed":
        return "empathize"
    if perception.intent in {"correct", "why_so"}:
        return "clarify"
    return "inform" if perception.intent != "statement" or emotion == "neutral" else "empathize"


def needs_no_model(perception: Perception, working_memory: WorkingMemory) -> bool:
    """Tell whether the rules suffice: small talk, or a short question with nothing else in mind.

    The question is surely one by its words, not only by its mark, and no feeling shows in it.
    """
    if perception.is_small_talk:
        return True
    return (
        working_memory.plan is None
        and not working_memory.slots
        and {*working_memory.trajectory} <= {"neutral"}
        and estimate_complexity(perception) == "simple"
        and is_plain_question(
            perception, detect_emotion(perception.text, perception.language), perception.signal
        )
        and classify_act(perception.text)["question"] >= MIN_SURE_QUESTION
    )


async def analyze_message(
    own_text: OwnText,
    perception: Perception,
    working_memory: WorkingMemory,
    model: LanguageModel | None,
    *,
    companion_name: str,
    person_name: str,
    tools: Sequence[str],
) -> MessageAnalysis:
    """Return what a message needs: by the model if there is one and the rules do not suffice.

    If the model fails or takes too long, the rules decide.
    """
    if model is None or not own_text.text.strip() or needs_no_model(perception, working_memory):
        return analyze_by_rules(perception, working_memory)
    request = build_analysis_request(
        own_text,
        working_memory,
        companion_name=companion_name,
        person_name=person_name,
        tools=tools,
    )

    def parse(answer: JsonValue) -> MessageAnalysis:
        return parse_analysis(answer, perception, tools)

    try:
        async with asyncio.timeout(ANALYSIS_TIMEOUT_S):
            return replace(await complete_structured(model, request, parse), seen_ids=request.shown)
    except (ModelError, BrokenOutput, TimeoutError) as error:
        return analyze_by_rules(
            perception, working_memory, error=str(error) or type(error).__name__
        )


def build_analysis_request(
    own_text: OwnText,
    working_memory: WorkingMemory,
    *,
    companion_name: str,
    person_name: str,
    tools: Sequence[str],
) -> CompletionRequest:
    """Build the request to the small model."""
    prompt = get_prompt(ANALYSIS_PROMPT)
    return CompletionRequest(
        purpose="classify",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt", name=sanitize(companion_name)),
        call_instructions="\n".join(
            format_working_memory(working_memory, prompt, person_name=person_name, tools=tools)
        ),
        turns=(
            PromptTurn(
                role="instruction", text=prompt.render("message", text=sanitize(own_text.text))
            ),
        ),
        max_output_tokens=MAX_TOKENS,
        shown=tuple(dict.fromkeys([*own_text.message_ids, *working_memory.source_ids])),
    )


def format_working_memory(
    working_memory: WorkingMemory, prompt: Prompt, *, person_name: str, tools: Sequence[str]
) -> list[str]:
    """Format the working memory as prompt lines; only what there is."""
    lines = []
    if working_memory.briefs:
        lines.append(prompt.render("in_mind"))
        lines += [
            prompt.render("turn", said=sanitize(each.said), replied=sanitize(each.replied))
            for each in working_memory.briefs
        ]
    if working_memory.plan is not None:
        plan = working_memory.plan
        lines.append(
            prompt.render(
                "plan",
                goal=sanitize(plan.goal),
                progress=sanitize(plan.progress),
                next=sanitize(plan.next_step),
            )
        )
    if working_memory.slots:
        asked = ", ".join(sanitize(slot.name) for slot in working_memory.slots)
        lines.append(prompt.render("slots", asked=asked))
    if working_memory.last_result:
        lines.append(prompt.render("result", result=sanitize(working_memory.last_result)))
    if working_memory.trajectory:
        seemed = ", ".join(working_memory.trajectory)
        lines.append(prompt.render("seemed", person=sanitize(person_name), seemed=seemed))
    if tools:
        lines.append(prompt.render("tools", tools=", ".join(tools)))
    return lines


def parse_analysis(
    answer: JsonValue, perception: Perception, tools: Sequence[str]
) -> MessageAnalysis:
    """Parse a model's answer as an analysis. Raises ValueError."""
    match answer:
        case dict() as fields:
            emotion = parse_choice(EMOTIONS, fields, "emotion")
            signal = parse_choice(SIGNALS, fields, "signal")
            return MessageAnalysis(
                author=ANALYSIS_PROMPT,
                complexity=parse_choice(COMPLEXITIES, fields, "complexity"),
                emotion=emotion,
                goal=parse_choice(GOALS, fields, "goal"),
                signal=signal,
                is_plain_question=is_plain_question(perception, emotion, signal),
                needs_search=fields.get("search") is not False or perception.is_only_question,
                tool=next((each for each in tools if each == fields.get("tool")), None),
                plan=parse_plan(fields.get("plan")),
                missing_slots=parse_missing_slots(fields.get("asks_for")),
            )
        case _:
            raise ValueError("it must be an object.")


def parse_choice(known: Sequence[T], answer: Mapping[str, JsonValue], field: str) -> T:
    """Return the field's value from a closed set. Raises ValueError."""
    for each in known:
        if each == answer.get(field):
            return each
    raise ValueError(f'"{field}" must be one of: {", ".join(known)}.')


def parse_plan(value: JsonValue) -> Plan | None:
    """Parse the plan of person and companion; None if there is none."""
    match value:
        case {"goal": str(goal), **others} if goal.strip():
            progress, next_step = others.get("progress"), others.get("next_step")
            return Plan(
                goal=truncate_line(goal),
                progress=truncate_line(progress) if isinstance(progress, str) else "",
                next_step=truncate_line(next_step) if isinstance(next_step, str) else "",
            )
        case _:
            return None


def parse_missing_slots(value: JsonValue) -> tuple[str, ...]:
    """Parse what is still missing, shortened, at most MAX_SLOTS."""
    match value:
        case [*values]:
            names = (
                truncate_line(each) for each in values if isinstance(each, str) and each.strip()
            )
            return tuple(dict.fromkeys(names))[:MAX_SLOTS]
        case _:
            return ()
