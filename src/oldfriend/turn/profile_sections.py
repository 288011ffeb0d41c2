"""Profile sections: prompt sections about the person, open promises and named people.

They are part of every prompt, whatever was recalled, and include summaries of earlier talk.
"""

from collections.abc import Sequence
from dataclasses import replace

from oldfriend.domain.memories import MemoryState
from oldfriend.prompts.prompt import Prompt
from oldfriend.prompts.token_budget import select_fitting
from oldfriend.turn.memory_context import estimate_line_tokens
from oldfriend.turn.prompt_labels import (
    label_belief,
    label_open_belief,
    label_profile_belief,
    label_summary,
    sanitize,
)
from oldfriend.turn.prompt_sections import PromptDraft, PromptSection, build_ranked_section
from oldfriend.turn.user_context import EntityContext

MIN_LABEL_TOKENS = 16
"""Tokens that a labelled belief takes at least; more beliefs than can fit are not formatted."""


def build_profile_sections(draft: PromptDraft, budget: int) -> list[PromptSection]:
    """Return the profile, open promises and named entities, within one budget.

    What is shown in the profile is not repeated for a named entity.
    """
    prompt, now, zone = draft.prompt, draft.utterance.message.at, draft.utterance.message.zone
    profile = draft.context.user_context.profile
    kept = [*profile.facts, *profile.preferences][: budget // MIN_LABEL_TOKENS]
    lines = [label_profile_belief(prompt, each, zone=zone) for each in kept]
    profile_section = build_belief_section("profile", prompt.render("profile"), kept, lines, budget)
    budget -= profile_section.tokens
    promises = profile.promises[: budget // MIN_LABEL_TOKENS]
    lines = [label_open_belief(prompt, each, now=now, zone=zone) for each in promises]
    open_section = build_belief_section("open", prompt.render("open"), promises, lines, budget)
    budget -= open_section.tokens
    sections, covered_ids = (
        [profile_section, open_section],
        {*profile_section.shown_ids, *open_section.shown_ids},
    )
    for entity_context in draft.context.user_context.named:
        section = build_entity_section(
            entity_context, prompt, covered_ids, zone=zone, budget=budget
        )
        sections.append(section)
        budget -= section.tokens
        covered_ids |= set(section.shown_ids)
    return sections


def build_entity_section(
    entity_context: EntityContext, prompt: Prompt, covered_ids: set[str], *, zone: str, budget: int
) -> PromptSection:
    """Return what is believed about a named entity."""
    entity = entity_context.entity
    names = ", ".join(sanitize(name) for name in (entity.name, *entity.aliases))
    title = prompt.render("about", name=f"{names} ({entity.kind})")
    uncovered = [each for each in entity_context.all_known if each.memory.id not in covered_ids]
    lines = [label_belief(prompt, each, zone=zone) for each in uncovered]
    section = build_belief_section(f"about {entity.name}", title, uncovered, lines, budget)
    return replace(section, source_ids=(entity.id,) if section.shown_ids else ())


def build_summaries_section(draft: PromptDraft, budget: int) -> tuple[PromptSection]:
    """Return the summaries, highest level first; the newest are kept if not all fit."""
    summaries = draft.context.user_context.summaries
    lines = {
        index: label_summary(draft.prompt, each, zone=draft.utterance.message.zone)
        for index, each in enumerate(summaries)
    }
    ranking = sorted(lines, key=lambda index: (-summaries[index].level, -summaries[index].from_at))
    ids = [each.id for each in summaries]
    title = draft.prompt.render("summaries")
    return (build_ranked_section("summaries", title, lines, ids, ranking=ranking, budget=budget),)


def build_belief_section(
    name: str, title: str, known: Sequence[MemoryState], lines: Sequence[str], budget: int
) -> PromptSection:
    """Return a section of beliefs: those that fit, first come, first served."""
    kept = select_fitting([*map(estimate_line_tokens, lines)], budget - estimate_line_tokens(title))
    ids = [each.memory.id for each in known]
    dropped = tuple(ids[index] for index in range(len(ids)) if index not in kept)
    if not kept:
        return PromptSection(name=name, dropped_ids=dropped)
    text = "\n".join([title, *(lines[index] for index in kept)])
    shown = tuple(ids[index] for index in kept)
    return PromptSection(
        name=name,
        text=text,
        tokens=estimate_line_tokens(text),
        shown_ids=shown,
        dropped_ids=dropped,
    )
