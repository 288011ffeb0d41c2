"""Oura store: who has connected their ring, and how far it was read; without tokens."""

from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId

OuraStatus = Literal["asking", "connected", "refused"]
COLUMNS: Final = "person, status, state, redirect, began_at, read_at, error"


@dataclass(frozen=True, slots=True, kw_only=True)
class OuraConnection:
    """A person's connection."""

    person: PersonId
    status: OuraStatus
    began_at: Micros
    state: str = field(default="", repr=False)
    redirect: str = ""
    read_at: Micros | None = None
    error: str | None = None


async def find_connection(tx: Transaction, person: PersonId) -> OuraConnection | None:
    """Return a person's connection; None if they have none."""
    row = await tx.row(
        f"SELECT {COLUMNS} FROM oura_connection WHERE person = :person", person=person
    )
    if row is None:
        return None
    _, status, state, redirect, began_at, read_at, error = row
    return OuraConnection(
        person=person,
        status=status,
        state=state,
        redirect=redirect,
        began_at=began_at,
        read_at=read_at,
        error=error,
    )


async def has_connections(tx: Transaction) -> bool:
    """Tell whether anybody has connected a ring, or is about to."""
    return await tx.row("SELECT 1 FROM oura_connection LIMIT 1") is not None


async def list_connected(tx: Transaction) -> list[PersonId]:
    """Return whose values are read each day."""
    rows = await tx.rows("SELECT person FROM oura_connection WHERE status = 'connected'")
    return [PersonId(row[0]) for row in rows]


async def save_connection(tx: Transaction, connection: OuraConnection) -> None:
    """Store a connection in place of the earlier one."""
    await tx.run(
        f"""INSERT INTO oura_connection ({COLUMNS})
           VALUES (:person, :status, :state, :redirect, :began_at, :read_at, :error)
           ON CONFLICT (person) DO UPDATE SET status = excluded.status, state = excluded.state,
             redirect = excluded.redirect, began_at = excluded.began_at,
             read_at = excluded.read_at, error = excluded.error""",
        person=connection.person,
        status=connection.status,
        state=connection.state,
        redirect=connection.redirect,
        began_at=connection.began_at,
        read_at=connection.read_at,
        error=connection.error,
    )


async def delete_connection(tx: Transaction, person: PersonId) -> bool:
    """Delete a person's connection; return whether there was one."""
    deleted = await tx.run("DELETE FROM oura_connection WHERE person = :person", person=person)
    return deleted > 0
