"""Concurrency check: whether sources of a turn were deleted while it was being decided."""

from collections.abc import Collection

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Message


async def has_all_sources(tx: Transaction, person: PersonId, ids: Collection[str]) -> bool:
    """Whether all these messages and beliefs still exist.

    A message exists as long as its first version, which deletion removes last. The person is
    checked in the select list: in the WHERE clause SQLite would scan all messages of the person.
    """
    parameters = {f"id{index}": each for index, each in enumerate(sorted(set(ids)))}
    if not parameters:
        return True
    listed = ", ".join(f":{name}" for name in parameters)
    row = await tx.row(
        f"""SELECT (SELECT count(CASE WHEN person = :person THEN 1 END) FROM message
               WHERE version = 1 AND id IN ({listed}))
             + (SELECT count(DISTINCT object) FROM change
               WHERE person = :person AND object IN ({listed}))""",
        person=person,
        **parameters,
    )
    return row is not None and int(row[0]) == len(parameters)


async def has_unchanged_versions(
    tx: Transaction, person: PersonId, messages: Collection[Message]
) -> bool:
    """Whether these very versions of messages still exist with the same text."""
    expected = {each.seq: each.text for each in messages}
    if not expected:
        return True
    parameters = {f"seq{index}": seq for index, seq in enumerate(expected)}
    listed = ", ".join(f":{name}" for name in parameters)
    rows = await tx.rows(
        f"SELECT seq, text FROM message WHERE person = :person AND seq IN ({listed})",
        person=person,
        **parameters,
    )
    return {int(seq): text for seq, text in rows} == expected
