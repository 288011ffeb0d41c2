"""Shared command-line options and argument types."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn, Protocol

from typing_extensions import override

from oldfriend.domain.messages import sanitize_text

INVALID_CHOICE: Final = ": invalid choice: "
KNOWN_CHOICES: Final = " (choose from "
UNKNOWN_ARGUMENTS: Final = "unrecognized arguments: "
UNFIT_VALUE: Final = re.compile(r"argument (?P<name>\S+): invalid \w+ value: ")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors take one line and say what to do."""

    @override
    def error(self, message: str) -> NoReturn:
        """Say what is wrong, what may have been meant, and where the help is; end with 2."""
        print(f"{self.prog}: {self._explain(message)} See: {self.prog} --help", file=sys.stderr)
        sys.exit(2)

    def _explain(self, message: str) -> str:
        what, _, choice = message.partition(INVALID_CHOICE)
        if choice and what in {"argument COMMAND", "argument ACTION"}:
            given, _, known = choice.rpartition(KNOWN_CHOICES)
            return explain_unknown(given.strip("'"), re.findall(r"'([^']+)'", known))
        if message.startswith(UNKNOWN_ARGUMENTS):
            given = message.removeprefix(UNKNOWN_ARGUMENTS).partition(" ")[0]
            return explain_unknown(given, [*self._option_string_actions])
        if found := UNFIT_VALUE.match(message):
            return f"{found['name']} cannot be {message[found.end() :]}."
        return f"{message}."


def explain_unknown(given: str, known: Sequence[str]) -> str:
    """Say that there is no such thing, and ask whether the nearest of what is known was meant."""
    from difflib import get_close_matches

    near = get_close_matches(given, known, n=1, cutoff=0.6)
    return f"there is no '{given}'.{f' Did you mean {near[0]}?' if near else ''}"


def build_common_options(set_dest: str = "typed") -> argparse.ArgumentParser:
    """Build the options that every command takes, before or after its name.

    ``set_dest`` names where --set is collected: with one name for both places, values after the
    command name would replace those before it.
    """
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument(
        "--data", metavar="DIR", help="folder in which Oldfriend stores everything (OLDFRIEND_DATA)"
    )
    options.add_argument(
        "--database",
        metavar="URL",
        help="the database: sqlite:///PATH, postgresql://… or, as a readable file, "
        "json:///PATH (OLDFRIEND_DATABASE)",
    )
    options.add_argument(
        "--person",
        type=sanitize_text,
        metavar="NAME",
        help="whose memory to use (default: the owner)",
    )
    options.add_argument(
        "--set",
        action="append",
        dest=set_dest,
        metavar="NAME=VALUE",
        help="change a setting for this command, such as limits.lease_s=5",
    )
    return options


class Subparsers(Protocol):
    """The argparse object to which commands are added."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - as argparse has it
        """Add the parser of one command."""
        ...


def add_command(
    commands: Subparsers, name: str, module: str, text: str, *, aliases: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """Add a command with its module, a one-sentence description and names it had before."""
    parser = commands.add_parser(
        name,
        aliases=list(aliases),
        parents=[build_common_options()],
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
    )
    parser.set_defaults(module=module, parser=parser)
    return parser


def parse_positive(text: str) -> int:
    """Parse a positive integer for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def parse_days(text: str) -> int:
    """Parse a number of days, at most 36,500, for argparse."""
    number = parse_positive(text)
    if number > 36_500:
        raise argparse.ArgumentTypeError("must be at most 36500")
    return number
