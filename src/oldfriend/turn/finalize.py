"""Finalize: turns the model's text, the offline reply or a failure into the final reply.

Without a model, each of the questions that a message asks is answered in turn.
If the model could not answer, the reply says so in the person's language and adds what memory alone
can answer. Nothing is made up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Final

from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message
from oldfriend.llm.model import Completion
from oldfriend.memory.receipts import RECORDS_KEY, SET_KEY, ReceiptItem
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.cited_sources import (
    build_rarity_test,
    check_stated_sources,
    rank_cited_sources,
)
from oldfriend.turn.companion_state import CompanionState
from oldfriend.turn.failure_messages import FailureKind, format_failure_message
from oldfriend.turn.generate import Actions
from oldfriend.turn.intent import EDGE_PUNCTUATION, RULES_VERSION, Perception
from oldfriend.turn.markers import WRITTEN
from oldfriend.turn.offline_reply import build_offline_reply
from oldfriend.turn.recalled import RecalledBelief, RecalledItem, get_item_id
from oldfriend.turn.receipt_items import (
    CHANGED_KEY,
    CITED_BY_KEY,
    CITED_KEY,
    HANDLED_KEY,
    INFERRED_KEY,
    TOOLS_KEY,
    USEFUL_KEY,
    build_listed_item,
    build_recalled_item,
)
from oldfriend.turn.reply_context import ReplyContext, load_offline_context
from oldfriend.turn.reply_stream import ReplyStream
from oldfriend.turn.retrieval import READ_ERRORS
from oldfriend.turn.task_changes import SaveTask
from oldfriend.turn.tools.tool_executor import SUCCESS_STATUSES, ToolUse
from oldfriend.turn.tools.tool_words import load_tool_words
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Reply, Utterance

MEMORY_INTENTS = frozenset(
    {"question", "remember", "about_me", "promises", "why_so", "believed_then"}
)
"""Intents that memory alone can still answer when the model fails."""
BULLET: Final = "• "
TOOL_RESULT: Final = "tool:"
"""How the id of a tool's result begins, among those of messages and beliefs."""
LEAST_CERTAIN: Final = ("none", "unsure", "sure")


async def respond(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    actions: Actions,
    deps: TurnDependencies,
    stream: ReplyStream,
) -> Reply:
    """Return the reply to one utterance; all of it has been streamed when this returns."""
    buttons = build_answer_buttons(perception, context, actions)
    if deps.model is None:
        reply = await respond_offline(utterance, perception, context, stream)
        done = build_done_details(actions, context)
        await write_afterwards(context, stream)
        details = {**reply.details, **done}
        return replace(reply, text=stream.text, details=details, buttons=buttons)
    if actions.failure_kind is None:
        reply = build_model_reply(perception, context, actions)
        cited = await list_cited_ids(
            utterance, context, actions, replace(reply, text=stream.text), deps
        )
        ids: list[JsonValue] = [each for each in cited if not each.startswith(TOOL_RESULT)]
        by: dict[str, JsonValue] = {} if actions.cited is None else {CITED_BY_KEY: "model"}
        reply = replace(reply, details={**reply.details, CITED_KEY: ids, **by})
        await write_handled(context, stream)
        await write_tool_changes(actions, perception, context, deps, stream)
    else:
        cited = None
        reply = await respond_to_failure(
            utterance, perception, context, actions.failure_kind, deps, stream
        )
    await write_questions(actions, stream)
    await write_afterwards(context, stream)
    details = {**reply.details, **build_reply_details(actions, context, cited)}
    return replace(reply, text=stream.text, details=details, buttons=buttons)


def build_answer_buttons(
    perception: Perception, context: ReplyContext, actions: Actions
) -> tuple[Button, ...]:
    """Return the buttons that answer the question before something is done, if one is asked."""
    is_asked = any(use.question for use in actions.tool_uses)
    if not is_asked and not any(each.asked_call for each in context.handled):
        return ()
    return load_tool_words(perception.reply_language).buttons


