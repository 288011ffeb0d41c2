"""Prompt builder: assembles the system prompt and the sections of one reply within a budget.

What seldom changes comes first, so that providers can cache it: the rules, the core blocks, the
profile, the notes, the newest summaries, the thoughts. Then the conversation; just before its last
message what is new or open, the time, what was recalled and what others said. Does not read the
database.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from oldfriend.domain.belief_kinds import BELIEF_KINDS
from oldfriend.domain.clock import Micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.messages import estimate_tokens
from oldfriend.goals.goal_desk import GoalDesk
from oldfriend.llm.model import CompletionRequest, PromptTurn, ToolDefinition
from oldfriend.memory.reflection_log import is_question
from oldfriend.prompts.prompt import Prompt
from oldfriend.prompts.token_budget import Priority, PromptBudget
from oldfriend.turn.profile_sections import (
    build_belief_section,
    build_profile_sections,
    build_summaries_around_section,
    build_summaries_section,
)
from oldfriend.turn.project_context import ProjectContext, render_skills
from oldfriend.turn.prompt_labels import (
    format_iso_day,
    label_other_message,
    render_record,
    sanitize,
    sanitize_core_block,
)
from oldfriend.turn.prompt_sections import (
    FORWARDED_SECTION,
    PromptDraft,
    PromptSection,
    build_core_section,
    build_forwarded_section,
    build_notes_section,
    build_ranked_section,
    build_recalled_sections,
    build_rules_section,
    build_state_section,
    build_tools_section,
    build_whole_section,
    count_tokens,
)
from oldfriend.turn.recent_messages import (
    TURN_OVERHEAD_TOKENS,
    RecentMessages,
    build_window,
    get_day,
    render_day,
)
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.turn_outcome import Utterance

MAX_TOPIC_TOKENS: Final = sum(
    kind.section.max_tokens for kind in BELIEF_KINDS if kind.section is not None
)
MAX_WORKING_MEMORY_TOKENS: Final = 150
MAX_GUIDANCE_TOKENS: Final = 150
MAX_GOALS_TOKENS: Final = 150
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
    is_cached = name in CACHED_SECTIONS
    title = draft.prompt.render(title)
    return build_belief_section(draft, name, title, known, lines, budget, is_cached=is_cached)


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


MAX_PROJECT_TOKENS: Final = 250
"""Of what was said in the project before."""


def build_goals_section(draft: PromptDraft, budget: int) -> Sequence[PromptSection]:
    """Return the person's goals and how far they are."""
    goals, message = draft.context.projects.goals, draft.utterance.message
    if not goals:
        return ()
    scope = DeskScope(
        person=draft.utterance.person.id,
        zone=message.zone,
        now=message.at,
        language=draft.utterance.system_language,
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
    )
    desk = GoalDesk(scope, [*goals])
    lines: list[SourcedLine] = [
        (sanitize(desk.format_line(each)), [*filter(None, (each.goal.id, each.goal.message))])
        for each in goals
    ]
    return (build_sourced_section("goals", draft.prompt.render("goals"), lines, budget),)


def render_instructions(projects: ProjectContext, prompt: Prompt) -> list[str]:
    """Return the skills that fit, those written last first, and the open project."""
    parts = [*render_skills(projects.skills, prompt).values()]
    if projects.project is not None:
        name, role = sanitize(projects.project.name), sanitize_core_block(projects.project.role)
        told = prompt.render("project", name=name, text=role).strip()
        parts.append(prompt.render("core", kind="project", text=told))
    return parts


def build_project_sections(draft: PromptDraft, budget: int) -> Sequence[PromptSection]:
    """Return what was last said in the open project, and is not in view anyhow."""
    projects, prompt = draft.context.projects, draft.prompt
    if projects.project is None:
        return ()
    in_view = {each.id for each in draft.context.recent_messages} | {*draft.shown_ids}
    messages = [each for each in projects.messages if each.id not in in_view]
    lines = {index: label_other_message(prompt, each) for index, each in enumerate(messages)}
    title = prompt.render("project_said", name=sanitize(projects.project.name))
    newest_first = range(len(lines))[::-1]
    ids = [each.id for each in messages]
    return (
        build_ranked_section(
            draft, "project", title, lines, ids, ranking=newest_first, budget=budget
        ),
    )


