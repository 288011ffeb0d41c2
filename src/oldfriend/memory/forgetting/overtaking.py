"""Was something forgotten while a turn was being decided that rests on it?"""

from collections.abc import Collection

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId


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
