"""What people write of themselves and their companion stands, and nobody else writes it."""

import ast
from pathlib import Path

import pytest

import oldfriend
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.core_blocks import LONGEST_BLOCK, list_blocks, list_versions, write_block
from tests.memory.conftest import Friend

SOURCE = Path(oldfriend.__path__[0])
WRITERS = {"cli/core.py"}
"""Where a person's own words become a block: each is an act of theirs."""


async def test_each_edit_is_a_version_and_the_newest_holds(nora: Friend, omar: Friend) -> None:
    """The same words again are no new version; empty ones take the block out of sight."""
    async with nora.db.writing() as tx:
        for now, text in enumerate(["You are Ada.", "You are Ada. ", "You are Mo."]):
            await write_block(tx, nora.person.id, "persona", text, now=now)
        await write_block(tx, nora.person.id, "style", "Short.", now=5)
        await write_block(tx, omar.person.id, "persona", "You are his.", now=6)
        held = await list_blocks(tx, nora.person.id)
        assert [(each.name, each.version, each.text) for each in held] == [
            ("persona", 2, "You are Mo."), ("style", 1, "Short."),
        ]  # fmt: skip
        history = await list_versions(tx, nora.person.id, "persona")
        assert [each.text for each in history] == ["You are Ada.", "You are Mo."]
        await write_block(tx, nora.person.id, "style", "", now=7)
        assert [each.name for each in await list_blocks(tx, nora.person.id)] == ["persona"]


async def test_a_block_that_is_too_long_is_refused(nora: Friend) -> None:
    """With how long it may be."""
    async with nora.db.writing() as tx:
        await write_block(tx, nora.person.id, "user", "x" * LONGEST_BLOCK, now=1)
        with pytest.raises(InvalidInput, match="5,000 fit"):
            await write_block(tx, nora.person.id, "user", "x" * (LONGEST_BLOCK + 1), now=2)


def test_no_block_has_an_automatic_writer() -> None:
    """Every place in the source that could write one is named here (ACCEPTANCE I1)."""
    callers, writers = set[str](), set[str]()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Name(id="write_block") | ast.alias(name="write_block"):
                    callers.add(place)
                case ast.Attribute(attr="write_block"):
                    callers.add(place)
                case ast.Constant(value=str(text)) if writes_blocks(text):
                    writers.add(place)
                case _:
                    pass
    assert writers == {"memory/core_blocks.py"}
    assert callers == WRITERS


def writes_blocks(sql: str) -> bool:
    """Whether a statement changes the table of blocks."""
    words = sql.upper().split()
    return "CORE_BLOCK" in words and bool({"INSERT", "UPDATE"} & set(words))
