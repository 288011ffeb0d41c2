"""Core blocks: three texts, written by people, that stand in every prompt.

They say who the companion is, who the person is and how to talk to them. Nothing inferred is ever
written into a block: learned beliefs are stored elsewhere, and the companion can only suggest a
change.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.people import lock_person

BlockName = Literal["persona", "user", "style"]
BLOCK_NAMES: Final[tuple[BlockName, ...]] = get_args(BlockName)
StyleAction = Literal["set", "append", "clear"]
STYLE_ACTIONS: Final[tuple[StyleAction, ...]] = get_args(StyleAction)
MAX_BLOCK_LENGTH: Final = 5_000
"""In characters."""


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
    """Add a version of a block as a person has written it; an empty text clears it.

    Raises InvalidInput for a text that is too long.
    """
    clean = sanitize_text(text).strip()
    if len(clean) > MAX_BLOCK_LENGTH:
        raise InvalidInput(
            localizable(
                "block_too_long",
                f"The {name} block has {len(clean):,} characters; {MAX_BLOCK_LENGTH:,} fit. "
                "Shorten it.",
                count=len(clean),
                longest=MAX_BLOCK_LENGTH,
            )
        )
    await lock_person(tx, person)
    history = await list_block_versions(tx, person, name)
    if history and history[-1].text == clean:
        return history[-1]
    version = 1 + (history[-1].version if history else 0)
    await tx.run(
        """INSERT INTO core_block (person, name, version, text, written_at)
           VALUES (:person, :name, :version, :text, :now)""",
        person=person,
        name=name,
        version=version,
        text=clean,
        now=now,
    )
    return CoreBlock(name=name, version=version, text=clean, written_at=now)


async def write_style(
    tx: Transaction, person: PersonId, action: StyleAction, text: str, *, now: Micros
) -> CoreBlock:
    """Set, append to or clear the style block, as a person has decided.

    Raises InvalidInput for a text that is too long, or missing where one is needed.
    """
    if action == "clear":
        return await write_block(tx, person, "style", "", now=now)
    if not text.strip():
        raise InvalidInput(f"There is nothing to {action}. To empty the style: clear")
    existing = await get_block_text(tx, person, "style") if action == "append" else ""
    return await write_block(tx, person, "style", append_text(existing, text), now=now)


def append_text(existing: str, text: str) -> str:
    """Append text to a block on lines of its own."""
    return "\n".join(part for part in (existing, text.strip()) if part)


async def get_block_text(tx: Transaction, person: PersonId, name: BlockName) -> str:
    """Return the current text of a block, empty where nothing is written."""
    return next((each.text for each in await list_blocks(tx, person) if each.name == name), "")


def diff_lines(before: str, after: str) -> Iterator[str]:
    """Yield the lines in which two texts differ: "- " before removed ones and "+ " before added
    ones.
    """
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return (line for line in lines if line[:2] in {"- ", "+ "})


async def list_blocks(tx: Transaction, person: PersonId) -> list[CoreBlock]:
    """List the current versions of a person's blocks that are not empty."""
    rows = await tx.rows(
        """SELECT name, version, text, written_at FROM core_block b WHERE person = :person
           AND version = (SELECT max(version) FROM core_block newest
             WHERE newest.person = :person AND newest.name = b.name)""",
        person=person,
    )
    by_name = {
        row[0]: CoreBlock(name=row[0], version=row[1], text=row[2], written_at=row[3])
        for row in rows
    }
    return [by_name[name] for name in BLOCK_NAMES if name in by_name and by_name[name].text]


async def list_block_versions(
    tx: Transaction, person: PersonId, name: BlockName
) -> list[CoreBlock]:
    """List every version of a block, oldest first."""
    rows = await tx.rows(
        """SELECT name, version, text, written_at FROM core_block
           WHERE person = :person AND name = :name ORDER BY version""",
        person=person,
        name=name,
    )
    return [CoreBlock(name=row[0], version=row[1], text=row[2], written_at=row[3]) for row in rows]
