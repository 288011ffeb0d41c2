"""What a reply stood on can be looked up later, whole."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import StoreError
from oldfriend.domain.ids import new_id
from oldfriend.memory.receipts import (
    MemoryUsage,
    Receipt,
    ReceiptItem,
    count_source_messages,
    delete_expired_traces,
    find_memory_usage,
    find_next_trace_expiry,
    find_receipt,
    write_receipt,
)
from oldfriend.search import Reason
from tests.two_people import Friend

WHY = (
    Reason(cause="words", words=("cat", "猫"), strength=0.75),
    Reason(cause="said_by", name="Tomás", strength=0.25),
)


async def receipt_for(friend: Friend) -> Receipt:
    """A question and its reply, with what the reply stood on."""
    asked = await friend.says("What is my cat called?")
    replied = await friend.says("Miso", role="companion", findable=False)
    return Receipt(
        id=new_id(friend.clock()),
        person=friend.person.id,
        turn=new_id(friend.clock()),
        asked=asked.id,
        asked_seq=asked.seq,
        replied=replied.id,
        made_at=friend.clock(),
        details={"intent": "question", "answerable": 0.875, "degraded": False, "rest": None},
        items=(
            ReceiptItem(
                kind="message", object=asked.id, version=1, used=True, score=0.5, reasons=WHY
            ),
            ReceiptItem(kind="memory", object="n1", version=1, used=False, score=0.25, reasons=()),
        ),
    )


async def test_receipt_is_found_by_its_id_turn_or_reply(nora: Friend) -> None:
    """By its own id, its turn, its reply; and the last one without any."""
    receipt = await receipt_for(nora)
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, receipt)
        for name in (receipt.id, receipt.turn, receipt.replied, None):
            assert await find_receipt(tx, nora.person.id, name) == receipt

        assert await find_receipt(tx, nora.person.id, "no such reply") is None


async def test_source_messages_are_counted_only_for_the_given_author(nora: Friend) -> None:
    """Messages that were used, not notes; and not where the author's name only occurs."""
    by_rules, by_model = await receipt_for(nora), await receipt_for(nora)
    replies = [by_rules.replied, by_model.replied]
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, replace(by_rules, details={"author": "rules/1"}))
        await write_receipt(tx, replace(by_model, details={"author": "x", "why": '"rules/1"'}))

        for author, quoted in (("rules/1", {by_rules.replied: 1}), ("rules/2", {})):
            assert await count_source_messages(tx, nora.person.id, replies, author=author) == quoted


async def test_default_receipt_lookup_returns_the_newest(nora: Friend) -> None:
    """Asking why means the last answer."""
    first, second = await receipt_for(nora), await receipt_for(nora)
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, second)
        await write_receipt(tx, first)

        assert await find_receipt(tx, nora.person.id) == second


async def test_a_turn_has_one_receipt(nora: Friend) -> None:
    """A turn that runs again must not answer twice."""
    receipt = await receipt_for(nora)
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, receipt)
    with pytest.raises(StoreError):
        async with nora.db.begin_write() as tx:
            await write_receipt(tx, replace(receipt, id=new_id(nora.clock())))


async def test_receipt_trace_expires_after_two_weeks_and_used_items_stay(
    nora: Friend,
) -> None:
    """Then scores, words and what was only considered are gone; causes stay, strongest first."""
    receipt = await receipt_for(nora)
    receipt = replace(receipt, details={**receipt.details, "context": {"budget": "normal"}})
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, receipt)
        assert await find_next_trace_expiry(tx, nora.person.id) == receipt.made_at + 14 * DAY
        assert not await delete_expired_traces(tx, nora.person.id, now=nora.clock() + 13 * DAY)
        assert await find_receipt(tx, nora.person.id) == receipt

        assert await delete_expired_traces(tx, nora.person.id, now=nora.clock() + 15 * DAY) == 1
        left = await find_receipt(tx, nora.person.id)
        assert await find_next_trace_expiry(tx, nora.person.id) is None

    (used, _) = receipt.items
    causes = (Reason(cause="words"), Reason(cause="said_by"))
    assert left is not None
    assert left.items == (replace(used, score=0.0, reasons=causes),)
    assert left.details == {
        "intent": "question",
        "answerable": 0.875,
        "degraded": False,
        "rest": None,
    }


async def test_writing_a_receipt_deletes_expired_traces(nora: Friend) -> None:
    """Nobody needs to serve for that: who only talks now and then keeps no more of it."""
    old = [await receipt_for(nora) for _ in range(3)]
    nora.clock.tick(minutes=15 * 24 * 60)
    new = await receipt_for(nora)
    async with nora.db.begin_write() as tx:
        for each in (*old, new):
            await write_receipt(tx, each)
        traces = await tx.rows("SELECT receipt FROM receipt_trace")

    assert traces == [(new.id,)]


async def test_memory_usage_counts_replies_and_after_expiry_only_used_ones(nora: Friend) -> None:
    """Of older replies those count that stood on it."""
    first, second = await receipt_for(nora), await receipt_for(nora)
    thought = ReceiptItem(
        kind="memory", object=new_id(7), version=1, used=True, score=1.0, reasons=()
    )
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, replace(first, items=(thought,)))
        await write_receipt(tx, replace(second, items=(replace(thought, used=False),)))
        both = await find_memory_usage(tx, nora.person.id, thought.object)
        await delete_expired_traces(tx, nora.person.id, now=nora.clock() + 15 * DAY)
        one = await find_memory_usage(tx, nora.person.id, thought.object)
        none = await find_memory_usage(tx, nora.person.id, new_id(8))
        await tx.run("UPDATE receipt SET stood_on = :broken", broken=b"")
        await find_memory_usage(tx, nora.person.id, thought.object)  # none is unpacked for it

    assert both == MemoryUsage(replies=2, used=1, last_at=second.made_at)
    assert one == MemoryUsage(replies=1, used=1, last_at=first.made_at)
    assert none is None


async def test_receipt_item_citation_flag_survives_trace_expiry(nora: Friend) -> None:
    """Also when the trace is gone; where nobody knows, it stays unknown."""
    receipt = await receipt_for(nora)
    cited = [replace(receipt.items[0], is_cited=is_cited) for is_cited in (True, False, None)]
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, replace(receipt, items=tuple(cited)))
        whole = await find_receipt(tx, nora.person.id)
        await delete_expired_traces(tx, nora.person.id, now=nora.clock() + 15 * DAY)
        brief = await find_receipt(tx, nora.person.id)

    assert whole is not None
    assert brief is not None
    assert [each.is_cited for each in whole.items] == [True, False, None]
    assert [each.is_cited for each in brief.items] == [True, False, None]


async def test_receipt_item_of_a_deleted_message_has_no_id(nora: Friend) -> None:
    """It says that there was one, and names nothing."""
    receipt = await receipt_for(nora)
    async with nora.db.begin_write() as tx:
        await write_receipt(tx, receipt)
        await tx.run("DELETE FROM message WHERE id = :id", id=receipt.asked)
        left = await find_receipt(tx, nora.person.id)

    assert left is not None
    assert [(each.kind, each.object) for each in left.items] == [("message", ""), ("memory", "n1")]
