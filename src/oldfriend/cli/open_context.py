"""App context of a command, the person it is for, and confirmation at a terminal.

A typo must not create a person: a terminal user is asked, a script is refused and told which names
exist.
"""

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from getpass import getpass
from pathlib import Path

from oldfriend.app.app_context import AppContext
from oldfriend.app.doctor_checks import READ_ONLY_STORE, check_permissions
from oldfriend.cli.output import ask, escape_control_chars
from oldfriend.config.settings import Settings, load_settings, resolve_data_folder
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.messages import Person
from oldfriend.memory.people import find_owner, find_person, get_person, list_people, validate_name
from oldfriend.persona.soul_file import sync_soul_file
from oldfriend.queues.queue import has_overdue_job
from oldfriend.runtime.wiring import open_app


def load_settings_from_options(options: argparse.Namespace) -> Settings:
    """Load the settings, overridden by command-line options."""
    return load_settings(
        data=getattr(options, "data", None),
        database=getattr(options, "database", None),
        overrides=[*getattr(options, "typed_first", ()), *getattr(options, "typed", ())],
    )


def get_data_folder(options: argparse.Namespace) -> Path:
    """Return the data folder, even if the settings in it cannot be read."""
    return resolve_data_folder(data=getattr(options, "data", None))


@asynccontextmanager
async def open_from_options(
    options: argparse.Namespace, *, create: bool, maintain_after: bool = False
) -> AsyncIterator[AppContext]:
    """Open the app context that the options name. Without ``create`` the store must exist.

    With ``create`` it also syncs SOUL.md and reports a problem with it. With ``maintain_after`` it
    does overdue background work for a moment before it closes.
    """
    async with open_app(load_settings_from_options(options), create=create) as app:
        print_store_warnings(app)
        print_permission_warnings(app.settings)
        if create and (trouble := (await sync_soul_file(app.db, app.clock, app.settings)).problem):
            print(f"oldfriend: {trouble}", file=sys.stderr)
        yield app
        if maintain_after:
            await maintain_selected_person(app, options)


async def maintain_selected_person(app: AppContext, options: argparse.Namespace) -> None:
    """Flush the output, then do overdue background work for the selected person."""
    sys.stdout.flush()
    name = get_person_option(options)
    async with app.db.begin_read() as tx:
        person = await (find_owner(tx) if name is None else find_person(tx, name))
        is_due = await has_overdue_job(tx, "agenda", now=app.clock())
    if person is not None and (is_due or app.settings.retention.messages_days is not None):
        from oldfriend.runtime.maintenance import maintain_briefly  # large, and seldom needed

        await maintain_briefly(app, person.id)


def print_store_warnings(app: AppContext) -> None:
    """Print that the store is read-only, and how interrupted deletions were completed."""
    if app.db.is_read_only:
        print(f"oldfriend: {READ_ONLY_STORE}", file=sys.stderr)
    if not app.finished_cleanups:
        return
    from oldfriend.presenters.deletion_text import cleaned_as_text

    for each in app.finished_cleanups:
        print(f"oldfriend: {cleaned_as_text(each, zone=app.settings.zone)}", file=sys.stderr)


def print_permission_warnings(settings: Settings) -> None:
    """Print which files other accounts can change, and how to fix that."""
    for each in check_permissions(settings):
        print(f"oldfriend: {each.text}", file=sys.stderr)


def get_person_option(options: argparse.Namespace) -> str | None:
    """Return the name given with --person; None for the owner."""
    name: str | None = getattr(options, "person", None)
    return name


def is_interactive() -> bool:
    """Tell whether there is a user at a terminal to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_secret(label: str) -> str:
    """Ask for a secret, without echo where possible."""
    prompt = f"{label} (not shown as you type): "
    if sys.stdin.isatty():
        return getpass(escape_control_chars(prompt))
    print(prompt)
    return sys.stdin.readline().strip()


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
        if ask_yes_no(f"Add {name} as a new person? [y/N] "):
            return name
    raise NotFound(f"{format_unknown_person(name, names)} To add a new person, use --new-person.")


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
    print(f"Nobody here is called {name}.")
    closest = find_closest_name(name, names)
    return closest if closest and ask_yes_no(f"Did you mean {closest}? [y/N] ") else None


def format_unknown_person(name: str, names: Sequence[str]) -> str:
    """Format that a name is unknown, and which names are known."""
    closest = find_closest_name(name, names)
    suggestion = f" Did you mean {closest}?" if closest else ""
    return (
        f"Nobody here is called {name}.{suggestion} Known people: "
        f"{', '.join(names) or 'nobody yet'}."
    )


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


def confirm(options: argparse.Namespace, question: str) -> bool:
    """Return whether the user agrees, by --yes or a prompt. Raises InvalidInput."""
    if options.yes:
        return True
    if not is_interactive():
        raise InvalidInput(
            "This needs your confirmation, and there is no terminal to ask at. To go ahead, add "
            "--yes."
        )
    return ask_yes_no(f"{question} [y/N] ")
