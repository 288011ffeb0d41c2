"""Export: the whole store, or one person's data, as typed lines of JSON below a header.

Apart from the messages themselves it contains no secrets: keys and passwords are never stored.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from oldfriend.db.database import Database
from oldfriend.db.stored_tables import EXPORTED_TABLES
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import PersonId
from oldfriend.memory.table_dump import dump_rows

EXPORT_VERSION: Final = 1
"""Raised when older programs can no longer read the lines."""
MARKER_KEY: Final = "oldfriend"
TYPE_KEY: Final = "type"


async def export_lines(
    db: Database, *, person: PersonId | None, now: Micros
) -> AsyncGenerator[str, None]:
    """Yield everything stored about a person, or about everybody (None), as lines with their ends.

    All lines are as of one moment, so the consumer must be fast: it occupies one of the few read
    connections. The last line counts the rows, so that a truncated export is recognized.
    """
    yield format_line(
        {MARKER_KEY: "export", "version": EXPORT_VERSION, "made_at": from_micros(now).isoformat()}
    )
    count = 0
    async with db.begin_read() as tx:
        for table in EXPORTED_TABLES:
            async for record in dump_rows(tx, table, person):
                count += 1
                yield format_line({TYPE_KEY: table.name, **record})
    yield format_line({MARKER_KEY: "end", "rows": count})


def format_line(fields: Mapping[str, object]) -> str:
    """Format one line of the export."""
    return json.dumps(fields, ensure_ascii=False) + "\n"
