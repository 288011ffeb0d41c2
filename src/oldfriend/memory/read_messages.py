"""Read messages: counts messages by their language and by what has read them."""

from collections.abc import Sequence

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId


async def count_read_messages(
    tx: Transaction, person: PersonId, *, by: str, not_in: Sequence[str]
) -> int:
    """Count the person's messages in some other languages whose reader's name begins so."""
    languages = {f"language{number}": code for number, code in enumerate(not_in)}
    row = await tx.row(
        f"""SELECT count(*) FROM segment g JOIN message m ON m.session = g.session
             AND m.seq BETWEEN g.first_seq AND g.last_seq
           WHERE g.person = :person AND m.person = :person AND g.author LIKE :reader
           AND m.role = 'person' AND m.replaced_at IS NULL
           AND m.language NOT IN ({", ".join(f":{name}" for name in languages)})""",
        person=person,
        reader=f"{by}%",
        **languages,
    )
    return 0 if row is None else int(row[0])
