"""Text fingerprints: keyed hashes by which deleted words are recognized in a text."""

import base64
import json
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Final

from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.memory_snapshot import join_entry_text
from oldfriend.memory.deletion.shingles import (
    find_shingle_at,
    iterate_shingles,
    normalize_to_words,
    tokenize_casefolded,
    tokenize_with_unescaped,
)

_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGEST_BYTES: Final = 8
_MAX_CACHED_TOKENS: Final = 500_000
"""The number of tokens for which it is cached whether a shingle or name starts with them."""


class KeyedHasher:
    """A keyed hash function for texts; its hashes reveal nothing without the key."""

    def __init__(self, key: bytes) -> None:
        """Derive a separate key, so that the hashes cannot be matched with other fingerprints made
        with the same key.
        """
        self._keyed = blake2b(key=sha256(b"traces\0" + key).digest(), digest_size=_DIGEST_BYTES)

    def hash_text(self, text: str) -> int:
        """Return the hash of a text."""
        keyed = self._keyed.copy()
        keyed.update(text.encode("utf-8", errors="surrogatepass"))
        return int.from_bytes(keyed.digest(), "little")

    def hash_all(self, texts: Iterable[str]) -> frozenset[int]:
        """Return the hashes of some texts."""
        return frozenset(map(self.hash_text, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFingerprints:
    """Fingerprints of the words, names and ids of deleted content."""

    hasher: KeyedHasher = field(repr=False, compare=False)
    key: int  # the fingerprint of an empty text, which tells whether the key is the same
    shingles: frozenset[int]  # of shingles that occurred only in it
    first_tokens: frozenset[int]  # of the first tokens of these shingles and of names
    names: Mapping[int, frozenset[int]]  # of deleted people and things, by number of tokens
    messages: frozenset[int]  # of whole messages
    ids: frozenset[int]  # ids of messages and beliefs, and message numbers
    _first_token_cache: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def find_shingles(self, text: str) -> frozenset[int]:
        """Return the fingerprints of deleted shingles in a text, including its text inside JSON."""
        return frozenset(
            each
            for tokens in tokenize_with_unescaped(text)
            for each in self._iterate_shingles(tokens)
        )

    def has_deleted_text(self, text: str) -> bool:
        """Whether a text contains deleted words or a deleted name."""
        return any(
            next(self._iterate_shingles(tokens), None) is not None or self._has_name(tokens)
            for tokens in tokenize_with_unescaped(text)
        )

    def is_deleted_message(self, text: str) -> bool:
        """Whether a text is a whole deleted message, however short."""
        return self.hasher.hash_text(normalize_to_words(text)) in self.messages

    def has_deleted_id(self, text: str) -> bool:
        """Whether a text contains the id of a deleted message or belief."""
        return any(self.hasher.hash_text(each) in self.ids for each in extract_ids(text))

    def is_deleted_reference(self, reference: str | int) -> bool:
        """Whether this is the id or the number of a deleted message or belief."""
        return self.hasher.hash_text(format_reference(reference)) in self.ids

    def _iterate_shingles(self, tokens: Sequence[str]) -> Iterator[int]:
        for begin, token in enumerate(tokens):
            if self._is_first(token) and (shingle := find_shingle_at(tokens, begin)) is not None:
                found = self.hasher.hash_text(shingle)
                if found in self.shingles:
                    yield found

    def _has_name(self, tokens: Sequence[str]) -> bool:
        return any(
            self.hasher.hash_text(" ".join(tokens[begin : begin + count])) in names
            for begin, token in enumerate(tokens)
            if self.names and self._is_first(token)
            for count, names in self.names.items()
        )

    def _is_first(self, token: str) -> bool:
        is_first = self._first_token_cache.get(token)
        if is_first is None:
            if len(self._first_token_cache) >= _MAX_CACHED_TOKENS:
                self._first_token_cache.clear()
            is_first = self._first_token_cache[token] = (
                self.hasher.hash_text(token) in self.first_tokens
            )
        return is_first


def extract_ids(text: str) -> list[str]:
    """Return the ids that occur in a text."""
    return _ID.findall(text)


def format_reference(reference: str | int) -> str:
    """Return the form in which an id or a message number is fingerprinted."""
    return f"number {reference}" if isinstance(reference, int) else reference


def build_text_fingerprints(plan: DeletionPlan, key: bytes) -> TextFingerprints:
    """Build the fingerprints of what a plan deletes."""
    hasher = KeyedHasher(key)
    texts = [each.text for each in plan.redacted_versions]
    texts += [join_entry_text(change) for change in plan.deleted.values()]
    shingles = {run for text in texts for run in iterate_matching_shingles(text, plan.shingles)}
    names = [tokens for name in plan.selection.names if (tokens := tokenize_casefolded(name))]
    first_tokens = {run.partition(" ")[0] for run in shingles} | {tokens[0] for tokens in names}
    by_length: dict[int, set[int]] = {}
    for tokens in names:
        by_length.setdefault(len(tokens), set()).add(hasher.hash_text(" ".join(tokens)))
    return TextFingerprints(
        hasher=hasher,
        key=hasher.hash_text(""),
        shingles=hasher.hash_all(shingles),
        first_tokens=hasher.hash_all(first_tokens),
        names={length: frozenset(hashes) for length, hashes in by_length.items()},
        messages=hasher.hash_all(normalize_to_words(each.text) for each in plan.messages),
        ids=hasher.hash_all(
            [*plan.deleted_ids, *(format_reference(each.seq) for each in plan.messages)]
        ),
    )


def iterate_matching_shingles(text: str, shingles: Collection[int]) -> Iterator[str]:
    """Yield the shingles of a text whose hashes are among those of the plan."""
    for tokens in tokenize_with_unescaped(text):
        yield from (shingle for shingle in iterate_shingles(tokens) if hash(shingle) in shingles)


def format_fingerprints_json(fingerprints: TextFingerprints) -> str:
    """Format fingerprints as they are stored."""
    return json.dumps(
        {
            "key": fingerprints.key,
            "runs": encode_hashes(fingerprints.shingles),
            "firsts": encode_hashes(fingerprints.first_tokens),
            "names": {
                length: encode_hashes(hashes) for length, hashes in fingerprints.names.items()
            },
            "messages": encode_hashes(fingerprints.messages),
            "ids": encode_hashes(fingerprints.ids),
        }
    )


def parse_fingerprints_json(text: str, key: bytes) -> TextFingerprints | None:
    """Parse stored fingerprints for use with a key; return None if they were made with another."""
    hasher, stored = KeyedHasher(key), json.loads(text)
    if stored["key"] != hasher.hash_text(""):
        return None
    return TextFingerprints(
        hasher=hasher,
        key=stored["key"],
        shingles=decode_hashes(stored["runs"]),
        first_tokens=decode_hashes(stored["firsts"]),
        names={int(length): decode_hashes(hashes) for length, hashes in stored["names"].items()},
        messages=decode_hashes(stored["messages"]),
        ids=decode_hashes(stored["ids"]),
    )


def encode_hashes(hashes: Collection[int]) -> str:
    """Encode hashes as text."""
    return base64.b64encode(array("Q", sorted(hashes)).tobytes()).decode()


def decode_hashes(text: str) -> frozenset[int]:
    """Decode hashes from text."""
    hashes = array("Q")
    hashes.frombytes(base64.b64decode(text))
    return frozenset(hashes)
