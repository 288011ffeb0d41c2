"""Skill store: instructions for a kind of task that a person keeps, and switches on and off."""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId

MAX_SKILLS: Final = 50
MAX_SKILL_CHARS: Final = 1_500
"""A skill that is on stands in every prompt."""
COLUMNS: Final = "id, person, name, text, is_on, message, message_seq, created_at, changed_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """An instruction, in the person's own words."""

    id: str
    person: PersonId
    name: str
    text: str
    is_on: bool = True
    message: MessageId | None = None  # that wrote it last
    message_seq: int | None = None
    created_at: Micros
    changed_at: Micros


async def save_skill(tx: Transaction, skill: Skill) -> None:
    """Store a skill in place of its earlier version."""
    await tx.run(
        f"""INSERT INTO skill ({COLUMNS}) VALUES (:id, :person, :name, :text, :is_on, :message,
             :message_seq, :created_at, :changed_at)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, text = excluded.text,
             is_on = excluded.is_on, message = excluded.message,
             message_seq = excluded.message_seq, changed_at = excluded.changed_at""",
        id=skill.id,
        person=skill.person,
        name=skill.name,
        text=skill.text,
        is_on=int(skill.is_on),
        message=skill.message,
        message_seq=skill.message_seq,
        created_at=skill.created_at,
        changed_at=skill.changed_at,
    )


async def list_skills(tx: Transaction, person: PersonId) -> list[Skill]:
    """List a person's skills, the one that was written last first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM skill WHERE person = :person
           ORDER BY changed_at DESC, id DESC""",
        person=person,
    )
    return [parse_row(row) for row in rows]


async def delete_skill(tx: Transaction, person: PersonId, skill: str) -> None:
    """Delete a skill."""
    await tx.run(
        "DELETE FROM skill WHERE person = :person AND id = :skill", person=person, skill=skill
    )


def parse_row(row: Row) -> Skill:
    """Parse a row of COLUMNS."""
    skill, person, name, text, is_on, message, message_seq, created_at, changed_at = row
    return Skill(
        id=skill,
        person=PersonId(person),
        name=name,
        text=text,
        is_on=bool(is_on),
        message=None if message is None else MessageId(message),
        message_seq=message_seq,
        created_at=created_at,
        changed_at=changed_at,
    )
