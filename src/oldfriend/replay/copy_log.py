"""Log copy: copies the event log and related tables to the target database, but no beliefs.

``db.stored_tables`` says which, and why others are left out. Rows are copied without being
interpreted.
"""

from collections.abc import Sequence

from oldfriend.db.database import TableInfo, Transaction
from oldfriend.db.stored_tables import TABLES_BY_NAME
from oldfriend.db.table_copy import count_rows, iter_row_batches, write_rows
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId


async def require_empty_target(source: Transaction, target: Transaction) -> None:
    """Raise InvalidInput where the target database has other tables or is not empty."""
    tables = await source.list_tables()
    if await target.list_tables() != tables:
        raise InvalidInput(
            "The two databases were made by different versions of Oldfriend. Start this one on "
            "both, then replay. Nothing was written."
        )
    for table in tables:
        if await count_rows(target, table):
            raise InvalidInput(
                f"The database to replay into holds something (in {table.name}), and it is no "
                "replay of this one that was broken off. Name one that is empty. Nothing was "
                "written."
            )


async def copy_log(
    source: Transaction, target: Transaction, person: PersonId | None, *, with_journal: bool
) -> None:
    """Copy the log tables of one person, or of everybody (None)."""
    for table in await source.list_tables():
        stored = TABLES_BY_NAME[table.name]
        if stored.not_replayed or (stored.is_journal and not with_journal):
            continue
        async for rows in iter_row_batches(source, table, owner=find_person_filter(table, person)):
            await write_rows(target, table, rows)


def find_person_filter(table: TableInfo, person: PersonId | None) -> tuple[str, str] | None:
    """Return the column and value that select one person's rows; None selects all."""
    column = TABLES_BY_NAME[table.name].person_column
    return None if person is None or column is None else (column, person)


def select_people(people: Sequence[PersonId], person: PersonId | None) -> list[PersonId]:
    """Return the people whose memory is derived again."""
    return [each for each in people if person in {None, each}]
