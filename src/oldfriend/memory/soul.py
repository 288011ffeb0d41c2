"""Who is the companion to everybody? As the file SOUL.md said when it was read last.

Each version is kept. Knows no files: what was read is handed in.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import CompanionId
from oldfriend.domain.messages import storable
from oldfriend.memory.people import find_companion

LONGEST_SOUL: Final = 8_000
"""Characters: it stands whole in every prompt, beside the blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Soul:
    """One version of who the companion is to everybody."""

    version: int
    text: str
    read_at: Micros


async def keep_soul(
    tx: Transaction, companion: CompanionId, text: str, *, now: Micros
) -> tuple[Soul, bool]:
    """Keep what was read, and whether it is new. Raises InvalidInput for what is too long."""
    clean = storable(text).strip()
    if len(clean) > LONGEST_SOUL:
        raise InvalidInput(f"it has {len(clean):,} characters, and {LONGEST_SOUL:,} fit")
    held = await list_souls(tx, companion)
    if (held[-1].text if held else "") == clean:
        return (held[-1] if held else Soul(version=0, text="", read_at=now)), False
    soul = Soul(version=1 + (held[-1].version if held else 0), text=clean, read_at=now)
    await tx.run(
        """INSERT INTO soul (companion, version, text, read_at)
           VALUES (:companion, :version, :text, :now)
           ON CONFLICT (companion, version) DO NOTHING""",
        companion=companion, version=soul.version, text=soul.text, now=now,
    )  # fmt: skip
    return soul, True


async def list_souls(tx: Transaction, companion: CompanionId) -> list[Soul]:
    """Every version, the first one first."""
    rows = await tx.rows(
        "SELECT version, text, read_at FROM soul WHERE companion = :companion ORDER BY version",
        companion=companion,
    )
    return [Soul(version=row[0], text=row[1], read_at=row[2]) for row in rows]


async def soul_text(tx: Transaction) -> str:
    """What it says now of the companion of this install; empty where nothing was ever read."""
    companion = await find_companion(tx)
    if companion is None:
        return ""
    row = await tx.row(
        "SELECT text FROM soul WHERE companion = :companion ORDER BY version DESC LIMIT 1",
        companion=companion.id,
    )
    return "" if row is None else str(row[0])
