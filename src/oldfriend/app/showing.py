"""How are hits and receipts shown, to people as text and to programs as JSON values?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId, short
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.ledger.looking_back import list_shown
from oldfriend.ledger.spending import DOLLAR
from oldfriend.memory.beliefs import get_memory
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.log import get_message
from oldfriend.memory.receipts import Receipt, ReceiptItem
from oldfriend.memory.search import Reason
from oldfriend.turn.explaining import reasons_in_words
from oldfriend.turn.recall import Remembered

Thing: TypeAlias = Message | Memory | None

LONGEST_LINE = 160
MOST_WORDS = 3
"""So much of what was said for a belief is shown with a reply; the rest by `memory show`."""
NAMES: Mapping[str, str] = {"note": "your note", "summary": "what we talked about"}
NOT_FOUND = "not the companion's own words, nor what only asks or greets"
"""Why fewer messages can be found than are kept."""
INTENTS = {
    "question": "You asked something, so I searched everything that you and others said.",
    "statement": "You told me something, so I looked whether it goes with something from before.",
    "about_me": "You asked what I know about you, so I told what I believe, and read your notes.",
    "promises": "You asked what is promised or expected, so I listed what is open.",
    "why_so": "You asked why, so I named the words that my answer before stood on.",
    "believed_then": "You asked what I believed at another time, so I looked what it was then.",
    "remember": "You asked me to remember something, so I noted your exact words.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A receipt with everything that it points to."""

    receipt: Receipt
    asked: Message
    reply: Message
    stood_on: tuple[tuple[ReceiptItem, Thing], ...]
    because: Mapping[ObjectId, Sequence[Evidence]]  # the words for and against each belief
    only_shown: tuple[Message, ...]  # to a model, beside that: what was said just before


async def explained(tx: Transaction, receipt: Receipt) -> Explained:
    """Look up what a receipt points to."""
    return Explained(
        receipt=receipt,
        asked=await get_message(tx, receipt.person, receipt.asked),
        reply=await get_message(tx, receipt.person, receipt.replied),
        stood_on=tuple([(item, await find_thing(tx, receipt, item)) for item in receipt.items]),
        because=await list_evidence_of(
            tx,
            receipt.person,
            [ObjectId(item.object) for item in receipt.items if item.kind == "memory"],
        ),
        only_shown=await list_only_shown(tx, receipt),
    )


async def list_only_shown(tx: Transaction, receipt: Receipt) -> tuple[Message, ...]:
    """What a model was shown of the talk itself, oldest first."""
    ids = await list_shown(tx, receipt.person, receipt.turn)
    known = {receipt.asked, *(item.object for item in receipt.items)}
    messages = [
        message
        for each in ids
        if each not in known
        and (message := await find_message(tx, receipt.person, MessageId(each))) is not None
    ]
    return tuple(sorted(messages, key=lambda message: message.seq))


async def find_message(tx: Transaction, person: PersonId, message: MessageId) -> Message | None:
    """A message as it reads now, if it is one and is there still."""
    try:
        return await get_message(tx, person, message)
    except NotFound:
        return None


async def find_thing(tx: Transaction, receipt: Receipt, item: ReceiptItem) -> Thing:
    """What an item names; None when it was taken out since, by undoing an import."""
    try:
        if item.kind == "memory":
            return await get_memory(tx, receipt.person, MemoryId(ObjectId(item.object)))
        return await get_message(tx, receipt.person, MessageId(item.object), version=item.version)
    except NotFound:
        return None


def moment(message: Message) -> str:
    """When a message was said, by the clocks where it was said, as ISO 8601."""
    return from_micros(message.at, message.zone).isoformat(timespec="seconds")


def hit_as_json(message: Message, score: float, why: tuple[Reason, ...]) -> dict[str, JsonValue]:
    """A found message for a program."""
    return {
        **message_as_json(message),
        "score": round(score, 4),
        "why": list[JsonValue](reasons_in_words(why)),
    }


