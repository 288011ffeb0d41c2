"""What was a model shown for a reply, and how did each model do when it was asked last?"""

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCall:
    """How a model did when it was asked last."""

    outcome: str
    error: str | None
    made_at: Micros


async def list_shown(tx: Transaction, person: PersonId, turn: TurnId) -> tuple[str, ...]:
    """The ids of all messages and memories that models were shown for a turn, each once."""
    rows = await tx.rows(
        """SELECT shown FROM model_call WHERE person = :person AND turn = :turn
           AND purpose = 'reply' ORDER BY step, made_at""",
        person=person,
        turn=turn,
    )
    return tuple(dict.fromkeys(str(each) for (shown,) in rows for each in json.loads(shown)))


async def count_by_model(
    tx: Transaction, person: PersonId, calls: Collection[str]
) -> dict[str, int]:
    """Which models some calls were made to, and how many to each; the most first."""
    if not calls:
        return {}
    rows = await tx.rows("SELECT id, model FROM model_call WHERE person = :person", person=person)
    return dict(Counter(model for call, model in rows if call in calls).most_common())


async def find_last_call(tx: Transaction, model: str) -> LastCall | None:
    """How a model did when it was asked last; None: it was never asked."""
    row = await tx.row(
        """SELECT outcome, error, made_at FROM model_call WHERE model = :model
           ORDER BY made_at DESC, id DESC LIMIT 1""",
        model=model,
    )
    return None if row is None else LastCall(outcome=row[0], error=row[1], made_at=row[2])
