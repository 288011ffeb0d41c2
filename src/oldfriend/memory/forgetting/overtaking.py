"""Was something forgotten while a turn was being decided that rests on it?"""

from collections.abc import Collection

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Message


async def all_are_kept(tx: Transaction, person: PersonId, ids: Collection[str]) -> bool:
    """Whether all these messages and beliefs are still there.

    A message is as long as its first version is: forgetting takes that last. Its person is asked
    for last, too: else SQLite looks through all that the person ever said.
    """
    names = {f"id{place}": each for place, each in enumerate(sorted(set(ids)))}
    if not names:
        return True
    listed = ", ".join(f":{name}" for name in names)
    row = await tx.row(
        f"""SELECT (SELECT count(CASE WHEN person = :person THEN 1 END) FROM message
               WHERE version = 1 AND id IN ({listed}))
             + (SELECT count(DISTINCT object) FROM change
               WHERE person = :person AND object IN ({listed}))""",
        person=person,
        **names,
    )
    return row is not None and int(row[0]) == len(names)


async def read_as_before(tx: Transaction, person: PersonId, messages: Collection[Message]) -> bool:
    """Whether these very versions of messages are still there, and none has lost its words."""
    read = {each.seq: each.text for each in messages}
    if not read:
        return True
    names = {f"seq{place}": seq for place, seq in enumerate(read)}
    listed = ", ".join(f":{name}" for name in names)
    rows = await tx.rows(
        f"SELECT seq, text FROM message WHERE person = :person AND seq IN ({listed})",
        person=person,
        **names,
    )
    return {int(seq): text for seq, text in rows} == read
