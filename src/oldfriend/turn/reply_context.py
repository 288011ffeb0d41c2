"""Reply context: what a turn has in view: recalled items, user context and recent messages.

The offline companion has no window of recent messages, so nothing recent is left out of its recall;
for a model, what it reads in the window is not recalled. Reads and never writes.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MessageId, ObjectId
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import get_traits
from oldfriend.memory.core_blocks import list_blocks
from oldfriend.memory.evidence import list_entities_mentioned_by_person, list_supported_objects
from oldfriend.memory.index_cache import MessageIndexCache
from oldfriend.memory.message_log import count_messages
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.answer_reading import read_answers
from oldfriend.turn.companion_state import (
    EMPTY_COMPANION_STATE,
    CompanionState,
    choose_reply_style,
    load_companion_state,
)
from oldfriend.turn.full_recall import recall_in_full
from oldfriend.turn.intent import Perception
from oldfriend.turn.later_messages import add_later_messages, is_putting_right
from oldfriend.turn.lookups import (
    NO_REPLY_SOURCES,
    PastBeliefs,
    PutRight,
    ReplySources,
    ToldThen,
    load_past_beliefs,
    load_previous_sources,
    load_put_right,
    load_told_then,
)
from oldfriend.turn.message_analysis import OwnText, analyze_message
from oldfriend.turn.profile_facts import list_profile_facts
from oldfriend.turn.project_context import NO_PROJECT, ProjectContext, load_project_context
from oldfriend.turn.question_parts import split_question
from oldfriend.turn.recalled import (
    EMPTY_RECALL,
    KnownNote,
    RecalledBelief,
    RecallQuery,
    RecallResult,
    SearchDeps,
)
from oldfriend.turn.recent_messages import (
    EMPTY_WINDOW,
    QuoteCounts,
    RecentMessages,
    SurroundingMessages,
    build_window,
    load_surrounding_messages,
)
from oldfriend.turn.request_handlers.handler import HandledRequest
from oldfriend.turn.retrieval import (
    READ_ERRORS,
    build_question,
    list_known_notes,
    load_known_with_evidence,
    recall,
)
from oldfriend.turn.store_change import StoreChange
from oldfriend.turn.tools.tool_executor import ToolUse
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.turn.user_context import EMPTY_USER_CONTEXT, UserContext, load_user_context

MAX_RECALLED_OFFLINE = 8
"""The most messages recalled for a reply that only quotes."""
MAX_READ_OFFLINE = 20
"""The most messages recalled for the reader to judge."""
MAX_SPOKEN_OF = 6
"""Recent messages whose people are still spoken of: "dinner with Mia", then "where do we go"."""
MAX_RECALLED = 32
"""The most messages recalled for a reply by a model; hardly more fit into its budget."""


LOOKUP_INTENTS = frozenset({"about_me", "promises", "why_so", "correct", "believed_then"})
"""Intents that need lookups beyond recall."""


ContextPart = Literal["notes", "profile", "inner", "search", "meaning"]
"""The parts of memory that a reply can lack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyContext:
    """Everything that a reply can rest on."""

    recall_result: RecallResult
    user_context: UserContext = EMPTY_USER_CONTEXT
    projects: ProjectContext = NO_PROJECT  # loaded only if a model answers
    notes: tuple[KnownNote, ...] = ()  # oldest first
    message_count: int = 0  # stored messages, if the reply tells their number
    recent_messages: tuple[Message, ...] = ()  # of this chat, oldest first
    quote_counts: QuoteCounts = field(default_factory=dict)  # of the recent replies made by rules
    replied_to: tuple[Message, ...] = ()  # messages the person explicitly replied to
    window: RecentMessages = EMPTY_WINDOW  # the recent messages that a model reads
    supported_beliefs: Mapping[MessageId, frozenset[ObjectId]] = field(default_factory=dict)
    """The beliefs that rest on each recalled message, and on the evidence of recalled beliefs."""
    known_beliefs: tuple[RecalledBelief, ...] = ()  # known without a search, with evidence
    previous_sources: ReplySources = NO_REPLY_SOURCES  # what the previous reply rests on
    put_right: PutRight | None = None  # what the message has put right, if it is a correction
    past_beliefs: PastBeliefs | None = None
    told_then: ToldThen | None = None  # at the time that is all that is asked about
    companion_state: CompanionState = EMPTY_COMPANION_STATE  # loaded only if a model answers
    read_error: str | None = None  # why some of the memory could not be read
    unread_parts: tuple[ContextPart, ...] = ()
    question_parts: tuple[tuple[str, Self], ...] = ()  # of a message that asks two things offline
    handled: tuple[HandledRequest, ...] = ()  # what the message asked for and rules have decided

    @property
    def handled_uses(self) -> tuple[ToolUse, ...]:
        """Return the tools that were used for what rules have handled."""
        return tuple(use for each in self.handled for use in each.uses)

    @property
    def handled_changes(self) -> tuple[StoreChange, ...]:
        """Return the changes that rules have decided."""
        return tuple(change for each in self.handled for change in each.changes)

    @property
    def has_changed_beliefs(self) -> bool:
        """Tell whether the message has put right what was believed or said."""
        return self.put_right is not None and self.put_right.has_changed

    @property
    def missing_parts(self) -> tuple[ContextPart, ...]:
        """Return the parts of memory that the reply should have had but lacks."""
        return (*self.unread_parts, *(("meaning",) if self.recall_result.is_degraded else ()))

    @property
    def is_degraded(self) -> bool:
        """Tell whether the reply has less of the memory than it should have."""
        return bool(self.missing_parts)

    @property
    def always_known(self) -> list[StoredBelief]:
        """Return the memories that are in view without a search."""
        user_context = self.user_context
        profile = (
            *user_context.profile.attributes,
            *user_context.profile.promises,
            *user_context.changes,
        )
        entity_beliefs = (each for one in user_context.named for each in one.all_known)
        return [
            *(each.memory for each in (*profile, *entity_beliefs)),
            *(note.memory for note in self.notes),
            *(each.memory for each in self.companion_state.beliefs),
        ]


