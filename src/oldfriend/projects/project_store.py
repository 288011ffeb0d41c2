"""Project store: what a person works on, and what was said while it was open.

A project groups conversations; memory is never filtered by it.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId
from oldfriend.domain.messages import Message
from oldfriend.memory.message_log import MESSAGE_COLUMNS, MESSAGE_TABLES, parse_message_row
from oldfriend.memory.message_order import MESSAGE_PLACE

MAX_PROJECTS: Final = 50
MAX_NAME_CHARS: Final = 60
MAX_ROLE_CHARS: Final = 1_000
COLUMNS: Final = "id, person, name, role, message, message_seq, created_at, changed_at"
P_COLUMNS: Final = ", ".join(f"p.{each}" for each in COLUMNS.split(", "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Something that a person works on with the companion."""

    id: str
    person: PersonId
    name: str
    role: str = ""  # how the companion is to be in it, in the person's words
    message: MessageId | None = None  # that wrote it last
    message_seq: int | None = None
    created_at: Micros
    changed_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectOverview:
    """A project with how much was said in it."""

    project: Project
    messages: int  # the person's
    last_at: Micros | None


async def save_project(tx: Transaction, project: Project) -> None:
    """Store a project in place of its earlier version."""
    await tx.run(
        f"""INSERT INTO project ({COLUMNS}) VALUES (:id, :person, :name, :role, :message,
             :message_seq, :created_at, :changed_at)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, role = excluded.role,
             message = excluded.message, message_seq = excluded.message_seq,
             changed_at = excluded.changed_at""",
        id=project.id,
        person=project.person,
        name=project.name,
        role=project.role,
        message=project.message,
        message_seq=project.message_seq,
        created_at=project.created_at,
        changed_at=project.changed_at,
    )


async def list_projects(tx: Transaction, person: PersonId) -> list[ProjectOverview]:
    """List a person's projects, the one that was worked on last first; commands do not count."""
    rows = await tx.rows(
        f"""SELECT {P_COLUMNS}, count(m.seq), max(m.said_at) FROM project p
           LEFT JOIN project_span s ON s.project = p.id AND s.person = p.person
           LEFT JOIN message m ON m.person = p.person AND m.chat = s.chat
             AND {MESSAGE_PLACE} > s.since_seq
             AND (s.until_seq IS NULL OR {MESSAGE_PLACE} < s.until_seq)
             AND m.replaced_at IS NULL AND m.role = 'person' AND m.text NOT LIKE '/%'
           WHERE p.person = :person GROUP BY {P_COLUMNS}
           ORDER BY coalesce(max(m.said_at), p.changed_at) DESC, p.id""",
        person=person,
    )
    return [
        ProjectOverview(project=parse_row(row[:-2]), messages=int(row[-2]), last_at=row[-1])
        for row in rows
    ]


async def find_open_project(tx: Transaction, person: PersonId, chat_id: ChatId) -> Project | None:
    """Return the project that is open in a chat."""
    row = await tx.row(
        f"""SELECT {P_COLUMNS} FROM project_span s
           JOIN project p ON p.id = s.project AND p.person = s.person
           WHERE s.person = :person AND s.chat = :chat AND s.until_seq IS NULL
           ORDER BY s.since_seq DESC LIMIT 1""",
        person=person,
        chat=chat_id,
    )
    return None if row is None else parse_row(row)


async def close_project(tx: Transaction, person: PersonId, chat_id: ChatId, *, seq: int) -> None:
    """Close what is open in a chat with a message there."""
    await tx.run(
        """UPDATE project_span SET until_seq = :seq
           WHERE person = :person AND chat = :chat AND until_seq IS NULL""",
        seq=seq,
        person=person,
        chat=chat_id,
    )


async def open_project(
    tx: Transaction, person: PersonId, chat_id: ChatId, project: str, *, seq: int
) -> None:
    """Open a project in a chat with a message there, in place of another one."""
    await close_project(tx, person, chat_id, seq=seq)
    await tx.run(
        """INSERT INTO project_span (chat, since_seq, until_seq, person, project)
           VALUES (:chat, :seq, NULL, :person, :project)
           ON CONFLICT (chat, since_seq) DO UPDATE SET project = excluded.project,
             until_seq = NULL""",
        chat=chat_id,
        seq=seq,
        person=person,
        project=project,
    )


async def delete_project(tx: Transaction, person: PersonId, project: str) -> None:
    """Delete a project; what was said and is to be done in it stays."""
    await tx.run(
        "UPDATE task SET project = NULL WHERE person = :person AND project = :project",
        person=person,
        project=project,
    )
    for table, column in (("project_span", "project"), ("project", "id")):
        await tx.run(
            f"DELETE FROM {table} WHERE person = :person AND {column} = :project",
            person=person,
            project=project,
        )


async def list_project_messages(
    tx: Transaction, person: PersonId, project: str, *, limit: int, before: int
) -> list[Message]:
    """List what the person last said in a project before a seq, oldest first; no commands."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           JOIN project_span p ON p.chat = m.chat AND p.person = m.person
             AND {MESSAGE_PLACE} > p.since_seq
             AND (p.until_seq IS NULL OR {MESSAGE_PLACE} < p.until_seq)
           WHERE m.person = :person AND p.project = :project AND m.seq < :before
           AND m.replaced_at IS NULL AND m.role = 'person' AND m.trust = 'person'
           AND m.text NOT LIKE '/%'
           ORDER BY m.said_at DESC, m.seq DESC LIMIT :limit""",
        person=person,
        project=project,
        before=before,
        limit=limit,
    )
    return [parse_message_row(row) for row in reversed(rows)]


def parse_row(row: Row) -> Project:
    """Parse a row of COLUMNS."""
    project, person, name, role, message, message_seq, created_at, changed_at = row
    return Project(
        id=project,
        person=PersonId(person),
        name=name,
        role=role,
        message=None if message is None else MessageId(message),
        message_seq=message_seq,
        created_at=created_at,
        changed_at=changed_at,
    )
