"""Was this forgotten before? Keyed prints of words, which tell nothing to whoever lacks the key.

The key is kept outside the database (``app/forgetting``). A print is of words alone where these
are telling; of a few words together with when they were said, for "ok" is said every day. What
is said after a tombstone was laid is said anew, and lifts it. Each key leaves one print that is of
no words, by which it is known whether the key at hand is the one.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import LATEST, MINUTE, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Memory, MemoryKind
from oldfriend.memory.forgetting.spans import is_telling, runs_of, tokens_of, words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The tombstones of one person, and the key to them."""

    key: bytes = field(default=b"", repr=False)
    laid: Mapping[str, Micros] = field(default_factory=dict)

    @property
    def is_by_another_key(self) -> bool:
        """Whether any of it was laid with another key, so that it is not known again."""
        keys = {each for each, laid_at in self.laid.items() if laid_at == LATEST}
        return not keys <= {print_of_key(self.key)}

    def is_forgotten(self, words: str, said_at: Micros) -> bool:
        """Whether what is read in words, said at that time, was forgotten afterwards.

        A belief's text, what ``belief_words`` makes of a fact or preference, or one of
        ``quoted_words``.
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


async def lay_key(tx: Transaction, person: PersonId, key: bytes) -> None:
    """Let it be known with which key tombstones are laid."""
    await lay(tx, person, [print_of_key(key)], now=LATEST)


async def lay(tx: Transaction, person: PersonId, prints: Iterable[str], *, now: Micros) -> None:
    """Let what has these prints be known as forgotten from now on."""
    await tx.run_many(
        """INSERT INTO tombstone (person, print, laid_at) VALUES (:person, :print, :now)
           ON CONFLICT (person, print) DO UPDATE SET laid_at = excluded.laid_at""",
        [{"person": person, "print": each, "now": now} for each in sorted(set(prints))],
    )


async def has_tombstones(tx: Transaction, person: PersonId) -> bool:
    """Whether anything of a person was ever forgotten."""
    row = await tx.row("SELECT 1 FROM tombstone WHERE person = :person LIMIT 1", person=person)
    return row is not None


async def lift(tx: Transaction, person: PersonId, prints: Iterable[str]) -> None:
    """Let what has these prints be told anew."""
    await tx.run_many(
        "DELETE FROM tombstone WHERE person = :person AND print = :print",
        [{"person": person, "print": each} for each in sorted(set(prints))],
    )


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


def quoted_words(kind: MemoryKind, key: str, quote: str, *, said_at: Micros) -> tuple[str, ...]:
    """By what it is known again that something rests on words, however it is worded itself.

    By the runs of words in the quote, for more or less may be quoted the next time; by a few
    words with when they were said. One sentence may tell of several matters, and only one of them
    be forgotten: facts and preferences are told apart by their keys, and from all else.
    """
    matter = f"{kind} {key}" if key else "what was"
    if is_telling(quote):
        return tuple(f"{matter}: {each}" for each in runs_of(tokens_of(quote)))
    return (f"{matter}: {said_at // MINUTE} {quote}",)


def print_of_key(key: bytes) -> str:
    """The print of a key itself; no words have it."""
    return hmac.new(key, b"\0", hashlib.sha256).hexdigest()


def print_of(key: bytes, words: str) -> str:
    """The keyed print of some words, letter case, width and punctuation aside."""
    return hmac.new(key, words_of(words).encode(), hashlib.sha256).hexdigest()
