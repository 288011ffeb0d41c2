"""Is it really gone? Looked for in every text of every table that the database has.

By provenance: no id of what went stands anywhere. By words: no run of words does that stood only
there. What other people keep is theirs, and is not looked at.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from typing import Final

from oldfriend.db.copying import slices_of, without_files
from oldfriend.db.database import TableShape, Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.memory.forgetting.foreseeing import Foreseen
from oldfriend.memory.forgetting.spans import spans_in

_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

OURS: Final = frozenset({"zone", "language", "channel", "kind", "status"})
"""Columns in which nobody's words stand, though a name may: who forgets Paris lives by its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """That something was found which should be gone."""

    place: str  # a table and column, or a file
    what: str  # "id" or "words"
    count: int


async def find_left(tx: Transaction, plan: Foreseen) -> tuple[Left, ...]:
    """Where anything of what went still stands; nothing when it is gone."""
    found: Counter[tuple[str, str]] = Counter()
    for table in await tx.tables():
        async for name, text in texts_in(tx, table, plan.person):
            if names_any(text, plan.gone):
                found[f"{table.name}.{name}", "id"] += 1
            if name not in OURS and plan.holds_words(text):
                found[f"{table.name}.{name}", "words"] += 1
    return tuple(
        Left(place=place, what=what, count=count)
        for (place, what), count in sorted(found.items())
    )  # fmt: skip


async def texts_in(
    tx: Transaction, table: TableShape, person: PersonId
) -> AsyncIterator[tuple[str, str]]:
    """Every text in a table that is this person's or nobody's, with the column it stands in."""
    owner = "id" if table.name == "person" else "person"
    whose = (owner, person) if owner in table.columns else None
    table = without_files(table)
    async for rows in slices_of(tx, table, of=whose):
        for row in rows:
            for name, value in zip(table.columns, row, strict=True):
                if isinstance(value, str):
                    yield name, value


def names_any(text: str, ids: Collection[str]) -> bool:
    """Whether an id of these stands in a text."""
    return any(each in ids for each in _ID.findall(text))


async def spans_of_others(
    tx: Transaction, person: PersonId, spans: frozenset[int]
) -> frozenset[int]:
    """Those of some runs of words that stand in what other people keep."""
    found: set[int] = set()
    for table in map(without_files, await tx.tables()):
        if "person" not in table.columns:
            continue
        place = table.columns.index("person")
        async for rows in slices_of(tx, table):
            for row in rows:
                if row[place] not in {person, None}:
                    texts = [value for value in row if isinstance(value, str)]
                    found.update(*(spans & spans_in(text) for text in texts))
    return frozenset(found)
