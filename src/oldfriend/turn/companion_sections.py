"""Companion sections: prompt sections for working memory, style, mood, thoughts and views.

The wording is in the prompt file; the budgets are set by the caller.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from oldfriend.domain.belief_kinds import BELIEF_KINDS
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import MemoryState
from oldfriend.memory.reflection_log import is_question
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.memory_context import format_iso_day
from oldfriend.turn.profile_sections import build_belief_section
from oldfriend.turn.prompt_labels import render_record, sanitize
from oldfriend.turn.prompt_sections import (
    PromptDraft,
    PromptSection,
    build_whole_section,
    count_tokens,
)

MAX_TOPIC_TOKENS: Final = sum(
    kind.section.max_tokens for kind in BELIEF_KINDS if kind.section is not None
)
MAX_WORKING_MEMORY_TOKENS: Final = 150
MAX_GUIDANCE_TOKENS: Final = 150
"""The most tokens."""
THOUGHTS_DIVISOR: Final = 4
"""Thoughts take at most this part (one fourth) of the recall budget."""

SourcedLine: TypeAlias = tuple[str, Sequence[str]]
"""A line with the ids of the messages and memories that it was made from."""


def build_working_memory_section(draft: PromptDraft, budget: int) -> Sequence[PromptSection]:
    """Return the plan, open questions, last tool result, emotions and earlier turns."""
    working, prompt = draft.context.companion_state.working_memory, draft.prompt
    lines: list[SourcedLine] = []
    if working.plan is not None:
        plan = working.plan
        words = {"text": plan.goal, "result": plan.progress, "until": plan.next_step}
        lines.append((render_sanitized(prompt, "plan", **words), plan.seen))
    if working.slots:
        names = ", ".join(slot.name for slot in working.slots)
        seen = [each for slot in working.slots for each in slot.seen]
        lines.append((render_sanitized(prompt, "asked_for", names=names), seen))
    if working.last_result:
        result = render_sanitized(prompt, "last_result", result=working.last_result)
        lines.append((result, working.result_seen))
    if any(emotion != "neutral" for emotion in working.trajectory):
        lines.append((render_sanitized(prompt, "seemed", names=", ".join(working.trajectory)), ()))
    lines += [
        (
            render_sanitized(prompt, "turn_before", text=brief.said, result=brief.replied),
            brief.messages,
        )
        for brief in working.briefs
        if draft.context.window.dropped_messages
    ]
    return [build_sourced_section("in mind", prompt.render("in_mind"), lines, budget)]


def build_guidance_section(draft: PromptDraft, budget: int) -> Sequence[PromptSection]:
    """Return how to talk and the companion's mood, as far as that is not as usual.

    The prompt has no words for what the rules say already. What does not fit is dropped from the
    end. A plain question is answered plainly, whatever the mood.
    """
    state, prompt = draft.context.companion_state, draft.prompt
    style, analysis = state.style, state.analysis
    if style is None or analysis is None:
        return []
    parts: Sequence[str] = (
        f"style_{style.mode}",
        f"tone_{style.tone.emotion}",
        f"goal_{analysis.goal}",
        f"length_{style.tone.length}",
        f"emoji_{style.tone.emoji}",
    )
    if analysis.is_plain_question:
        parts = ("plain",)
    lines = [prompt.render(part) for part in parts if part in prompt.parts]
    if state.mood is not None and not analysis.is_plain_question:
        mood = state.mood
        lines.append(render_sanitized(prompt, "mood", text=mood.phrase, count=str(mood.energy)))
    sourced = [(line, ()) for line in lines]
    return [build_sourced_section("guidance", prompt.render("guidance"), sourced, budget)]


def build_thoughts_section(draft: PromptDraft, budget: int) -> Sequence[PromptSection]:
    """Return the companion's thoughts, as far as they fit; none to a plain question.

    Else they do not depend on the message.
    """
    state = draft.context.companion_state
    if state.analysis is not None and state.analysis.is_plain_question:
        return []
    return [build_memories_section(draft, "thoughts", "thoughts", state.thoughts, budget)]


def build_topic_sections(draft: PromptDraft, budget: int) -> Sequence[PromptSection]:
    """Return the beliefs on the current topics, a section for each kind that has one."""
    sections: list[PromptSection] = []
    for kind in BELIEF_KINDS:
        if kind.section is not None:
            known = draft.context.companion_state.on_topic.get(kind.name, ())
            left = min(budget - count_tokens(sections), kind.section.max_tokens)
            name, title = kind.section.name, kind.section.title
            sections.append(build_memories_section(draft, name, title, known, max(left, 0)))
    return sections


def build_memories_section(
    draft: PromptDraft, name: str, title: str, known: Sequence[MemoryState], budget: int
) -> PromptSection:
    """Return a titled section of memories of one kind."""
    zone = draft.utterance.message.zone
    lines = [
        render_record(
            draft.prompt,
            each.memory.text,
            {
                "kind": "question" if is_question(each.memory) else "",
                "when": format_iso_day(get_formed_at(each), zone),
                "about": each.memory.subject,
                "class": "companion",
            },
        )
        for each in known
    ]
    return build_belief_section(
        draft.prompt, name, draft.prompt.render(title), known, lines, budget
    )


def get_formed_at(known: MemoryState) -> Micros:
    """Return when a thought was thought, not when what it rests on was said; else the latter."""
    return known.memory.learned_at if known.memory.kind == "thought" else known.stats.last_seen


def render_sanitized(prompt: Prompt, part: str, **values: str) -> str:
    """Render a part of the prompt with sanitized values."""
    return prompt.render(part, **{name: sanitize(text) for name, text in values.items()})


def build_sourced_section(
    name: str, title: str, lines: Sequence[SourcedLine], budget: int
) -> PromptSection:
    """Return a titled section of lines; what does not fit is dropped from the end."""
    kept = list(lines)
    while kept:
        section = build_whole_section(name, [title, *(line for line, _ in kept)])
        if section.tokens <= budget:
            seen = dict.fromkeys(each for _, ids in kept for each in ids)
            return replace(section, source_ids=tuple(seen))
        kept.pop()
    return PromptSection(name=name)
