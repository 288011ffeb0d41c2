"""Log copy: copies the event log and related tables to the target database, but no beliefs.

Every table is listed here, with the reason if it is skipped; a test checks that none is missing.
Rows are copied without being interpreted.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from oldfriend.db.database import TableInfo, Transaction
from oldfriend.db.table_copy import count_rows, iter_row_batches, write_rows
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId

COPIED_TABLES: Final = (
    "companion",
    "person",
    "identity",
    "chat",
    "session",
    "message",
    "message_vector",
    "embedder",
    "soul",
    "core_block",
    "import_batch",
    "segment",
    "tombstone",
    "audit",
    "delivered",
    "closed_place",
    "attachment",
)
"""People, chats, messages and deletions; also the segments, which are to be read again."""

JOURNAL_TABLES: Final = ("change", "evidence")
"""Decisions and evidence; copied only where those before ``since`` stay."""

SKIPPED_TABLES: Final = MappingProxyType(
    {
        "memory": "derived anew",
        "entity": "derived anew",
        "summary": "derived anew",
        "memory_vector": "made anew",
        "embedding_progress": "looked through anew",
        "receipt": "of replies that stood on other beliefs",
        "receipt_trace": "of replies that stood on other beliefs",
        "model_call": "answers are taken from there where the same is asked again",
        "tool_call": "done already",
        "lane": "work in progress",
        "letter": "work in progress",
        "letter_key": "work in progress",
        "pace": "work in progress",
        "cleanup": "work in progress",
        "working_memory": "gone after an hour",
        "suggestion": "cite beliefs of the first database",
        "tick": "thought anew",
        "link_code": "work in progress",
        "link_attempt": "work in progress",
        "stranger": "work in progress",
        "web_link": "work in progress",
        "web_attempt": "work in progress",
        "web_session": "a browser signs in again",
        "web_invitation": "the owner invites again",
        "web_token": "a program is given another",
        "web_passkey": "a device is added again",
        "web_challenge": "work in progress",
    }
)


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
    names = (*COPIED_TABLES, *JOURNAL_TABLES) if with_journal else COPIED_TABLES
    for table in await source.list_tables():
        if table.name not in names:
            continue
        async for rows in iter_row_batches(source, table, owner=find_person_filter(table, person)):
            await write_rows(target, table, rows)


def find_person_filter(table: TableInfo, person: PersonId | None) -> tuple[str, str] | None:
    """Return the column and value that select one person's rows; None selects all."""
    column = "id" if table.name == "person" else "person"
    return (column, person) if person is not None and column in table.columns else None


def select_people(people: Sequence[PersonId], person: PersonId | None) -> list[PersonId]:
    """Return the people whose memory is derived again."""
    return [each for each in people if person in {None, each}]
