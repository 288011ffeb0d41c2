"""Turn pipeline: perceive, recall, act, respond, remember.

It reads and decides; the caller writes the decision in one transaction.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.messages import PRESSED_DETAIL, Message
from oldfriend.llm.model import TextCallback
from oldfriend.llm.unavailable import DisabledEmbedder
from oldfriend.memory.working_memory import WorkingMemory
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.companion_state import build_next_working_memory
from oldfriend.turn.confirmed_calls import settle_pending_call
from oldfriend.turn.failure_messages import FailureKind, format_failure_message
from oldfriend.turn.finalize import respond
from oldfriend.turn.follow_up import resolve_follow_up
from oldfriend.turn.generate import Actions, act
from oldfriend.turn.intent import RULES_VERSION, Intent, Perception, perceive
from oldfriend.turn.message_worth import is_worth_finding
from oldfriend.turn.note_extraction import find_own_words, is_same_note
from oldfriend.turn.recalled import SearchDeps, find_no_embedder
from oldfriend.turn.reply_context import ReplyContext, load_offline_context, load_reply_context
from oldfriend.turn.reply_stream import ReplyStream
from oldfriend.turn.request_handlers.command_requests import find_command_intent
from oldfriend.turn.request_handlers.goal_requests import fold_goal_changes
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    handle_requests,
)
from oldfriend.turn.request_handlers.hint_requests import find_hint
from oldfriend.turn.store_change import StoreChange
from oldfriend.turn.task_changes import fold_task_changes, list_saved
from oldfriend.turn.tool_log_changes import build_rules_log, build_tool_log
from oldfriend.turn.tools.confirmation import KeepPendingCall
from oldfriend.turn.tools.note_tool import NOTE_TOOL
from oldfriend.turn.tools.tool_executor import ToolUse
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import NoteDecision, Outcome, Reply, Utterance

GROUP_INTENTS: Final[Mapping[Intent, Intent]] = {"remember": "statement", "about_me": "question"}


async def run_turn(
    utterance: Utterance, deps: TurnDependencies, *, say: TextCallback | None = None
) -> Outcome:
    """Run the turn of one utterance; with ``say``, stream the reply while it is written."""
    stream = ReplyStream(say, name=utterance.companion.name)
    perception = perceive_utterance(utterance)
    perception = await resolve_follow_up(utterance, perception, deps.search_deps)
    handled = await handle_utterance(utterance, perception, deps)
    hint = await find_hint(build_handler_context(utterance, perception, deps))
    handled = handled if hint is None else (*handled, hint)
    if any(each.is_command for each in handled):
        deps = replace(deps, model=None)
    context = await load_reply_context(utterance, perception, deps)
    context = replace(context, handled=handled)
    actions = await act(utterance, perception, context, deps, stream)
    if deps.model is not None and actions.failure_kind is None:
        context = replace(context, handled=tuple(each for each in handled if not each.is_fallback))
    await asyncio.sleep(0)  # a long message takes a while to be read; others are served between
    reply = await respond(utterance, perception, context, actions, deps, stream)
    return build_outcome(utterance, perception, context, actions, reply)


async def finish_without_model(
    utterance: Utterance,
    deps: TurnDependencies,
    *,
    failure_kind: FailureKind,
    text_so_far: str = "",
    say: TextCallback | None = None,
) -> Outcome:
    """Finish a turn that was stopped from outside because its model took too long.

    ``text_so_far`` is what had been streamed of the reply; the failure message continues from
    there. Memory is searched by words alone: no outside service is called any more.
    """
    stream = ReplyStream(say, name=utterance.companion.name, text=text_so_far)
    perception = perceive_utterance(utterance)
    perception = await resolve_follow_up(utterance, perception, deps.search_deps)
    deps = replace(deps, search_deps=without_embedder(deps.search_deps))
    context = await load_offline_context(utterance, perception, deps.search_deps)
    handled = await handle_utterance(utterance, perception, deps)
    context = replace(context, handled=handled)
    actions = Actions(failure_kind=failure_kind)
    reply = await respond(utterance, perception, context, actions, deps, stream)
    return build_outcome(utterance, perception, context, actions, reply)


def perceive_utterance(utterance: Utterance) -> Perception:
    """Classify the utterance.

    In a group nothing is noted, and "me" is only one of several people.
    """
    person = utterance.person
    fixed = person.language if person.has_fixed_language and not utterance.is_in_group else None
    perception = perceive(utterance.own_words, utterance.addressee)
    perception = replace(perception, fixed_language=fixed)
    intent = find_command_intent(utterance.own_words)
    if intent is not None:
        perception = replace(perception, intent=intent, note=None)
    if PRESSED_DETAIL in utterance.message.details:  # no words of theirs, which tell a language
        language = choose_language(utterance.message.language)
        perception = replace(perception, language=language, detected_language=None)
    if not utterance.is_in_group:
        return perception
    intent = GROUP_INTENTS.get(perception.intent, perception.intent)
    return replace(perception, intent=intent, note=None)


async def handle_utterance(
    utterance: Utterance, perception: Perception, deps: TurnDependencies
) -> tuple[HandledRequest, ...]:
    """Decide by rules what the utterance asks to be done, and run the call that it allows."""
    settled = await settle_pending_call(utterance, perception, deps)
    if settled is not None and settled.is_whole_message:
        return (settled,)
    context = build_handler_context(utterance, perception, deps)
    handled = await handle_requests(context, deps.handlers)
    return handled if settled is None else (settled, *handled)


def build_handler_context(
    utterance: Utterance, perception: Perception, deps: TurnDependencies
) -> HandlerContext:
    """Build what handlers may read in this turn."""
    return HandlerContext(
        utterance=utterance,
        perception=perception,
        db=deps.search_deps.db,
        clock=deps.clock,
        model_name=None if deps.model is None else deps.model.name,
        unavailable_reason=deps.unavailable_reason,
    )


def without_embedder(search_deps: SearchDeps) -> SearchDeps:
    """Return search dependencies that call no embedding model and no reader."""
    embedder = search_deps.embedder
    if embedder is not None:
        embedder = DisabledEmbedder(model=embedder.model, dimension=embedder.dimension)
    return replace(
        search_deps, embedder=embedder, find_former_embedder=find_no_embedder, reader=None
    )


def build_failure_outcome(utterance: Utterance) -> Outcome:
    """Return the outcome of a turn that failed for a reason of our own in every attempt."""
    message = format_failure_message("broken", load_phrases(utterance.system_language))
    return build_fixed_outcome(utterance, message, failure_kind="broken")


def build_fixed_outcome(utterance: Utterance, text: str, *, failure_kind: str) -> Outcome:
    """Return the outcome of a turn that only says that there can be no answer."""
    reply = Reply(text=text, language=utterance.system_language, details={})
    return Outcome(
        reply=reply, notes=(), language=None, is_informative=False, failure_kind=failure_kind
    )


def build_outcome(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    actions: Actions,
    reply: Reply,
) -> Outcome:
    """Collect everything that a turn has decided."""
    return Outcome(
        reply=reply,
        notes=decide_notes(utterance, perception, context, actions.tool_uses),
        language=perception.detected_language,
        is_informative=is_worth_finding(utterance.own_words, perception),
        working_memory=update_working_memory(utterance, context, actions, reply),
        failure_kind=actions.failure_kind,
        seen_ids=collect_seen_ids(utterance, context, actions, reply).union(perception.named_in),
        read_messages=(*context.recent_messages, *context.replied_to),
        changes=collect_changes(utterance, perception, context, actions, reply),
    )


def collect_changes(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    actions: Actions,
    reply: Reply,
) -> tuple[StoreChange, ...]:
    """Return the changes that the turn decided: what was asked for, and what tools decided.

    They include the log of its tools, while there is a store to keep it.
    """
    uses = (*context.handled_uses, *actions.tool_uses) if utterance.is_persisted else ()
    asked = [each.asked_call for each in context.handled if each.asked_call is not None]
    decided = (
        *context.handled_changes,
        *(KeepPendingCall(call=each) for each in asked[-1:]),
        *(each for use in actions.tool_uses for each in use.changes),
    )
    log = build_tool_log(uses, reply.details, intent=perception.intent)
    by_rules = context.handled if utterance.is_persisted else ()
    rules_log = build_rules_log(by_rules, intent=perception.intent)
    return (*log, *rules_log, *fold_goal_changes(fold_task_changes(decided)))


def collect_seen_ids(
    utterance: Utterance, context: ReplyContext, actions: Actions, reply: Reply
) -> frozenset[str]:
    """Return the ids of everything a turn was decided from: shown to models or quoted."""
    analysis = context.companion_state.analysis
    return frozenset(
        [
            *(each.id for each in utterance.messages),
            *(item.object for item in reply.items if item.used),
            *(() if analysis is None else analysis.seen_ids),
            *actions.seen_ids,
            *context.companion_state.working_memory.source_ids,
        ]
    )


def update_working_memory(
    utterance: Utterance, context: ReplyContext, actions: Actions, reply: Reply
) -> WorkingMemory | None:
    """Return the working memory after a turn; None (unchanged) if no model has answered.

    It keeps no records, and nothing from outside: what a tool has shown of them is found again when
    it is needed.
    """
    if actions.failure_kind is not None:
        return None
    results = [use.result for use in actions.tool_uses if not use.items and not use.sources]
    result = results[-1] if results else ""
    return build_next_working_memory(
        utterance,
        context.companion_state,
        reply.text,
        tool_result=result,
        seen_ids=actions.seen_ids,
        now=utterance.message.at,
    )


def decide_notes(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    tool_uses: Sequence[ToolUse],
) -> tuple[NoteDecision, ...]:
    """Return the notes this turn decides on, each once; the caller stores them.

    What the same words have put on the person's list is no note beside.
    """
    listed = [each.text.casefold() for each in list_saved(context.handled_changes)]
    by_rules = [
        each
        for each in list_rule_notes(utterance, perception)
        if not any(text in each.text.casefold() for text in listed)
    ]
    notes: list[NoteDecision] = []
    for note in [*by_rules, *list_model_notes(utterance, tool_uses)]:
        if not any(is_same_note(note.text, other.text) for other in notes):
            notes.append(note)
    return tuple(notes)


def list_rule_notes(utterance: Utterance, perception: Perception) -> Iterator[NoteDecision]:
    """Yield the notes that the person asked for in words that a rule knows."""
    for part in split_note(utterance, perception.note or ""):
        source = find_source_message(utterance, part)
        if source is not None:
            yield NoteDecision(text=part, source=source, author=RULES_VERSION)


def list_model_notes(utterance: Utterance, tool_uses: Sequence[ToolUse]) -> Iterator[NoteDecision]:
    """Yield the model's notes, matched again with the person's words, even for reused calls."""
    for use in tool_uses:
        if use.call.name == NOTE_TOOL and use.status in {"done", "reused"}:
            found = find_own_words(utterance, str(use.call.arguments["words"]))
            if found is not None:
                yield NoteDecision(
                    text=found.text, source=found.source, author=get_reply_prompt().id
                )


def split_note(utterance: Utterance, note: str) -> list[str]:
    """Return a note whole, or line by line if it spans several messages."""
    if not note or find_source_message(utterance, note) is not None:
        return [note] if note else []
    return [line.strip() for line in note.splitlines() if line.strip()]


def find_source_message(utterance: Utterance, words: str) -> Message | None:
    """Return the newest of the person's messages that contains these words."""
    own = [message for message in utterance.messages[::-1] if message.trust == "person"]
    return next((message for message in own if words in message.text), None)
