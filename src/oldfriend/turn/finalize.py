"""Finalize: turns the model's text, the offline reply or a failure into the final reply.

If the model could not answer, the reply says so in the person's language and adds what memory alone
can answer. Nothing is made up.
"""

from collections.abc import Sequence
from dataclasses import replace

from oldfriend.domain.clock import from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message
from oldfriend.llm.model import Completion
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.cited_sources import build_rarity_test, rank_cited_sources
from oldfriend.turn.combined_reply import build_combined_reply
from oldfriend.turn.companion_state import CompanionState
from oldfriend.turn.failure_messages import FailureKind, format_failure_message
from oldfriend.turn.generate import Actions
from oldfriend.turn.intent import Perception
from oldfriend.turn.receipt_items import CITED_KEY, build_listed_item, build_recalled_item
from oldfriend.turn.reply_context import ReplyContext, load_offline_context
from oldfriend.turn.reply_stream import ReplyStream
from oldfriend.turn.retrieval import READ_ERRORS, RecalledBelief, RecalledItem, get_item_id
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Reply, Utterance

MEMORY_INTENTS = frozenset(
    {"question", "remember", "about_me", "promises", "why_so", "believed_then"}
)
"""Intents that memory alone can still answer when the model fails."""


async def respond(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    actions: Actions,
    deps: TurnDependencies,
    stream: ReplyStream,
) -> Reply:
    """Return the reply to one utterance; all of it has been streamed when this returns."""
    if deps.model is None:
        return await respond_offline(utterance, perception, context, stream)
    if actions.failure_kind is None:
        reply = build_model_reply(perception, context, actions)
        recalled = (*context.recall_result.ranking, *actions.tool_items)
        cited = await list_cited_ids(
            utterance, context, recalled, replace(reply, text=stream.text), deps
        )
        reply = replace(reply, details={**reply.details, CITED_KEY: cited})
    else:
        reply = await respond_to_failure(
            utterance, perception, context, actions.failure_kind, deps, stream
        )
    details = {**reply.details, **build_reply_details(actions, context)}
    return replace(reply, text=stream.text, details=details)


async def respond_offline(
    utterance: Utterance, perception: Perception, context: ReplyContext, stream: ReplyStream
) -> Reply:
    """Return the offline companion's reply; its first one begins with what it is."""
    introduces = utterance.companion.introduced_at is None
    if introduces:
        await stream.write_paragraph(load_phrases(perception.language).phrases["offline"])
    reply = build_combined_reply(utterance, perception, context)
    await stream.write_paragraph(say_what_is_not_understood(reply.text, utterance, perception))
    if perception.intent == "about_me":
        await stream.write_paragraph(format_user_block(context, perception.language))
    return replace(reply, text=stream.text, is_introduction=introduces)


def say_what_is_not_understood(text: str, utterance: Utterance, perception: Perception) -> str:
    """Return a reply that tells, once in a chat, that a language is not understood offline."""
    if not utterance.is_first_unlearned:
        return text
    book = load_phrases(perception.language)
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
        language=perception.detected_language or perception.language,
        items=(*items, *(build_listed_item("memory", each, 1) for each in always_shown)),
        details={
            "intent": perception.intent,
            "language": perception.detected_language or perception.language,
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
    recalled: Sequence[RecalledItem],
    reply: Reply,
    deps: TurnDependencies,
) -> list[JsonValue]:
    """Return the ids of shown sources that a reply can be traced to, the surest first."""
    shown = {item.object for item in reply.items if item.used}
    texts: dict[str, str] = {each.id: each.text for each in context.always_known}
    texts |= {get_item_id(each): get_source_text(each) for each in recalled}
    sources = {each: text for each, text in texts.items() if each in shown}
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
            return [
                *rank_cited_sources(
                    reply.text, utterance.text, sources, languages=languages, is_rare=is_rare
                )
            ]
    except READ_ERRORS:
        return []


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
    is_known = failure_kind == "resting" and has_explained_today(
        utterance.message, context.recent_messages, failure_kind
    )
    if not is_known:
        await stream.write_paragraph(format_failure_message(failure_kind, book))
    offline_context = await load_offline_context(utterance, perception, deps.search_deps)
    language = perception.language if is_known else utterance.system_language
    reply = build_combined_reply(utterance, perception, offline_context, language=language)
    if not is_known and perception.intent not in MEMORY_INTENTS and perception.note is None:
        return replace(reply, items=())
    if perception.intent == "question" and not is_known:
        await stream.write_paragraph(book.phrases["from_memory"])
    await stream.write_paragraph(reply.text)
    return reply


def has_explained_today(
    now: Message, recent: tuple[Message, ...], failure_kind: FailureKind
) -> bool:
    """Tell whether the companion has reported this failure today, in the person's time zone."""
    today = from_micros(now.at, now.zone).date()
    failure_texts = [
        format_failure_message(failure_kind, load_phrases(language))
        for language in OFFLINE_LANGUAGES
    ]
    return any(
        failure_text in message.text
        for message in recent
        if message.role == "companion" and from_micros(message.at, now.zone).date() == today
        for failure_text in failure_texts
    )


def build_reply_details(actions: Actions, context: ReplyContext) -> dict[str, JsonValue]:
    """Return what the receipt keeps of the model calls, also of failed ones; only what exists."""
    details: dict[str, JsonValue] = {}
    if actions.built_prompt is not None:
        details["prompt"] = actions.built_prompt.request.prompt
        details["context"] = actions.built_prompt.trace
    if actions.completions:
        details["model"] = build_model_details(actions.completions)
    if actions.tool_uses:
        details["tools"] = [
            {"name": use.call.name, "ending": use.status} for use in actions.tool_uses
        ]
    if actions.failure_kind is not None:
        details["trouble"] = {"kind": actions.failure_kind, "error": actions.error}
    if context.companion_state.analysis is not None:
        details["understood"] = build_analysis_details(context.companion_state)
    if context.read_error is not None:
        details["recall_failed"] = context.read_error
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
