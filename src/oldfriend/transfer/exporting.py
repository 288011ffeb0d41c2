"""How does everything leave? As typed lines of JSON under a header, whole or one person's.

Nothing is secret in it beyond the words themselves: keys and passwords are never stored.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from oldfriend.db.database import Database
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import PersonId
from oldfriend.memory.dump import TABLES, dump_rows

VERSION: Final = 1
"""The shape of the lines; raised when older programs could not read them any more."""
MARK: Final = "oldfriend"
TYPE: Final = "type"


async def export_lines(
    db: Database, *, person: PersonId | None, now: Micros
) -> AsyncGenerator[str, None]:
    """Everything that is kept of a person, or of everybody for None; each line with its end.

    All of it as of one moment, so whoever takes the lines must not be slow: one of the few who may
    read is kept busy. The last line counts the rows, so that a part is known as one.
    """
    yield line_of({MARK: "export", "version": VERSION, "made_at": from_micros(now).isoformat()})
    count = 0
    async with db.reading() as tx:
        for table in TABLES:
            async for record in dump_rows(tx, table, person):
                count += 1
                yield line_of({TYPE: table.name, **record})
    yield line_of({MARK: "end", "rows": count})


def line_of(fields: Mapping[str, object]) -> str:
    """One line of the export."""
    return json.dumps(fields, ensure_ascii=False) + "\n"