async def respond_offline(
    utterance: Utterance, perception: Perception, context: ReplyContext, stream: ReplyStream
) -> Reply:
    """Return the offline companion's reply; its first one begins with what it is."""
    introduces = utterance.companion.introduced_at is None
    if introduces:
        introduction = load_phrases(perception.offline_reply_language).phrases["offline"]
        await stream.write_paragraph(introduction)
    await write_handled(context, stream)
    if any(each.is_whole_message for each in context.handled):
        reply = build_handled_reply(perception, context)
        return replace(reply, text=stream.text, is_introduction=introduces)
    reply = build_combined_reply(utterance, perception, context)
    is_list_told = perception.intent == "promises" and any(each.text for each in context.handled)
    if is_list_told and not any(each.used and each.kind == "memory" for each in reply.items):
        reply = build_handled_reply(perception, context)  # only promises belong below a list
    else:
        await stream.write_paragraph(say_what_is_not_understood(reply.text, utterance, perception))
    if perception.intent == "about_me":
        await stream.write_paragraph(format_user_block(context, perception.offline_reply_language))
    return replace(reply, text=stream.text, is_introduction=introduces)


async def write_tool_changes(
    actions: Actions,
    perception: Perception,
    context: ReplyContext,
    deps: TurnDependencies,
    stream: ReplyStream,
) -> None:
    """Tell what the tools decided to change, in words that are worded from what is stored.

    What a model wrote as a marker and changed nothing is told, too: the model has not read why. A
    message of which something was done by rules may have left it nothing to do.
    """
    words = load_tool_words(perception.reply_language)
    labels = {spec.name: spec.label for spec in deps.tools}
    for use in actions.tool_uses:
        name = use.call.name
        if use.changes and use.summary:
            await stream.write_paragraph(use.summary)
        elif not use.call.id.startswith(WRITTEN) or use.changes or use.question:
            continue
        elif use.status in SUCCESS_STATUSES:
            if not context.handled_changes and use.result not in stream.text:
                await stream.write_paragraph(use.result)
        else:
            label = words.get_label(name, labels.get(name, ""))
            text = words.say["failed"].format(label=label, result="")
            await stream.write_paragraph(text.strip())


async def write_handled(context: ReplyContext, stream: ReplyStream) -> None:
    """Tell what was done for the message, in words that are worded from the store."""
    for each in context.handled:
        if each.text and not each.comes_last:
            await stream.write_paragraph(each.text)


async def write_afterwards(context: ReplyContext, stream: ReplyStream) -> None:
    """Tell what does not belong to the reply."""
    for each in context.handled:
        if each.comes_last:
            await stream.write_paragraph(each.text)


async def write_questions(actions: Actions, stream: ReplyStream) -> None:
    """Ask the person about the calls that wait for their yes."""
    for use in actions.tool_uses:
        if use.question:
            await stream.write_paragraph(use.question)


def build_handled_reply(perception: Perception, context: ReplyContext) -> Reply:
    """Build the reply to a message of which everything was handled by rules."""
    return Reply(
        text="",
        language=perception.offline_reply_language,
        items=tuple(item for each in context.handled for item in each.items),
        details={
            "intent": perception.intent,
            "language": perception.offline_reply_language,
            "author": RULES_VERSION,
            "certainty": "sure",
        },
    )


def build_combined_reply(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    *,
    language: str | None = None,
) -> Reply:
    """Return the offline reply to all that a message asks; it says which part is not known."""
    language = language or perception.offline_reply_language
    if not context.question_parts:
        return build_offline_reply(utterance, perception, context, language=language)
    replies: list[tuple[str, Reply]] = []
    for part, part_context in context.question_parts:
        asked = replace(perception, question=part, note=None if replies else perception.note)
        reply = build_offline_reply(utterance, asked, part_context, language=language)
        replies.append((part, reply))
    return join_replies(replies)


