"""Prompt sections: the parts of a prompt, fitted into their token budgets.

A section records by id what it shows and what it had to drop. The budgets and their priorities are
set by the caller.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from oldfriend.domain.clock import from_micros
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.domain.messages import DOCUMENTS_DETAIL, Message, estimate_tokens
from oldfriend.lang.reply_language import name_language
from oldfriend.llm.model import ToolDefinition
from oldfriend.memory.people import DEFAULT_OWNER_NAME
from oldfriend.prompts.prompt import Prompt
from oldfriend.prompts.token_budget import Priority, PromptBudget, select_fitting
from oldfriend.search.score import NAME_MENTION, give_score
from oldfriend.turn.memory_context import estimate_line_tokens
from oldfriend.turn.prompt_labels import (
    format_timestamp,
    frame_records,
    label_documents,
    label_item,
    label_note,
    label_other_message,
    label_quoted_text,
    label_replied_to,
    render_record,
    sanitize,
    sanitize_core_block,
)
from oldfriend.turn.prompt_ranking import (
    MAX_RETOLD,
    holds_words,
    is_repeated,
    list_evidence_ids,
    select_candidates,
    select_fitting_items,
)
from oldfriend.turn.recalled import (
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallResult,
    get_item_id,
)
from oldfriend.turn.record_keys import RecordKeys, estimate_keyed_tokens
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.turn.user_context import EntityContext

QUESTION_MARK = re.compile("[?\uff1f]")
FORWARDED_SECTION = "passed on"
WITHOUT_KEYS: Final = frozenset({"project", "summaries", "summaries_around"})
"""Sections of what no receipt names, and thus no reply can cite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSection:
    """One part of a prompt."""

    name: str
    text: str = ""
    tokens: int = 0
    shown_ids: tuple[str, ...] = ()  # ids of messages and memories
    source_ids: tuple[str, ...] = ()  # ids of others, shown here in other words
    dropped_ids: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class PromptDraft:
    """A prompt in the making: the inputs of its sections, and those made so far."""

    utterance: Utterance
    context: ReplyContext
    prompt: Prompt
    budget: PromptBudget
    sections: list[PromptSection]  # so far
    keys: RecordKeys = field(default_factory=RecordKeys)  # of the records in them
    by_priority: dict[Priority, list[PromptSection]] = field(default_factory=dict)
    """Sections of the slots only: not what is never cut, nor the recent messages."""

    @property
    def shown_ids(self) -> tuple[str, ...]:
        """Return the ids of messages and memories quoted in the prompt so far."""
        return tuple(each for section in self.sections for each in section.shown_ids)

    @property
    def seen_ids(self) -> tuple[str, ...]:
        """Return the ids of everything quoted or paraphrased in the prompt so far, each once."""
        source_ids = (each for section in self.sections for each in section.source_ids)
        return tuple(dict.fromkeys([*self.shown_ids, *source_ids]))

    @property
    def person_name(self) -> str:
        """Return what the person is called, else words that stand for a name."""
        name = find_person_name(self.utterance, self.context)
        return name or self.prompt.render("the_person")

    def list_by_priority(self, priority: Priority) -> list[PromptSection]:
        """Return the sections of a priority."""
        return self.by_priority.get(priority, [])

    def add_sections(self, sections: Sequence[PromptSection], priority: Priority) -> None:
        """Add sections to the prompt."""
        self.sections += sections
        self.by_priority.setdefault(priority, []).extend(sections)

    def list_by_name(self, *names: str) -> list[PromptSection]:
        """Return the sections with these names."""
        return [section for section in self.sections if section.name in names]


def find_person_name(utterance: Utterance, context: ReplyContext) -> str | None:
    """Return what the person is called; None if that is not known."""
    person = utterance.person
    if utterance.is_in_group:
        return person.name
    names = (*context.user_context.own_names, person.name, utterance.message.speaker)
    return next((name for name in names if name not in {"", DEFAULT_OWNER_NAME}), None)


def count_tokens(sections: Iterable[PromptSection]) -> int:
    """Return the tokens of the sections together."""
    return sum(section.tokens for section in sections)


def build_rules_section(utterance: Utterance, prompt: Prompt) -> PromptSection:
    """Return the companion's rules of behavior, which are the same in every turn."""
    return build_whole_section(
        "rules", [prompt.render("system_prompt", name=sanitize(utterance.companion.name))]
    )


