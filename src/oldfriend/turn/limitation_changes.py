"""Limitation changes: something that the companion cannot do yet, noted or resolved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import new_id
from oldfriend.memory.limitation_store import (
    MAX_LIMITATIONS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Limitation,
    list_limitations,
    save_limitation,
)
from oldfriend.memory.people import lock_person
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.turn_outcome import Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLimitation:
    """A limitation as it is to be stored."""

    limitation: Limitation
    is_update: bool = False  # of one that is stored

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store it, in place of one that another turn has noted under the same title meanwhile.

        One that was forgotten meanwhile is not stored again.
        """
        await lock_person(tx, scope.person.id)
        known = await list_limitations(tx, scope.person.id)
        if self.is_update and self.limitation.id not in {each.id for each in known}:
            return
        same = find_limitation(known, self.limitation.title)
        kept = self.limitation if same is None else replace(self.limitation, id=same.id)
        await save_limitation(tx, kept)


def find_limitation(known: Sequence[Limitation], title: str) -> Limitation | None:
    """Return the limitation of a title, whatever its case and cut as titles are stored."""
    name = cut_text(title, MAX_TITLE_CHARS)
    return next((each for each in known if each.has_title(name)), None)


def cut_text(text: str, most: int) -> str:
    """Return a text on one line, as long as it can be stored."""
    return " ".join(text.split())[:most].rstrip()


def decide_limitation(
    known: Sequence[Limitation],
    utterance: Utterance,
    title: str,
    *,
    description: str,
    plan: str,
    now: Micros,
) -> NoteLimitation | None:
    """Return what notes a limitation: new, opened again or told anew.

    None if it is known so already, is called nothing, or there are too many.
    """
    name = cut_text(title, MAX_TITLE_CHARS)
    told, helps = (cut_text(each, MAX_TEXT_CHARS) for each in (description, plan))
    same = find_limitation(known, name)
    is_full = sum(each.is_open for each in known) >= MAX_LIMITATIONS
    if not name or (same is None and is_full):
        return None
    message = utterance.message
    if same is None:
        noted = Limitation(
            id=new_id(now), person=utterance.person.id, title=name, created_at=now, changed_at=now
        )
    elif same.is_open and (not told or told == same.description) and helps in {"", same.plan}:
        return None
    else:
        noted = same
    return NoteLimitation(
        limitation=replace(
            noted,
            description=told,  # what another message told goes with it alone
            plan=helps,
            is_open=True,
            message=message.id,
            message_seq=message.seq,
            changed_at=now,
        )
    )
