"""Receipts: why a reply was given, for the API, JSON and the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, SECOND
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId, shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, Memory
from oldfriend.domain.messages import Message, Role
from oldfriend.memory.belief_views import get_memory
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.message_log import get_message
from oldfriend.memory.receipts import Receipt, ReceiptItem
from oldfriend.presenters.base_schema import Schema, describe, to_one_line
from oldfriend.presenters.hit_schemas import Hit, ReasonShape
from oldfriend.presenters.message_schemas import (
    MessageShape,
    Words,
    WordsShape,
    evidence_as_json,
    evidence_as_text,
    format_message,
    format_said_at,
)
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.turn.reason_texts import format_reasons, sort_reasons
from oldfriend.turn.receipt_items import CITED_KEY, CORE_BLOCK_KEY, READER_KEY, READINGS_KEY
from oldfriend.usage.costs import MICRODOLLARS
from oldfriend.usage.model_calls import list_shown_ids

ReceiptObject: TypeAlias = Message | Memory | None

MAX_REPLY_TIME: Final = HOUR
"""A reply that took longer was delayed, and its time says nothing about speed."""
MAX_QUOTES = 3
"""How many quotes of a belief are shown with a reply; `memory show` lists the rest."""
KIND_NAMES: Mapping[str, str] = {"note": "your note", "summary": "what we talked about"}
NOT_SEARCHABLE = (
    "what the companion said without a model, and messages that only ask or greet, are not searched"
)
"""Why fewer messages can be found than are stored."""
INTENT_TEXTS = {
    "question": "You asked something, so I searched everything that you and others said.",
    "statement": "You told me something, so I looked for anything earlier that it relates to.",
    "about_me": "You asked what I know about you, so I told you, and read your notes.",
    "promises": "You asked what is promised or expected, so I listed what is still open.",
    "why_so": "You asked why, so I named the words that my previous answer was based on.",
    "believed_then": "You asked what I believed at another time, so I looked up what it was then.",
    "remember": "You asked me to remember something, so I noted your exact words.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedReceipt:
    """A receipt with everything that it refers to."""

    receipt: Receipt
    asked: Message
    reply: Message
    items: tuple[tuple[ReceiptItem, ReceiptObject], ...]
    evidence: Mapping[ObjectId, Sequence[Evidence]]  # evidence for and against each belief
    shown_context: tuple[Message, ...]  # recent messages that a model was also shown

    @property
    def grounds(self) -> "ReplyGrounds":
        """What the reply used, the most certain first; what else was in view; what was left out.

        Without a model it used what it quotes; with one, what its words can be traced to.
        """
        used = [pair for pair in self.items if pair[0].used]
        left_out = [pair for pair in self.items if not pair[0].used]
        if self.receipt.details.get("model") is None:
            return ReplyGrounds(used=used, also_in_mind=[], left_out=left_out)
        cited = self.receipt.details.get(CITED_KEY)
        order = {each: at for at, each in enumerate(cited)} if isinstance(cited, list) else {}
        traced = [pair for pair in used if pair[0].object in order]
        return ReplyGrounds(
            used=sorted(traced, key=lambda pair: order[pair[0].object]),
            also_in_mind=[pair for pair in used if pair[0].object not in order],
            left_out=left_out,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyGrounds:
    """What a reply was based on; the page, the CLI and the API show the same."""

    used: Sequence[tuple[ReceiptItem, ReceiptObject]]
    also_in_mind: Sequence[tuple[ReceiptItem, ReceiptObject]]
    left_out: Sequence[tuple[ReceiptItem, ReceiptObject]]


async def resolve_receipt(tx: Transaction, receipt: Receipt) -> ResolvedReceipt:
    """Load what a receipt refers to."""
    return ResolvedReceipt(
        receipt=receipt,
        asked=await get_message(tx, receipt.person, receipt.asked),
        reply=await get_message(tx, receipt.person, receipt.replied),
        items=tuple(
            [(item, await find_receipt_object(tx, receipt, item)) for item in receipt.items]
        ),
        evidence=await list_object_evidence(
            tx,
            receipt.person,
            [ObjectId(item.object) for item in receipt.items if item.kind == "memory"],
        ),
        shown_context=await list_shown_context(tx, receipt),
    )


async def list_shown_context(tx: Transaction, receipt: Receipt) -> tuple[Message, ...]:
    """Return the chat messages that a model was shown, oldest first."""
    ids = await list_shown_ids(tx, receipt.person, receipt.turn)
    known = {receipt.asked, *(item.object for item in receipt.items)}
    messages = [
        message
        for each in ids
        if each not in known
        and (message := await find_message(tx, receipt.person, MessageId(each))) is not None
    ]
    return tuple(sorted(messages, key=lambda message: message.seq))


async def find_message(tx: Transaction, person: PersonId, message: MessageId) -> Message | None:
    """Return the current version of a message; None if it is gone, or the id is not a message's."""
    try:
        return await get_message(tx, person, message)
    except NotFound:
        return None


