"""Schema check: compares the tables of a database with those this version creates."""

from collections.abc import Iterator, Sequence

from oldfriend.db.database import Database, TableInfo
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.runtime.wiring import open_in_memory


async def list_schema_faults(db: Database) -> list[LocalizedText]:
    """List the tables and columns of this version that a database lacks; it may have extra ones.

    Its schema version alone does not prove that: a migration may have changed before its release.
    """
    reference = open_in_memory()
    try:
        async with reference.begin_read() as tx:
            expected = await tx.list_tables()
    finally:
        await reference.close()
    async with db.begin_read() as tx:
        present = await tx.list_tables()
    return [
        localizable(
            "database_lacks",
            f"The database lacks {what} although it has this version's number: it was made by a "
            "version that was never released, or changed by other means. Restore a backup; or "
            "export it with the version that made it, and import that here.",
            what=what,
        )
        for what in iter_missing_parts(expected, present)
    ]


def iter_missing_parts(wanted: Sequence[TableInfo], present: Sequence[TableInfo]) -> Iterator[str]:
    """Yield the tables, and the columns as table.column, that are missing."""
    columns = {table.name: set(table.columns) for table in present}
    for table in wanted:
        if table.name not in columns:
            yield table.name
            continue
        missing = set(table.columns) - columns[table.name]
        yield from (f"{table.name}.{column}" for column in sorted(missing))