NOTES_DIVISOR: Final = 4
"""The notes may take at least this part (one fourth) of the tokens for rules, tools and notes."""
SUMMARIES_DIVISOR: Final = 4
"""Summaries take at most this part (one fourth) of the tokens that they share with the profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltPrompt:
    """A request with the ids of what it shows."""

    request: CompletionRequest
    shown_ids: frozenset[str]  # ids of messages and memories quoted in it
    record_ids: Mapping[str, str]  # of those that can be cited, by their keys
    trace: dict[str, JsonValue]  # tokens and dropped ids of each section


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSlot:
    """A place for sections in a prompt, with its priority, budget and builder."""

    priority: Priority
    max_tokens: Callable[[PromptDraft], int]
    build: Callable[[PromptDraft, int], Sequence[PromptSection]]


def compute_notes_budget(draft: PromptDraft) -> int:
    """Return the tokens that the rules, the tools and the state leave of their share.

    Never less than a part of it: tools must not push out what the person asked to remember.
    """
    taken = count_tokens(draft.list_by_name("rules", "tools", "state"))
    return max(draft.budget.system - taken, draft.budget.system // NOTES_DIVISOR)


def compute_summaries_budget(draft: PromptDraft) -> int:
    """Return the tokens that the profile and other summaries leave of the share for both.

    At most a part of it: a summary of months is long and seldom says what is asked.
    """
    summaries = draft.list_by_name("summaries")
    left = draft.budget.summaries - count_tokens([*draft.list_by_priority("mandatory"), *summaries])
    return min(left, draft.budget.summaries // SUMMARIES_DIVISOR - count_tokens(summaries))


def compute_thoughts_budget(draft: PromptDraft) -> int:
    """Return the share of the recall budget that is for thoughts."""
    return draft.budget.snippets // THOUGHTS_DIVISOR


def compute_snippets_budget(draft: PromptDraft) -> int:
    """Return the tokens that the thoughts leave of the recall budget."""
    return draft.budget.snippets - count_tokens(draft.list_by_name("thoughts"))


SECTION_SLOTS: Final = (
    SectionSlot(
        priority="mandatory",
        max_tokens=lambda view: view.budget.profile,
        build=build_profile_sections,
    ),
    SectionSlot(
        priority="mandatory",
        max_tokens=lambda _: MAX_WORKING_MEMORY_TOKENS,
        build=build_working_memory_section,
    ),
    SectionSlot(
        priority="high", max_tokens=lambda _: MAX_GUIDANCE_TOKENS, build=build_guidance_section
    ),
    SectionSlot(priority="high", max_tokens=lambda _: MAX_GOALS_TOKENS, build=build_goals_section),
    SectionSlot(priority="high", max_tokens=compute_notes_budget, build=build_notes_section),
    SectionSlot(
        priority="high", max_tokens=compute_summaries_budget, build=build_summaries_section
    ),
    SectionSlot(
        priority="high", max_tokens=compute_summaries_budget, build=build_summaries_around_section
    ),
    SectionSlot(
        priority="medium", max_tokens=compute_thoughts_budget, build=build_thoughts_section
    ),
    SectionSlot(
        priority="medium", max_tokens=compute_snippets_budget, build=build_recalled_sections
    ),
    SectionSlot(
        priority="medium", max_tokens=lambda _: MAX_PROJECT_TOKENS, build=build_project_sections
    ),
    SectionSlot(priority="low", max_tokens=lambda _: MAX_TOPIC_TOKENS, build=build_topic_sections),
)
"""The slots in the order in which those of one priority are filled."""

CACHED_SECTIONS: Final = ("rules", "core", "profile", "notes", "summaries", "thoughts")
"""The sections that stay as they are for a while, whatever the person says."""
FIRST_CHANGING_SECTIONS: Final = ("lately", "open", "goals", "state", "guidance", "in mind")
"""The sections after them, before what depends on the message: the steadiest first."""


def build_reply_prompt(
    utterance: Utterance,
    context: ReplyContext,
    prompt: Prompt,
    *,
    noted_text: str | None,
    tools: Sequence[ToolDefinition],
    budget: PromptBudget,
) -> BuiltPrompt:
    """Build the request for one reply.

    The rules, the core blocks and the current messages are never cut. The rest of the budget goes
    to the slots by priority, and to the recent messages before the "medium" ones.
    """
    instructions = render_instructions(context.projects, prompt)
    core = build_core_section(context, prompt, instructions=instructions)
    rules = build_rules_section(utterance, prompt)
    state = build_state_section(utterance, context, prompt, noted_text=noted_text)
    message, forwarded = (
        build_message_section(utterance, prompt),
        build_forwarded_section(utterance, context, prompt),
    )
    fixed = [rules, core, build_tools_section(tools), state, message, forwarded]
    draft = PromptDraft(
        utterance=utterance, context=context, prompt=prompt, budget=budget, sections=fixed
    )
    fill_slots(draft, "mandatory", "high")
    window = fit_window(draft)
    draft.sections.append(build_recent_section(window))
    fill_slots(draft, "medium", "low")
    cached, further = order_sections(draft)
    return BuiltPrompt(
        request=CompletionRequest(
            purpose="reply",
            prompt=prompt.id,
            system_prompt="\n\n".join(each.text for each in cached if each.text),
            call_instructions=build_call_instructions(further, window, forwarded, prompt),
            turns=build_turns(utterance, window, prompt),
            tools=tuple(tools),
            shown=draft.seen_ids,
        ),
        shown_ids=frozenset(draft.shown_ids),
        record_ids=draft.keys.ids,
        trace=build_trace(draft),
    )


def order_sections(draft: PromptDraft) -> tuple[list[PromptSection], list[PromptSection]]:
    """Return the sections of the system prompt and the others, in the order of reading."""
    cached = [section for name in CACHED_SECTIONS for section in draft.list_by_name(name)]
    first = [section for name in FIRST_CHANGING_SECTIONS for section in draft.list_by_name(name)]
    placed = {*CACHED_SECTIONS, *FIRST_CHANGING_SECTIONS, FORWARDED_SECTION}
    return cached, [*first, *(each for each in draft.sections if each.name not in placed)]


def fill_slots(draft: PromptDraft, *priorities: Priority) -> None:
    """Add the sections that fit into the slots of these priorities."""
    for slot in SECTION_SLOTS:
        if slot.priority in priorities:
            budget = max(min(count_tokens_left(draft), slot.max_tokens(draft)), 0)
            draft.add_sections(slot.build(draft, budget), slot.priority)


def count_tokens_left(draft: PromptDraft) -> int:
    """Return the tokens left; 0 if what is never cut exceeds the whole budget."""
    return max(draft.budget.total - count_tokens(draft.sections), 0)


def fit_window(draft: PromptDraft) -> RecentMessages:
    """Return the recent messages, fewer of them if there is not enough room."""
    context, left = draft.context, count_tokens_left(draft)
    if context.window.tokens <= left:
        return context.window
    return build_window(
        context.recent_messages,
        context.quote_counts,
        draft.prompt,
        budget=left,
        answered=draft.utterance.message,
    )


def build_recent_section(window: RecentMessages) -> PromptSection:
    """Return a section that accounts for the recent messages; their texts become turns."""
    return PromptSection(
        name="recent",
        tokens=window.tokens,
        dropped_ids=tuple(each.id for each in window.dropped_messages),
        shown_ids=tuple(each.id for each in window.shown_messages),
    )


def build_message_section(utterance: Utterance, prompt: Prompt) -> PromptSection:
    """Return a section that accounts for what the person has just said."""
    tokens = TURN_OVERHEAD_TOKENS + estimate_tokens(build_person_turn(utterance, prompt).text)
    return PromptSection(
        name="message", tokens=tokens, shown_ids=tuple(each.id for each in utterance.messages)
    )


def build_person_turn(utterance: Utterance, prompt: Prompt) -> PromptTurn:
    """Return the person's current words as a turn; without any, a system turn."""
    if utterance.own_words:
        return PromptTurn(role="person", text=utterance.text_with_speakers)
    return PromptTurn(role="instruction", text=prompt.render("passed_on"))


