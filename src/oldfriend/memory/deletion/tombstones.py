"""Tombstones: keyed fingerprints that keep deleted content from being learned again.

They reveal nothing without the key, which is stored outside the database. A text that is
distinctive is fingerprinted by its words alone; a short one together with the time at which it was
said, because "ok" is said every day. What is said after its tombstone was laid counts as said anew
and lifts it. Each key leaves one fingerprint of no words, which shows whether the present key is
the same.

A shingle is the shortest run, from a given token, that weighs enough: five words, eight characters
of a script without spaces, or a mixture. A text that contains such a run contains all its shingles,
so two texts share a shingle exactly when they share that much.
"""

import hashlib
import hmac
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MAX_TIME, MINUTE, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import MemoryKind, StoredBelief
from oldfriend.domain.messages import Chat, sanitize_text
from oldfriend.domain.unicode_text import normalize

_UNSPACED: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt\"\\/bf])")
_IS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")

_WORD_WEIGHT: Final = 8
_CHARACTER_WEIGHT: Final = 5
SHINGLE_WEIGHT: Final = 5 * _WORD_WEIGHT
"""The weight of a shingle: five words, or eight characters."""
PHRASE_WEIGHT: Final = 3 * _WORD_WEIGHT
"""The weight of a shared run that counts when one text is known to be made from the other."""
_MAX_WORD_LENGTH: Final = 24  # letters; anything longer is a sentence without spaces, or a key


def tokenize_casefolded(text: str) -> list[str]:
    """Split a text into words, and into single characters for scripts without spaces; case and
    width are ignored.
    """
    return _TOKEN.findall(normalize("NFKC", text).casefold())


def normalize_to_words(text: str) -> str:
    """Return the words of a text, normalized and joined by spaces."""
    return " ".join(tokenize_casefolded(text))


def hash_text_shingles(text: str, *, weight: int = SHINGLE_WEIGHT) -> frozenset[int]:
    """Return the hashed shingles of a text, including those of its text inside JSON."""
    return frozenset(
        shingle
        for tokens in tokenize_with_unescaped(text)
        for shingle in hash_shingles(tokens, weight=weight)
    )


def tokenize_with_unescaped(text: str) -> list[list[str]]:
    """Tokenize a text; if it contains escapes, also in its unescaped form."""
    lists = [tokenize_casefolded(text)]
    return [*lists, tokenize_casefolded(unescape_json(text))] if "\\" in text else lists


def hash_shingles(tokens: Sequence[str], *, weight: int = SHINGLE_WEIGHT) -> Iterator[int]:
    """Return the hashed shingles of a token sequence."""
    return map(hash, iterate_shingles(tokens, weight=weight))


def iterate_shingles(tokens: Sequence[str], *, weight: int = SHINGLE_WEIGHT) -> Iterator[str]:
    """Yield the shingles of a token sequence, one for each token with enough after it."""
    weights = [get_token_weight(token) for token in tokens]
    end, total = 0, 0
    for begin, own_weight in enumerate(weights):
        while total < weight and end < len(tokens):
            total += weights[end]
            end += 1
        if total < weight:
            return
        yield " ".join(tokens[begin:end])
        total -= own_weight


def find_shingle_at(tokens: Sequence[str], begin: int) -> str | None:
    """Return the shingle that starts at a token, or None if too little follows."""
    total = 0
    for end in range(begin, len(tokens)):
        total += get_token_weight(tokens[end])
        if total >= SHINGLE_WEIGHT:
            return " ".join(tokens[begin : end + 1])
    return None


def get_token_weight(token: str) -> int:
    """Return how much a token counts towards a shingle."""
    if len(token) > _MAX_WORD_LENGTH:
        return SHINGLE_WEIGHT
    return _CHARACTER_WEIGHT if _IS_UNSPACED.match(token) else _WORD_WEIGHT


def is_distinctive(text: str) -> bool:
    """Whether a text is long enough to be identified by its words alone."""
    return sum(map(get_token_weight, tokenize_casefolded(text))) >= SHINGLE_WEIGHT


def has_any_run(text: str, runs: Collection[str]) -> bool:
    """Whether a text contains one of some runs of normalized words, also inside JSON."""
    return bool(runs) and any(
        f" {run} " in told
        for told in (f" {' '.join(tokens)} " for tokens in tokenize_with_unescaped(text))
        for run in runs
    )