def join_replies(replies: list[tuple[str, Reply]]) -> Reply:
    """Join the replies to the parts of a question."""
    first = replies[0][1]
    phrase = load_phrases(first.language).phrases["part_not_known"]
    is_any_known = any(is_known(reply) for _, reply in replies)
    texts = [
        reply.text
        if is_known(reply) or not is_any_known
        else phrase.format(part=part.strip(EDGE_PUNCTUATION), text=reply.text)
        for part, reply in replies
    ]
    items: dict[str, ReceiptItem] = {}
    for _, reply in replies:
        for item in reply.items:
            if item.used or item.object not in items:
                items[item.object] = item
    certainties = [str(reply.details["certainty"]) for _, reply in replies]
    return replace(
        first,
        text=join_texts(texts),
        items=tuple(items.values()),
        details={**first.details, "certainty": min(certainties, key=LEAST_CERTAIN.index)},
    )


def join_texts(texts: Iterable[str]) -> str:
    """Join texts, each quote once: a list goes on with that of the text before, if called the same.

    A heading whose whole list has been said before is left out, too.
    """
    joined: list[tuple[list[str], list[str]]] = []
    seen = set[str]()
    for paragraph in (part for text in texts for part in text.split("\n\n")):
        lines = paragraph.split("\n")
        told = [each for each in lines if not each.startswith(BULLET)]
        listed = [each for each in lines if each.startswith(BULLET)]
        new = [each for each in listed or told if each.removeprefix(BULLET) not in seen]
        seen.update(each.removeprefix(BULLET) for each in lines)
        if new and listed and joined and told == joined[-1][0]:
            joined[-1][1].extend(new)
        elif new:
            joined.append((told, new if listed else []))
    return "\n\n".join("\n".join([*told, *listed]) for told, listed in joined)


def is_known(reply: Reply) -> bool:
    """Tell whether a reply answers."""
    return reply.details["certainty"] != "none"


def say_what_is_not_understood(text: str, utterance: Utterance, perception: Perception) -> str:
    """Return a reply that tells, once in a chat, that a language is not understood offline."""
    if not utterance.is_first_unlearned:
        return text
    book = load_phrases(perception.offline_reply_language)
    kept = {book.phrases["kept_words"], book.with_read_only_phrases().phrases["kept_words"]}
    told = book.phrases["not_understood"]
    return told if text in kept else f"{text}\n\n{told}"


def format_user_block(context: ReplyContext, language: str) -> str:
    """Quote what the person wrote about themselves; empty if they wrote nothing."""
    own = [block.text for block in context.user_context.core_blocks if block.name == "user"]
    return load_phrases(language).phrases["you_wrote"].format(text=own[0]) if own else ""


def build_model_reply(perception: Perception, context: ReplyContext, actions: Actions) -> Reply:
    """Build the reply of a model; everything that it was shown counts as used."""
    shown = frozenset[str]() if actions.built_prompt is None else actions.built_prompt.shown_ids
    result = context.recall_result
    found = {get_item_id(each): each for each in actions.tool_items}
    items = [
        build_recalled_item(each, used=get_item_id(each) in shown)
        for each in result.ranking
        if get_item_id(each) not in found
    ]
    items += [build_recalled_item(each, used=True) for each in found.values()]
    listed_ids = {item.object for item in items} | {
        each.id for each in context.user_context.summaries
    }
    always_known = dict.fromkeys(each.id for each in context.always_known)
    always_shown = [each for each in always_known if each in shown and each not in listed_ids]
    return Reply(
        text="",
        is_from_model=True,
        language=perception.reply_language,
        items=(*items, *(build_listed_item("memory", each, 1) for each in always_shown)),
        details={
            "intent": perception.intent,
            "language": perception.reply_language,
            "author": get_reply_prompt().id,
            "signal": perception.signal,
            "risk": perception.injection.risk,
            "answerable": round(result.answer_probability, 3) if result.messages else None,
            "degraded": context.is_degraded,
            "missing": [*context.missing_parts],
        },
    )


