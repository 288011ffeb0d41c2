"""What has a model answered before to the very same request? So that it is not paid for again.

A request is the same where every word of it is; which ids stood for them does not matter, so that
an answer is found from another database, too. What was forgotten is no answer any more.
"""

from typing import NamedTuple

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.calls import completion_from
from oldfriend.llm.model import Completion


class Asked(NamedTuple):
    """What was asked of whom; the hash of a request knows its prompt and its version."""

    request: str
    model: str


async def list_answered(tx: Transaction, person: PersonId) -> dict[Asked, str]:
    """What was answered on behalf of a person: the newest call for each request and model."""
    rows = await tx.rows(
        """SELECT request, model, id FROM model_call
           WHERE person = :person AND outcome = 'done' AND answer IS NOT NULL AND request <> ''
           ORDER BY made_at, id""",
        person=person,
    )
    return {Asked(request=request, model=model): call for request, model, call in rows}


async def find_answer(tx: Transaction, person: PersonId, call: str) -> Completion | None:
    """What a call gave; None where that was forgotten meanwhile."""
    row = await tx.row(
        """SELECT model, answer, tokens_in, tokens_cached, tokens_out, cost FROM model_call
           WHERE person = :person AND id = :call AND answer IS NOT NULL""",
        person=person,
        call=call,
    )
    return None if row is None else completion_from(row)
