"""Learning threshold: after how many turns of the person a conversation is consolidated.

A person has their own threshold or, without one, the default of the install.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId, SessionId

MIN_LEARNING_TURNS, MAX_LEARNING_TURNS = 1, 500
RANGE_TEXT: Final = f"A whole number from {MIN_LEARNING_TURNS} to {MAX_LEARNING_TURNS}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UncutTurns:
    """The person's turns that are in no segment yet, and the threshold."""

    turns: int
    threshold: int | None  # None: the default of the install


async def find_learning_threshold(tx: Transaction, person: PersonId) -> int | None:
    """Return the person's own threshold in turns, or None for the default of the install."""
    row = await tx.row("SELECT read_every FROM person WHERE id = :person", person=person)
    return None if row is None else row[0]


async def save_learning_threshold(tx: Transaction, person: PersonId, turns: int | None) -> None:
    """Store the person's threshold in turns; None restores the default. Raises InvalidInput."""
    if turns is not None and not MIN_LEARNING_TURNS <= turns <= MAX_LEARNING_TURNS:
        raise InvalidInput(f"{RANGE_TEXT}, and not {turns}.")
    await tx.run(
        "UPDATE person SET read_every = :turns WHERE id = :person", turns=turns, person=person
    )


async def count_uncut_turns(tx: Transaction, person: PersonId, session: SessionId) -> UncutTurns:
    """Count the person's messages in a session that are in no segment yet.

    Looks at the newest messages only, however many came before.
    """
    row = await tx.row(
        """SELECT s.after_seq, (SELECT max(g.last_seq) FROM segment g WHERE g.session = s.id),
             p.read_every
           FROM session s JOIN person p ON p.id = s.person
           WHERE s.id = :session AND s.person = :person""",
        session=session,
        person=person,
    )
    if row is None:
        return UncutTurns(turns=0, threshold=None)
    turns = await tx.row(
        """SELECT count(*) FROM message WHERE person = :person AND seq > :after
           AND session = :session AND version = 1 AND role = 'person'""",
        person=person,
        after=max(row[0], row[1] or 0),
        session=session,
    )
    assert turns is not None
    return UncutTurns(turns=int(turns[0]), threshold=row[2])
