"""oldfriend undo: reverts the extraction of a segment, or an import."""

import argparse
from collections.abc import Sequence

from oldfriend.beliefs.correct import undo_segment
from oldfriend.cli.import_cmd import is_import_number, undo_import
from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import JournalObject
from oldfriend.presenters.belief_text import format_belief_line
from oldfriend.presenters.history_schemas import format_segment_line

USAGE_HELP = "`oldfriend undo consolidation ID` or `last`; `oldfriend undo import NUMBER`."


async def run(options: argparse.Namespace) -> int:
    """Undo one segment or import. Raises InvalidInput."""
    match options.what:
        case ["consolidation", name]:
            return await undo_segment_extraction(options, name)
        case ["import", number] if is_import_number(number):
            return await undo_import(options, int(number))
        case _:
            raise InvalidInput(f"Name what to undo: {USAGE_HELP}")


async def undo_segment_extraction(options: argparse.Namespace, segment_id: str) -> int:
    """Revert the extraction of a segment; beliefs with no other evidence end."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        result = await undo_segment(
            app.db, app.clock, person.id, None if segment_id == "last" else segment_id
        )
    print(f"Undone: {format_segment_line(result.segment, zone=person.zone)}")
    print_beliefs("Believed no more", result.ended, zone=person.zone)
    print_beliefs("Holds again", result.reopened, zone=person.zone)
    print_beliefs("Says less", result.changed, zone=person.zone)
    if not (result.ended or result.reopened or result.changed):
        print("No belief was based on it alone.")
    print("The messages themselves stay.")
    return 0


def print_beliefs(title: str, beliefs: Sequence[JournalObject], *, zone: str) -> None:
    """Print beliefs under a title, if there are any."""
    if beliefs:
        print(
            f"{title}:", *(f"  {format_belief_line(each, zone=zone)}" for each in beliefs), sep="\n"
        )
