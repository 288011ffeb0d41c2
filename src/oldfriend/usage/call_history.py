"""Call history: what models were shown for a reply, and the outcome of each model's last call."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.db.message_numbers import unpack_ids
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCall:
    """The outcome of a model's last call."""

    outcome: str
    error: str | None
    made_at: Micros


async def list_shown_ids(tx: Transaction, person: PersonId, turn: TurnId) -> tuple[str, ...]:
    """Return the ids of all messages and memories that models were shown for a turn, each once."""
    rows = await tx.rows(
        """SELECT shown FROM model_call WHERE person = :person AND turn = :turn
           AND purpose = 'reply' ORDER BY step, made_at""",
        person=person,
        turn=turn,
    )
    ids = [each for (shown,) in rows for each in await unpack_ids(tx, person, shown)]
    return tuple(dict.fromkeys(ids))


async def count_calls_by_model(
    tx: Transaction, person: PersonId, call_ids: Collection[str]
) -> dict[str, int]:
    """Return how many of the given calls each model received, the most first."""
    if not call_ids:
        return {}
    rows = await tx.rows("SELECT id, model FROM model_call WHERE person = :person", person=person)
    return dict(Counter(model for call, model in rows if call in call_ids).most_common())


async def find_last_call(tx: Transaction, model: str) -> LastCall | None:
    """Return the outcome of a model's last call; None if it was never called."""
    row = await tx.row(
        """SELECT outcome, error, made_at FROM model_call WHERE model = :model
           ORDER BY made_at DESC, id DESC LIMIT 1""",
        model=model,
    )
    return None if row is None else LastCall(outcome=row[0], error=row[1], made_at=row[2])
