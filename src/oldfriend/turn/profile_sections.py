"""Profile sections: prompt sections about the person, recent changes and open promises.

They are part of every prompt, whatever was recalled, and include summaries of earlier talk.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.domain.memories import MemoryState, StoredBelief, Summary
from oldfriend.domain.profile_attributes import CLOSE_RELATIONS
from oldfriend.domain.relations import RELATION_BY_ROLE
from oldfriend.prompts.token_budget import select_fitting
from oldfriend.search.synonyms import get_role_words
from oldfriend.search.tokenizer import tokenize
from oldfriend.turn.memory_context import estimate_line_tokens
from oldfriend.turn.prompt_labels import (
    frame_records,
    label_belief,
    label_open_belief,
    label_summary,
    sanitize,
)
from oldfriend.turn.prompt_ranking import drop_repeated, get_last_said_at, holds_words
from oldfriend.turn.prompt_sections import PromptDraft, PromptSection, build_ranked_section
from oldfriend.turn.record_keys import estimate_keyed_tokens
from oldfriend.turn.reply_context import ReplyContext

MIN_LABEL_TOKENS = 16
"""Tokens that a labelled belief takes at least; more beliefs than can fit are not formatted."""
PROFILE_DIVISOR = 3
"""What is open leaves this part (one third) to the others, however much it is."""
LATELY_DIVISOR = 3
"""What changed lately takes at most this part (one third) of what the open promises leave."""
GENERATIONS: Final = frozenset({"parent_of", "child_of"})
"""Relations of which one person holds at most one to another."""
MAX_NEWEST_SUMMARIES = 2
MAX_SUMMARIES_AROUND = 2
"""The most summaries of the times that the recall is from, beside the newest."""


def build_profile_sections(draft: PromptDraft, budget: int) -> list[PromptSection]:
    """Return the profile, what changed lately and what is open, within one budget.

    What is open comes first, then what changed, which leaves most of the budget to the profile.
    Each belief stands in one of them.
    """
    prompt, zone = draft.prompt, draft.utterance.message.zone
    now, name = draft.utterance.message.at, draft.person_name
    user_context = draft.context.user_context
    profile = user_context.profile
    promises = profile.promises[: budget // MIN_LABEL_TOKENS]
    lines = [
        label_open_belief(prompt, each, now=now, zone=zone, person_name=name) for each in promises
    ]
    open_budget = budget - budget // PROFILE_DIVISOR
    open_section = build_belief_section(
        draft, "open", prompt.render("open"), promises, lines, open_budget
    )
    budget -= open_section.tokens
    changes = [
        each for each in user_context.changes if each.memory.id not in open_section.shown_ids
    ]
    lines = [label_belief(prompt, each, zone=zone) for each in changes]
    lately_section = build_belief_section(
        draft,
        "lately",
        prompt.render("lately", person=sanitize(name)),
        changes,
        lines,
        budget // LATELY_DIVISOR,
    )
    budget -= lately_section.tokens
    shown = {*open_section.shown_ids, *lately_section.shown_ids}
    kept = [each for each in profile.attributes if each.memory.id not in shown]
    kept = drop_retold_ties(drop_repeated(kept[: budget // MIN_LABEL_TOKENS]), name)
    lines = [label_belief(prompt, each, zone=zone) for each in kept]
    title = prompt.render("profile", person=sanitize(name))
    return [
        build_belief_section(draft, "profile", title, kept, lines, budget, is_cached=True),
        lately_section,
        open_section,
    ]


def drop_retold_ties(known: Sequence[MemoryState], name: str) -> list[MemoryState]:
    """Return the beliefs without the ties that a fact among them tells.

    "Isla is Gav's daughter" says no more of Gav than "Has a daughter, Isla", and "Is a sibling of
    Wade" no more than "Has a brother, Wade".
    """
    facts = [each.memory for each in known if each.memory.kind != "triple"]
    return [
        each
        for each in known
        if each.memory.kind != "triple"
        or not any(
            holds_words(f"{fact.text} {name}", each.memory.text, each.memory.language, share=1.0)
            or tells_tie(fact, each.memory)
            for fact in facts
        )
    ]


def tells_tie(fact: StoredBelief, tie: StoredBelief) -> bool:
    """Tell whether a fact names whom a close tie is to, and who that is to the person."""
    if tie.key not in CLOSE_RELATIONS or not holds_words(
        fact.text, tie.value, fact.language, share=1.0
    ):
        return False
    role_words, words = get_role_words(fact.language), tokenize(fact.text.casefold())
    ties = {RELATION_BY_ROLE.get(role_words[each]) for each in words if each in role_words}
    return not ties.isdisjoint(GENERATIONS if tie.key in GENERATIONS else {tie.key})


def build_summaries_section(draft: PromptDraft, budget: int) -> tuple[PromptSection]:
    """Return a few of the newest summaries, whatever is asked, of what the window does not show."""
    return (build_summary_list(draft, "summaries", list_newest_summaries(draft.context), budget),)


def build_summaries_around_section(draft: PromptDraft, budget: int) -> tuple[PromptSection]:
    """Return the summaries of the times that the recall is from."""
    summaries = list_summaries_around(draft.context)
    return (build_summary_list(draft, "summaries_around", summaries, budget),)


def build_summary_list(
    draft: PromptDraft, name: str, summaries: Sequence[Summary], budget: int
) -> PromptSection:
    """Return a titled section of those summaries that fit, best first, shown by time."""
    by_time = sorted(summaries, key=lambda each: (each.from_at, each.id))
    zone = draft.utterance.message.zone
    lines = {
        index: label_summary(draft.prompt, each, zone=zone) for index, each in enumerate(by_time)
    }
    return build_ranked_section(
        draft,
        name,
        draft.prompt.render(name),
        lines,
        [each.id for each in by_time],
        ranking=[by_time.index(each) for each in summaries],
        budget=budget,
    )


def list_newest_summaries(context: ReplyContext) -> list[Summary]:
    """List the newest summaries, newest first, without those whose talk the window shows."""
    times = {message.at for message in context.window.shown_messages}
    unseen = (
        each
        for each in context.user_context.summaries
        if not {each.from_at, each.until_at} <= times
    )
    return sorted(unseen, key=lambda each: -each.until_at)[:MAX_NEWEST_SUMMARIES]


def list_summaries_around(context: ReplyContext) -> list[Summary]:
    """List summaries of the times that the recall is from, best first, beside the newest.

    Of several that cover a time, the most detailed one counts.
    """
    newest, around = list_newest_summaries(context), list[Summary]()
    for item in context.recall_result.ranking:
        at = get_last_said_at(item)
        covering = [
            each for each in context.user_context.summaries if each.from_at <= at <= each.until_at
        ]
        nearest = min(covering, key=lambda each: each.level, default=None)
        if nearest is not None and nearest not in (*newest, *around):
            around.append(nearest)
    return around[:MAX_SUMMARIES_AROUND]


def build_belief_section(
    draft: PromptDraft,
    name: str,
    title: str,
    known: Sequence[MemoryState],
    lines: Sequence[str],
    budget: int,
    *,
    is_cached: bool = False,
) -> PromptSection:
    """Return a section of beliefs: those that fit, first come, first served.

    ``is_cached``: it stands in the system prompt, which providers cache.
    """
    prompt = draft.prompt
    left = budget - estimate_line_tokens(frame_records(prompt, title, ()))
    kept = select_fitting([estimate_keyed_tokens(prompt, line) for line in lines], left)
    ids = [each.memory.id for each in known]
    dropped = tuple(ids[index] for index in range(len(ids)) if index not in kept)
    if not kept:
        return PromptSection(name=name, dropped_ids=dropped)
    shown = tuple(ids[index] for index in kept)
    records = [lines[index] for index in kept]
    text = frame_records(
        prompt, title, draft.keys.label(prompt, records, shown, is_cached=is_cached)
    )
    return PromptSection(
        name=name,
        text=text,
        tokens=estimate_line_tokens(text),
        shown_ids=shown,
        dropped_ids=dropped,
    )