async def load_reply_context(
    utterance: Utterance, perception: Perception, deps: TurnDependencies
) -> ReplyContext:
    """Load what a reply can rest on, for the model or for the offline companion.

    Without the recent messages there is no turn; without recall there is one.
    """
    if deps.model is None:
        return await load_offline_context(utterance, perception, deps.search_deps)
    known_context = await load_known_context(utterance, deps.search_deps)
    surrounding = known_context.surrounding
    if deps.unavailable_reason is not None:
        return replace(
            await load_offline_context(utterance, perception, deps.search_deps),
            recent_messages=surrounding.recent_messages,
        )
    before, quote_counts, budget = (
        surrounding.recent_messages,
        surrounding.quote_counts,
        deps.limits.budget,
    )
    window = build_window(
        before,
        quote_counts,
        get_reply_prompt(),
        budget=budget.recent,
        answered=utterance.message,
    )
    companion_state = await add_message_analysis(
        utterance, perception, known_context.companion_state, known_context.user_context, deps
    )
    context = ReplyContext(
        recall_result=EMPTY_RECALL,
        user_context=known_context.user_context,
        projects=known_context.projects,
        notes=known_context.notes,
        recent_messages=before,
        quote_counts=quote_counts,
        replied_to=surrounding.replied_to,
        window=window,
        companion_state=companion_state,
        read_error=known_context.read_error,
        unread_parts=known_context.unread_parts,
    )
    if not context.companion_state.needs_search:
        return context
    in_view = [each.seq for each in (*window.shown_messages, *surrounding.pending)]
    query = build_recall_query(utterance, perception, in_view)
    try:
        try:
            result = await recall_beyond_window(utterance, query, deps.search_deps)
        except READ_ERRORS as error:
            context = add_read_error(context, "search", error)
            result = await recall_beyond_window(
                utterance, query, leave_out_beliefs(deps.search_deps)
            )
        async with deps.search_deps.db.begin_read() as tx:
            sources = {each.message.id for each in result.messages}
            sources |= {quote.message for each in result.beliefs for quote in each.evidence}
            resting = await list_supported_objects(tx, utterance.person.id, sorted(sources))
        return replace(context, recall_result=result, supported_beliefs=resting)
    except READ_ERRORS as error:
        return add_read_error(context, "search", error)


def add_read_error(context: ReplyContext, part: ContextPart, error: Exception) -> ReplyContext:
    """Return the context with a part that could not be read and the reason."""
    parts = dict.fromkeys((*context.unread_parts, part))
    return replace(context, read_error=format_error(error), unread_parts=(*parts,))


def leave_out_beliefs(search_deps: SearchDeps) -> SearchDeps:
    """Search messages alone: a damaged belief must not hide what was said."""
    return replace(search_deps, index_cache=MessageIndexCache(search_deps.index_cache))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownContext:
    """What is read for a reply before anything is searched."""

    surrounding: SurroundingMessages
    notes: tuple[KnownNote, ...] = ()
    user_context: UserContext = EMPTY_USER_CONTEXT
    projects: ProjectContext = NO_PROJECT
    companion_state: CompanionState = EMPTY_COMPANION_STATE
    read_error: str | None = None  # why some of it could not be read
    unread_parts: tuple[ContextPart, ...] = ()

    def with_read_error(self, part: ContextPart, error: Exception) -> Self:
        """Return a copy with a part that could not be read and the reason."""
        return replace(
            self, read_error=format_error(error), unread_parts=(*self.unread_parts, part)
        )


