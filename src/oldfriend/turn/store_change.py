"""Store change: something that a turn decided to change, applied in the turn's own commit."""

from dataclasses import dataclass
from typing import Protocol

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Message, Person


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeScope:
    """For whom a change is made, because of which message, and when."""

    person: Person
    message: Message  # the last one of the turn
    now: Micros
    may_redo: bool = True  # False: the reply was heard already, so the turn is not decided again


class StoreChange(Protocol):
    """A decided change to the store, such as a new reminder.

    It is a value that holds all that it needs, ids included, so that what the person was told and
    what is stored are the same.
    """

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Make the change. Raises StaleDecision if what it rests on has changed meanwhile."""
