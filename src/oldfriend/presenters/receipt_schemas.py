"""Receipts: why a reply was given, for the API, JSON and the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from oldfriend.domain.clock import HOUR, SECOND, Micros
from oldfriend.domain.ids import ObjectId, shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, StoredBelief
from oldfriend.domain.messages import Message, Role
from oldfriend.memory.receipts import UNPROMPTED_KEY, Receipt, ReceiptItem
from oldfriend.presenters.base_schema import (
    Schema,
    describe,
    to_one_line,
    to_optional_int,
    to_optional_text,
)
from oldfriend.presenters.belief_schemas import tell_now
from oldfriend.presenters.belief_sentences import tell_in_terminal
from oldfriend.presenters.hit_schemas import Hit, ReasonSchema
from oldfriend.presenters.message_schemas import (
    EvidenceSchema,
    MessageSchema,
    StoredMessage,
    evidence_as_json,
    evidence_as_text,
    format_message,
    format_said_at,
    format_when,
)
from oldfriend.presenters.resolved_receipts import ReceiptObject, ResolvedReceipt
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.turn.reason_texts import (
    INTENT_TEXTS,
    format_handled,
    format_reasons,
    name_likelihood,
    sort_reasons,
)
from oldfriend.turn.receipt_items import CORE_BLOCK_KEY, READER_KEY, READINGS_KEY
from oldfriend.usage.costs import MICRODOLLARS

MAX_REPLY_TIME: Final = HOUR  # one that took longer was delayed, which says nothing about speed
MAX_LEFT_OUT: Final = 3  # items named of what was left out; all of them are in the JSON
MAX_QUOTES = 3  # of a belief, shown with a reply; `memory show` lists the rest
SURENESS: Final = "It seemed {likelihood} that this answers you."
UNSURE: Final = (
    "Shown as close, not as the answer: it was not clear that any of them answers you and still "
    "holds. To the search it seemed {likelihood} that something you have said answers you."
)
KIND_NAMES: Mapping[str, str] = {"note": "your note", "summary": "what we talked about"}
NOT_SEARCHABLE = (
    "what the companion said without a model, and messages that only ask or greet, are not searched"
)
"""Why fewer messages can be found than are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptItemSchema(Schema):
    """A message or belief that a reply was based on, or that was considered for it."""

    kind: str
    id: str
    text: str | None = field(metadata=describe("Null if it was removed since."))
    role: Role | None = field(metadata=describe("Who said a message."))
    speaker: str | None
    channel: str | None
    at: str | None
    score: float
    why: tuple[ReasonSchema, ...] = field(metadata=describe("The strongest reasons first."))
    words: tuple[EvidenceSchema, ...]

    @classmethod
    def from_domain(
        cls,
        item: ReceiptItem,
        thing: ReceiptObject,
        words: Sequence[Evidence],
        *,
        zone: str,
        language: str = "",
        now: Micros | None = None,
    ) -> Self:
        """Present one item of a receipt, with its object and evidence."""
        message = thing if isinstance(thing, Message) else None
        return cls(
            kind=thing.kind if isinstance(thing, StoredBelief) else item.kind,
            id=item.object,
            text=name_ground(thing, words, zone=zone, language=language, now=now),
            role=None if message is None else message.role,
            speaker=None if message is None else message.speaker,
            channel=None if message is None else message.channel,
            at=None if message is None else format_said_at(message),
            score=round(item.score, 4),
            why=tuple(ReasonSchema.from_domain(each) for each in sort_reasons(item.reasons)),
            words=tuple(EvidenceSchema.from_domain(each) for each in words),
        )