async def load_known_context(utterance: Utterance, search_deps: SearchDeps) -> KnownContext:
    """Read what is known without a search; skip what cannot be read, except the recent messages."""
    try:
        async with search_deps.db.begin_read() as tx:
            surrounding = await load_surrounding_messages(tx, utterance)
            recent = surrounding.recent_messages
            return KnownContext(
                surrounding=surrounding,
                notes=await list_known_notes(tx, utterance.person),
                user_context=await load_user_context_for(tx, utterance, search_deps, recent),
                projects=await load_project_context(tx, utterance),
                companion_state=await load_companion_state(tx, search_deps.index_cache, utterance),
            )
    except READ_ERRORS:
        return await load_known_parts(utterance, search_deps)


async def load_known_parts(utterance: Utterance, search_deps: SearchDeps) -> KnownContext:
    """Read the known context part by part, so that a broken part does not affect the others."""
    async with search_deps.db.begin_read() as tx:
        parts = KnownContext(surrounding=await load_surrounding_messages(tx, utterance))
    try:
        async with search_deps.db.begin_read() as tx:
            parts = replace(parts, notes=await list_known_notes(tx, utterance.person))
    except READ_ERRORS as error:
        parts = parts.with_read_error("notes", error)
    try:
        async with search_deps.db.begin_read() as tx:
            recent = parts.surrounding.recent_messages
            user_context = await load_user_context_for(tx, utterance, search_deps, recent)
            projects = await load_project_context(tx, utterance)
            parts = replace(parts, user_context=user_context, projects=projects)
    except READ_ERRORS as error:
        parts = parts.with_read_error("profile", error)
    try:
        async with search_deps.db.begin_read() as tx:
            parts = replace(
                parts,
                companion_state=await load_companion_state(tx, search_deps.index_cache, utterance),
            )
    except READ_ERRORS as error:
        parts = parts.with_read_error("inner", error)
    return parts


async def load_user_context_for(
    tx: Transaction,
    utterance: Utterance,
    search_deps: SearchDeps,
    recent_messages: Sequence[Message] = (),
    *,
    text: str | None = None,
) -> UserContext:
    """Return what is known of the person and of those the utterance, or a text of it, means."""
    return await load_user_context(
        tx,
        search_deps.index_cache,
        utterance.person,
        [text or utterance.text, *(each.text for each in recent_messages[-MAX_SPOKEN_OF:])],
        language=utterance.message.language or "",
        now=utterance.message.at,
        answered_seqs=[each.seq for each in utterance.messages],
    )


def format_error(error: Exception) -> str:
    """Format an error for the receipt; never empty."""
    return str(error) or type(error).__name__


async def add_message_analysis(
    utterance: Utterance,
    perception: Perception,
    companion_state: CompanionState,
    user_context: UserContext,
    deps: TurnDependencies,
) -> CompanionState:
    """Return the companion state with the message analysis and the reply style chosen from it."""
    own_text = OwnText(
        text=utterance.own_words, message_ids=tuple(each.id for each in utterance.messages)
    )
    analysis = await analyze_message(
        own_text,
        perception,
        companion_state.working_memory,
        deps.small_model,
        companion_name=utterance.companion.name,
        person_name=utterance.person.name,
        tools=tuple(spec.name for spec in deps.tools),
    )
    core_texts = [user_context.soul, *(block.text for block in user_context.core_blocks)]
    style = choose_reply_style(utterance, companion_state, analysis, core_texts)
    return replace(companion_state, analysis=analysis, style=style)


async def recall_beyond_window(
    utterance: Utterance, query: RecallQuery, search_deps: SearchDeps
) -> RecallResult:
    """Recall what is not in the window and bears on the utterance, with neighbors."""
    return await recall_in_full(
        search_deps, utterance.person, query, limit=MAX_RECALLED, is_selective=True
    )


