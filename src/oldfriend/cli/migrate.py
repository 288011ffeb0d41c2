"""oldfriend migrate: migrates the database to this version, as opening it also does."""

import argparse
import sys

from oldfriend.cli.open_context import open_from_options
from oldfriend.runtime.schema_check import list_schema_faults


async def run(options: argparse.Namespace) -> int:
    """Open the database, which migrates it, and print the result."""
    async with open_from_options(options, create=False) as app:
        backup, faults = app.migration_backup, await list_schema_faults(app.db)
        if faults:
            print(*faults, sep="\n", file=sys.stderr)
            return 1
        if backup is None:
            print("The database is up to date.")
        else:
            print(f"The database was brought up to date. As it was before: {backup}")
    return 0
