"""What if somebody takes back what they have told? Said otherwise, forgotten, unread, not so.

One deed after another, each on what was talked about last. Knows nothing of what must come of it.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from oldfriend.app.accepting import edit
from oldfriend.app.believing.correcting import judge
from oldfriend.app.believing.undoing import undo_reading
from oldfriend.app.forgetting import forget
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.messages import Message
from oldfriend.evals.lives.life import Line
from oldfriend.evals.lives.living import ALL
from oldfriend.evals.lives.talking import Talking
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.borrowing import lenders_of
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages

Deed: TypeAlias = Callable[[Talking, Line], Awaitable[None]]


async def say_it_otherwise(talking: Talking, line: Line) -> None:
    """Edit the last thing that was said."""
    said = (await own_messages(talking))[-1]
    await edit(talking.house, await talking.living.open(line), said.id, f"{said.text} …")


async def have_it_forgotten(talking: Talking, _: Line) -> None:
    """Have the last thing that was said forgotten."""
    said = (await own_messages(talking))[-1]
    await forget(talking.house, talking.person, Wish(ids=(said.id,)))


async def have_it_unread(talking: Talking, _: Line) -> None:
    """Take the last reading back."""
    await undo_reading(talking.house, talking.person, None)


async def deny_it(talking: Talking, _: Line) -> None:
    """Say of what the newest thought was made of that it is not so."""
    async with talking.house.db.reading() as tx:
        thoughts = await list_memories(tx, talking.person, kinds=["thought"])
        live = {each.memory.id for each in await list_memories(tx, talking.person)}
    newest = sorted(thoughts, key=lambda each: each.memory.learned_at)[-1:]
    for lender in [one for each in newest for one in lenders_of(each.memory)][:1]:
        if lender in live:
            await judge(talking.house, talking.person, "reject", lender)


DEEDS: Final[Sequence[Deed]] = (have_it_unread, say_it_otherwise, deny_it, have_it_forgotten)


async def regret(talking: Talking, line: Line, *, nth: int) -> None:
    """Do one of the deeds, where there is anything to do it to."""
    with suppress(NotFound, InvalidInput, IndexError):
        await DEEDS[nth % len(DEEDS)](talking, line)


async def own_messages(talking: Talking) -> list[Message]:
    """What the person has said themselves, the last at the end."""
    async with talking.house.db.reading() as tx:
        messages = await list_messages(tx, talking.person, limit=ALL)
    return [each for each in messages if each.role == "person" and each.trust == "person"]