def belief_hit_as_json(remembered: Remembered, zone: str) -> dict[str, JsonValue]:
    """A found belief for a program, with the words that it rests on."""
    memory, standing = remembered.known.memory, remembered.known.standing
    words: list[JsonValue] = [words_as_json(each) for each in remembered.words]
    return {
        "kind": memory.kind, "memory": memory.id, "text": memory.text, "key": memory.key,
        "value": memory.value, "status": memory.status, "trust": memory.trust,
        "confidence": standing.confidence, "times_seen": standing.times_seen,
        "at": in_zone(standing.last_seen, zone),
        "happened_at": in_zone(memory.happened_at, zone),
        "due_at": in_zone(memory.due_at, zone),
        "until": in_zone(memory.holds_until or memory.ended_at, zone),
        "score": round(remembered.score, 4),
        "why": list[JsonValue](reasons_in_words(remembered.why)),
        "evidence": words,
    }  # fmt: skip


def in_zone(at: Micros | None, zone: str) -> str | None:
    """A moment by the clocks of a zone, as ISO 8601; None where there is none."""
    return None if at is None else from_micros(at, zone).isoformat(timespec="seconds")


def message_as_json(message: Message) -> dict[str, JsonValue]:
    """A message for a program."""
    return {
        "message": message.id,
        "external_id": message.external_id,
        "session": message.session_name,
        "channel": message.channel,
        "speaker": message.speaker,
        "role": message.role,
        "trust": message.trust,
        "at": moment(message),
        "text": message.text,
    }


def receipt_as_json(explained: Explained) -> dict[str, JsonValue]:
    """A receipt for a program: what was used first, then what was only considered."""
    receipt = explained.receipt
    items: list[JsonValue] = [
        item_as_json(item, thing, explained.because.get(ObjectId(item.object), ()))
        for item, thing in explained.stood_on
    ]
    return {
        "id": receipt.id,
        "turn": receipt.turn,
        "asked": explained.asked.text,
        "reply": explained.reply.text,
        **receipt.details,
        "evidence": [each for each, item in zip(items, receipt.items, strict=True) if item.used],
        "considered": [
            each for each, item in zip(items, receipt.items, strict=True) if not item.used
        ],
        "only_shown": [message_as_json(message) for message in explained.only_shown],
    }


def item_as_json(item: ReceiptItem, thing: Thing, words: Sequence[Evidence]) -> JsonValue:
    """One thing that a reply stood on, for a program; of a belief with its words."""
    if isinstance(thing, Message):
        return {"kind": "message", **hit_as_json(thing, item.score, item.why)}
    if isinstance(thing, Memory):
        told: list[JsonValue] = [words_as_json(each) for each in words]
        return {
            "kind": "memory", "memory": thing.id, "is": thing.kind, "text": thing.text,
            "evidence": told,
        }  # fmt: skip
    return {"kind": item.kind, item.kind: item.object, "text": None}


def receipt_as_text(explained: Explained) -> str:
    """A receipt as an explanation to read."""
    receipt = explained.receipt
    intent = INTENTS.get(str(receipt.details.get("intent")), "It needed nothing from memory.")
    used = [pair for pair in explained.stood_on if pair[0].used]
    left = [pair for pair in explained.stood_on if not pair[0].used]
    lines = [
        f"You said ({moment(explained.asked)}, {explained.asked.channel}):",
        f"    {one_line(explained.asked.text)}",
        "I replied:",
        *(f"    {line}" for line in explained.reply.text.splitlines()),
        *by_model(receipt),
        "",
        intent,
    ]
    if used:
        lines += ["", "My reply stands on:", *lines_of(explained, used)]
    if explained.only_shown:
        lines += ["", "Only shown to the model, as what was said before:"]
        lines += [message_line(message) for message in explained.only_shown]
    if left:
        lines += ["", "Also considered, and left out:", *lines_of(explained, left)]
    return "\n".join([*lines, "", confidence(receipt)]).rstrip()


