"""A reply goes out part by part, each once."""

import pytest

from oldfriend.domain.ids import MessageId
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
from oldfriend.queues.outbox import ReplyPart, ReplyTexts, enqueue_reply, parse_reply_part


@pytest.fixture
async def chat(db, clock):
    async with db.begin_write() as tx:
        nora = await ensure_person(tx, "Nora", now=clock(), zone="UTC")
        companion = await ensure_companion(tx, now=clock())
        return await ensure_chat(
            tx, nora, companion, channel="telegram", address="77", title="", now=clock()
        )


async def test_reply_parts_are_enqueued_in_order_and_only_once(db, clock, chat):
    reply = MessageId("r1")
    async with db.begin_write() as tx:
        jobs = await enqueue_reply(tx, chat, reply, ReplyTexts(["Hello", "there"]), now=clock())
        again = await enqueue_reply(tx, chat, reply, ReplyTexts(["Hello", "there"]), now=clock())

    assert [parse_reply_part(job) for job in jobs] == [
        ReplyPart(channel="telegram", address="77", reply=reply, ordinal=0, text="Hello"),
        ReplyPart(channel="telegram", address="77", reply=reply, ordinal=1, text="there"),
    ]
    assert {(job.partition, job.group, job.person) for job in jobs} == {
        (chat.id, reply, chat.person)
    }
    assert again == []
