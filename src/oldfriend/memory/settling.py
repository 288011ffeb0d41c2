"""What becomes of what was made of beliefs, once these turn out not to be so? It goes with them.

Thoughts, patterns over patterns and descriptions; for after anything was rejected, corrected,
taken back or read anew. Doing it again changes nothing.
"""

from collections.abc import Collection
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.memory.borrowing import give_back
from oldfriend.memory.changes import Ground
from oldfriend.memory.descriptions import let_descriptions_go

SETTLED: Final = Ground(author="settle/1")


async def end_what_was_made(
    tx: Transaction, person: PersonId, *, now: Micros, fallen: Collection[ObjectId] = ()
) -> list[ObjectId]:
    """End what stood on nothing but what has fallen; what ended, and who is described no more.

    ``fallen``: beliefs that say something else now. The caller holds the person's lock.
    """
    ended = await give_back(tx, person, ground=SETTLED, now=now, fallen=fallen)
    return [*ended, *await let_descriptions_go(tx, person, ground=SETTLED, now=now)]
