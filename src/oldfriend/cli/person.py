"""oldfriend person: who is known here, and by which name."""

import argparse

from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_by_name
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.people import list_people, rename_person

HOW = "`oldfriend person list` lists everybody, `oldfriend person rename OLD NEW` renames one."


async def run(options: argparse.Namespace) -> int:
    """List people, or rename one."""
    match options.what:
        case ["list"]:
            return await print_people(options)
        case ["rename", old, new]:
            return await rename(options, old, new)
        case ["rename", *more]:
            raise InvalidInput(f"A rename takes two names, not {len(more)}. {HOW}")
        case other:
            words = " ".join(other)[:40]
            raise InvalidInput(f"{words!r} is nothing that can be done with people. {HOW}")


async def print_people(options: argparse.Namespace) -> int:
    """Print everybody, the owner first."""
    async with opened(options, create=False) as house, house.db.reading() as tx:
        people = await list_people(tx)
    for person in people:
        print(f"{person.name} (the owner)" if person.is_owner else person.name)
    if not people:
        print("Nobody has talked here yet.")
    return 0


async def rename(options: argparse.Namespace, old: str, new: str) -> int:
    """Give somebody another name."""
    async with opened(options, create=False) as house, house.db.writing() as tx:
        person = await person_by_name(tx, old)
        renamed = await rename_person(tx, person, new, platforms=house.platforms)
    print(f"{person.name} is called {renamed.name} from now on.")
    if not person.is_owner:
        print(f"Talk as them with: oldfriend chat --person {renamed.name!r}")
    return 0
