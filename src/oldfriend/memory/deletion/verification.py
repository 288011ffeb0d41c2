"""Deletion verification: searches every text column for what was deleted.

Two checks: no id of deleted content stands anywhere, and no run of words that stood only there.
Other people's data is theirs and is not searched.
"""

import base64
import json
import re
from array import array
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Final

from oldfriend.db.database import TableInfo, Transaction
from oldfriend.db.stored_tables import TABLES_BY_NAME
from oldfriend.db.table_copy import exclude_file_columns, iter_row_batches
from oldfriend.domain.codec import (
    PackedItem,
    Reference,
    unpack_items,
    unpack_references,
    unpack_sources,
)
from oldfriend.domain.ids import PersonId
from oldfriend.memory.core_blocks import CHECKLIST, list_block_versions
from oldfriend.memory.deletion.audit_log import ResidualFinding
from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.memory_snapshot import join_entry_text
from oldfriend.memory.deletion.own_records import TABLES, list_searched
from oldfriend.memory.deletion.tombstones import (
    find_shingle_at,
    iterate_shingles,
    normalize_to_words,
    tokenize_casefolded,
    tokenize_with_unescaped,
)

_ID: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"
)
_DIGEST_BYTES: Final = 8
_MAX_CACHED_TOKENS: Final = 500_000
"""The number of tokens for which it is cached whether a shingle or name starts with them."""


class KeyedHasher:
    """A keyed hash function for texts; its hashes reveal nothing without the key."""

    def __init__(self, secret_key: bytes) -> None:
        """Derive a separate key, so that the hashes cannot be matched with other fingerprints made
        with the same key.
        """
        self._keyed = blake2b(
            key=sha256(b"traces\0" + secret_key).digest(), digest_size=_DIGEST_BYTES
        )

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
    names: Mapping[int, frozenset[int]]  # and short texts of deleted records, by number of tokens
    words: Mapping[int, frozenset[int]]  # of the request, also if no names, by number of tokens
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
            next(self._iterate_shingles(tokens), None) is not None
            or self._has_any(tokens, self.names)
            for tokens in tokenize_with_unescaped(text)
        )

    def has_asked_words(self, text: str) -> bool:
        """Whether a text contains the words by which somebody asked to forget."""
        return any(self._has_any(tokens, self.words) for tokens in tokenize_with_unescaped(text))

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

    def _has_any(self, tokens: Sequence[str], runs: Mapping[int, frozenset[int]]) -> bool:
        return any(
            self.hasher.hash_text(" ".join(tokens[begin : begin + count])) in hashes
            for begin, token in enumerate(tokens)
            if runs and self._is_first(token)
            for count, hashes in runs.items()
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


def build_text_fingerprints(plan: DeletionPlan, secret_key: bytes) -> TextFingerprints:
    """Build the fingerprints of what a plan deletes."""
    hasher = KeyedHasher(secret_key)
    texts = [each.text for each in plan.redacted_versions]
    texts += [join_entry_text(change) for change in plan.deleted.values()]
    texts += [text for each in plan.records for text in each.telling]
    shingles = {run for text in texts for run in iterate_matching_shingles(text, plan.shingles)}
    names = tokenize_all((*plan.selection.names, *plan.short_texts))
    words = tokenize_all(plan.selection.words)
    first_tokens = {run.partition(" ")[0] for run in shingles}
    first_tokens |= {tokens[0] for tokens in (*names, *words)}
    return TextFingerprints(
        hasher=hasher,
        key=hasher.hash_text(""),
        shingles=hasher.hash_all(shingles),
        first_tokens=hasher.hash_all(first_tokens),
        names=hash_by_length(hasher, names),
        words=hash_by_length(hasher, words),
        messages=hasher.hash_all(
            normalize_to_words(text)
            for text in (
                *(each.text for each in plan.messages),
                *(text for each in plan.records for text in each.telling),
            )
        ),
        ids=hasher.hash_all(
            [*plan.deleted_ids, *(format_reference(each.seq) for each in plan.messages)]
        ),
    )


def tokenize_all(texts: Iterable[str]) -> list[list[str]]:
    """Split some texts into words; those without any are left out."""
    return [tokens for each in texts if (tokens := tokenize_casefolded(each))]


def hash_by_length(hasher: KeyedHasher, runs: Iterable[Sequence[str]]) -> dict[int, frozenset[int]]:
    """Return the hashes of some runs of words, by number of words."""
    by_length: dict[int, set[int]] = {}
    for tokens in runs:
        by_length.setdefault(len(tokens), set()).add(hasher.hash_text(" ".join(tokens)))
    return {length: frozenset(hashes) for length, hashes in by_length.items()}


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
            "words": {
                length: encode_hashes(hashes) for length, hashes in fingerprints.words.items()
            },
            "messages": encode_hashes(fingerprints.messages),
            "ids": encode_hashes(fingerprints.ids),
        }
    )


