"""What comes over from the first database as it is? The log and its places; never a belief.

The tables are named here, each with why it stays behind if it does; a test asks for every table
that there is. Nothing of what is in them is looked at.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from oldfriend.db.copying import count_rows, slices_of, write_rows
from oldfriend.db.database import TableShape, Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId

CARRIED: Final = (
    "companion", "person", "identity", "chat", "session", "message", "message_vector", "embedder",
    "soul", "core_block", "import_batch", "segment", "tombstone", "audit",
    "delivered", "closed_place", "attachment",
)  # fmt: skip
"""Who, where, what was said, what was forgotten; and the segments, which wait to be read again."""

JOURNAL: Final = ("change", "evidence")
"""What was decided, and because of which words: only of before a moment, where that is wanted."""

LEFT_BEHIND: Final = MappingProxyType({
    "memory": "derived anew", "entity": "derived anew", "summary": "derived anew",
    "memory_vector": "made anew", "receipt": "of replies that stood on other beliefs",
    "receipt_item": "of replies that stood on other beliefs",
    "model_call": "answers are taken from there where the same is asked again",
    "tool_call": "done already", "lane": "work in progress", "letter": "work in progress",
    "letter_key": "work in progress", "pace": "work in progress",
    "working_memory": "gone after an hour", "suggestion": "cite beliefs of the first database",
    "tick": "thought anew",
    "link_code": "work in progress", "link_attempt": "work in progress",
    "stranger": "work in progress",
    "web_link": "work in progress", "web_attempt": "work in progress",
    "web_session": "a browser signs in again", "web_invitation": "the owner invites again",
    "web_token": "a program is given another", "web_passkey": "a device is added again",
    "web_challenge": "work in progress",
})  # fmt: skip


async def refuse_unfit(source: Transaction, target: Transaction) -> None:
    """Raise InvalidInput where the second database has other tables, or anything in them."""
    tables = await source.tables()
    if await target.tables() != tables:
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


async def carry(
    source: Transaction, target: Transaction, person: PersonId | None, *, journal: bool
) -> None:
    """Copy what comes over as it is, of one person or of everybody (None)."""
    names = (*CARRIED, *JOURNAL) if journal else CARRIED
    for table in await source.tables():
        if table.name not in names:
            continue
        async for rows in slices_of(source, table, of=whose(table, person)):
            await write_rows(target, table, rows)


def whose(table: TableShape, person: PersonId | None) -> tuple[str, str] | None:
    """By which column a table's rows are one person's; None: all of them come."""
    column = "id" if table.name == "person" else "person"
    return (column, person) if person is not None and column in table.columns else None


def people_among(known: Sequence[PersonId], person: PersonId | None) -> list[PersonId]:
    """Whose memory is derived anew."""
    return [each for each in known if person in {None, each}]