def build_core_section(
    context: ReplyContext, prompt: Prompt, *, instructions: Sequence[str] = ()
) -> PromptSection:
    """Return the core blocks on the companion and the person, which rarely change.

    Behind them stand the person's instructions for what they work on.
    """
    user_context = context.user_context
    blocks = [
        ("soul", user_context.soul),
        *((each.name, each.text) for each in user_context.core_blocks),
    ]
    parts = [
        prompt.render("core", kind=kind, text=sanitize_core_block(text))
        for kind, text in blocks
        if text.strip()
    ]
    section = build_whole_section("core", [*parts, *instructions])
    return replace(section, source_ids=tuple(context.projects.source_ids))


def build_tools_section(tools: Sequence[ToolDefinition]) -> PromptSection:
    """Return a section that accounts for the tools' names and schemas."""
    texts = [tool.name + tool.description + json.dumps(dict(tool.parameters)) for tool in tools]
    return PromptSection(name="tools", tokens=sum(estimate_tokens(text) for text in texts))


def build_state_section(
    utterance: Utterance, context: ReplyContext, prompt: Prompt, *, noted_text: str | None
) -> PromptSection:
    """Return who is talking, the time, and what a rule has noted of the message."""
    message = utterance.message
    now = from_micros(message.at, message.zone)
    name = find_person_name(utterance, context)
    part = "state_unnamed" if name is None else "state"
    lines = [
        prompt.render(
            "state_in_group" if utterance.is_in_group else part,
            person=sanitize(name or ""),
            who=sanitize(message.speaker),
            now=f"{now:%A} {now:%Y-%m-%d %H:%M}",
            zone=message.zone,
            language=utterance.person.language or message.language,
        )
    ]
    if utterance.person.has_fixed_language and not utterance.is_in_group:
        fixed = name_language(utterance.person.language or "en", language="en")
        lines.append(prompt.render("fixed_language", language=fixed))
    if context.is_degraded:
        lines.append(prompt.render("degraded"))
    if context.recent_messages:
        when = format_timestamp(context.recent_messages[-1].at, message.zone)
        lines.append(prompt.render("pause", when=when))
    if can_ask_whether_same(context):
        one, other = context.user_context.possible_duplicates[0]
        names = {"name": sanitize(one.name), "names": sanitize(other.name)}
        lines.append(prompt.render("perhaps_same", **names))
    handled = [each.text for each in context.handled if each.text and not each.is_fallback]
    if handled:
        lines.append(
            "\n".join([prompt.render("handled"), *(f"- {sanitize(each)}" for each in handled)])
        )
    if noted_text is not None:
        when = format_timestamp(message.at, message.zone)
        noted = [render_record(prompt, noted_text, {"when": when})]
        lines.append(frame_records(prompt, prompt.render("noted"), noted))
    return replace(build_whole_section("state", lines), source_ids=list_unsure_ids(context))


def list_unsure_ids(context: ReplyContext) -> tuple[str, ...]:
    """Return the ids of the possible duplicates that the state section names."""
    return (
        tuple(each.id for each in context.user_context.possible_duplicates[0])
        if can_ask_whether_same(context)
        else ()
    )


def can_ask_whether_same(context: ReplyContext) -> bool:
    """Tell whether possible duplicates are named now and no such question was asked lately."""
    unsure = context.user_context.possible_duplicates
    if not unsure:
        return False
    names = [each.name.casefold() for pair in unsure for each in pair]
    return not any(
        message.role == "companion"
        and QUESTION_MARK.search(message.text)
        and sum(name in message.text.casefold() for name in names) > 1
        for message in context.recent_messages
    )


def build_forwarded_section(
    utterance: Utterance, context: ReplyContext, prompt: Prompt
) -> PromptSection:
    """Return what the person forwarded and replies to, never cut and not in their role."""
    forwarded = [each for each in utterance.messages if each.trust == "outside"]
    lines = [label_replied_to(prompt, each) for each in context.replied_to]
    lines += [
        label_quoted_text(prompt, each) for each in utterance.messages if "quoted" in each.details
    ]
    lines += [
        label_documents(prompt, each)
        for each in utterance.messages
        if DOCUMENTS_DETAIL in each.details
    ]
    lines += [label_other_message(prompt, each, is_whole=True) for each in forwarded]
    return replace(
        build_whole_section(FORWARDED_SECTION, lines),
        source_ids=tuple(each.id for each in context.replied_to),
    )


