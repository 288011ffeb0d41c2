"""Resolved receipts: a receipt with the messages and beliefs that it names, as they are now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId
from oldfriend.domain.memories import Evidence, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.memory.belief_views import get_memory
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.message_log import get_message
from oldfriend.memory.receipts import Receipt, ReceiptItem
from oldfriend.turn.receipt_items import CITED_KEY
from oldfriend.usage.model_calls import list_shown_ids

ReceiptObject: TypeAlias = Message | StoredBelief | None


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
        left_out = [pair for pair in self.items if not (pair[0].used or self.is_quoted(pair[0]))]
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

    def is_quoted(self, item: ReceiptItem) -> bool:
        """Tell whether an item is the message that a belief which the reply used rests on."""
        return any(
            each.message == item.object
            for belief, _ in self.items
            if belief.used
            for each in self.evidence.get(ObjectId(belief.object), ())
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


async def find_message(tx: Transaction, person: PersonId, message_id: MessageId) -> Message | None:
    """Return the current version of a message; None if it is gone, or the id is not a message's."""
    try:
        return await get_message(tx, person, message_id)
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
