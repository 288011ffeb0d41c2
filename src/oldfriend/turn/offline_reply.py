"""Offline reply: answers without a model, by quoting memory or saying that it does not know.

Nothing is made up: apart from a few fixed sentences it only quotes. Does not write.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from oldfriend.domain.messages import Message
from oldfriend.lang.message_acts import classify_act
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.prompts.locale_phrases import LocalePhrases, load_phrases
from oldfriend.search import Reason, ScoredMessage, list_named_entities
from oldfriend.search.score import give_score
from oldfriend.turn.answer_reading import leave_out_requests
from oldfriend.turn.belief_texts import (
    ask_whether_one,
    format_belief,
    format_belief_with_quote,
    format_list,
    format_named_entities,
    format_open_promises,
    format_past_belief,
    format_relations_between,
    format_unknown_names,
    list_named_beliefs,
    list_open_promises,
)
from oldfriend.turn.intent import EDGE_PUNCTUATION, RULES_VERSION, Perception
from oldfriend.turn.lookups import answer_from_core_block
from oldfriend.turn.offline_ranking import (
    can_answer,
    can_answer_past,
    compute_fused_score,
    fits_question,
    has_better_messages,
    has_named_entity,
    has_newer_message,
    has_opposite_preference,
    is_about_requested,
    is_context_only,
    is_likely_known,
    is_only_relation,
    list_later_than_beliefs,
    list_newest_first,
    list_rewritten_beliefs,
    select_close,
    select_told,
    tells_role,
)
from oldfriend.turn.offline_texts import (
    acknowledge_statement,
    answer_about_beliefs,
    asks_for_creation,
    format_note_confirmation,
    format_recalled_quote,
    is_same_question,
    select_known_beliefs,
)
from oldfriend.turn.quotes import format_quote
from oldfriend.turn.recalled import (
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallResult,
    get_item_id,
    get_score,
)
from oldfriend.turn.receipt_items import (
    CORE_BLOCK_KEY,
    READER_KEY,
    READINGS_KEY,
    build_recalled_item,
)
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.turn_outcome import Reply, Utterance

MAX_QUOTES = 3
MAX_CLOSE = 4
"""Messages quoted where none is surely the answer, beside what was said later."""
MAX_BELIEFS = 2
MAX_VALUES = 8
MAX_TOLD_THEN = 6
"""Messages quoted of a time that is asked about."""
MIN_SCORE_RATIO = 0.5
"""Share of the best one's score that a further quote needs."""
MIN_CLOSE_RATIO = 0.05
"""Where the reader is not sure, a quote needs this share of the best one's score."""


def build_offline_reply(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    *,
    language: str | None = None,
) -> Reply:
    """Return the reply to one message from memory alone, in its language or a given one."""
    language = language or perception.language
    book = replace(
        load_phrases(language),
        patterns=load_phrases(perception.language).patterns,
        channel=utterance.message.channel,
    )
    book = book if utterance.is_persisted else book.with_read_only_phrases()
    result = context.recall_result
    text, items = build_reply_text(utterance, perception, context, book)
    core_block_answer = find_core_block_answer(utterance, perception, context, items)
    if core_block_answer:
        text, items = book.phrases["you_wrote"].format(text=core_block_answer), ()
    used = {each.object for each in items}
    if context.unread_parts:
        text = f"{text}\n\n{book.phrases['unreadable']}"
    elif result.is_degraded and perception.intent == "question":
        text = f"{text}\n\n{book.phrases['degraded']}"
    return Reply(
        text=text,
        language=language,
        items=(
            *items,
            *(
                build_recalled_item(each, used=False)
                for each in result.ranking
                if get_item_id(each) not in used
            ),
        ),
        details={
            "intent": perception.intent,
            "language": language,
            "author": RULES_VERSION,
            "signal": perception.signal,
            "risk": perception.injection.risk,
            "certainty": "sure" if core_block_answer else judge_certainty(items, context),
            "answerable": round(result.answer_probability, 3) if perception.needs_recall else None,
            **(
                {}
                if result.reader_probability is None
                else {
                    READER_KEY: round(result.reader_probability, 3),
                    READINGS_KEY: {
                        each.message.id: round(each.reading.probability, 3)
                        for each in result.messages
                        if each.reading is not None
                    },
                }
            ),
            "degraded": context.is_degraded,
            "missing": [*context.missing_parts],
            **({} if context.read_error is None else {"recall_failed": context.read_error}),
            CORE_BLOCK_KEY: utterance.message.id
            if core_block_answer
            else find_repeated_message_id(perception, context),
        },
    )