def lines_of(explained: Explained, items: Sequence[tuple[ReceiptItem, Thing]]) -> list[str]:
    """Some of what a reply was based on, to read."""
    return [
        line
        for item, thing in items
        for line in item_lines(item, thing, explained.because.get(ObjectId(item.object), ()))
    ]


def item_lines(item: ReceiptItem, thing: Thing, words: Sequence[Evidence]) -> list[str]:
    """One thing that a reply stood on, to read; of a belief with its words."""
    if thing is None:
        return ["  • something that was taken out since"]
    if isinstance(thing, Memory):
        name = NAMES.get(thing.kind, "what I believe")
        head = f"  • {name} ({short(thing.id)}): {one_line(thing.text)}"
        return [head, *(f"      because {words_as_text(each)}" for each in words[:MOST_WORDS])]
    head, because = message_line(thing), ", ".join(reasons_in_words(item.why))
    return [head, f"      because {because} (score {item.score:.2f})"] if because else [head]


def words_as_text(words: Evidence) -> str:
    """Words that bear on a belief, to read."""
    who = "you" if words.trust == "person" else words.speaker
    said = "said" if words.stance == "supports" else "said against it"
    at = from_micros(words.said_at, words.zone).isoformat(timespec="minutes")
    return f"{who} {said}, {at}: “{one_line(words.quote)}”"


def words_as_json(words: Evidence) -> dict[str, JsonValue]:
    """Words that bear on a belief, for a program."""
    return {
        "message": words.message, "version": words.version, "quote": words.quote,
        "speaker": words.speaker, "trust": words.trust, "signal": words.signal,
        "stance": words.stance, "confidence": words.confidence, "found_by": words.extractor,
        "at": from_micros(words.said_at, words.zone).isoformat(timespec="seconds"),
    }  # fmt: skip


def message_line(message: Message) -> str:
    """Who said something, when and where, and what."""
    where = f"{who_said(message)}, {moment(message)}, {message.channel}"
    return f"  • {where}: {one_line(message.text)}"


def by_model(receipt: Receipt) -> list[str]:
    """Which model wrote the reply, told what by which prompt; or why it did not."""
    model, prompt, trouble = (receipt.details.get(each) for each in ("model", "prompt", "trouble"))
    lines: list[str] = []
    if isinstance(model, dict):
        took = f"{model['tokens_in']:,} tokens in, {model['tokens_out']:,} out"
        cost = model["cost"]
        paid = f"${cost / DOLLAR:.4f}" if isinstance(cost, int) else "at an unknown cost"
        lines.append(f"Written by {model['name']}, with the prompt {prompt} ({took}, {paid}).")
    lines += in_which_manner(receipt)
    if isinstance(trouble, dict):
        error = f": {trouble['error']}" if trouble["error"] else "."
        lines.append(f"The model did not answer ({trouble['kind']}){error}")
    return ["", *lines] if lines else []


def in_which_manner(receipt: Receipt) -> list[str]:
    """What the message was taken to need, and how it was answered for that reason."""
    match receipt.details.get("understood"):
        case {"emotion": emotion, "goal": goal, "by": by, "style": style, **more}:
            line = f"Taken as {emotion}, answered to {goal} (judged by {by}), in the {style} style"
            kept_from = more.get("kept_from")
            return [f"{line}; {kept_from} would have jarred." if kept_from else f"{line}."]
        case _:
            return []


def who_said(message: Message) -> str:
    """Whose words these are, to the person."""
    if message.trust == "person":
        return "you"
    return message.speaker or message.channel


def confidence(receipt: Receipt) -> str:
    """How sure the search was, in words."""
    answerable = receipt.details.get("answerable")
    if not isinstance(answerable, float):
        return ""
    degraded = (
        " I searched by words alone; my sense for meaning wasn't working."
        if receipt.details.get("degraded")
        else ""
    )
    return f"How likely it seemed that this answers you: {answerable:.0%}.{degraded}"


def one_line(text: str) -> str:
    """A text on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_LINE else f"{flat[: LONGEST_LINE - 1]}…"


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things, as it is said."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
