"""Global persona: versions of SOUL.md, which says who the companion is to everybody.

This module reads no files: the text is passed in.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import CompanionId
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.people import find_companion

MAX_PERSONA_LENGTH: Final = 8_000
"""In characters: the whole text stands in every prompt, beside the core blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalPersona:
    """One version of the companion's persona for everybody."""

    version: int
    text: str
    read_at: Micros


async def save_global_persona(
    tx: Transaction, companion: CompanionId, text: str, *, now: Micros
) -> tuple[GlobalPersona, bool]:
    """Store the text of SOUL.md; return its version and whether it is new.

    Raises InvalidInput for a text that is too long.
    """
    clean = sanitize_text(text).strip()
    if len(clean) > MAX_PERSONA_LENGTH:
        raise InvalidInput(f"it has {len(clean):,} characters, and {MAX_PERSONA_LENGTH:,} fit")
    versions = await list_persona_versions(tx, companion)
    if (versions[-1].text if versions else "") == clean:
        return (versions[-1] if versions else GlobalPersona(version=0, text="", read_at=now)), False
    persona = GlobalPersona(
        version=1 + (versions[-1].version if versions else 0), text=clean, read_at=now
    )
    await tx.run(
        """INSERT INTO soul (companion, version, text, read_at)
           VALUES (:companion, :version, :text, :now)
           ON CONFLICT (companion, version) DO NOTHING""",
        companion=companion,
        version=persona.version,
        text=persona.text,
        now=now,
    )
    return persona, True


async def list_persona_versions(tx: Transaction, companion: CompanionId) -> list[GlobalPersona]:
    """List every version, oldest first."""
    rows = await tx.rows(
        "SELECT version, text, read_at FROM soul WHERE companion = :companion ORDER BY version",
        companion=companion,
    )
    return [GlobalPersona(version=row[0], text=row[1], read_at=row[2]) for row in rows]


async def get_global_persona_text(tx: Transaction) -> str:
    """Return the current text for the companion of this install, empty where none was ever read."""
    companion = await find_companion(tx)
    if companion is None:
        return ""
    row = await tx.row(
        "SELECT text FROM soul WHERE companion = :companion ORDER BY version DESC LIMIT 1",
        companion=companion.id,
    )
    return "" if row is None else str(row[0])