def unescape_json(text: str) -> str:
    """Return a text with its JSON escapes resolved."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


def compute_overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """Return how much of the shorter of two texts, as shingles, occurs in the other: 0 to 1."""
    return len(one & other) / max(1, min(len(one), len(other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstones:
    """The tombstones of one person, and the key to them."""

    key: bytes = field(default=b"", repr=False)
    forgotten_at: Mapping[str, Micros] = field(default_factory=dict)

    @property
    def has_other_key(self) -> bool:
        """Whether any tombstones were laid with another key, so that their content is not
        recognized.
        """
        keys = {each for each, laid_at in self.forgotten_at.items() if laid_at == MAX_TIME}
        return not keys <= {fingerprint_key(self.key)}

    def is_belief_forgotten(self, words: str, said_at: Micros) -> bool:
        """Whether a belief or quote, said at that time, was deleted afterwards.

        ``words`` is a belief's text, the result of ``format_belief_words``, or one of
        ``format_quote_keys``.
        """
        return (
            bool(self.forgotten_at)
            and self.forgotten_at.get(fingerprint_words(self.key, words), -1) >= said_at
        )

    def is_external_id_forgotten(
        self, chat: Chat, external_id: str | None, *, said_at: Micros
    ) -> bool:
        """Whether a message said at that time came under an external id that was deleted since."""
        if not self.forgotten_at or external_id is None:
            return False
        print_ = fingerprint_external_id(self.key, chat.channel, chat.address, external_id)
        return self.forgotten_at.get(print_, said_at - 1) >= said_at

    def is_message_forgotten(self, words: str, *, said_at: Micros) -> bool:
        """Whether a message with these words, said at that time, was deleted afterwards."""
        return bool(self.forgotten_at) and any(
            said_at <= self.forgotten_at.get(each, said_at - 1)
            for each in fingerprint_message(self.key, words, said_at=said_at)
        )


NO_TOMBSTONES: Final = Tombstones()
"""For when nothing was ever deleted."""


async def load_tombstones(tx: Transaction, person: PersonId, secret_key: bytes) -> Tombstones:
    """Load the tombstones of a person."""
    rows = await tx.rows(
        "SELECT print, laid_at FROM tombstone WHERE person = :person", person=person
    )
    return Tombstones(key=secret_key, forgotten_at=dict(rows))


async def save_key_tombstone(tx: Transaction, person: PersonId, secret_key: bytes) -> None:
    """Record the key with which tombstones are laid."""
    await save_tombstones(tx, person, [fingerprint_key(secret_key)], now=MAX_TIME)


async def save_tombstones(
    tx: Transaction, person: PersonId, fingerprints: Iterable[str], *, now: Micros
) -> None:
    """Lay tombstones for these fingerprints."""
    await tx.run_many(
        """INSERT INTO tombstone (person, print, laid_at) VALUES (:person, :print, :now)
           ON CONFLICT (person, print) DO UPDATE SET laid_at = excluded.laid_at""",
        [{"person": person, "print": each, "now": now} for each in sorted(set(fingerprints))],
    )


async def has_tombstones(tx: Transaction, person: PersonId) -> bool:
    """Whether anything of a person was ever deleted."""
    row = await tx.row("SELECT 1 FROM tombstone WHERE person = :person LIMIT 1", person=person)
    return row is not None


async def delete_tombstones(tx: Transaction, person: PersonId, fingerprints: Iterable[str]) -> None:
    """Lift the tombstones of these fingerprints."""
    await tx.run_many(
        "DELETE FROM tombstone WHERE person = :person AND print = :print",
        [{"person": person, "print": each} for each in sorted(set(fingerprints))],
    )


def fingerprint_message(secret_key: bytes, words: str, *, said_at: Micros) -> tuple[str, ...]:
    """Return the fingerprints of a message: of its words, or of a few words together with the
    minute at which they were said.
    """
    if is_distinctive(words):
        return (fingerprint_words(secret_key, words),)
    return (fingerprint_words(secret_key, f"{said_at // MINUTE} {words}"),)


def fingerprint_belief(secret_key: bytes, memory: StoredBelief) -> tuple[str, ...]:
    """Return the fingerprints of a memory: of its text, and of its key and value."""
    content = format_belief_words(memory.kind, memory.key, memory.value)
    return tuple(fingerprint_words(secret_key, each) for each in (memory.text, content) if each)


def format_belief_words(kind: MemoryKind, key: str, value: str) -> str:
    """Return what a memory with key and value says, whatever its text; empty for others."""
    return f"{kind} {key} {value}" if key and value else ""


def format_quote_keys(
    kind: MemoryKind, key: str, quote: str, *, said_at: Micros
) -> tuple[str, ...]:
    """Return the keys by which evidence of a matter is recognized, however the belief is worded.

    They are the shingles of the quote, since more or less may be quoted the next time, or a short
    quote with the minute at which it was said. One sentence may tell of several matters of which
    only one is deleted: facts and preferences are told apart by their keys, and from all other
    kinds.
    """
    matter = f"{kind} {key}" if key else "what was"
    if is_distinctive(quote):
        return tuple(f"{matter}: {each}" for each in iterate_shingles(tokenize_casefolded(quote)))
    return (f"{matter}: {said_at // MINUTE} {quote}",)


async def has_tombstone(tx: Transaction, person: PersonId, fingerprint: str) -> bool:
    """Whether a person has a tombstone with this fingerprint."""
    row = await tx.row(
        "SELECT 1 FROM tombstone WHERE person = :person AND print = :print",
        person=person,
        print=fingerprint,
    )
    return row is not None


def fingerprint_external_id(secret_key: bytes, channel: str, address: str, external_id: str) -> str:
    """Return the fingerprint of a message's external id; it does not depend on the chat's own id,
    since the chat may be created again.
    """
    delivery = "\0".join(["", channel, address, sanitize_text(external_id)])
    return hmac.new(secret_key, delivery.encode(), hashlib.sha256).hexdigest()


def fingerprint_measurement(measurement: str) -> str:
    """Return the fingerprint of the id of a value; such ids tell nothing of what was measured."""
    return hashlib.sha256(f"measurement\0{measurement}".encode()).hexdigest()


def fingerprint_key(secret_key: bytes) -> str:
    """Return the fingerprint of a key itself, which no words have."""
    return hmac.new(secret_key, b"\0", hashlib.sha256).hexdigest()


def fingerprint_words(secret_key: bytes, words: str) -> str:
    """Return the keyed fingerprint of some words, ignoring case, width and punctuation."""
    return hmac.new(secret_key, normalize_to_words(words).encode(), hashlib.sha256).hexdigest()