async def list_cited_ids(
    utterance: Utterance,
    context: ReplyContext,
    actions: Actions,
    reply: Reply,
    deps: TurnDependencies,
) -> list[str]:
    """Return the ids of shown sources that a reply rests on, the surest first.

    They are the records that its model cites or, where it cites nothing, that the reply can be
    traced to. The results of tools that show no records have their numbers for ids.
    """
    recalled = (*context.recall_result.ranking, *actions.tool_items)
    shown = {item.object for item in reply.items if item.used}
    texts: dict[str, str] = {each.id: each.text for each in context.always_known}
    texts |= {get_item_id(each): get_source_text(each) for each in recalled}
    sources = {each: text for each, text in texts.items() if each in shown}
    sources |= {
        f"{TOOL_RESULT}{number}": use.result
        for number, use in enumerate(actions.tool_uses)
        if use.status in SUCCESS_STATUSES and not use.items
    }
    if not sources:
        return []
    search_deps, answered_seqs = deps.search_deps, [each.seq for each in utterance.messages]
    languages = [reply.language, utterance.message.language]
    try:
        async with search_deps.db.begin_read() as tx:
            index = await search_deps.index_cache.get_message_index(
                tx, utterance.person.id, exclude=answered_seqs
            )
            is_rare = build_rarity_test(index)
            traced = rank_cited_sources(
                reply.text, utterance.text, sources, languages=languages, is_rare=is_rare
            )
    except READ_ERRORS:
        traced = []
    if actions.cited is None:
        return traced
    stated = check_stated_sources(
        actions.cited, traced, reply.text, utterance.text, sources, language=reply.language
    )
    return [*stated, *(each for each in traced if each.startswith(TOOL_RESULT))]


def get_source_text(item: RecalledItem) -> str:
    """Return the text of a recalled item; for a belief, with the words of its evidence."""
    if isinstance(item, RecalledBelief):
        return "\n".join([item.state.memory.text, *(each.quote for each in item.evidence)])
    return item.message.text


async def respond_to_failure(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    failure_kind: FailureKind,
    deps: TurnDependencies,
    stream: ReplyStream,
) -> Reply:
    """Tell why the model gave no answer, and answer what memory alone can answer.

    A model that is unavailable for long is explained once a day; otherwise the offline companion
    answers.
    """
    book = load_phrases(utterance.system_language)
    if stream.text:
        await stream.write_paragraph(book.phrases["broken_off"])
    await write_handled(context, stream)
    if any(each.is_whole_message for each in context.handled):
        return build_handled_reply(perception, context)
    is_known = failure_kind == "resting" and has_explained_today(
        utterance.message, context.recent_messages, failure_kind
    )
    if not is_known:
        await stream.write_paragraph(format_failure_message(failure_kind, book))
    offline_context = await load_offline_context(utterance, perception, deps.search_deps)
    language = perception.offline_reply_language if is_known else utterance.system_language
    reply = build_combined_reply(utterance, perception, offline_context, language=language)
    if not is_known and perception.intent not in MEMORY_INTENTS and perception.note is None:
        return replace(reply, items=())
    if perception.intent == "question" and not is_known:
        await stream.write_paragraph(book.phrases["from_memory"])
    await stream.write_paragraph(reply.text)
    return reply


def has_explained_today(
    current_message: Message, recent: tuple[Message, ...], failure_kind: FailureKind
) -> bool:
    """Tell whether the companion has reported this failure today, in the person's time zone."""
    today = from_micros(current_message.at, current_message.zone).date()
    failure_texts = [
        format_failure_message(failure_kind, load_phrases(language))
        for language in OFFLINE_LANGUAGES
    ]
    return any(
        failure_text in message.text
        for message in recent
        if message.role == "companion"
        and from_micros(message.at, current_message.zone).date() == today
        for failure_text in failure_texts
    )


