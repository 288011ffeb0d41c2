"""oldfriend undo: take back what was read in a stretch of talk, or an import."""

import argparse
from collections.abc import Sequence

from oldfriend.app.believing.showing import line_of, segment_line
from oldfriend.app.believing.undoing import undo_reading
from oldfriend.cli.bringing import is_number, undo_import
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import Believed

HOW = "`oldfriend undo consolidation ID` or `last`; `oldfriend undo import NUMBER`."


async def run(options: argparse.Namespace) -> int:
    """Undo one thing."""
    match options.what:
        case ["consolidation", name]:
            return await undo_consolidation(options, name)
        case ["import", number] if is_number(number):
            return await undo_import(options, int(number))
        case _:
            raise InvalidInput(f"Say what is to be undone: {HOW}")


async def undo_consolidation(options: argparse.Namespace, name: str) -> int:
    """Take back what was read in a segment; what stands on nothing else ends."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        done = await undo_reading(house, person.id, None if name == "last" else name)
    print(f"Taken back: {segment_line(done.segment, zone=person.zone)}")
    print_some("Believed no more", done.ended, zone=person.zone)
    print_some("Holds again", done.back, zone=person.zone)
    print_some("Says less", done.changed, zone=person.zone)
    if not (done.ended or done.back or done.changed):
        print("Nothing that is believed rested on it alone.")
    print("The words themselves stay.")
    return 0


def print_some(title: str, beliefs: Sequence[Believed], *, zone: str) -> None:
    """Print beliefs under a title, if there are any."""
    if beliefs:
        print(f"{title}:", *(f"  {line_of(each, zone=zone)}" for each in beliefs), sep="\n")
