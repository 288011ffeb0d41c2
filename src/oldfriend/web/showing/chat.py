"""How is what was said shown, and why?"""

from collections.abc import Container, Mapping, Sequence
from typing import Final

from oldfriend.app.recordings import is_aloud
from oldfriend.app.showing import INTENTS, Explained, Thing, moment, receipt_as_text
from oldfriend.domain.clock import HOUR, SECOND
from oldfriend.domain.ids import MessageId, ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.ledger.spending import DOLLAR
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.memory.search import Reason
from oldfriend.memory.watching import Position
from oldfriend.turn.explaining import in_words, strongest_first
from oldfriend.turn.receipting import WRITTEN
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.chat import Ground, MessageShape, ReasonShape, ReceiptShape, SectionShape
from oldfriend.web.showing.common import text_or_none, whole_or_none, words_shape
from oldfriend.web.showing.hearing import heard

LONGEST_MAKING: Final = HOUR
"""A reply that was put off for longer says nothing about how quick it was."""


def message_shape(message: Message, *, sounding: Container[MessageId] = ()) -> MessageShape:
    """A message; ``sounding`` are those that can be listened to."""
    return MessageShape(
        id=message.id, version=message.version, role=message.role, speaker=message.speaker,
        trust=message.trust, channel=message.channel, session=message.session,
        turn=message.turn, text=message.text, at=moment(message),
        is_aloud=is_aloud(message.details), has_sound=message.id in sounding,
    )  # fmt: skip


def receipt_shape(told_of: Explained) -> ReceiptShape:
    """Why a reply was given."""
    details = told_of.receipt.details
    grounds = [
        (item.used, ground_shape(item, thing, told_of.because.get(ObjectId(item.object), ())))
        for item, thing in told_of.stood_on
    ]
    used = [ground for is_used, ground in grounds if is_used]
    model = details.get("model")
    stood_on, also_shown = (used, []) if model is None else by_what_is_heard(told_of, used)
    spent: Mapping[str, JsonValue] = model if isinstance(model, dict) else {}
    return ReceiptShape(
        id=told_of.receipt.id, asked=message_shape(told_of.asked),
        reply=message_shape(told_of.reply),
        intent=INTENTS.get(str(details.get("intent")), "It needed nothing from memory."),
        stood_on=stood_on, is_written=bool(details.get(WRITTEN)), also_shown=also_shown,
        left_out=[ground for is_used, ground in grounds if not is_used],
        only_shown=[message_shape(each) for each in told_of.only_shown],
        model=text_or_none(spent.get("name")), prompt=text_or_none(details.get("prompt")),
        tokens_in=whole_or_none(spent.get("tokens_in")),
        tokens_out=whole_or_none(spent.get("tokens_out")),
        cost_usd=None if (cost := whole_or_none(spent.get("cost"))) is None else cost / DOLLAR,
        seconds=seconds_between(told_of), sections=sections_of(details.get("context")),
        answerable=answerable if isinstance(answerable := details.get("answerable"), float)
        else None,
        as_text=receipt_as_text(told_of),
    )  # fmt: skip


def by_what_is_heard(
    told_of: Explained, shown: Sequence[Ground]
) -> tuple[list[Ground], list[Ground]]:
    """What can be heard in a model's reply, the most first; and what it was shown besides.

    Of a reply in which none of it can be heard, all might be the reason.
    """
    texts = [" ".join([each.text or "", *(word.quote for word in each.words)]) for each in shown]
    reply = told_of.reply
    much = heard(reply.text, told_of.asked.text, texts, language=reply.language)
    ordered = sorted(zip(much, shown, strict=True), key=lambda each: -each[0])
    if not any(much):
        return list(shown), []
    return [ground for so, ground in ordered if so], [ground for so, ground in ordered if not so]


def seconds_between(told_of: Explained) -> float | None:
    """How long a reply was in the making; None where that cannot be told."""
    passed = told_of.receipt.made_at - told_of.asked.at
    return round(passed / SECOND, 1) if 0 <= passed < LONGEST_MAKING else None


def sections_of(context: JsonValue) -> list[SectionShape]:
    """What a model was told, part by part, and how much of each did not fit in."""
    match context:
        case {"tokens": dict(tokens), "dropped": dict(dropped)}:
            return [
                SectionShape(name=name, tokens=took, dropped=length_of(dropped.get(name)))
                for name, took in tokens.items()
                if isinstance(took, int) and (took or name in dropped)
            ]
    return []


def length_of(value: JsonValue) -> int:
    """How many stand in a list; none where it is none."""
    return len(value) if isinstance(value, list) else 0


def ground_shape(item: ReceiptItem, thing: Thing, words: Sequence[Evidence]) -> Ground:
    """One thing that a reply stood on."""
    message = thing if isinstance(thing, Message) else None
    return Ground(
        kind=thing.kind if isinstance(thing, Memory) else item.kind, id=item.object,
        text=None if thing is None else thing.text,
        role=None if message is None else message.role,
        speaker=None if message is None else message.speaker,
        channel=None if message is None else message.channel,
        at=None if message is None else moment(message), score=round(item.score, 4),
        why=[reason_shape(each) for each in strongest_first(item.why)],
        words=[words_shape(each) for each in words],
    )  # fmt: skip


def reason_shape(reason: Reason) -> ReasonShape:
    """Why something came to mind."""
    return ReasonShape(
        cause=reason.cause, words=list(reason.words), name=reason.name or "", text=in_words(reason)
    )


def position_text(position: Position) -> str:
    """How far somebody has looked, as an event's id."""
    return f"{position.said}.{position.decided}.{position.rewritten}"


def position_from(text: str) -> Position:
    """How far somebody has looked. Raises Refused."""
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isdigit() and len(part) < 18 for part in parts):
        raise Refused(422, "That cannot be read", "Last-Event-ID is none of ours. Leave it out.")
    said, decided, rewritten = map(int, parts)
    return Position(said=said, decided=decided, rewritten=rewritten)
