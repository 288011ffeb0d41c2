"""--person option: resolves a typed name to a person.

A typo must not create a person: a terminal user is asked, a script is refused and told which names
exist.
"""

import argparse
from collections.abc import Sequence
from difflib import get_close_matches

from oldfriend.cli.open_context import get_person_option, is_interactive
from oldfriend.cli.output import ask
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.people import Person
from oldfriend.memory.people import find_person, get_person, list_people, validate_name

MIN_SIMILARITY = 0.6


async def resolve_chat_person(db: Database, options: argparse.Namespace) -> str | None:
    """Return the name of the person who chats; None for the owner. They may be new if confirmed.

    Raises NotFound for an unknown name, InvalidInput for one that is not allowed.
    """
    name = get_person_option(options)
    if name is None:
        return None
    name = validate_name(name)
    async with db.begin_read() as tx:
        is_known = await find_person(tx, name) is not None
        names = [person.name for person in await list_people(tx)]
    if is_known or options.new_person:
        return name
    if is_interactive():
        if closest := confirm_closest_name(name, names):
            return closest
        if ask_yes_no(f"Make {name} new? [y/N] "):
            return name
    raise NotFound(f"{format_unknown_person(name, names)} To begin with somebody new: --new-person")


async def get_selected_person(tx: Transaction, options: argparse.Namespace) -> Person:
    """Return the person selected by the options. Raises NotFound with the known names."""
    name = get_person_option(options)
    return await get_person(tx, None) if name is None else await get_person_by_name(tx, name)


async def get_person_by_name(tx: Transaction, name: str) -> Person:
    """Return the person with a name, or the closest one if confirmed. Raises NotFound."""
    person = await find_person(tx, name)
    if person is not None:
        return person
    names = [person.name for person in await list_people(tx)]
    if is_interactive() and (closest := confirm_closest_name(name, names)):
        return await get_person(tx, closest)
    raise NotFound(format_unknown_person(name, names))


def confirm_closest_name(name: str, names: Sequence[str]) -> str | None:
    """Ask whether the closest known name was meant; return it if so."""
    print(f"There is no {name}.")
    closest = find_closest_name(name, names)
    return closest if closest and ask_yes_no(f"Did you mean {closest}? [y/N] ") else None


def format_unknown_person(name: str, names: Sequence[str]) -> str:
    """Format that a name is unknown, and which names are known."""
    closest = find_closest_name(name, names)
    suggestion = f" Did you mean {closest}?" if closest else ""
    return f"There is no {name}.{suggestion} Known: {', '.join(names) or 'nobody yet'}."


def find_closest_name(name: str, names: Sequence[str]) -> str | None:
    """Return the most similar known name, ignoring case; None if none is close."""
    folded = {known.casefold(): known for known in names}
    matches = get_close_matches(name.casefold(), folded, n=1, cutoff=MIN_SIMILARITY)
    return folded[matches[0]] if matches else None


def ask_yes_no(question: str) -> bool:
    """Ask a yes/no question; False at end of input."""
    try:
        return ask(question).strip().casefold() in {"y", "yes"}
    except EOFError:
        return False