def judge_certainty(
    items: Sequence[ReceiptItem], context: ReplyContext
) -> Literal["sure", "unsure", "none"]:
    """Return how sure what is told is an answer.

    A belief is, unless of another time, or only who plays a role where another thing was asked.
    """
    recall_result = context.recall_result
    if not items:
        return "none"
    if context.told_then is not None:
        return "sure" if context.told_then.is_recap else "unsure"
    if items[0].object in {get_item_id(each) for each in recall_result.safety}:
        return "unsure"  # it matters here, and may not be what was asked
    if items[0].kind == "memory":
        is_other_time = recall_result.is_about_past and recall_result.values_at_other_times
        told = [each for each in recall_result.beliefs if get_item_id(each) == items[0].object]
        is_beside = any(tells_role(each) and not each.is_requested_value for each in told)
        return "unsure" if is_other_time or is_beside else "sure"
    return "sure" if items[0].object == recall_result.sure_message else "unsure"


def find_repeated_message_id(perception: Perception, context: ReplyContext) -> str:
    """Return the id of the message whose core block answer a "why?" repeats; else ""."""
    return context.previous_sources.core_block_message_id if perception.intent == "why_so" else ""


def find_core_block_answer(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    items: Sequence[ReceiptItem],
) -> str:
    """Return the core block lines that answer, if no belief or surer message does; else ""."""
    if perception.intent != "question" or perception.note is not None:
        return ""
    requested = context.recall_result.requested_attribute
    is_own = requested is not None and requested.is_own
    is_surer = judge_certainty(items, context) == "sure" and not is_own
    if is_surer or any(item.kind == "memory" for item in items):
        return ""
    question = perception.question or utterance.text
    return answer_from_core_block(question, perception.language, context.user_context.core_blocks)


def build_reply_text(
    utterance: Utterance, perception: Perception, context: ReplyContext, book: LocalePhrases
) -> tuple[str, Sequence[ReceiptItem]]:
    """Return the reply text, and receipt items for exactly the memories that it tells."""
    match perception.intent:
        case "question":
            text, used = answer_question(utterance, perception, context, book)
            text, items = add_receipt_items(text, used)
            if not is_rather_told(perception, items, context):
                return text, items
            told, related = acknowledge_statement(perception, context, book)
            return add_receipt_items(told, related)
        case "statement":
            told, related = acknowledge_statement(perception, context, book)
            return add_receipt_items(told, related)
        case "remember":
            return format_note_confirmation(perception.note or "", context, book), ()
        case "promises":
            return add_receipt_items(*answer_open_promises(utterance, context, book))
        case "greeting" if not utterance.is_first_in_chat:
            return book.phrases["greeting_again"], ()
        case intent:
            answer, items = answer_about_beliefs(utterance, perception, context, book)
            return answer or book.phrases[intent].format(name=utterance.companion.name), items


def is_rather_told(
    perception: Perception, items: Sequence[ReceiptItem], context: ReplyContext
) -> bool:
    """Tell whether what may rather tell or order is not answered, or not surely."""
    certainty = judge_certainty(items, context)
    if not perception.may_be_statement:
        return certainty != "sure" and asks_for_creation(perception)
    likely = classify_act(perception.text)
    is_unsure = certainty == "unsure" and likely["statement"] > likely["question"]
    return context.has_changed_beliefs or certainty == "none" or is_unsure


def add_receipt_items(text: str, used: Sequence[RecalledItem]) -> tuple[str, Sequence[ReceiptItem]]:
    """Return a text with receipt items for the memories in it."""
    return text, [build_recalled_item(each, used=True) for each in used]


