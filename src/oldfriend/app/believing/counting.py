"""How much is kept and believed, what was refused as junk, and was what was recalled of use?"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.app.catching_up import count_planned
from oldfriend.app.forming.thinking_ahead import Status, status_of
from oldfriend.app.house import House
from oldfriend.app.showing import find_thing
from oldfriend.background.likeness import matter_of
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person
from oldfriend.memory.beliefs import list_entities, list_memories, list_summaries
from oldfriend.memory.log import count_messages, get_message
from oldfriend.memory.receipts import Receipt, list_receipts
from oldfriend.memory.segments import count_segments, list_segments, list_uncut
from oldfriend.memory.sessions import count_sessions
from oldfriend.memory.tallying import tally

LOOKED_AT: Final = 100
"""So many of the last replies tell how useful recall is."""
TAKEN_UP: Final = 1 / 3
"""Of the words that something adds to the question, so many in the reply mean that it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """One person's memory in numbers."""

    conversations: int
    messages: int
    unread: int  # messages that are in no segment yet
    planned: int  # readings
    segments: Mapping[str, int]  # by how far they have come
    believed: Mapping[str, int]  # what is believed now, by kind
    learned: int  # by all readings together
    joined: int  # what was known already, and had more words added
    refused: Mapping[str, int]  # what was not believed, by reason
    missed_peaks: int  # stretches of which a model said that it missed something heavy or happy
    shown: int  # what was put before whoever wrote the last replies
    used: int  # of that, what the reply took up
    thinking: Status  # between conversations
    bytes: int  # of the whole database, everybody's


async def stats_of(house: House, person: Person) -> Stats:
    """Count."""
    size = await house.db.size()
    async with house.db.reading() as tx:
        told = tally(await list_segments(tx, person.id))
        counts = await count_segments(tx, person.id)
        shown, used = await usefulness(tx, person.id)
        return Stats(
            conversations=await count_sessions(tx, person.id),
            messages=await count_messages(tx, person.id),
            unread=sum(each.messages for each in await list_uncut(tx, person.id)),
            planned=await count_planned(tx, person.id),
            segments={str(how): n for how, n in counts.items()},
            believed=await count_believed(tx, person.id),
            learned=told.learned, joined=told.joined, refused=told.refused,
            missed_peaks=told.missed_peaks, shown=shown, used=used, bytes=size,
            thinking=await status_of(tx, house, person.id),
        )  # fmt: skip


async def count_believed(tx: Transaction, person: PersonId) -> dict[str, int]:
    """What is believed now, by kind."""
    kinds = Counter[str](each.memory.kind for each in await list_memories(tx, person))
    kinds["entity"] = len(await list_entities(tx, person))
    kinds["summary"] = len(await list_summaries(tx, person))
    return {kind: count for kind, count in kinds.most_common() if count}


async def usefulness(tx: Transaction, person: PersonId) -> tuple[int, int]:
    """How much the last replies were based on, and how much of it they took up."""
    shown = used = 0
    for receipt in await list_receipts(tx, person, limit=LOOKED_AT):
        count, taken_up = await usefulness_of(tx, receipt)
        shown, used = shown + count, used + taken_up
    return shown, used


async def usefulness_of(tx: Transaction, receipt: Receipt) -> tuple[int, int]:
    """The same of one reply."""
    try:
        asked = await get_message(tx, receipt.person, receipt.asked)
        reply = await get_message(tx, receipt.person, receipt.replied)
    except NotFound:
        return 0, 0  # forgotten since
    known = matter_of(asked.text, asked.language)
    said = matter_of(reply.text, reply.language)
    shown = used = 0
    for item in receipt.items:
        thing = await find_thing(tx, receipt, item) if item.used else None
        text = getattr(thing, "text", None)
        if text is None:
            continue
        adds = matter_of(text, reply.language) - known
        shown += 1
        used += len(adds & said) >= max(1, TAKEN_UP * len(adds))
    return shown, used
