"""oldfriend rebuild: rebuilds the views from the journal, or checks them."""

import argparse

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.memory.evidence import list_stats_mismatches
from oldfriend.memory.journal import list_view_mismatches, rebuild_views
from oldfriend.presenters.formatting import format_count


async def run(options: argparse.Namespace) -> int:
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
        f"Rebuilt: {format_count(count, 'belief')}, of which {len(mismatches):,} were different "
        "before."
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
