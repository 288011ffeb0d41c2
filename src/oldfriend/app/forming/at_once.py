"""When is what was just told read at once? Before rules answer a question for what is known.

Somebody who tells where they live and then asks for it means the same sitting. What fails here
stays planned, and is read later.
"""

import asyncio
from typing import Final

from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.domain.errors import OldfriendError
from oldfriend.memory.log import list_recent
from oldfriend.memory.segments import list_uncut
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.perceive import perceive

LONGEST_S: Final = 5.0
"""So long the answer waits; then it goes by what was read until then."""
MOST_IN_A_SITTING: Final = 60
"""So many messages at most are looked through for something that was told."""


async def read_first(house: House, said: Utterance) -> None:
    """Have rules read what was told in this sitting, where that is what is asked for.

    A model reads in its own time, and one that replies has the sitting before its eyes.
    """
    if house.models or not perceive(said.own_words, said.hearer).asks_what_is_known:
        return
    if not await was_told_more(house, said):
        return
    try:
        async with asyncio.timeout(LONGEST_S):
            for segment in await tend(house, said.person.id, because="asked"):
                await read(house, said.person.id, segment.id)
    except (TimeoutError, OldfriendError):
        return


async def was_told_more(house: House, said: Utterance) -> bool:
    """Whether the person has told something in this sitting that nobody has read yet."""
    person, message = said.person.id, said.message
    async with house.db.reading() as tx:
        uncut = await list_uncut(tx, person, session=message.session)
        recent = await list_recent(tx, person, message.chat, limit=MOST_IN_A_SITTING)
    first = min((each.first_seq for each in uncut), default=message.seq)
    return any(
        first <= each.seq < message.seq
        and each.role == "person"
        and not perceive(each.text, said.hearer).only_asks
        for each in recent
    )
