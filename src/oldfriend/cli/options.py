"""Which options do commands share, and how is a command added?"""

import argparse
from typing import Any, Protocol

from oldfriend.domain.messages import storable


def where_options(typed: str = "typed") -> argparse.ArgumentParser:
    """Options that every command takes, before or after its name.

    ``typed`` names what --set gathers: what stands after the name would replace what is before.
    """
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument(
        "--data", metavar="DIR", help="folder for everything Oldfriend keeps (OLDFRIEND_DATA)"
    )
    options.add_argument(
        "--database", metavar="URL",
        help="where the memory is: sqlite:///PATH, postgresql://… or, to be read by people, "
        "json:///PATH (OLDFRIEND_DATABASE)",
    )  # fmt: skip
    options.add_argument(
        "--person",
        type=storable,
        metavar="NAME",
        help="whose memory this is about (default: the owner)",
    )
    options.add_argument(
        "--set", action="append", dest=typed, metavar="NAME=VALUE",
        help="a setting for this once, such as limits.lease_s=5",
    )  # fmt: skip
    return options


class Commands(Protocol):
    """What argparse gives back for adding commands to."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - as argparse has it
        """A parser for one command."""
        ...


def add_command(commands: Commands, name: str, module: str, text: str) -> argparse.ArgumentParser:
    """A command, its module, and one sentence about it."""
    parser = commands.add_parser(
        name, parents=[where_options()], help=text, description=f"{text[0].upper()}{text[1:]}."
    )
    parser.set_defaults(module=module, parser=parser)
    return parser


def positive(text: str) -> int:
    """A whole number from 1 up, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def some_days(text: str) -> int:
    """A number of days that a calendar holds, for argparse."""
    number = positive(text)
    if number > 36_500:
        raise argparse.ArgumentTypeError("must be at most 36500")
    return number