def build_turns(
    utterance: Utterance, window: RecentMessages, prompt: Prompt
) -> tuple[PromptTurn, ...]:
    """Return the recent and the current messages as turns, merging consecutive ones of one role."""
    current = build_person_turn(utterance, prompt)
    today = get_day(utterance.message, utterance.message.zone)
    if window.last_day not in {None, today}:
        current = replace(current, text=f"{render_day(today, prompt)}\n{current.text}")
    if not window.turns or window.turns[-1].role != current.role:
        return (*window.turns, current)
    *earlier, last = window.turns
    return (*earlier, replace(last, text=f"{last.text}\n\n{current.text}"))


def build_call_instructions(
    sections: Sequence[PromptSection],
    window: RecentMessages,
    forwarded: PromptSection,
    prompt: Prompt,
) -> str:
    """Join the instructions for this call; what others said comes last, the newest at the end."""
    heard_lines = [*window.heard_lines, *filter(None, [forwarded.text])]
    parts = [section.text for section in sections if section.text]
    heard = [prompt.render("heard", text="\n".join(heard_lines))] if heard_lines else []
    return prompt.render("ours", text="\n\n".join([*parts, *heard]))


def build_trace(draft: PromptDraft) -> dict[str, JsonValue]:
    """Return the tokens that each section took and the ids that it dropped."""
    sections = draft.sections
    return {
        "budget": draft.budget.name,
        "tokens": {section.name: section.tokens for section in sections},
        "dropped": {
            section.name: [*section.dropped_ids] for section in sections if section.dropped_ids
        },
    }
