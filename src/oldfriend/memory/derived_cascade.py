"""Derived cascade: ends what was derived from beliefs that were retracted.

Covers thoughts, patterns over patterns and descriptions. Run it after anything was rejected,
corrected, undone or consolidated again; running it twice changes nothing.
"""

from collections.abc import Collection
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.memory.derived_evidence import withdraw_derived_evidence
from oldfriend.memory.descriptions import clear_ungrounded_descriptions
from oldfriend.memory.journal import Provenance

BY_CASCADE: Final = Provenance(author="settle/1")


async def cascade_retraction(
    tx: Transaction, person: PersonId, *, now: Micros, retracted: Collection[ObjectId] = ()
) -> list[ObjectId]:
    """End what rested only on retracted beliefs; return what ended and which entities lost their
    descriptions.

    ``retracted`` lists beliefs that now say something else. The caller holds the person's lock.
    """
    ended = await withdraw_derived_evidence(
        tx, person, provenance=BY_CASCADE, now=now, retracted=retracted
    )
    return [
        *ended,
        *await clear_ungrounded_descriptions(tx, person, provenance=BY_CASCADE, now=now),
    ]
