"""oldfriend person: lists people and renames them."""

import argparse

from oldfriend.cli.open_context import get_person_by_name, open_from_options
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.people import list_people, rename_person

USAGE_HELP = (
    "`oldfriend person list` lists everybody, `oldfriend person rename OLD NEW` renames one."
)


async def run(options: argparse.Namespace) -> int:
    """List people, or rename one. Raises InvalidInput."""
    match options.what:
        case ["list"]:
            return await print_people(options)
        case ["rename", old, new]:
            return await rename_one(options, old, new)
        case ["rename", *more]:
            raise InvalidInput(f"A rename takes two names, not {len(more)}. {USAGE_HELP}")
        case other:
            words = " ".join(other)[:40]
            raise InvalidInput(f"{words!r} is nothing that can be done with people. {USAGE_HELP}")


async def print_people(options: argparse.Namespace) -> int:
    """Print everybody, the owner first."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        people = await list_people(tx)
    for person in people:
        print(f"{person.name} (the owner)" if person.is_owner else person.name)
    if not people:
        print("Nobody has talked here yet.")
    return 0


async def rename_one(options: argparse.Namespace, old: str, new: str) -> int:
    """Rename a person. Raises NotFound."""
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_person_by_name(tx, old)
        renamed = await rename_person(tx, person, new, platforms=app.platforms)
    print(f"{person.name} is called {renamed.name} from now on.")
    if not person.is_owner:
        print(f"Talk as them with: oldfriend chat --person {renamed.name!r}")
    return 0
