"""Summaries as a model writes them, of what was read."""

import asyncio

from oldfriend.db.database import Database
from oldfriend.domain.ids import ObjectId, PersonId, SummaryId, new_id
from oldfriend.domain.memories import Summary
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import list_segments
from oldfriend.runtime.wiring import open_database


async def sum_up(db: Database, person: PersonId, text: str = "They talked.") -> list[Summary]:
    """Sum up each segment that was read, in these words."""
    made: list[Summary] = []
    async with db.begin_write() as tx:
        for segment in await list_segments(tx, person, status=["done"]):
            summary = Summary(
                id=SummaryId(ObjectId(new_id(segment.until_at + len(made)))),
                person=person,
                level=1,
                text=text,
                language="en",
                segments=(segment.id,),
                from_at=segment.from_at,
                until_at=segment.until_at,
                learned_at=segment.until_at,
            )
            ground = Provenance(author="extract/4", segment=segment.id)
            await record_decision(
                tx, summary, op="learned", base=0, provenance=ground, now=segment.until_at
            )
            made.append(summary)
    return made


def sum_up_store(url: str, text: str = "They talked.") -> None:
    """Do so for everybody in a store that no loop has open."""

    async def write() -> None:
        db = await open_database(url)
        async with db.begin_read() as tx:
            people = await list_people(tx)
        assert [each for person in people for each in await sum_up(db, person.id, text)]
        await db.close()

    asyncio.run(write())
