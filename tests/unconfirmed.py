"""A claim in doubt as consolidation stores it, without a model that makes it."""

import asyncio

from oldfriend.db.database import Database
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import StoredBelief
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.message_log import count_messages, list_messages
from oldfriend.memory.people import list_people
from oldfriend.runtime.wiring import open_database


async def propose(db: Database, person: PersonId, text: str, quote: str = "") -> StoredBelief:
    """Let a claim wait that rests on the last thing that the person said."""
    async with db.begin_write() as tx:
        *_, source = await list_messages(tx, person, role="person")
        memory = StoredBelief(
            id=MemoryId(ObjectId(new_id(source.at))),
            person=person,
            kind="event",
            text=text,
            language="en",
            status="unconfirmed",
            learned_at=source.at,
            ended_at=source.at,
        )
        ground = Provenance(author="extract/9")
        await record_decision(tx, memory, op="proposed", base=0, provenance=ground, now=source.at)
        evidence = NewEvidence(source=source, quote=quote or source.text)
        await add_evidence(tx, person, memory.id, [evidence], extractor="extract/9", now=source.at)
        return memory


def propose_in_store(url: str, text: str, quote: str = "") -> None:
    """Do so for the only person who has said something, in a store that no loop has open."""

    async def write() -> None:
        db = await open_database(url)
        async with db.begin_read() as tx:
            people = [each.id for each in await list_people(tx)]
            (speaker,) = [each for each in people if await count_messages(tx, each)]
        await propose(db, speaker, text, quote)
        await db.close()

    asyncio.run(write())
