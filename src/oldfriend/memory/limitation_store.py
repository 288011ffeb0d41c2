"""Limitation store: what the companion cannot do for a person yet, until it is resolved."""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId

MAX_LIMITATIONS: Final = 50
"""Open ones; of more nobody keeps an overview."""
MAX_TITLE_CHARS: Final = 60
MAX_TEXT_CHARS: Final = 500
COLUMNS: Final = """id, person, title, description, plan, is_open, message, message_seq, created_at,
    changed_at"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limitation:
    """Something that the companion could not do."""

    id: str
    person: PersonId
    title: str
    description: str = ""
    plan: str = ""  # what would help
    is_open: bool = True
    message: MessageId | None = None  # that wrote it last
    message_seq: int | None = None
    created_at: Micros
    changed_at: Micros

    def has_title(self, title: str) -> bool:
        """Tell whether it is called so, in whatever case."""
        return self.title.casefold() == " ".join(title.split()).casefold()


async def save_limitation(tx: Transaction, limitation: Limitation) -> None:
    """Store a limitation in place of its earlier version."""
    await tx.run(
        f"""INSERT INTO limitation ({COLUMNS}) VALUES (:id, :person, :title, :description, :plan,
             :is_open, :message, :message_seq, :created_at, :changed_at)
           ON CONFLICT (id) DO UPDATE SET title = excluded.title,
             description = excluded.description, plan = excluded.plan,
             is_open = excluded.is_open, message = excluded.message,
             message_seq = excluded.message_seq, changed_at = excluded.changed_at""",
        id=limitation.id,
        person=limitation.person,
        title=limitation.title,
        description=limitation.description,
        plan=limitation.plan,
        is_open=int(limitation.is_open),
        message=limitation.message,
        message_seq=limitation.message_seq,
        created_at=limitation.created_at,
        changed_at=limitation.changed_at,
    )


async def list_limitations(tx: Transaction, person: PersonId) -> list[Limitation]:
    """List a person's limitations, resolved ones too, the one that was written last first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM limitation WHERE person = :person
           ORDER BY changed_at DESC, id DESC""",
        person=person,
    )
    return [parse_row(row) for row in rows]


def parse_row(row: Row) -> Limitation:
    """Parse a row of COLUMNS."""
    limitation, person, title, description, plan, is_open, message, *rest = row
    message_seq, created_at, changed_at = rest
    return Limitation(
        id=limitation,
        person=PersonId(person),
        title=title,
        description=description,
        plan=plan,
        is_open=bool(is_open),
        message=None if message is None else MessageId(message),
        message_seq=message_seq,
        created_at=created_at,
        changed_at=changed_at,
    )
