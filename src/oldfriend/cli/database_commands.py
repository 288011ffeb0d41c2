"""oldfriend convert, migrate, rebuild: copies, updates or rebuilds the database."""

import argparse
import sys
import time

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import EscapeSequence
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.setting_parsers import redact_url
from oldfriend.memory.evidence import list_stats_mismatches
from oldfriend.memory.journal import list_view_mismatches, rebuild_views
from oldfriend.presenters.base_schema import format_count
from oldfriend.runtime.schema_check import list_schema_faults
from oldfriend.runtime.wiring import open_database
from oldfriend.transfer.copy_database import CopyProgress, copy_database

REFRESH_S = 0.2


async def run_convert(options: argparse.Namespace) -> int:
    """Copy, verify, and print what was copied."""
    source = await open_database(options.source, create=False)
    try:
        check_not_edited(source, options.source)
        target = await open_database(options.target)
        try:
            copied = await copy_database(source, target, progress=CopyProgressLine())
        finally:
            await target.close()
    finally:
        await source.close()
    for name, table in copied.items():
        if table.rows:
            print(f"{table.rows:>12,}  {name}")
    print(
        f"Everything was copied to {redact_url(options.target)}, read back and found to be the "
        f"same. {redact_url(options.source)} was not changed."
    )
    return 0


def check_not_edited(source: Database, url: str) -> None:
    """Raise InvalidInput for a store that was edited by hand and not opened since."""
    if source.external_edits is not None:
        raise InvalidInput(
            f"{redact_url(url)} was edited by hand. Run this first, which takes over the edit, "
            f"and then convert: oldfriend doctor --database {redact_url(url)}"
        )


class CopyProgressLine:
    """Progress display in a terminal, refreshed every REFRESH_S seconds."""

    def __init__(self) -> None:
        """Start with nothing shown."""
        self._last_shown_at = 0.0

    def __call__(self, progress: CopyProgress) -> None:
        """Show the progress."""
        now = time.monotonic()
        is_done = progress.done == progress.total
        if not sys.stderr.isatty() or (now - self._last_shown_at < REFRESH_S and not is_done):
            return
        self._last_shown_at = now
        end = "\n" if is_done else ""
        sys.stderr.write(EscapeSequence("\r"))
        print(f"{progress.done:,} of {progress.total:,} rows", end=end, file=sys.stderr, flush=True)


async def run_migrate(options: argparse.Namespace) -> int:
    """Open the database, which migrates it, and print the result."""
    async with open_from_options(options, create=False) as app:
        backup, faults = app.migration_backup, await list_schema_faults(app.db)
        if faults:
            print(*faults, sep="\n", file=sys.stderr)
            return 1
        if backup is None:
            print("The database is up to date.")
        else:
            print(f"The database was updated. A copy of it as it was before: {backup}")
    return 0


async def run_rebuild(options: argparse.Namespace) -> int:
    """Check the views, or rebuild them; the check returns 1 on a mismatch."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            mismatches = await find_mismatches(tx, person.id)
        if options.check:
            return print_check(mismatches)
        async with app.db.begin_write() as tx:
            count = await rebuild_views(tx, person.id)
    print(
        f"Rebuilt {format_count(count, 'belief')}; {len(mismatches):,} of them did not match the "
        "journal before."
    )
    return 0


async def find_mismatches(tx: Transaction, person: PersonId) -> list[ObjectId]:
    """Find objects whose view differs from the journal, or statistics from the evidence."""
    return sorted(
        {*await list_view_mismatches(tx, person), *await list_stats_mismatches(tx, person)}
    )


def print_check(mismatches: list[ObjectId]) -> int:
    """Print the mismatches; return 1 if there are any."""
    for each in mismatches:
        print(f"{each} does not match the journal. To repair it: oldfriend rebuild")
    if not mismatches:
        print("All beliefs match the journal.")
    return 1 if mismatches else 0