async def find_receipt_object(
    tx: Transaction, receipt: Receipt, item: ReceiptItem
) -> ReceiptObject:
    """Return what an item refers to; None if an undone import has removed it."""
    try:
        if item.kind == "memory":
            return await get_memory(tx, receipt.person, MemoryId(ObjectId(item.object)))
        return await get_message(tx, receipt.person, MessageId(item.object), version=item.version)
    except NotFound:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground(Schema):
    """One thing that a reply stood on, or that was considered for it."""

    kind: str
    id: str
    text: str | None = field(metadata=describe("None: it was taken out since."))
    role: Role | None = field(metadata=describe("Of a message: who has said it."))
    speaker: str | None
    channel: str | None
    at: str | None
    score: float
    why: tuple[ReasonShape, ...] = field(metadata=describe("The strongest first."))
    words: tuple[WordsShape, ...]

    @classmethod
    def from_domain(
        cls, item: ReceiptItem, thing: ReceiptObject, words: Sequence[Evidence]
    ) -> Self:
        """Present one item of a receipt, with its object and evidence."""
        message = thing if isinstance(thing, Message) else None
        return cls(
            kind=thing.kind if isinstance(thing, Memory) else item.kind,
            id=item.object,
            text=None if thing is None else thing.text,
            role=None if message is None else message.role,
            speaker=None if message is None else message.speaker,
            channel=None if message is None else message.channel,
            at=None if message is None else format_said_at(message),
            score=round(item.score, 4),
            why=tuple(ReasonShape.from_domain(each) for each in sort_reasons(item.why)),
            words=tuple(WordsShape.from_domain(each) for each in words),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionShape(Schema):
    """A part of what a model was told."""

    name: str = field(metadata=describe(examples=["rules", "recent", "facts"]))
    tokens: int
    dropped: int = field(metadata=describe("How much did not fit in: messages and beliefs."))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptShape(Schema):
    """Why a reply was given."""

    id: str
    asked: MessageShape
    reply: MessageShape
    intent: str = field(metadata=describe("What the message was taken for, in a sentence."))
    stood_on: tuple[Ground, ...] = field(
        metadata=describe("What the reply used, the surest first.")
    )
    is_written: bool = field(
        metadata=describe("Whether it told what the person wrote about themselves.")
    )
    also_shown: tuple[Ground, ...] = field(metadata=describe("What a model had in view besides."))
    left_out: tuple[Ground, ...]
    only_shown: tuple[MessageShape, ...] = field(
        metadata=describe("What a model saw of the talk besides.")
    )
    model: str | None
    prompt: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    seconds: float | None = field(
        metadata=describe("How long it was in the making, from the question.")
    )
    sections: tuple[SectionShape, ...] = field(
        metadata=describe("What a model was told; empty: none was.")
    )
    answerable: float | None = field(
        metadata=describe("How likely it seemed that it answers, 0 to 1.")
    )
    missing: tuple[str, ...] = field(
        metadata=describe("What of the memory it lacked, in its language.")
    )
    as_text: str = field(metadata=describe("All of it to read, as `oldfriend why` prints it."))

    @classmethod
    def from_domain(cls, resolved: ResolvedReceipt) -> Self:
        """Present a receipt to the API."""
        details, grounds = resolved.receipt.details, resolved.grounds
        model = details.get("model")
        model_call: Mapping[str, JsonValue] = model if isinstance(model, dict) else {}
        cost, answerable = to_optional_int(model_call.get("cost")), details.get("answerable")
        return cls(
            id=resolved.receipt.id,
            asked=MessageShape.from_domain(resolved.asked),
            reply=MessageShape.from_domain(resolved.reply),
            intent=format_intent(resolved.receipt),
            stood_on=build_grounds(resolved, grounds.used),
            is_written=bool(details.get(CORE_BLOCK_KEY)),
            also_shown=build_grounds(resolved, grounds.also_in_mind),
            left_out=build_grounds(resolved, grounds.left_out),
            only_shown=tuple(MessageShape.from_domain(each) for each in resolved.shown_context),
            model=to_optional_text(model_call.get("name")),
            prompt=to_optional_text(details.get("prompt")),
            tokens_in=to_optional_int(model_call.get("tokens_in")),
            tokens_out=to_optional_int(model_call.get("tokens_out")),
            cost_usd=None if cost is None else cost / MICRODOLLARS,
            seconds=compute_reply_seconds(resolved),
            sections=build_sections(details.get("context")),
            answerable=answerable if isinstance(answerable, float) else None,
            missing=tuple(list_missing_texts(resolved.receipt)),
            as_text=receipt_as_text(resolved),
        )


def to_optional_text(value: JsonValue) -> str | None:
    """Return the value if it is a string, else None."""
    return value if isinstance(value, str) else None


def to_optional_int(value: JsonValue) -> int | None:
    """Return the value if it is an integer, else None."""
    return value if isinstance(value, int) else None


def build_grounds(
    resolved: ResolvedReceipt, items: Sequence[tuple[ReceiptItem, ReceiptObject]]
) -> tuple[Ground, ...]:
    """Present items of a receipt with their objects."""
    return tuple(
        Ground.from_domain(item, thing, resolved.evidence.get(ObjectId(item.object), ()))
        for item, thing in items
    )


def compute_reply_seconds(resolved: ResolvedReceipt) -> float | None:
    """Compute the seconds from question to reply; None outside 0 to MAX_REPLY_TIME."""
    elapsed = resolved.receipt.made_at - resolved.asked.at
    return round(elapsed / SECOND, 1) if 0 <= elapsed < MAX_REPLY_TIME else None


def build_sections(context: JsonValue) -> tuple[SectionShape, ...]:
    """Present the prompt sections, with the tokens of each and how much was dropped."""
    match context:
        case {"tokens": dict(tokens), "dropped": dict(dropped)}:
            return tuple(
                SectionShape(name=name, tokens=took, dropped=count_items(dropped.get(name)))
                for name, took in tokens.items()
                if isinstance(took, int) and (took or name in dropped)
            )
    return ()


def count_items(value: JsonValue) -> int:
    """Count the items of a JSON list; 0 for any other value."""
    return len(value) if isinstance(value, list) else 0


def receipt_as_json(resolved: ResolvedReceipt) -> dict[str, JsonValue]:
    """Return a receipt as JSON: what was used, what else was in view, what was only considered."""
    receipt, grounds = resolved.receipt, resolved.grounds
    return {
        "id": receipt.id,
        "turn": receipt.turn,
        "asked": resolved.asked.text,
        "reply": resolved.reply.text,
        **receipt.details,
        "missing": [*list_missing_texts(receipt)],
        "evidence": items_as_json(resolved, grounds.used),
        "also_in_mind": items_as_json(resolved, grounds.also_in_mind),
        "considered": items_as_json(resolved, grounds.left_out),
        "only_shown": [Words.from_domain(each).as_json() for each in resolved.shown_context],
    }


def items_as_json(
    resolved: ResolvedReceipt, items: Sequence[tuple[ReceiptItem, ReceiptObject]]
) -> list[JsonValue]:
    """Return items of a receipt as JSON."""
    return [
        item_as_json(item, thing, resolved.evidence.get(ObjectId(item.object), ()))
        for item, thing in items
    ]


def item_as_json(
    item: ReceiptItem, thing: ReceiptObject, evidence: Sequence[Evidence]
) -> JsonValue:
    """Return one item of a receipt as JSON; a belief with its evidence."""
    if isinstance(thing, Message):
        return Hit.from_message(thing, item.score, item.why).as_json()
    if isinstance(thing, Memory):
        quotes: list[JsonValue] = [evidence_as_json(each) for each in evidence]
        return {
            "kind": "memory",
            "memory": thing.id,
            "is": thing.kind,
            "text": thing.text,
            "evidence": quotes,
        }
    return {"kind": item.kind, item.kind: item.object, "text": None}


def receipt_as_text(resolved: ResolvedReceipt) -> str:
    """Format a receipt as an explanation."""
    receipt, grounds = resolved.receipt, resolved.grounds
    lines = [
        f"You said ({format_said_at(resolved.asked)}, {resolved.asked.channel}):",
        f"    {to_one_line(resolved.asked.text)}",
        "I replied:",
        *(f"    {line}" for line in resolved.reply.text.splitlines()),
        *format_model_note(receipt),
        "",
        format_intent(receipt),
    ]
    if grounds.used:
        lines += ["", "My reply is based on:", *format_items(resolved, grounds.used)]
    if grounds.also_in_mind:
        lines += ["", "Also in mind:", *format_items(resolved, grounds.also_in_mind)]
    if resolved.shown_context:
        lines += ["", "Only shown to the model, as earlier conversation:"]
        lines += [format_message(message) for message in resolved.shown_context]
    if grounds.left_out:
        lines += ["", "Also considered, and left out:", *format_items(resolved, grounds.left_out)]
    return "\n".join(
        [*lines, "", *format_confidence(receipt), *list_missing_texts(receipt)]
    ).rstrip()


def format_items(
    resolved: ResolvedReceipt, items: Sequence[tuple[ReceiptItem, ReceiptObject]]
) -> list[str]:
    """Format items of a receipt."""
    readings = resolved.receipt.details.get(READINGS_KEY)
    by_message = readings if isinstance(readings, dict) else {}
    return [
        line
        for item, thing in items
        for line in format_item(
            item,
            thing,
            resolved.evidence.get(ObjectId(item.object), ()),
            by_message.get(item.object),
        )
    ]


def format_item(
    item: ReceiptItem, thing: ReceiptObject, evidence: Sequence[Evidence], reading: object = None
) -> list[str]:
    """Format one item of a receipt; a belief with its evidence, a message as the reader read it."""
    if thing is None:
        return ["  • something that has since been removed"]
    if isinstance(thing, Memory):
        name = KIND_NAMES.get(thing.kind, "what I believe")
        head = f"  • {name} ({shorten_id(thing.id)}): {to_one_line(thing.text)}"
        return [
            head,
            *(f"      because {evidence_as_text(each)}" for each in evidence[:MAX_QUOTES]),
        ]
    head, reasons = format_message(thing), ", ".join(format_reasons(item.why))
    score = f"score {item.score:.2f}"
    if isinstance(reading, float):
        score += f", answers according to the reader: {reading:.0%}"
    return [head, f"      because {reasons} ({score})"] if reasons else [head]


def format_intent(receipt: Receipt) -> str:
    """Format what the message was taken for, in a sentence."""
    return INTENT_TEXTS.get(str(receipt.details.get("intent")), "It needed nothing from memory.")


def format_model_note(receipt: Receipt) -> list[str]:
    """Format which model wrote the reply and with which prompt, or why it did not."""
    model, prompt, failure = (receipt.details.get(each) for each in ("model", "prompt", "trouble"))
    lines: list[str] = []
    if isinstance(model, dict):
        usage = f"{model['tokens_in']:,} tokens in, {model['tokens_out']:,} out"
        cost = model["cost"]
        price = f"${cost / MICRODOLLARS:.4f}" if isinstance(cost, int) else "at an unknown cost"
        lines.append(f"Written by {model['name']}, with the prompt {prompt} ({usage}, {price}).")
    lines += format_manner(receipt)
    if isinstance(failure, dict):
        error = f": {failure['error']}" if failure["error"] else "."
        lines.append(f"The model did not answer ({failure['kind']}){error}")
    return ["", *lines] if lines else []


def format_manner(receipt: Receipt) -> list[str]:
    """Format what the message was taken to need, and how it was answered."""
    match receipt.details.get("understood"):
        case {"emotion": emotion, "goal": goal, "by": by, "style": style, **more}:
            line = f"Taken as {emotion}, answered to {goal} (judged by {by}), in the {style} style"
            kept_from = more.get("kept_from")
            return [
                f"{line}; {kept_from} would have been out of place." if kept_from else f"{line}."
            ]
        case _:
            return []


def format_confidence(receipt: Receipt) -> list[str]:
    """Format how certain the search was; empty if nothing was searched."""
    answerable = receipt.details.get("answerable")
    if not isinstance(answerable, float):
        return []
    lines = [f"How likely this seemed to answer you: {answerable:.0%}."]
    by_reader = receipt.details.get(READER_KEY)
    if isinstance(by_reader, float):
        lines.append(
            "The scores come from the search. The built-in reader then read each message beside "
            f"your question, and ordered them by both; it judged it {by_reader:.0%} likely that "
            "one of them answers."
        )
    return lines


def list_missing_texts(receipt: Receipt) -> list[str]:
    """Return what of the memory a reply lacked, in its language."""
    details = receipt.details
    missing = details.get("missing")
    if not isinstance(missing, list):  # older receipts recorded only whether anything was missing
        missing = ["search" if "recall_failed" in details else "meaning"]
        missing = missing if details.get("degraded") else []
    locale = load_phrases(choose_language(str(details.get("language"))))
    return [locale.phrases[f"missing_{part}"] for part in missing]