def build_notes_section(draft: PromptDraft, budget: int) -> tuple[PromptSection]:
    """Return the newest notes that fit, oldest first."""
    ids = [note.memory.id for note in draft.context.notes]
    lines = {
        index: label_note(draft.prompt, note) for index, note in enumerate(draft.context.notes)
    }
    newest_first = range(len(lines))[::-1]
    title = draft.prompt.render("notes")
    return (
        build_ranked_section(
            draft, "notes", title, lines, ids, ranking=newest_first, budget=budget
        ),
    )


def build_recalled_sections(draft: PromptDraft, budget: int) -> Sequence[PromptSection]:
    """Return what is known of the named entities, and the best recalled beliefs and messages.

    Beliefs and messages share one budget. What is shown already is not shown again; of a belief and
    the messages it rests on, only the one that answers better is shown. Messages are by time.
    """
    result, prompt, zone = (
        draft.context.recall_result,
        draft.prompt,
        draft.utterance.message.zone,
    )
    named = draft.context.user_context.named
    candidates = select_candidates([*result.ranking, *list_unrecalled(result, named)])
    items = [
        each
        for rank, each in enumerate(candidates)
        if not is_told_already(each, draft, is_among_best=rank < MAX_RETOLD)
    ]
    costs = [estimate_keyed_tokens(prompt, label_item(prompt, each, zone=zone)) for each in items]
    entity_titles = [render_entity_title(each.entity, prompt) for each in named]
    beliefs_title, memories_title = render_recall_titles(result, prompt)
    descriptions = [render_description(each.entity, prompt) for each in named]
    belief_titles = [
        *map(partial(frame_records, prompt), entity_titles, descriptions),
        frame_records(prompt, beliefs_title, ()),
    ]
    title_costs = (
        sum(map(estimate_line_tokens, belief_titles)),
        estimate_line_tokens(frame_records(prompt, memories_title, ())),
    )
    kept = select_fitting_items(items, costs, budget, title_costs, covered_ids=draft.shown_ids)
    sections: list[PromptSection] = []
    shown: set[str] = set()
    for each, title, description in zip(named, entity_titles, descriptions, strict=True):
        about = [one for one in kept if is_about(one, each) and get_item_id(one) not in shown]
        name = f"about {each.entity.name}"
        section = build_item_section(draft, name, title, about, about, lead=description)
        sections.append(replace(section, source_ids=(each.entity.id,) if section.shown_ids else ()))
        shown |= set(section.shown_ids)
    already = {*draft.shown_ids, *shown}
    rest = [each for each in kept if get_item_id(each) not in shown]
    beliefs = [each for each in result.beliefs if get_item_id(each) not in already]
    messages = sorted(result.messages, key=lambda each: (each.message.at, each.message.seq))
    return (
        *sections,
        build_item_section(draft, "beliefs", beliefs_title, beliefs, rest),
        build_item_section(draft, "memories", memories_title, messages, rest),
    )


def is_told_already(item: RecalledItem, draft: PromptDraft, *, is_among_best: bool) -> bool:
    """Tell whether what is shown whatever was asked, such as the profile, tells an item already.

    A message is told by a belief that rests on it; if it is among the best it is told again, unless
    the belief holds nearly all of its words. So is a belief by another on the same evidence, and by
    any that it repeats.
    """
    content: StoredBelief | Message
    if isinstance(item, RecalledBelief):
        shown_ids = {*draft.shown_ids}
        profile = draft.context.user_context.profile
        shown = (each for each in profile.attributes if each.memory.id in shown_ids)
        if is_repeated(item.state, shown):
            return True
        content, sources = item.state.memory, list_evidence_ids(item)
    else:
        content, sources = item.message, {item.message.id}
    by_source = draft.context.supported_beliefs
    supported = {known for each in sources for known in by_source.get(each, ())}
    supported &= {*draft.shown_ids}
    if not supported or (isinstance(item, RecalledMessage) and not is_among_best):
        return bool(supported)
    told = " ".join(each.text for each in draft.context.always_known if each.id in supported)
    return holds_words(told, content.text, content.language)


