"""Receipt presenter: search hits and receipts as text and as JSON values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId, shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.memory.beliefs import get_memory
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.messages import get_message
from oldfriend.memory.receipts import Receipt, ReceiptItem
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.search import Reason
from oldfriend.turn.reason_texts import format_reasons
from oldfriend.turn.receipt_items import CITED_KEY
from oldfriend.turn.retrieval import RecalledBelief
from oldfriend.usage.costs import MICRODOLLARS
from oldfriend.usage.model_calls import list_shown_ids

ReceiptObject: TypeAlias = Message | Memory | None

MAX_LINE_CHARS = 160
MAX_QUOTES = 3
"""How many quotes of a belief are shown with a reply; `memory show` lists the rest."""
KIND_NAMES: Mapping[str, str] = {"note": "your note", "summary": "what we talked about"}
NOT_SEARCHABLE = "not the companion's own words, nor what only asks or greets"
"""Why fewer messages can be found than are stored."""
INTENT_TEXTS = {
    "question": "You asked something, so I searched everything that you and others said.",
    "statement": "You told me something, so I looked whether it goes with something from before.",
    "about_me": "You asked what I know about you, so I told what I believe, and read your notes.",
    "promises": "You asked what is promised or expected, so I listed what is open.",
    "why_so": "You asked why, so I named the words that my answer before stood on.",
    "believed_then": "You asked what I believed at another time, so I looked what it was then.",
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


def format_said_at(message: Message) -> str:
    """Format when a message was said, in its own time zone, as ISO 8601."""
    return from_micros(message.at, message.zone).isoformat(timespec="seconds")


def hit_as_json(message: Message, score: float, why: tuple[Reason, ...]) -> dict[str, JsonValue]:
    """Return a found message as JSON."""
    return {
        **message_as_json(message),
        "score": round(score, 4),
        "why": list[JsonValue](format_reasons(why)),
    }


def belief_hit_as_json(remembered: RecalledBelief, zone: str) -> dict[str, JsonValue]:
    """Return a found belief as JSON, with its evidence."""
    memory, stats = remembered.state.memory, remembered.state.stats
    quotes: list[JsonValue] = [evidence_as_json(each) for each in remembered.evidence]
    return {
        "kind": memory.kind,
        "memory": memory.id,
        "text": memory.text,
        "key": memory.key,
        "value": memory.value,
        "status": memory.status,
        "trust": memory.trust,
        "confidence": stats.confidence,
        "times_seen": stats.times_seen,
        "at": format_in_zone(stats.last_seen, zone),
        "happened_at": format_in_zone(memory.happened_at, zone),
        "due_at": format_in_zone(memory.due_at, zone),
        "until": format_in_zone(memory.holds_until or memory.ended_at, zone),
        "score": round(remembered.score, 4),
        "why": list[JsonValue](format_reasons(remembered.why)),
        "evidence": quotes,
    }


def format_in_zone(at: Micros | None, zone: str) -> str | None:
    """Format a moment in a time zone as ISO 8601; None if there is none."""
    return None if at is None else from_micros(at, zone).isoformat(timespec="seconds")


def message_as_json(message: Message) -> dict[str, JsonValue]:
    """Return a message as JSON."""
    return {
        "message": message.id,
        "external_id": message.external_id,
        "session": message.session_name,
        "channel": message.channel,
        "speaker": message.speaker,
        "role": message.role,
        "trust": message.trust,
        "at": format_said_at(message),
        "text": message.text,
    }


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
        "only_shown": [message_as_json(message) for message in resolved.shown_context],
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
        return {"kind": "message", **hit_as_json(thing, item.score, item.why)}
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
    receipt = resolved.receipt
    intent_text = INTENT_TEXTS.get(
        str(receipt.details.get("intent")), "It needed nothing from memory."
    )
    grounds = resolved.grounds
    lines = [
        f"You said ({format_said_at(resolved.asked)}, {resolved.asked.channel}):",
        f"    {to_one_line(resolved.asked.text)}",
        "I replied:",
        *(f"    {line}" for line in resolved.reply.text.splitlines()),
        *format_model_note(receipt),
        "",
        intent_text,
    ]
    if grounds.used:
        lines += ["", "My reply stands on:", *format_items(resolved, grounds.used)]
    if grounds.also_in_mind:
        lines += ["", "Also in mind:", *format_items(resolved, grounds.also_in_mind)]
    if resolved.shown_context:
        lines += ["", "Only shown to the model, as what was said before:"]
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
    return [
        line
        for item, thing in items
        for line in format_item(item, thing, resolved.evidence.get(ObjectId(item.object), ()))
    ]


def format_item(item: ReceiptItem, thing: ReceiptObject, evidence: Sequence[Evidence]) -> list[str]:
    """Format one item of a receipt; a belief with its evidence."""
    if thing is None:
        return ["  • something that was taken out since"]
    if isinstance(thing, Memory):
        name = KIND_NAMES.get(thing.kind, "what I believe")
        head = f"  • {name} ({shorten_id(thing.id)}): {to_one_line(thing.text)}"
        return [
            head,
            *(f"      because {evidence_as_text(each)}" for each in evidence[:MAX_QUOTES]),
        ]
    head, reasons = format_message(thing), ", ".join(format_reasons(item.why))
    return [head, f"      because {reasons} (score {item.score:.2f})"] if reasons else [head]


def evidence_as_text(evidence: Evidence) -> str:
    """Format one piece of evidence."""
    who = "you" if evidence.trust == "person" else evidence.speaker
    said = "said" if evidence.stance == "supports" else "said against it"
    at = from_micros(evidence.said_at, evidence.zone).isoformat(timespec="minutes")
    return f"{who} {said}, {at}: “{to_one_line(evidence.quote)}”"


def evidence_as_json(evidence: Evidence) -> dict[str, JsonValue]:
    """Return one piece of evidence as JSON."""
    return {
        "message": evidence.message,
        "version": evidence.version,
        "quote": evidence.quote,
        "speaker": evidence.speaker,
        "trust": evidence.trust,
        "signal": evidence.signal,
        "stance": evidence.stance,
        "confidence": evidence.confidence,
        "found_by": evidence.extractor,
        "at": from_micros(evidence.said_at, evidence.zone).isoformat(timespec="seconds"),
    }


def format_message(message: Message) -> str:
    """Format a message with its speaker, time and channel."""
    where = f"{format_speaker(message)}, {format_said_at(message)}, {message.channel}"
    return f"  • {where}: {to_one_line(message.text)}"


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
            return [f"{line}; {kept_from} would have jarred." if kept_from else f"{line}."]
        case _:
            return []


def format_speaker(message: Message) -> str:
    """Format the speaker of a message, seen from the person."""
    if message.trust == "person":
        return "you"
    return message.speaker or message.channel


def format_confidence(receipt: Receipt) -> list[str]:
    """Format how certain the search was; empty if nothing was searched."""
    answerable = receipt.details.get("answerable")
    if not isinstance(answerable, float):
        return []
    return [f"How likely it seemed that this answers you: {answerable:.0%}."]


def list_missing_texts(receipt: Receipt) -> list[str]:
    """Return what of the memory a reply lacked, in its language."""
    details = receipt.details
    missing = details.get("missing")
    if not isinstance(missing, list):  # older receipts recorded only whether anything was missing
        missing = ["search" if "recall_failed" in details else "meaning"]
        missing = missing if details.get("degraded") else []
    locale = load_phrases(choose_language(str(details.get("language"))))
    return [locale.phrases[f"missing_{part}"] for part in missing]


def to_one_line(text: str) -> str:
    """Return a text on one line, truncated if it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_LINE_CHARS else f"{flat[: MAX_LINE_CHARS - 1]}…"


def format_count(count: int, one: str, many: str = "") -> str:
    """Format a count with its noun."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