async def load_offline_context(
    utterance: Utterance, perception: Perception, search_deps: SearchDeps
) -> ReplyContext:
    """Load what the offline companion's reply can rest on, each thing only if needed."""
    asked = perception.question or utterance.text
    parts = split_question(asked, perception.language) if perception.intent == "question" else ()
    if len(parts) > 1:
        contexts = [
            await load_offline_context(utterance, replace(perception, question=part), search_deps)
            for part in parts
        ]
        return replace(contexts[0], question_parts=tuple(zip(parts, contexts, strict=True)))
    context = ReplyContext(recall_result=EMPTY_RECALL)
    if perception.needs_recall or perception.intent == "promises":
        context = await recall_offline(utterance, perception, search_deps, context)
        if context.unread_parts and context.recall_result is EMPTY_RECALL:
            alone = leave_out_beliefs(search_deps)
            context = await recall_offline(utterance, perception, alone, context)
    needs_more = perception.intent in LOOKUP_INTENTS or bool(context.recall_result.named_entities)
    context = await add_put_right(utterance, perception, search_deps, context)
    if perception.intent != "question" and perception.note is None and not needs_more:
        return context
    try:
        async with search_deps.db.begin_read() as tx:
            return await load_lookups(tx, utterance, perception, search_deps, context)
    except READ_ERRORS as error:
        return add_read_error(context, "profile", error)


async def add_put_right(
    utterance: Utterance, perception: Perception, search_deps: SearchDeps, context: ReplyContext
) -> ReplyContext:
    """Return the context with what the message has put right, as far as it could be read."""
    try:
        if not await is_putting_right(search_deps.db, utterance, perception):
            return context
        async with search_deps.db.begin_read() as tx:
            return replace(context, put_right=await load_put_right(tx, utterance))
    except READ_ERRORS as error:
        return add_read_error(context, "profile", error)


async def recall_offline(
    utterance: Utterance, perception: Perception, search_deps: SearchDeps, context: ReplyContext
) -> ReplyContext:
    """Return the context with what was recalled, as far as it could be read."""
    query = build_recall_query(utterance, perception, [])
    query = replace(query, max_beliefs=MAX_RECALLED_OFFLINE)
    is_read = perception.intent == "question" and bool(get_traits(query.language).reader)
    limit = MAX_READ_OFFLINE if is_read else MAX_RECALLED_OFFLINE
    try:
        found = await recall(search_deps, utterance.person, query, limit=limit)
        context = replace(context, recall_result=found)
        if is_read:
            found = await read_answers(
                search_deps, utterance.person, query.text, query.language, found
            )
            context = replace(context, recall_result=found)
        if perception.intent == "question":
            await asyncio.sleep(0)  # others are served between two looks at a long message
            found = await add_later_messages(search_deps, utterance.person, query, found)
            context = replace(context, recall_result=found)
    except READ_ERRORS as error:
        context = add_read_error(context, "search", error)
    return context


async def load_lookups(
    tx: Transaction,
    utterance: Utterance,
    perception: Perception,
    search_deps: SearchDeps,
    context: ReplyContext,
) -> ReplyContext:
    """Return the context with the lookups that the reply to this intent needs."""
    person = utterance.person
    match perception.intent:
        case "why_so" | "correct":
            return replace(context, previous_sources=await load_previous_sources(tx, utterance))
        case "believed_then":
            return replace(context, past_beliefs=await load_past_beliefs(tx, utterance))
        case "question" if not context.recall_result.named_entities:
            user_context = UserContext(core_blocks=tuple(await list_blocks(tx, person.id)))
            notes = () if perception.note is None else await list_known_notes(tx, person)
            told_then = await load_told_then(
                tx,
                utterance,
                build_question(build_recall_query(utterance, perception, []), person, None),
                is_happening_known=context.recall_result.is_belief_answerable,
            )
            return replace(context, user_context=user_context, notes=notes, told_then=told_then)
    known = await load_user_context_for(
        tx, utterance, search_deps, text=perception.question or utterance.text
    )
    context = replace(context, user_context=known)
    if perception.intent == "about_me":
        told_ids = await list_entities_mentioned_by_person(tx, person.id)
        told_entities = tuple(
            each for each in known.entities if each.id in told_ids or each.is_by_person
        )
        context = replace(context, user_context=replace(known, entities=told_entities))
    profile = known.profile
    profile_beliefs = (*list_profile_facts(profile), *profile.promises)
    entity_beliefs = (each for one in known.named for each in one.all_known)
    return replace(
        context,
        known_beliefs=await load_known_with_evidence(
            tx,
            person.id,
            [*profile_beliefs, *entity_beliefs, *known.relations_between],
            now=utterance.message.at,
        ),
        notes=await list_known_notes(tx, person),
        message_count=await count_messages(tx, person.id, role="person")
        if perception.intent == "about_me"
        else 0,
    )


def build_recall_query(
    utterance: Utterance, perception: Perception, excluded_seqs: list[int]
) -> RecallQuery:
    """Build the recall query from the question, or from the whole utterance."""
    answered = [each.seq for each in utterance.messages]
    return RecallQuery(
        text=perception.question or utterance.text,
        language=utterance.message.language,
        at=utterance.message.at,
        excluded_seqs=[*excluded_seqs, *answered],
        answered_seqs=answered,
    )