def parse_fingerprints_json(text: str, secret_key: bytes) -> TextFingerprints | None:
    """Parse stored fingerprints for use with a key; return None if they were made with another."""
    hasher, stored = KeyedHasher(secret_key), json.loads(text)
    if stored["key"] != hasher.hash_text(""):
        return None
    return TextFingerprints(
        hasher=hasher,
        key=stored["key"],
        shingles=decode_hashes(stored["runs"]),
        first_tokens=decode_hashes(stored["firsts"]),
        names={int(length): decode_hashes(hashes) for length, hashes in stored["names"].items()},
        words={
            int(length): decode_hashes(hashes) for length, hashes in stored.get("words", {}).items()
        },
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


RECORD_COLUMNS: Final = {each.name: frozenset(list_searched(each)) for each in TABLES.values()}
"""The columns of own records, by table, in which the words of a request are looked for."""
CLEANUP_TABLE: Final = "cleanup"
"""The table that holds the fingerprints themselves."""
PACKED_DECODERS: Final[Mapping[tuple[str, str], Callable[[bytes], frozenset[Reference]]]] = {
    ("receipt", "stood_on"): lambda packed: collect_references(unpack_sources(packed)),
    ("receipt_trace", "items"): lambda packed: collect_references(unpack_items(packed)),
    ("model_call", "shown"): lambda packed: frozenset(unpack_references(packed)),
}
"""The columns that hold packed references, and their decoders; none of them holds words."""


async def list_residuals(
    tx: Transaction, person: PersonId, fingerprints: TextFingerprints
) -> tuple[ResidualFinding, ...]:
    """List where deleted content still stands; empty when it is gone."""
    found: Counter[tuple[str, str]] = Counter()
    for table in await tx.list_tables():
        if table.name == CLEANUP_TABLE:
            continue
        async for name, packed in iterate_packed_references(tx, table, person):
            if any(map(fingerprints.is_deleted_reference, packed)):
                found[f"{table.name}.{name}", "id"] += 1
        async for name, text in iterate_texts(tx, table, person):
            if fingerprints.has_deleted_id(text):
                found[f"{table.name}.{name}", "id"] += 1
            if has_deleted_words(table.name, name, text, fingerprints):
                found[f"{table.name}.{name}", "words"] += 1
    checklist = await list_block_versions(tx, person, CHECKLIST)
    found["core_block.text", "words"] += sum(
        map(fingerprints.has_asked_words, (e.text for e in checklist))
    )
    return tuple(
        ResidualFinding(place=place, what=what, count=count)
        for (place, what), count in sorted(found.items())
        if count
    )


def has_deleted_words(table: str, column: str, text: str, fingerprints: TextFingerprints) -> bool:
    """Whether a column holds deleted words or, of an own record, those of the request."""
    if column in RECORD_COLUMNS.get(table, ()) and fingerprints.has_asked_words(text):
        return True
    is_code = TABLES_BY_NAME[table].columns[column].kind == "code"
    return not is_code and fingerprints.has_deleted_text(text)


async def iterate_packed_references(
    tx: Transaction, table: TableInfo, person: PersonId
) -> AsyncIterator[tuple[str, frozenset[Reference]]]:
    """Yield the references in each packed value of a person in a table, with the column name."""
    decoders = {name: decode for (of, name), decode in PACKED_DECODERS.items() if of == table.name}
    if not decoders:
        return
    async for rows in iter_row_batches(tx, table, owner=("person", person)):
        for row in rows:
            for name, value in zip(table.columns, row, strict=True):
                if name in decoders and value is not None:
                    yield name, decoders[name](value)


async def iterate_texts(
    tx: Transaction, table: TableInfo, person: PersonId
) -> AsyncIterator[tuple[str, str]]:
    """Yield every text in a table that belongs to this person or to nobody, with the column
    name.
    """
    owner = TABLES_BY_NAME[table.name].person_column
    owner_condition = None if owner is None else (owner, person)
    table = exclude_file_columns(table)
    async for rows in iter_row_batches(tx, table, owner=owner_condition):
        for row in rows:
            for name, value in zip(table.columns, row, strict=True):
                if isinstance(value, str):
                    yield name, value


def collect_references(items: Iterable[PackedItem]) -> frozenset[Reference]:
    """Return the messages and beliefs that some packed items refer to."""
    return frozenset(item.reference for item in items)


async def collect_shared_shingles(
    tx: Transaction, person: PersonId, shingles: frozenset[int], fingerprints: TextFingerprints
) -> frozenset[int]:
    """Return those shingles that also occur in other people's data."""
    found: set[int] = set()
    for table in map(exclude_file_columns, await tx.list_tables()):
        if "person" not in table.columns or table.name == CLEANUP_TABLE:
            continue
        person_index = table.columns.index("person")
        async for rows in iter_row_batches(tx, table):
            for row in rows:
                if row[person_index] not in {person, None}:
                    texts = [value for value in row if isinstance(value, str)]
                    found.update(*(shingles & fingerprints.find_shingles(text) for text in texts))
    return frozenset(found)


def has_any_id(text: str, ids: Collection[str]) -> bool:
    """Whether a text contains one of these ids."""
    return any(each in ids for each in extract_ids(text))
