"""oldfriend export: writes everything that is kept as typed lines of JSON."""

import argparse
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from oldfriend.cli.open_context import get_person_option, get_selected_person, open_from_options
from oldfriend.cli.output import escape_json
from oldfriend.db.database import Database
from oldfriend.domain.errors import InvalidInput, StoreUnusable
from oldfriend.domain.ids import PersonId
from oldfriend.transfer.export_run import export_lines


async def run(options: argparse.Namespace) -> int:
    """Write the export to a new file that only its owner can read, or to standard output."""
    async with open_from_options(options, create=False) as app:
        lines = export_lines(app.db, person=await get_selected_id(app.db, options), now=app.clock())
        if options.file == "-":
            async for line in lines:
                sys.stdout.write(escape_json(line))
            return 0
        path = parse_new_path(options.file)
        count = await write_atomically(path, lines)
    print(f"{count:,} lines were written to {path}.")
    return 0


async def get_selected_id(db: Database, options: argparse.Namespace) -> PersonId | None:
    """Return the id of the named person; None for everybody."""
    if get_person_option(options) is None:
        return None
    async with db.begin_read() as tx:
        return (await get_selected_person(tx, options)).id


def parse_new_path(text: str) -> Path:
    """Parse the path of a new file. Raises InvalidInput if it exists."""
    path = Path(text).expanduser()
    if path.exists():
        raise InvalidInput(f"{path} already exists. Name a new file.")
    return path


async def write_atomically(path: Path, lines: AsyncIterator[str]) -> int:
    """Write lines to a new file atomically; return their number. Raises StoreUnusable."""
    temporary = path.with_name(path.name + ".partial")
    count = 0
    try:
        temporary.unlink(missing_ok=True)
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            async for line in lines:
                file.write(line)
                count += 1
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreUnusable(f"{path} could not be written ({error.strerror}).") from error
    return count
