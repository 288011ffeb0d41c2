"""How does a command open the house from what was typed?"""

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from getpass import getpass
from pathlib import Path

from oldfriend.app.choices.settings import Settings, data_folder, read_settings
from oldfriend.app.house import House
from oldfriend.app.persona.soul import take_up_soul
from oldfriend.app.wiring import open_house


def settings_from(options: argparse.Namespace) -> Settings:
    """The settings, with what was typed on top."""
    return read_settings(
        data=getattr(options, "data", None),
        database=getattr(options, "database", None),
        typed=[*getattr(options, "typed_first", ()), *getattr(options, "typed", ())],
    )


def folder_from(options: argparse.Namespace) -> Path:
    """The data folder, also where the settings in it cannot be read."""
    return data_folder(data=getattr(options, "data", None))


@asynccontextmanager
async def opened(options: argparse.Namespace, *, create: bool) -> AsyncIterator[House]:
    """The house that the options name. Without ``create`` it must be there already.

    Where somebody is about to talk, it has taken up SOUL.md, and said so where it could not.
    """
    async with open_house(settings_from(options), create=create) as house:
        if create and (trouble := (await take_up_soul(house)).trouble):
            print(f"oldfriend: {trouble}", file=sys.stderr)
        yield house


def person_named(options: argparse.Namespace) -> str | None:
    """The person that the options name; None for the owner."""
    name: str | None = getattr(options, "person", None)
    return name


def is_at_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_secretly(what: str) -> str:
    """What somebody types in, as far as possible without showing it."""
    words = f"{what} (it is not shown): "
    if sys.stdin.isatty():
        return getpass(words)
    print(words)
    return sys.stdin.readline().strip()
