"""How does a command open the house from what was typed?"""

import argparse
from contextlib import AbstractAsyncContextManager

from oldfriend.app.settings import read_settings
from oldfriend.app.wiring import House, open_house


def opened(options: argparse.Namespace, *, create: bool) -> AbstractAsyncContextManager[House]:
    """The house that the options name. Without ``create`` it must be there already."""
    settings = read_settings(
        data=getattr(options, "data", None), database=getattr(options, "database", None)
    )
    return open_house(settings, create=create)


def person_named(options: argparse.Namespace) -> str | None:
    """The person that the options name; None for the owner."""
    name: str | None = getattr(options, "person", None)
    return name
