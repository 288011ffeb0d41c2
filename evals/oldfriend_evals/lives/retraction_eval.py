"""Retractions: what was said is edited, forgotten, unread or denied.

One deed after another, each on what was talked about last. Knows nothing of what must come of it.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from oldfriend.beliefs.correct import apply_belief_action, undo_segment
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.messages import Message
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import accept_edit
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.derived_evidence import list_premises
from oldfriend.memory.message_log import list_messages
from oldfriend_evals.lives.life import Line
from oldfriend_evals.lives.simulation import ALL
from oldfriend_evals.lives.turn_simulation import TurnSimulation

Deed: TypeAlias = Callable[[TurnSimulation, Line], Awaitable[None]]


async def edit_last_message(talking: TurnSimulation, line: Line) -> None:
    """Edit the last thing that was said."""
    said = (await list_own_messages(talking))[-1]
    await accept_edit(talking.app, await talking.living.open(line), said.id, f"{said.text} …")


async def forget_last_message(talking: TurnSimulation, _: Line) -> None:
    """Have the last thing that was said forgotten."""
    said = (await list_own_messages(talking))[-1]
    await forget(talking.app, talking.person, DeletionRequest(ids=(said.id,)))


async def undo_last_reading(talking: TurnSimulation, _: Line) -> None:
    """Take the last reading back."""
    await undo_segment(talking.app.db, talking.app.clock, talking.person, None)


async def deny_newest_thought(talking: TurnSimulation, _: Line) -> None:
    """Say of what the newest thought was made of that it is not so."""
    async with talking.app.db.begin_read() as tx:
        thoughts = await list_memories(tx, talking.person, kinds=["thought"])
        live = {each.memory.id for each in await list_memories(tx, talking.person)}
    newest = sorted(thoughts, key=lambda each: each.memory.learned_at)[-1:]
    for lender in [one for each in newest for one in list_premises(each.memory)][:1]:
        if lender in live:
            await apply_belief_action(
                talking.app.db, talking.app.clock, talking.person, "reject", lender
            )


DEEDS: Final[Sequence[Deed]] = (
    undo_last_reading,
    edit_last_message,
    deny_newest_thought,
    forget_last_message,
)


async def retract(talking: TurnSimulation, line: Line, *, nth: int) -> None:
    """Do one of the deeds, where there is anything to do it to."""
    with suppress(NotFound, InvalidInput, IndexError):
        await DEEDS[nth % len(DEEDS)](talking, line)


async def list_own_messages(talking: TurnSimulation) -> list[Message]:
    """What the person has said themselves, the last at the end."""
    async with talking.app.db.begin_read() as tx:
        messages = await list_messages(tx, talking.person, limit=ALL)
    return [each for each in messages if each.role == "person" and each.trust == "person"]