def answer_open_promises(
    utterance: Utterance, context: ReplyContext, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Return what is promised or expected; without beliefs, the messages that tell of it."""
    listed = format_open_promises(
        context, book, now=utterance.message.at, zone=utterance.message.zone
    )
    if listed:
        return listed, select_known_beliefs(context, list_open_promises(context))
    text, used = answer_from_messages(context.recall_result, book)
    is_told = used and context.recall_result.is_answerable
    return (text, used) if is_told else (book.phrases["nothing_open"], ())


def answer_question(
    utterance: Utterance, perception: Perception, context: ReplyContext, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Answer a question, after confirming a note that came with it."""
    question = (perception.question or utterance.text).lower().strip(EDGE_PUNCTUATION)
    asks_who = book.patterns.who_is.search(question)
    zone, are_two = utterance.message.zone, len(context.user_context.named) > 1
    if are_two and book.patterns.how_tied.search(question):
        text, used = answer_relation_between(context, book, zone)
    elif context.told_then is not None:
        text, used = answer_told_then(context.told_then.messages, book)
    elif (
        asks_who
        and context.user_context.named
        and context.recall_result.requested_attribute is None
        and not context.recall_result.has_unknown_role
    ):
        text, used = answer_who_is(context, book, zone)
    else:
        text, used = put_later_first(
            *answer_from_memory(context.recall_result, book, zone), context.recall_result, book
        )
    text, used = add_safety(text, used, context.recall_result, book, zone)
    if perception.note is not None:
        text = f"{format_note_confirmation(perception.note, context, book)}\n\n{text}"
    return text, used


def add_safety(
    text: str,
    used: Sequence[RecalledItem],
    recall_result: RecallResult,
    book: LocalePhrases,
    zone: str,
) -> tuple[str, Sequence[RecalledItem]]:
    """Add what harms those whom a question about food or health means, if it is not told yet."""
    told = {*map(get_item_id, used)}
    added = [each for each in recall_result.safety if get_item_id(each) not in told][:MAX_VALUES]
    if added and all(isinstance(each, RecalledBelief) and tells_role(each) for each in used):
        used = ()  # who somebody is was not asked
    lines = [format_belief(each, book, zone) for each in added]
    return "\n\n".join([text, *lines] if used else lines or [text]), [*used, *added]


def answer_told_then(
    told: Sequence[Message], book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Quote what was told at the time that is asked about: some of each day, and how much more."""
    chosen = select_told(told, MAX_TOLD_THEN)
    lines = [f"• {format_quote(each, book)}" for each in chosen]
    if len(told) > len(chosen):
        lines.append(book.phrases["more_told"].format(count=len(told) - len(chosen)))
    score = give_score(1.0, Reason(cause="date", strength=1.0))
    used = [
        RecalledMessage(message=each, hit=ScoredMessage(seq=each.seq, score=score))
        for each in chosen
    ]
    return format_list(book.phrases["told_then"], lines), used


def answer_relation_between(
    context: ReplyContext, book: LocalePhrases, zone: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Tell how two named entities are related."""
    return format_relations_between(context, book, zone), select_known_beliefs(
        context, context.user_context.relations_between
    )


def answer_who_is(
    context: ReplyContext, book: LocalePhrases, zone: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Describe the named entities; if only their names are known, quote what mentions them."""
    if described := format_named_entities(context, book, zone):
        return described, select_known_beliefs(context, list_named_beliefs(context))
    named = [about.entity for about in context.user_context.named]
    mentioning = [
        each
        for each in context.recall_result.messages
        if list_named_entities(each.message.text, named)
    ]
    if not mentioning:
        return format_unknown_names(context, book), ()
    return quote_messages(mentioning, context.recall_result, book)


def answer_from_memory(
    recall_result: RecallResult, book: LocalePhrases, zone: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Answer from the best beliefs or messages, or say that there are none."""
    if any(each.is_requested_value for each in recall_result.beliefs):
        return answer_requested_values(recall_result, book, zone)
    if recall_result.values_at_other_times:
        answer_other_times = (
            answer_unknown_past if recall_result.is_about_past else answer_ended_values
        )
        return answer_other_times(recall_result, book, zone)
    if rewritten := list_rewritten_beliefs(recall_result):
        return answer_from_beliefs(rewritten, book, zone)
    beliefs = [
        each
        for each in recall_result.beliefs
        if can_answer(each, recall_result.requested_attribute)
        and not (recall_result.has_unknown_role and tells_role(each))
    ]
    is_known = recall_result.is_belief_answerable and beliefs[:1] == [*recall_result.beliefs[:1]]
    if is_known and is_only_relation(beliefs[0]):  # the relation was not asked for
        mentioning = [
            each for each in recall_result.messages if has_named_entity(each, recall_result)
        ]
        return (
            quote_messages(mentioning, recall_result, book)
            if mentioning
            else answer_from_beliefs(beliefs, book, zone)
        )
    if is_known and not (has_better_messages(recall_result) or has_newer_message(recall_result)):
        return answer_from_beliefs(beliefs, book, zone)
    return answer_from_messages(recall_result, book)


def put_later_first(
    text: str, used: Sequence[RecalledItem], recall_result: RecallResult, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Return an answer from beliefs after the messages that may have changed what they tell."""
    later = list_later_than_beliefs(used, recall_result)
    if not later:
        return text, used
    lines = [f"• {format_recalled_quote(each, book)}" for each in later]
    told = format_list(book.phrases["later_said"], lines)
    return f"{told}\n\n{book.phrases['before_that']}\n{text}", [*later, *used]


def answer_requested_values(
    recall_result: RecallResult, book: LocalePhrases, zone: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Return the values of the requested attribute; many of them as a list."""
    known = [each for each in recall_result.beliefs if each.is_requested_value]
    values = known[:MAX_VALUES]
    if len(values) <= MAX_BELIEFS:
        told = [format_belief(each, book, zone) for each in values]
        return "\n\n".join([*told, *ask_whether_one(values, book)]), values
    lines = [format_belief_with_quote(each, book, zone) for each in values]
    if rest := len(known) - len(values):
        lines.append(book.phrases["more_known"].format(count=rest))
    return format_list(book.phrases["known"].format(text="").strip(), lines), values


def answer_ended_values(
    recall_result: RecallResult, book: LocalePhrases, zone: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Return ended values with their time, and the beliefs that superseded them."""
    values = recall_result.values_at_other_times[:MAX_VALUES]
    ended_ids = {each.state.memory.id for each in values}
    ended_by = [
        each
        for each in recall_result.beliefs
        if any(
            link.kind == "supersedes" and link.target in ended_ids
            for link in each.state.memory.relations
        )
    ]
    lines = [
        *(format_past_belief(each, book, zone) for each in values),
        *(format_belief_with_quote(each, book, zone) for each in ended_by),
    ]
    return format_list(book.phrases["known"].format(text="").strip(), lines), [*values, *ended_by]


def answer_unknown_past(
    recall_result: RecallResult, book: LocalePhrases, zone: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Say that the past value is not known, or quote messages of that time.

    Values of other times are given if a time was named; for "before" they are no answer.
    """
    evidence_ids = {
        words.message for each in recall_result.values_at_other_times for words in each.evidence
    }
    candidates = [
        each
        for each in recall_result.messages
        if each.message.id not in evidence_ids and can_answer_past(each, recall_result)
    ]
    text, used = answer_from_messages(replace(recall_result, messages=tuple(candidates)), book)
    if recall_result.is_about_before_now:
        quoted = [text] if used else []
        return "\n\n".join([book.phrases["not_known_before"], *quoted]), used
    if used:
        return text, used
    values = recall_result.values_at_other_times[:MAX_VALUES]
    lines = (format_past_belief(each, book, zone) for each in values)
    listed = format_list(book.phrases["of_another_time"], lines)
    return f"{book.phrases['not_known_then']}\n\n{listed}", values


def answer_from_beliefs(
    beliefs: Sequence[RecalledBelief], book: LocalePhrases, zone: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Return the best beliefs, each with its evidence."""
    best = beliefs[0].score.value
    used = [each for each in beliefs if each.score.value >= MIN_SCORE_RATIO * best][:MAX_BELIEFS]
    return "\n\n".join(format_belief(each, book, zone) for each in used), used


def answer_from_messages(
    recall_result: RecallResult, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Return the messages that answer, or say that there are none.

    Unless the reader is sure of the first, the closest ones are told as no more than that.
    """
    matching = leave_out_requests(
        each
        for each in sorted(recall_result.messages, key=lambda each: -compute_fused_score(each))
        if is_about_requested(each, recall_result)
        and not has_opposite_preference(each, recall_result)
        and not is_same_question(each, recall_result.question)
    )
    fitting = [each for each in matching if fits_question(each, recall_result)]
    if not is_likely_known(recall_result) or not fitting:
        return book.phrases["nothing_found"], ()
    is_sure = fitting[0].message.id == recall_result.sure_message
    # Where the best one is about somebody else, or it is known what is asked, little else is close.
    is_narrow = is_sure or recall_result.is_narrow or fitting[0] is not matching[0]
    least = (MIN_SCORE_RATIO if is_narrow else MIN_CLOSE_RATIO) * max(map(get_score, matching))
    close = (
        [each for each in fitting if each is fitting[0] or get_score(each) >= least]
        if is_sure
        else select_close(fitting, least)
    )
    if not close:
        return book.phrases["nothing_found"], ()
    return quote_messages(close, recall_result, book)


def quote_messages(
    recalled: Sequence[RecalledMessage], recall_result: RecallResult, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Quote the first of these messages, each wording once; unless sure, as no more than close.

    What is only close is quoted with what was said later of the same, the newest first.
    """
    told = drop_repeated_wording(recalled)
    closest = told[:MAX_QUOTES]
    if closest[0].message.id != recall_result.sure_message:
        ordered = list_newest_first(told[:MAX_CLOSE], recall_result)
        lines = (f"• {format_recalled_quote(each, book)}" for each in ordered)
        return format_list(book.phrases["not_sure"], lines), ordered
    used = sorted(closest, key=is_context_only)
    first, *others = [format_recalled_quote(each, book) for each in used]
    if not others:
        return first, used
    listed = "\n".join(f"• {line}" for line in others)
    return f"{first}\n\n{book.phrases['also']}\n{listed}", used


def drop_repeated_wording(recalled: Sequence[RecalledMessage]) -> list[RecalledMessage]:
    """Return the messages with each wording once."""
    first = {" ".join(each.message.text.casefold().split()): each for each in reversed(recalled)}
    return [each for each in recalled if each in first.values()]
