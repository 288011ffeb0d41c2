"""Converters for messages, receipts and feed positions."""

from collections.abc import Container, Mapping, Sequence
from typing import Final

from oldfriend.api.converters.common import to_optional_int, to_optional_text, to_words_shape
from oldfriend.api.problem_json import ApiError
from oldfriend.api.schemas.chat import Ground, MessageShape, ReasonShape, ReceiptShape, SectionShape
from oldfriend.domain.clock import HOUR, SECOND
from oldfriend.domain.ids import MessageId, ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.inbound.voice_messages import is_voice_message
from oldfriend.memory.change_feed import FeedPosition
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.presenters.receipt_presenter import (
    INTENT_TEXTS,
    ReceiptObject,
    ResolvedReceipt,
    format_said_at,
    list_missing_texts,
    receipt_as_text,
)
from oldfriend.search import Reason
from oldfriend.turn.reason_texts import format_reason, sort_reasons
from oldfriend.turn.receipt_items import CORE_BLOCK_KEY
from oldfriend.usage.costs import MICRODOLLARS

MAX_REPLY_TIME: Final = HOUR
"""A reply that took longer was delayed, and its time says nothing about speed."""


def to_message_shape(message: Message, *, with_audio: Container[MessageId] = ()) -> MessageShape:
    """Convert a message; ``with_audio`` holds the ids of messages that have audio."""
    return MessageShape(
        id=message.id,
        version=message.version,
        role=message.role,
        speaker=message.speaker,
        trust=message.trust,
        channel=message.channel,
        session=message.session,
        turn=message.turn,
        text=message.text,
        at=format_said_at(message),
        is_aloud=is_voice_message(message.details),
        has_sound=message.id in with_audio,
    )


def to_receipt_shape(explained: ResolvedReceipt) -> ReceiptShape:
    """Convert a resolved receipt."""
    details = explained.receipt.details
    grounds, model = explained.grounds, details.get("model")
    model_call: Mapping[str, JsonValue] = model if isinstance(model, dict) else {}
    return ReceiptShape(
        id=explained.receipt.id,
        asked=to_message_shape(explained.asked),
        reply=to_message_shape(explained.reply),
        intent=INTENT_TEXTS.get(str(details.get("intent")), "It needed nothing from memory."),
        stood_on=to_ground_shapes(explained, grounds.used),
        is_written=bool(details.get(CORE_BLOCK_KEY)),
        also_shown=to_ground_shapes(explained, grounds.also_in_mind),
        left_out=to_ground_shapes(explained, grounds.left_out),
        only_shown=[to_message_shape(each) for each in explained.shown_context],
        model=to_optional_text(model_call.get("name")),
        prompt=to_optional_text(details.get("prompt")),
        tokens_in=to_optional_int(model_call.get("tokens_in")),
        tokens_out=to_optional_int(model_call.get("tokens_out")),
        cost_usd=None
        if (cost := to_optional_int(model_call.get("cost"))) is None
        else cost / MICRODOLLARS,
        seconds=compute_reply_seconds(explained),
        sections=to_section_shapes(details.get("context")),
        answerable=answerable
        if isinstance(answerable := details.get("answerable"), float)
        else None,
        missing=list_missing_texts(explained.receipt),
        as_text=receipt_as_text(explained),
    )


def to_ground_shapes(
    explained: ResolvedReceipt, items: Sequence[tuple[ReceiptItem, ReceiptObject]]
) -> list[Ground]:
    """Convert receipt items with their objects."""
    return [
        to_ground_shape(item, thing, explained.evidence.get(ObjectId(item.object), ()))
        for item, thing in items
    ]


def compute_reply_seconds(explained: ResolvedReceipt) -> float | None:
    """Compute the seconds from question to reply; None outside 0 to MAX_REPLY_TIME."""
    elapsed = explained.receipt.made_at - explained.asked.at
    return round(elapsed / SECOND, 1) if 0 <= elapsed < MAX_REPLY_TIME else None


def to_section_shapes(context: JsonValue) -> list[SectionShape]:
    """Convert the prompt sections, with the tokens of each and how much was dropped."""
    match context:
        case {"tokens": dict(tokens), "dropped": dict(dropped)}:
            return [
                SectionShape(name=name, tokens=took, dropped=count_items(dropped.get(name)))
                for name, took in tokens.items()
                if isinstance(took, int) and (took or name in dropped)
            ]
    return []


def count_items(value: JsonValue) -> int:
    """Count the items of a JSON list; 0 for any other value."""
    return len(value) if isinstance(value, list) else 0


def to_ground_shape(item: ReceiptItem, thing: ReceiptObject, words: Sequence[Evidence]) -> Ground:
    """Convert one receipt item with its object and evidence."""
    message = thing if isinstance(thing, Message) else None
    return Ground(
        kind=thing.kind if isinstance(thing, Memory) else item.kind,
        id=item.object,
        text=None if thing is None else thing.text,
        role=None if message is None else message.role,
        speaker=None if message is None else message.speaker,
        channel=None if message is None else message.channel,
        at=None if message is None else format_said_at(message),
        score=round(item.score, 4),
        why=[to_reason_shape(each) for each in sort_reasons(item.why)],
        words=[to_words_shape(each) for each in words],
    )


def to_reason_shape(reason: Reason) -> ReasonShape:
    """Convert a search reason."""
    return ReasonShape(
        cause=reason.cause,
        words=list(reason.words),
        name=reason.name or "",
        text=format_reason(reason),
    )


def format_position(position: FeedPosition) -> str:
    """Format a feed position as an event id."""
    return f"{position.last_seq}.{position.last_change}.{position.deletions}"


def is_sequence_number(text: str) -> bool:
    """Tell whether a text is an ASCII number of fewer than 18 digits."""
    return is_ascii_number(text) and len(text) < 18


def parse_position(text: str) -> FeedPosition:
    """Parse an event id into a feed position. Raises ApiError."""
    parts = text.split(".")
    if len(parts) != 3 or not all(is_sequence_number(part) for part in parts):
        raise ApiError(422, "That cannot be read", "Last-Event-ID is none of ours. Leave it out.")
    said, decided, rewritten = map(int, parts)
    return FeedPosition(last_seq=said, last_change=decided, deletions=rewritten)
