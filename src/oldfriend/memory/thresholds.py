"""After how many turns does somebody want to be read, and how many has nobody read yet?

A threshold is theirs, or none: then the house has one. Knows nothing of what they say.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId, SessionId

FEWEST, MOST = 1, 500
"""ACCEPTANCE D1."""
RANGE: Final = f"A whole number from {FEWEST} to {MOST}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UncutTurns:
    """How often somebody has spoken that is in no segment yet, and how often they may at most."""

    turns: int
    threshold: int | None  # None: as the house has it


async def find_threshold(tx: Transaction, person: PersonId) -> int | None:
    """After how many turns they want to be read at the latest; None: as the house has it."""
    row = await tx.row("SELECT read_every FROM person WHERE id = :person", person=person)
    return None if row is None else row[0]


async def set_threshold(tx: Transaction, person: PersonId, turns: int | None) -> None:
    """Have it so from now on; None: as the house has it. Raises InvalidInput."""
    if turns is not None and not FEWEST <= turns <= MOST:
        raise InvalidInput(f"{RANGE}, and not {turns}.")
    await tx.run(
        "UPDATE person SET read_every = :turns WHERE id = :person", turns=turns, person=person
    )


async def measure_uncut_turns(
    tx: Transaction, person: PersonId, session: SessionId
) -> UncutTurns:  # fmt: skip
    """How often the person has said something in a session that is in no segment yet.

    Looks at the newest messages only, however many there were before.
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
