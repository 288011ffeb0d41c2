"""What was a model shown for a reply, and how did each model do when it was asked last?"""

import json
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


async def find_last_call(tx: Transaction, model: str) -> LastCall | None:
    """How a model did when it was asked last; None: it was never asked."""
    row = await tx.row(
        """SELECT outcome, error, made_at FROM model_call WHERE model = :model
           ORDER BY made_at DESC, id DESC LIMIT 1""",
        model=model,
    )
    return None if row is None else LastCall(outcome=row[0], error=row[1], made_at=row[2])
