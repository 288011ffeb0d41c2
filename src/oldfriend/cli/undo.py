"""oldfriend undo: take back what was read in a stretch of talk, or an import."""

import argparse

from oldfriend.app.believing.undoing import undo_reading
from oldfriend.cli.bringing import is_number, undo_import
from oldfriend.cli.columns import counted
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.errors import InvalidInput

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
        touched = await undo_reading(house, person.id, None if name == "last" else name)
    many = counted(len(touched), "belief")
    print(f"Undone: {many} ended, or hold again as before. The words themselves stay.")
    return 0
