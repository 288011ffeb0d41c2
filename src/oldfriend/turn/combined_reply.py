"""Combined reply: answers each of the questions that a message asks, without a model."""

from dataclasses import replace
from typing import Final

from oldfriend.memory.receipts import ReceiptItem
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.turn.intent import EDGE_PUNCTUATION, Perception
from oldfriend.turn.offline_reply import build_offline_reply
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.turn_outcome import Reply, Utterance

LEAST_CERTAIN: Final = ("none", "unsure", "sure")


def build_combined_reply(
    utterance: Utterance,
    perception: Perception,
    context: ReplyContext,
    *,
    language: str | None = None,
) -> Reply:
    """Return the offline reply to all that a message asks; it says which part is not known."""
    if not context.question_parts:
        return build_offline_reply(utterance, perception, context, language=language)
    replies: list[tuple[str, Reply]] = []
    for part, part_context in context.question_parts:
        asked = replace(perception, question=part, note=None if replies else perception.note)
        reply = build_offline_reply(utterance, asked, part_context, language=language)
        replies.append((part, reply))
    return join_replies(replies)


def join_replies(replies: list[tuple[str, Reply]]) -> Reply:
    """Join the replies to the parts of a question; the same words are said once."""
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
        text="\n\n".join(dict.fromkeys(texts)),
        items=tuple(items.values()),
        details={**first.details, "certainty": min(certainties, key=LEAST_CERTAIN.index)},
    )


def is_known(reply: Reply) -> bool:
    """Tell whether a reply answers."""
    return reply.details["certainty"] != "none"
