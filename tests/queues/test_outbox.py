"""A reply goes out part by part, each once."""

import pytest

from oldfriend.domain.ids import MessageId
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
from oldfriend.queues.outbox import Part, part_of, put_reply


@pytest.fixture
async def chat(db, clock):
    async with db.writing() as tx:
        nora = await ensure_person(tx, "Nora", now=clock(), zone="UTC")
        companion = await ensure_companion(tx, now=clock())
        return await ensure_chat(
            tx, nora, companion, channel="telegram", address="77", title="", now=clock()
        )


async def test_a_reply_is_put_part_by_part_and_not_twice(db, clock, chat):
    reply = MessageId("r1")
    async with db.writing() as tx:
        letters = await put_reply(tx, chat, reply, ["Hello", "there"], now=clock())
        again = await put_reply(tx, chat, reply, ["Hello", "there"], now=clock())

    assert [part_of(letter) for letter in letters] == [
        Part(channel="telegram", address="77", reply=reply, ordinal=0, text="Hello"),
        Part(channel="telegram", address="77", reply=reply, ordinal=1, text="there"),
    ]
    assert {(letter.lane, letter.group, letter.person) for letter in letters} == {
        (chat.id, reply, chat.person)
    }
    assert again == []
