"""A life told in a few sentences, and read."""

from collections.abc import Sequence

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.looking import Belief, list_beliefs
from oldfriend.app.catching_up import catch_up
from oldfriend.app.house import House
from oldfriend.domain.memories import Memory
from oldfriend.memory.changes import check_fold
from oldfriend.memory.evidence import check_standings

TOLD = (
    "I live in Porto, in a small flat by the river.",
    "My sister Ana is a nurse. She works nights at the hospital.",
    "I love jazz, and I can't stand coriander.",
    "My dog Rex died yesterday. I am heartbroken.",
)


async def tell(house: House, line: Line, texts: Sequence[str] = TOLD) -> None:
    """Say some things, and have them read."""
    for text in texts:
        await answer(house, line, Said(text=text))
    await catch_up(house, line.person.id, because="asked")


async def believed(house: House, line: Line, *, live: bool = True) -> list[Belief]:
    """What is believed, found to be what was decided."""
    async with house.db.reading() as tx:
        assert await check_fold(tx, line.person.id) == []
        assert await check_standings(tx, line.person.id) == []
        return await list_beliefs(tx, line.person.id, live=live)


async def the_one(house: House, line: Line, words: str) -> str:
    """The id of the one memory in which these words stand."""
    async with house.db.reading() as tx:
        told = await list_beliefs(tx, line.person.id, live=False)
    (found,) = [
        each.what.id for each in told if isinstance(each.what, Memory) and words in each.what.text
    ]
    return found
