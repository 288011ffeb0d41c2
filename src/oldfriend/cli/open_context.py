"""App context of a command: opens settings and store from the parsed options."""

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from getpass import getpass
from pathlib import Path

from oldfriend.app.app_context import AppContext
from oldfriend.app.doctor_checks import READ_ONLY_STORE, check_permissions
from oldfriend.cli.output import sanitize
from oldfriend.config.settings import Settings, load_settings, resolve_data_folder
from oldfriend.memory.people import find_owner, find_person
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
    prompt = f"{label} (it is not shown): "
    if sys.stdin.isatty():
        return getpass(sanitize(prompt))
    print(prompt)
    return sys.stdin.readline().strip()