def build_reply_details(
    actions: Actions, context: ReplyContext, cited: Sequence[str] | None
) -> dict[str, JsonValue]:
    """Return what the receipt keeps of the model calls, also of failed ones; only what exists."""
    details: dict[str, JsonValue] = {}
    if actions.built_prompt is not None:
        details["prompt"] = actions.built_prompt.request.prompt
        details["context"] = actions.built_prompt.trace
    if actions.completions:
        details["model"] = build_model_details(actions.completions)
    details |= build_done_details(actions, context, cited)
    if actions.failure_kind is not None:
        details["trouble"] = {"kind": actions.failure_kind, "error": actions.error}
    if context.companion_state.analysis is not None:
        details["understood"] = build_analysis_details(context.companion_state)
    if context.read_error is not None:
        details["recall_failed"] = context.read_error
    return details


def build_done_details(
    actions: Actions, context: ReplyContext, cited: Sequence[str] | None = None
) -> dict[str, JsonValue]:
    """Return what the receipt keeps of what was done by rules and tools; only what exists."""
    details: dict[str, JsonValue] = {}
    if handled := [each.name for each in context.handled if each.text]:
        details[HANDLED_KEY] = [*handled]
    inferred: list[JsonValue] = [[*pair] for each in context.handled for pair in each.inferred]
    if inferred:
        details[INFERRED_KEY] = inferred
    confirming = [each for each in (*context.handled_uses, *actions.tool_uses) if each.changes]
    records = [id_ for each in context.handled for id_ in each.records]
    records += [id_ for each in confirming for id_ in each.records]
    if records:
        details[RECORDS_KEY] = [*dict.fromkeys(records)]
    changes = [change for each in context.handled for change in each.changes]
    changes += [change for each in confirming for change in each.changes]
    made = [each.task.id for each in changes if isinstance(each, SaveTask) and each.is_setting]
    if made:
        details[SET_KEY] = [*dict.fromkeys(made)]
    tools = [build_tool_details(use) for use in context.handled_uses]
    for number, use in enumerate(actions.tool_uses):
        known: dict[str, JsonValue] = {}
        if cited is not None and use.status in SUCCESS_STATUSES:
            ids = [*map(get_item_id, use.items)] if use.items else [f"{TOOL_RESULT}{number}"]
            known[USEFUL_KEY] = not set(cited).isdisjoint(ids)
        tools.append({**build_tool_details(use), **known})
    if tools:
        details[TOOLS_KEY] = [*tools]
    return details


def build_tool_details(use: ToolUse) -> dict[str, JsonValue]:
    """Return what the receipt keeps of a tool use: how it ended, and where its result is from."""
    details: dict[str, JsonValue] = {"name": use.call.name, "ending": use.status}
    if use.changes:
        details[CHANGED_KEY] = True
    if use.sources:
        details["sources"] = [{**asdict(each)} for each in use.sources]
    return details


def build_analysis_details(companion_state: CompanionState) -> JsonValue:
    """Return the message analysis and the reply style for the receipt."""
    analysis, style = companion_state.analysis, companion_state.style
    assert analysis is not None
    details: dict[str, JsonValue] = {
        "by": analysis.author,
        "complexity": analysis.complexity,
        "emotion": analysis.emotion,
        "goal": analysis.goal,
        "signal": analysis.signal,
        "searched": analysis.needs_search,
    }
    if analysis.error:
        details["error"] = analysis.error
    if style is not None:
        details["style"] = style.mode
    if style is not None and style.rejected_mode is not None:
        details["kept_from"] = style.rejected_mode  # out of place after recent distress
    return details


def build_model_details(completions: Sequence[Completion]) -> JsonValue:
    """Return model, calls, tokens and cost; the cost is None if any call's cost is unknown."""
    costs = [each.cost for each in completions]
    known = [cost for cost in costs if cost is not None]
    return {
        "name": completions[-1].model,
        "calls": len(completions),
        "tokens_in": sum(each.usage.input for each in completions),
        "tokens_cached": sum(each.usage.cached for each in completions),
        "tokens_out": sum(each.usage.output for each in completions),
        "cost": sum(known) if len(known) == len(costs) else None,
    }
