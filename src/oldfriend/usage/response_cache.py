"""Response cache: finds the stored answer to an identical model request, so it is paid for once.

Requests are identical if all their text is; the ids behind the text do not matter, so that an
answer from another database is found, too. Deleted answers are not found.
"""

from typing import NamedTuple

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.llm.model import Completion
from oldfriend.usage.model_calls import parse_completion


class ModelRequestKey(NamedTuple):
    """A request and its model; the hash of a request covers its prompt and version."""

    request_hash: str
    model: str


async def load_answered_calls(tx: Transaction, person: PersonId) -> dict[ModelRequestKey, str]:
    """Return the newest answered call of a person for each request and model."""
    rows = await tx.rows(
        """SELECT request, model, id FROM model_call
           WHERE person = :person AND outcome = 'done' AND answer IS NOT NULL AND request <> ''
           ORDER BY made_at, id""",
        person=person,
    )
    return {
        ModelRequestKey(request_hash=request, model=model): call for request, model, call in rows
    }


async def find_completion(tx: Transaction, person: PersonId, call_id: str) -> Completion | None:
    """Return the completion of a call; None if it was deleted meanwhile."""
    row = await tx.row(
        """SELECT model, answer, tokens_in, tokens_cached, tokens_out, cost FROM model_call
           WHERE person = :person AND id = :call AND answer IS NOT NULL""",
        person=person,
        call=call_id,
    )
    return None if row is None else parse_completion(row)
