"""oldfriend migrate: bring the database up to this version. Opening it does the same."""

import argparse

from oldfriend.cli.opening import opened


async def run(options: argparse.Namespace) -> int:
    """Open it, and say what that did."""
    async with opened(options, create=False) as house:
        backup = house.backup_made
        if backup is None:
            print("The database is up to date.")
        else:
            print(f"The database was brought up to date. As it was before: {backup}")
    return 0
