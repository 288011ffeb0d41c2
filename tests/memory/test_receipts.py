"""What a reply stood on can be looked up later, whole."""

from dataclasses import replace

import pytest

from oldfriend.domain.errors import StoreError
from oldfriend.domain.ids import new_id
from oldfriend.memory.receipts import (
    Receipt,
    ReceiptItem,
    count_quoted,
    find_receipt,
    write_receipt,
)
from oldfriend.memory.search import Reason
from tests.memory.conftest import Friend

WHY = (
    Reason(cause="words", words=("cat", "猫"), strength=0.75),
    Reason(cause="said_by", name="Tomás", strength=0.25),
)


async def receipt_for(friend: Friend) -> Receipt:
    """A question and its reply, with what the reply stood on."""
    asked = await friend.says("What is my cat called?")
    replied = await friend.says("Miso", role="companion", findable=False)
    return Receipt(
        id=new_id(friend.clock()), person=friend.person.id, turn=new_id(friend.clock()),
        asked=asked.id, asked_seq=asked.seq, replied=replied.id, made_at=friend.clock(),
        details={"intent": "question", "answerable": 0.875, "degraded": False, "rest": None},
        items=(
            ReceiptItem(kind="message", object=asked.id, version=1, used=True, score=0.5, why=WHY),
            ReceiptItem(kind="memory", object="n1", version=1, used=False, score=0.25, why=()),
        ),
    )  # fmt: skip


async def test_a_receipt_is_found_as_it_was_written_by_each_of_its_names(nora: Friend) -> None:
    """By its own id, its turn, its reply; and the last one without any."""
    receipt = await receipt_for(nora)
    async with nora.db.writing() as tx:
        await write_receipt(tx, receipt)
        for name in (receipt.id, receipt.turn, receipt.replied, None):
            assert await find_receipt(tx, nora.person.id, name) == receipt

        assert await find_receipt(tx, nora.person.id, "no such reply") is None


async def test_what_a_reply_quotes_is_counted_for_its_author_alone(nora: Friend) -> None:
    """Messages that were used, not notes; and not where the author's name only occurs."""
    by_rules, by_model = await receipt_for(nora), await receipt_for(nora)
    replies = [by_rules.replied, by_model.replied]
    async with nora.db.writing() as tx:
        await write_receipt(tx, replace(by_rules, details={"author": "rules/1"}))
        await write_receipt(tx, replace(by_model, details={"author": "x", "why": '"rules/1"'}))

        for author, quoted in (("rules/1", {by_rules.replied: 1}), ("rules/2", {})):
            assert await count_quoted(tx, nora.person.id, replies, author=author) == quoted


async def test_the_last_receipt_is_the_newest(nora: Friend) -> None:
    """Asking why means the last answer."""
    first, second = await receipt_for(nora), await receipt_for(nora)
    async with nora.db.writing() as tx:
        await write_receipt(tx, second)
        await write_receipt(tx, first)

        assert await find_receipt(tx, nora.person.id) == second


async def test_a_turn_has_one_receipt(nora: Friend) -> None:
    """A turn that runs again must not answer twice."""
    receipt = await receipt_for(nora)
    async with nora.db.writing() as tx:
        await write_receipt(tx, receipt)
    with pytest.raises(StoreError):
        async with nora.db.writing() as tx:
            await write_receipt(tx, replace(receipt, id=new_id(nora.clock())))
