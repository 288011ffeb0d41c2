"""oldfriend core: who your companion is, and who you are to it, in your own words."""

import argparse
import json
import sys
from datetime import datetime

from oldfriend.app.accepting import open_line
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_to_talk
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.core_blocks import (
    BLOCKS,
    BlockName,
    CoreBlock,
    list_blocks,
    list_versions,
    write_block,
)

HOW = f"There are: {', '.join(BLOCKS)}."


async def run(options: argparse.Namespace) -> int:
    """Show the blocks, or one with its history, or write one."""
    name = block_named(options.block)
    async with opened(options, create=True) as house:
        line = await open_line(
            house, person=await person_to_talk(house, options), channel="terminal"
        )
        if name is not None and options.text is not None:
            text = sys.stdin.read() if options.text == "-" else options.text
            async with house.db.writing() as tx:
                await write_block(tx, line.person.id, name, text, now=house.clock())
        async with house.db.reading() as tx:
            shown = (
                await list_versions(tx, line.person.id, name)
                if name is not None and options.history
                else await list_blocks(tx, line.person.id)
            )
        show([each for each in shown if name in {None, each.name}], options, line.person.zone)
    return 0


def block_named(name: str | None) -> BlockName | None:
    """The block that is meant. Raises InvalidInput for one that there is not."""
    if name is not None and name not in BLOCKS:
        raise InvalidInput(f"{name[:40]!r} is no block. {HOW}")
    return name


def show(blocks: list[CoreBlock], options: argparse.Namespace, zone: str) -> None:
    """Print blocks."""
    if options.json:
        print(json.dumps([as_json(each, zone) for each in blocks], ensure_ascii=False))
        return
    for block in blocks:
        day = written_on(block, zone).strftime("%Y-%m-%d")
        print(f"{block.name} (version {block.version}, {day}):\n{block.text or '(empty)'}\n")
    if not blocks:
        print(
            "Nothing is written yet. Say who your companion is with:\n"
            '  oldfriend core persona "You are …"\n'
            f"and who you are (user) and how it should talk (style) likewise. {HOW}"
        )


def as_json(block: CoreBlock, zone: str) -> dict[str, str | int]:
    """A block for a program."""
    return {
        "name": block.name, "version": block.version, "text": block.text,
        "written_at": written_on(block, zone).isoformat(),
    }  # fmt: skip


def written_on(block: CoreBlock, zone: str) -> datetime:
    """When a version was written, by the clocks of a zone."""
    return from_micros(block.written_at, zone)
