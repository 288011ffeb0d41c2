"""oldfriend export: everything that is kept, as typed lines of text."""

import argparse
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from oldfriend.app.house import House
from oldfriend.cli.opening import opened, person_named
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.errors import InvalidInput, StoreUnusable
from oldfriend.domain.ids import PersonId
from oldfriend.transfer.exporting import export_lines


async def run(options: argparse.Namespace) -> int:
    """Write it to a new file that only its owner can read, or to standard output."""
    async with opened(options, create=False) as house:
        lines = export_lines(house.db, person=await chosen(house, options), now=house.clock())
        if options.file == "-":
            async for line in lines:
                sys.stdout.write(line)
            return 0
        path = new_file(options.file)
        written = await write_file(path, lines)
    print(f"{written:,} lines were written to {path}.")
    return 0


async def chosen(house: House, options: argparse.Namespace) -> PersonId | None:
    """The person that was named; None for everybody."""
    if person_named(options) is None:
        return None
    async with house.db.reading() as tx:
        return (await person_looked_into(tx, options)).id


def new_file(text: str) -> Path:
    """The file that was typed. Raises InvalidInput when it is there already."""
    path = Path(text).expanduser()
    if path.exists():
        raise InvalidInput(f"{path} is there already. Name a new file.")
    return path


async def write_file(path: Path, lines: AsyncIterator[str]) -> int:
    """Write lines to a new file, whole or not at all; how many. Raises StoreUnusable."""
    partial = path.with_name(path.name + ".partial")
    count = 0
    try:
        partial.unlink(missing_ok=True)
        with os.fdopen(
            os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            async for line in lines:
                file.write(line)
                count += 1
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StoreUnusable(f"{path} could not be written ({error.strerror}).") from error
    return count