def list_unrecalled(
    recall_result: RecallResult, named: Sequence[EntityContext]
) -> list[RecalledBelief]:
    """Return what is known of the named entities and was not recalled, as if it had been."""
    recalled = {*map(get_item_id, recall_result.beliefs)}
    known = {
        each.memory.id: each
        for one in named
        for each in one.all_known
        if not each.memory.is_quoted_fact
    }
    return [
        RecalledBelief(state=each, score=give_score(0.0, NAME_MENTION), evidence=())
        for each in known.values()
        if each.memory.id not in recalled
    ]


def is_about(item: RecalledItem, named: EntityContext) -> bool:
    """Tell whether an item is a belief about a named entity, or related to it."""
    if not isinstance(item, RecalledBelief):
        return False
    related = {each.known.memory.id for each in named.relations}
    memory = item.state.memory
    return named.entity.id in memory.entities or memory.id in related


def render_entity_title(entity: Entity, prompt: Prompt) -> str:
    """Return the title of what is known of a named entity."""
    names = ", ".join(sanitize(name) for name in (entity.name, *entity.aliases))
    return prompt.render("about", name=f"{names} ({entity.kind})")


def render_description(entity: Entity, prompt: Prompt) -> list[str]:
    """Return who or what an entity is as a record, if somebody has described it."""
    marks = {"kind": "description"}
    return [render_record(prompt, entity.description, marks)] if entity.description else []


def render_recall_titles(recall_result: RecallResult, prompt: Prompt) -> tuple[str, str]:
    """Return the titles of recalled beliefs and messages, which say if it is uncertain."""
    return (
        prompt.render("beliefs" if recall_result.is_belief_answerable else "beliefs_unsure"),
        prompt.render("memories" if recall_result.is_answerable else "memories_unsure"),
    )


def build_item_section(
    draft: PromptDraft,
    name: str,
    title: str,
    items: Sequence[RecalledItem],
    kept: Sequence[RecalledItem],
    *,
    lead: Sequence[str] = (),
) -> PromptSection:
    """Return a section with those of the items that are kept, in their own order, behind a lead."""
    kept_ids = {*map(get_item_id, kept)}
    shown = [each for each in items if get_item_id(each) in kept_ids]
    dropped = tuple(get_item_id(each) for each in items if get_item_id(each) not in kept_ids)
    if not shown:
        return PromptSection(name=name, dropped_ids=dropped)
    prompt, zone = draft.prompt, draft.utterance.message.zone
    records = [label_item(prompt, each, zone=zone) for each in shown]
    keyed = draft.keys.label(prompt, records, [*map(get_item_id, shown)])
    text = frame_records(prompt, title, [*lead, *keyed])
    return PromptSection(
        name=name,
        text=text,
        tokens=estimate_line_tokens(text),
        shown_ids=tuple(map(get_item_id, shown)),
        dropped_ids=dropped,
    )


def build_ranked_section(
    draft: PromptDraft,
    name: str,
    title: str,
    lines: Mapping[int, str],
    ids: Sequence[str],
    *,
    ranking: Sequence[int],
    budget: int,
) -> PromptSection:
    """Return a titled section of the best-ranked lines that fit, in their own order.

    ``lines`` holds the eligible lines by their index in ``ids``; ``ranking`` lists these indexes,
    best first. All are charged for a key, which those bear that a receipt can name.
    """
    prompt = draft.prompt
    costs = [estimate_keyed_tokens(prompt, lines[index]) for index in ranking]
    left = budget - estimate_line_tokens(frame_records(prompt, title, ()))
    kept = sorted(ranking[nth] for nth in select_fitting(costs, left))
    dropped = tuple(ids[index] for index in range(len(ids)) if index not in kept)
    if not kept:
        return PromptSection(name=name, dropped_ids=dropped)
    shown = tuple(ids[index] for index in kept)
    records = [lines[index] for index in kept]
    if name not in WITHOUT_KEYS:
        records = draft.keys.label(prompt, records, shown, is_cached=True)
    text = frame_records(prompt, title, records)
    return PromptSection(
        name=name,
        text=text,
        tokens=estimate_line_tokens(text),
        shown_ids=shown,
        dropped_ids=dropped,
    )


def build_whole_section(name: str, lines: Sequence[str]) -> PromptSection:
    """Return a section that is never cut."""
    text = "\n".join(lines)
    return PromptSection(name=name, text=text, tokens=estimate_line_tokens(text) if text else 0)
