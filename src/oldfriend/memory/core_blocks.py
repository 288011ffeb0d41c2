"""Who is the companion to somebody, and who are they to it? In people's words only.

Three blocks that stand in every prompt. Nothing that was inferred is ever written into them: what
is learned has its own place.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import storable
from oldfriend.memory.people import lock_person

BlockName = Literal["persona", "user", "style"]
BLOCKS: Final[tuple[BlockName, ...]] = get_args(BlockName)
LONGEST_BLOCK: Final = 5_000
"""Characters (ACCEPTANCE I2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreBlock:
    """One version of one block."""

    name: BlockName
    version: int
    text: str
    written_at: Micros


async def write_block(
    tx: Transaction, person: PersonId, name: BlockName, text: str, *, now: Micros
) -> CoreBlock:
    """Add a version of a block, as a person has written it; empty words empty it.

    Raises InvalidInput for a text that is too long.
    """
    clean = storable(text).strip()
    if len(clean) > LONGEST_BLOCK:
        raise InvalidInput(
            f"The {name} block has {len(clean):,} characters; {LONGEST_BLOCK:,} fit. Shorten it."
        )
    await lock_person(tx, person)
    history = await list_versions(tx, person, name)
    if history and history[-1].text == clean:
        return history[-1]
    version = 1 + (history[-1].version if history else 0)
    await tx.run(
        """INSERT INTO core_block (person, name, version, text, written_at)
           VALUES (:person, :name, :version, :text, :now)""",
        person=person, name=name, version=version, text=clean, now=now,
    )  # fmt: skip
    return CoreBlock(name=name, version=version, text=clean, written_at=now)


async def list_blocks(tx: Transaction, person: PersonId) -> list[CoreBlock]:
    """The blocks of a person that say something, as they read now."""
    rows = await tx.rows(
        """SELECT name, version, text, written_at FROM core_block b WHERE person = :person
           AND version = (SELECT max(version) FROM core_block newest
             WHERE newest.person = :person AND newest.name = b.name)""",
        person=person,
    )
    held = {row[0]: CoreBlock(name=row[0], version=row[1], text=row[2], written_at=row[3])
            for row in rows}  # fmt: skip
    return [held[name] for name in BLOCKS if name in held and held[name].text]


async def list_versions(tx: Transaction, person: PersonId, name: BlockName) -> list[CoreBlock]:
    """Every version of a block, the first one first."""
    rows = await tx.rows(
        """SELECT name, version, text, written_at FROM core_block
           WHERE person = :person AND name = :name ORDER BY version""",
        person=person,
        name=name,
    )
    return [CoreBlock(name=row[0], version=row[1], text=row[2], written_at=row[3]) for row in rows]
