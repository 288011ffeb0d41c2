"""Was this forgotten before? Keyed prints of words, which tell nothing to whoever lacks the key.

The key is kept outside the database (``app/forgetting``). A print is of words alone where these
are telling; of a few words together with when they were said, for "ok" is said every day. What
is said after a tombstone was laid is said anew, and lifts it.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Memory, MemoryKind
from oldfriend.memory.forgetting.spans import is_telling, words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The tombstones of one person, and the key to them; without a key there are none."""

    key: bytes = field(default=b"", repr=False)
    laid: Mapping[str, Micros] = field(default_factory=dict)

    def is_forgotten(self, words: str, said_at: Micros) -> bool:
        """Whether what is read in words, said at that time, was forgotten afterwards.

        A belief's text, or what ``belief_words`` makes of a fact or preference.
        """
        return bool(self.laid) and self.laid.get(print_of(self.key, words), -1) >= said_at

    def was_forgotten(self, words: str, *, said_at: Micros) -> bool:
        """Whether these words, said at that time, were forgotten afterwards."""
        return bool(self.laid) and any(
            said_at <= self.laid.get(each, said_at - 1)
            for each in prints_of(self.key, words, said_at=said_at)
        )


NOTHING: Final = Forgotten()
"""Nothing was ever forgotten."""


async def load_forgotten(tx: Transaction, person: PersonId, key: bytes) -> Forgotten:
    """What was forgotten of a person."""
    rows = await tx.rows(
        "SELECT print, laid_at FROM tombstone WHERE person = :person", person=person
    )
    return Forgotten(key=key, laid=dict(rows))


async def lay(tx: Transaction, person: PersonId, prints: Iterable[str], *, now: Micros) -> None:
    """Let what has these prints be known as forgotten from now on."""
    await tx.run_many(
        """INSERT INTO tombstone (person, print, laid_at) VALUES (:person, :print, :now)
           ON CONFLICT (person, print) DO UPDATE SET laid_at = excluded.laid_at""",
        [{"person": person, "print": each, "now": now} for each in sorted(set(prints))],
    )


async def lift(
    tx: Transaction, person: PersonId, forgotten: Forgotten, words: Iterable[str]
) -> int:
    """Let the person tell anew what was forgotten; how many tombstones that takes away."""
    if not forgotten.laid:
        return 0
    prints = {print_of(forgotten.key, each) for each in words} & forgotten.laid.keys()
    await tx.run_many(
        "DELETE FROM tombstone WHERE person = :person AND print = :print",
        [{"person": person, "print": each} for each in sorted(prints)],
    )
    return len(prints)


def prints_of(key: bytes, words: str, *, said_at: Micros) -> tuple[str, ...]:
    """By what a message is known again: its words, or a few words and when they were said."""
    if is_telling(words):
        return (print_of(key, words),)
    return (print_of(key, f"{said_at // MINUTE} {words}"),)


def prints_of_belief(key: bytes, memory: Memory) -> tuple[str, ...]:
    """By what a belief is known again: what it says, and what of."""
    said = belief_words(memory.kind, memory.key, memory.value)
    return tuple(print_of(key, each) for each in (memory.text, said) if each)


def belief_words(kind: MemoryKind, key: str, value: str) -> str:
    """What a fact or preference says, whatever its sentence; empty for all else."""
    return f"{kind} {key} {value}" if key and value else ""


def print_of(key: bytes, words: str) -> str:
    """The keyed print of some words, letter case, width and punctuation aside."""
    return hmac.new(key, words_of(words).encode(), hashlib.sha256).hexdigest()
