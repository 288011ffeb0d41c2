"""Profile sections: prompt sections about the person, recent changes and open promises.

They are part of every prompt, whatever was recalled, and include summaries of earlier talk.
"""

from collections.abc import Sequence

from oldfriend.domain.memories import MemoryState, Summary
from oldfriend.prompts.token_budget import select_fitting
from oldfriend.turn.memory_context import estimate_line_tokens
from oldfriend.turn.prompt_labels import (
    label_belief,
    label_open_belief,
    label_profile_belief,
    label_summary,
    sanitize,
)
from oldfriend.turn.prompt_ranking import get_last_said_at
from oldfriend.turn.prompt_sections import PromptDraft, PromptSection, build_ranked_section
from oldfriend.turn.retrieval import RecallResult

MIN_LABEL_TOKENS = 16
"""Tokens that a labelled belief takes at least; more beliefs than can fit are not formatted."""
LATELY_DIVISOR = 3
"""What changed lately takes at most this part (one third) of what the open promises leave."""
MAX_NEWEST_SUMMARIES = 3
MAX_SUMMARIES = 6
"""The most summaries: the newest, and others around what was recalled."""


def build_profile_sections(draft: PromptDraft, budget: int) -> list[PromptSection]:
    """Return the profile, what changed lately and what is open, within one budget.

    What is open comes first, then what changed, which leaves most of the budget to the profile.
    What is shown as changed is not repeated in the profile.
    """
    prompt, zone = draft.prompt, draft.utterance.message.zone
    now, name = draft.utterance.message.at, draft.person_name
    user_context = draft.context.user_context
    profile = user_context.profile
    promises = profile.promises[: budget // MIN_LABEL_TOKENS]
    lines = [
        label_open_belief(prompt, each, now=now, zone=zone, person_name=name) for each in promises
    ]
    open_section = build_belief_section("open", prompt.render("open"), promises, lines, budget)
    budget -= open_section.tokens
    lines = [label_belief(prompt, each, zone=zone) for each in user_context.changes]
    lately_section = build_belief_section(
        "lately",
        prompt.render("lately", person=sanitize(name)),
        user_context.changes,
        lines,
        budget // LATELY_DIVISOR,
    )
    budget -= lately_section.tokens
    kept = [each for each in profile.attributes if each.memory.id not in lately_section.shown_ids]
    kept = kept[: budget // MIN_LABEL_TOKENS]
    lines = [label_profile_belief(prompt, each, zone=zone) for each in kept]
    title = prompt.render("profile", person=sanitize(name))
    return [
        build_belief_section("profile", title, kept, lines, budget),
        lately_section,
        open_section,
    ]


def build_summaries_section(draft: PromptDraft, budget: int) -> tuple[PromptSection]:
    """Return a few of the newest summaries, and those of the times that the recall is from."""
    summaries = draft.context.user_context.summaries
    ranking = rank_summaries(summaries, draft.context.recall_result)
    lines = {
        index: label_summary(draft.prompt, summaries[index], zone=draft.utterance.message.zone)
        for index in ranking
    }
    ids = [each.id for each in summaries]
    title = draft.prompt.render("summaries")
    return (build_ranked_section("summaries", title, lines, ids, ranking=ranking, budget=budget),)


def rank_summaries(summaries: Sequence[Summary], recall_result: RecallResult) -> list[int]:
    """Return the indexes of the newest summaries, then of those around what was recalled.

    Of several that cover a time, the most detailed one counts.
    """
    newest = sorted(range(len(summaries)), key=lambda index: -summaries[index].until_at)
    ranking = newest[:MAX_NEWEST_SUMMARIES]
    for each in recall_result.ranking:
        at = get_last_said_at(each)
        covering = [
            index for index, one in enumerate(summaries) if one.from_at <= at <= one.until_at
        ]
        nearest = min(covering, key=lambda index: summaries[index].level, default=None)
        if nearest is not None and nearest not in ranking:
            ranking.append(nearest)
    return ranking[:MAX_SUMMARIES]


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
