"""Who is the companion to somebody, and who are they to it? In people's words only.

Three blocks that stand in every prompt. Nothing that was inferred is ever written into them: what
is learned has its own place, and who thinks that a block should change can only suggest it.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.memory.people import lock_person

BlockName = Literal["persona", "user", "style"]
BLOCKS: Final[tuple[BlockName, ...]] = get_args(BlockName)
StyleAction = Literal["set", "append", "clear"]
STYLE_ACTIONS: Final[tuple[StyleAction, ...]] = get_args(StyleAction)
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
        raise InvalidInput(saying(
            "block_too_long",
            f"The {name} block has {len(clean):,} characters; {LONGEST_BLOCK:,} fit. Shorten it.",
            count=len(clean), longest=LONGEST_BLOCK,
        ))  # fmt: skip
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


async def write_style(
    tx: Transaction, person: PersonId, action: StyleAction, text: str, *, now: Micros
) -> CoreBlock:
    """Set how the companion talks to somebody, add to it, or clear it; as a person has decided.

    Raises InvalidInput for a text that is too long, or missing where one is needed.
    """
    if action == "clear":
        return await write_block(tx, person, "style", "", now=now)
    if not text.strip():
        raise InvalidInput(f"There is nothing to {action}. To empty the style: clear")
    held = await text_of(tx, person, "style") if action == "append" else ""
    return await write_block(tx, person, "style", added_to(held, text), now=now)


def added_to(held: str, text: str) -> str:
    """A block with more words in it, on lines of their own."""
    return "\n".join(part for part in (held, text.strip()) if part)


async def text_of(tx: Transaction, person: PersonId, name: BlockName) -> str:
    """What a block says now; empty where nothing is written."""
    return next((each.text for each in await list_blocks(tx, person) if each.name == name), "")


def differences(before: str, after: str) -> Iterator[str]:
    """The lines that two texts do not share, "- " before what went and "+ " before what came."""
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return (line for line in lines if line[:2] in {"- ", "+ "})


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
