"""What does a message need? Judged by the small model over what is in mind, or by rules.

A judgement only: it chooses among few, starts nothing, and is never taken for what was said.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar, get_args

from oldfriend.domain.errors import BrokenOutput, ModelError
from oldfriend.domain.json import JsonValue
from oldfriend.domain.working import (
    Complexity,
    Emotion,
    Goal,
    Plan,
    WorkingMemory,
    in_brief,
)
from oldfriend.llm.model import Model, Request, Turn
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.emotion import emotion_of
from oldfriend.turn.labelling import inert
from oldfriend.turn.perceive import RULES, Perception, Signal, sentences_of
from oldfriend.turn.structured import ask_for

PROMPT: Final = "understand/1"
MOST_TOKENS: Final = 400
PATIENCE_S: Final = 6.0
"""A reply does not wait longer for a judgement (ACCEPTANCE K7 has the same for its small model)."""
LONG, VERY_LONG = 30, 120
"""Words; in Chinese two characters count as one."""
MOST_ASKED: Final = 3

COMPLEXITIES: Final[tuple[Complexity, ...]] = get_args(Complexity)
EMOTIONS: Final[tuple[Emotion, ...]] = get_args(Emotion)
GOALS: Final[tuple[Goal, ...]] = get_args(Goal)
SIGNALS: Final[tuple[Signal, ...]] = get_args(Signal)
T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWords:
    """What the person has said themselves, and the ids of the messages in which it stands."""

    text: str
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """What a message needs."""

    by: str  # the rules or the prompt with its version
    complexity: Complexity
    emotion: Emotion
    goal: Goal
    signal: Signal
    searches: bool = True  # whether memory may bear on it
    tool: str | None = None  # that seems to be needed
    plan: Plan | None = None  # as it stands after this message
    asks_for: tuple[str, ...] = ()  # what is still to be known for it
    saw: tuple[str, ...] = ()  # ids of what a model was shown for it
    error: str = ""  # why no model judged, although there is one


def by_rules(perception: Perception, working: WorkingMemory, *, error: str = "") -> Understanding:
    """The same without a model; a plan is kept as it was."""
    emotion = emotion_of(perception.text, perception.language)
    return Understanding(
        by=RULES,
        complexity=complexity_of(perception),
        emotion=emotion,
        goal=goal_of(perception, emotion),
        signal=perception.signal,
        searches=not perception.is_small_talk,
        plan=working.plan,
        asks_for=tuple(slot.name for slot in working.slots),
        error=error,
    )


def complexity_of(perception: Perception) -> Complexity:
    """By its length, and by how much it asks."""
    if perception.is_small_talk:
        return "trivial"
    words = length_of(perception.text)
    questions = sum(
        sentence.rstrip("\"')\u201d ").endswith(("?", "\uff1f"))
        for sentence in sentences_of(perception.text)
    )
    if words > VERY_LONG or questions > 2:
        return "complex"
    return "moderate" if words > LONG or questions > 1 else "simple"


def length_of(text: str) -> int:
    """How many words a text has, more or less."""
    wide = sum(character >= "\u2e80" for character in text)
    return len(text.split()) + wide // 2


def goal_of(perception: Perception, emotion: Emotion) -> Goal:
    """What the reply is for."""
    if emotion == "anxious":
        return "reassure"
    if emotion in {"overwhelmed", "frustrated"} or perception.signal == "stressed":
        return "empathize"
    if perception.intent in {"correct", "why_so"}:
        return "clarify"
    return "inform" if perception.intent != "statement" or emotion == "neutral" else "empathize"


async def understand(
    own: OwnWords, perception: Perception, working: WorkingMemory, model: Model | None, *,
    name: str, person: str, tools: Sequence[str],
) -> Understanding:  # fmt: skip
    """What a message needs; by the model where there is one, unless it is small talk.

    A model that fails, or thinks for too long, is done without.
    """
    if model is None or perception.is_small_talk or not own.text.strip():
        return by_rules(perception, working)
    request = request_for(own, working, name=name, person=person, tools=tools)

    def parse(answer: JsonValue) -> Understanding:
        return understanding_from(answer, perception, tools)

    try:
        async with asyncio.timeout(PATIENCE_S):
            return replace(await ask_for(model, request, parse), saw=request.shown)
    except (ModelError, BrokenOutput, TimeoutError) as error:
        return by_rules(perception, working, error=str(error) or type(error).__name__)


def request_for(
    own: OwnWords, working: WorkingMemory, *, name: str, person: str, tools: Sequence[str]
) -> Request:
    """What the small model is asked."""
    prompt = get_prompt(PROMPT)
    return Request(
        purpose="classify",
        prompt=prompt.id,
        stable=prompt.render("stable", name=inert(name)),
        changing="\n".join(in_mind(working, prompt, person=person, tools=tools)),
        turns=(Turn(role="house", text=prompt.render("message", text=inert(own.text))),),
        most_tokens=MOST_TOKENS,
        shown=tuple(dict.fromkeys([*own.messages, *working.seen])),
    )


def in_mind(
    working: WorkingMemory, prompt: Prompt, *, person: str, tools: Sequence[str]
) -> list[str]:
    """What is in mind, line by line; only what there is."""
    lines = []
    if working.briefs:
        lines.append(prompt.render("in_mind"))
        lines += [
            prompt.render("turn", said=inert(each.said), replied=inert(each.replied))
            for each in working.briefs
        ]
    if working.plan is not None:
        plan = working.plan
        lines.append(
            prompt.render(
                "plan", goal=inert(plan.goal), progress=inert(plan.progress),
                next=inert(plan.next_step),
            )
        )  # fmt: skip
    if working.slots:
        asked = ", ".join(inert(slot.name) for slot in working.slots)
        lines.append(prompt.render("slots", asked=asked))
    if working.last_result:
        lines.append(prompt.render("result", result=inert(working.last_result)))
    if working.trajectory:
        seemed = ", ".join(working.trajectory)
        lines.append(prompt.render("seemed", person=inert(person), seemed=seemed))
    if tools:
        lines.append(prompt.render("tools", tools=", ".join(tools)))
    return lines


def understanding_from(
    answer: JsonValue, perception: Perception, tools: Sequence[str]
) -> Understanding:
    """A model's answer as a judgement. Raises ValueError for what is none."""
    match answer:
        case dict() as fields:
            return Understanding(
                by=PROMPT,
                complexity=one_of(COMPLEXITIES, fields, "complexity"),
                emotion=one_of(EMOTIONS, fields, "emotion"),
                goal=one_of(GOALS, fields, "goal"),
                signal=one_of(SIGNALS, fields, "signal"),
                searches=fields.get("search") is not False or perception.only_asks,
                tool=next((each for each in tools if each == fields.get("tool")), None),
                plan=plan_from(fields.get("plan")),
                asks_for=asked_in(fields.get("asks_for")),
            )
        case _:
            raise ValueError("it must be an object.")


def one_of(known: Sequence[T], answer: Mapping[str, JsonValue], field: str) -> T:
    """One word of a closed set. Raises ValueError."""
    for each in known:
        if each == answer.get(field):
            return each
    raise ValueError(f'"{field}" must be one of: {", ".join(known)}.')


def plan_from(value: JsonValue) -> Plan | None:
    """What the two are about to do; None where there is nothing to do."""
    match value:
        case {"goal": str(goal), **others} if goal.strip():
            progress, next_step = others.get("progress"), others.get("next_step")
            return Plan(
                goal=in_brief(goal),
                progress=in_brief(progress) if isinstance(progress, str) else "",
                next_step=in_brief(next_step) if isinstance(next_step, str) else "",
            )
        case _:
            return None


def asked_in(value: JsonValue) -> tuple[str, ...]:
    """What is still to be known; few words each."""
    match value:
        case [*asked]:
            named = (in_brief(each) for each in asked if isinstance(each, str) and each.strip())
            return tuple(dict.fromkeys(named))[:MOST_ASKED]
        case _:
            return ()