def name_ground(
    thing: ReceiptObject,
    words: Sequence[Evidence],
    *,
    zone: str,
    language: str,
    now: Micros | None,
) -> str | None:
    """Return a belief as a sentence, or the text of a message; None: it was taken out since."""
    if isinstance(thing, StoredBelief):
        return tell_now(thing, words, now=now, zone=zone, language=language).text
    return None if thing is None else thing.text


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSectionSchema(Schema):
    """A section of the prompt."""

    name: str = field(metadata=describe(examples=["rules", "recent", "facts"]))
    tokens: int
    dropped: int = field(metadata=describe("The number of messages and beliefs that did not fit."))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpromptedReasonSchema(Schema):
    """Why a message was sent that answers nobody."""

    kind: str = field(metadata=describe("What made it.", examples=["reminder"]))
    reason: str = field(metadata=describe("Why it was sent, in a sentence in its language."))

    @classmethod
    def from_details(cls, details: Mapping[str, JsonValue]) -> Self | None:
        """Present the reason in the details of a receipt; None for a reply."""
        found = details.get(UNPROMPTED_KEY)
        if not isinstance(found, dict):
            return None
        return cls(kind=str(found["kind"]), reason=str(found["reason"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptSchema(Schema):
    """The receipt of a reply: why it was given."""

    id: str
    asked: MessageSchema | None = field(
        metadata=describe("What was answered; null if the message answers nobody.")
    )
    unprompted: UnpromptedReasonSchema | None = field(
        metadata=describe("Why it was sent without being asked; null for a reply.")
    )
    reply: MessageSchema
    intent: str = field(metadata=describe("How the message was understood, in a sentence."))
    sources: tuple[ReceiptItemSchema, ...] = field(
        metadata=describe("What the reply used, the most certain first.")
    )
    stood_on: tuple[ReceiptItemSchema, ...] = field(
        metadata=describe("The former name of `sources`.", deprecated=True)
    )
    is_written: bool = field(metadata=describe("Whether it quoted what the person wrote."))
    also_shown: tuple[ReceiptItemSchema, ...] = field(
        metadata=describe("What else the model was shown.")
    )
    left_out: tuple[ReceiptItemSchema, ...]
    only_shown: tuple[MessageSchema, ...] = field(
        metadata=describe("Other messages of the conversation that the model was shown.")
    )
    model: str | None
    prompt: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    seconds: float | None = field(metadata=describe("Seconds from the question to the reply."))
    sections: tuple[PromptSectionSchema, ...] = field(
        metadata=describe("The sections of the prompt; empty without a model.")
    )
    answerable: float | None = field(
        metadata=describe("The estimated probability that it answers the question, from 0 to 1.")
    )
    missing: tuple[str, ...] = field(
        metadata=describe("What it could not search in the memory, in the reply's language.")
    )
    as_text: str = field(metadata=describe("The receipt as text, as `oldfriend why` prints it."))

    @classmethod
    def from_domain(
        cls, resolved: ResolvedReceipt, language: str = "", *, now: Micros | None = None
    ) -> Self:
        """Present a receipt to the API, its beliefs as they are told in a language at a moment.

        Without a language they are told in their own, without a moment as they were said.
        """
        details, grounds = resolved.receipt.details, resolved.grounds
        model = details.get("model")
        model_call: Mapping[str, JsonValue] = model if isinstance(model, dict) else {}
        cost, answerable = to_optional_int(model_call.get("cost")), details.get("answerable")
        unprompted = UnpromptedReasonSchema.from_details(details)
        sources = build_grounds(resolved, grounds.used, language, now)
        return cls(
            id=resolved.receipt.id,
            asked=MessageSchema.from_domain(resolved.asked) if unprompted is None else None,
            unprompted=unprompted,
            reply=MessageSchema.from_domain(resolved.reply),
            intent=format_intent(resolved.receipt),
            sources=sources,
            stood_on=sources,
            is_written=bool(details.get(CORE_BLOCK_KEY)),
            also_shown=build_grounds(resolved, grounds.also_in_mind, language, now),
            left_out=build_grounds(resolved, grounds.left_out, language, now),
            only_shown=tuple(MessageSchema.from_domain(each) for each in resolved.shown_context),
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


def build_grounds(
    resolved: ResolvedReceipt,
    items: Sequence[tuple[ReceiptItem, ReceiptObject]],
    language: str,
    now: Micros | None,
) -> tuple[ReceiptItemSchema, ...]:
    """Present items of a receipt with their objects."""
    return tuple(
        ReceiptItemSchema.from_domain(
            item,
            thing,
            resolved.evidence.get(ObjectId(item.object), ()),
            zone=resolved.asked.zone,
            language=language,
            now=now,
        )
        for item, thing in items
    )


def compute_reply_seconds(resolved: ResolvedReceipt) -> float | None:
    """Compute the seconds from question to reply; None outside 0 to MAX_REPLY_TIME."""
    elapsed = resolved.receipt.made_at - resolved.asked.at
    is_reply = UNPROMPTED_KEY not in resolved.receipt.details
    return round(elapsed / SECOND, 1) if is_reply and 0 <= elapsed < MAX_REPLY_TIME else None


def build_sections(context: JsonValue) -> tuple[PromptSectionSchema, ...]:
    """Present the prompt sections, with the tokens of each and how much was dropped."""
    match context:
        case {"tokens": dict(tokens), "dropped": dict(dropped)}:
            return tuple(
                PromptSectionSchema(name=name, tokens=took, dropped=count_items(dropped.get(name)))
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
        "asked": None if UNPROMPTED_KEY in receipt.details else resolved.asked.text,
        "reply": resolved.reply.text,
        **receipt.details,
        "missing": [*list_missing_texts(receipt)],
        "evidence": items_as_json(resolved, grounds.used),
        "also_in_mind": items_as_json(resolved, grounds.also_in_mind),
        "considered": items_as_json(resolved, grounds.left_out),
        "only_shown": [
            StoredMessage.from_domain(each).as_json() for each in resolved.shown_context
        ],
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
        return Hit.from_message(thing, item.score, item.reasons).as_json()
    if isinstance(thing, StoredBelief):
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
        *format_occasion(resolved),
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
        shown, rest = grounds.left_out[:MAX_LEFT_OUT], len(grounds.left_out) - MAX_LEFT_OUT
        lines += ["", "Also considered, and left out:", *format_items(resolved, shown)]
        lines += [f"  … and {rest} more, which counted less"] if rest > 0 else []
    return "\n".join(
        [*lines, "", *format_confidence(receipt), *list_missing_texts(receipt)]
    ).rstrip()


def format_occasion(resolved: ResolvedReceipt) -> list[str]:
    """Format what was answered, or that nothing was."""
    when = f"({format_when(resolved.asked)}):"
    if UNPROMPTED_KEY in resolved.receipt.details:
        return [f"I wrote without being asked {when}"]
    return [f"You said {when}", f"    {to_one_line(resolved.asked.text)}", "I replied:"]


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
    if isinstance(thing, StoredBelief):
        name = KIND_NAMES.get(thing.kind, "what I believe")
        head = f"  • {name} ({shorten_id(thing.id)}): {to_one_line(tell_in_terminal(thing))}"
        return [
            head,
            *(f"      because {evidence_as_text(each)}" for each in evidence[:MAX_QUOTES]),
        ]
    head, reasons = format_message(thing), ", ".join(format_reasons(item.reasons))
    judged = (
        f"; to the reader it seems {name_likelihood(reading)} to answer you"
        if isinstance(reading, float)
        else ""
    )
    return [head, f"      because {reasons}{judged}"] if reasons else [head]


def format_intent(receipt: Receipt) -> str:
    """Format what the message was taken for, or why it was sent unasked, in a sentence."""
    unprompted = UnpromptedReasonSchema.from_details(receipt.details)
    if handled := format_handled(receipt.details):
        return handled
    known = INTENT_TEXTS.get(str(receipt.details.get("intent")), "It needed nothing from memory.")
    return known if unprompted is None else unprompted.reason


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
    is_unsure = receipt.details.get("certainty") == "unsure"
    likelihood = name_likelihood(answerable)
    lines = [(UNSURE if is_unsure else SURENESS).format(likelihood=likelihood)]
    by_reader = receipt.details.get(READER_KEY)
    if isinstance(by_reader, float):
        lines.append(
            "The built-in reader then read each message beside your question. To it, it seemed "
            f"{name_likelihood(by_reader)} that one of them answers."
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
