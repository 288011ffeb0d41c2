"""Whose memory is meant by --person? A slip of the fingers must not make a new person.

Somebody at a terminal is asked; a script is refused, and told who is known.
"""

import argparse
from collections.abc import Sequence
from difflib import get_close_matches

from oldfriend.app.house import House
from oldfriend.cli.opening import is_at_terminal, person_named
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.people import Person
from oldfriend.memory.people import checked_name, find_person, get_person, list_people

ALIKE = 0.6


async def person_to_talk(house: House, options: argparse.Namespace) -> str | None:
    """The name of whoever talks, who may be new where that is wanted; None: the owner.

    Raises NotFound for a name that nobody has, InvalidInput for one that nobody can have.
    """
    name = person_named(options)
    if name is None:
        return None
    name = checked_name(name)
    async with house.db.reading() as tx:
        is_known = await find_person(tx, name) is not None
        names = [person.name for person in await list_people(tx)]
    if is_known or options.new_person:
        return name
    if is_at_terminal():
        if meant := meant_instead(name, names):
            return meant
        if is_yes(f"Make {name} new? [y/N] "):
            return name
    raise NotFound(f"{unknown(name, names)} To begin with somebody new: --new-person")


async def person_looked_into(tx: Transaction, options: argparse.Namespace) -> Person:
    """The person whose memory is looked into. Raises NotFound, naming who is known."""
    name = person_named(options)
    return await get_person(tx, None) if name is None else await person_by_name(tx, name)


async def person_by_name(tx: Transaction, name: str) -> Person:
    """The person of that name, or the one that was meant. Raises NotFound."""
    person = await find_person(tx, name)
    if person is not None:
        return person
    names = [person.name for person in await list_people(tx)]
    if is_at_terminal() and (meant := meant_instead(name, names)):
        return await get_person(tx, meant)
    raise NotFound(unknown(name, names))


def meant_instead(name: str, names: Sequence[str]) -> str | None:
    """Ask whether the nearest known name was meant; that name, if it was."""
    print(f"There is no {name}.")
    near = nearest(name, names)
    return near if near and is_yes(f"Did you mean {near}? [y/N] ") else None


def unknown(name: str, names: Sequence[str]) -> str:
    """That nobody has a name, and who is there."""
    near = nearest(name, names)
    meant = f" Did you mean {near}?" if near else ""
    return f"There is no {name}.{meant} Known: {', '.join(names) or 'nobody yet'}."


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The known name that is most like it, whatever its capitals, if any is."""
    folded = {known.casefold(): known for known in names}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=ALIKE)
    return folded[near[0]] if near else None


def is_yes(question: str) -> bool:
    """Ask; whether it was agreed to."""
    try:
        return input(question).strip().casefold() in {"y", "yes"}
    except EOFError:
        return False
