"""Confirmation prompt: asks at a terminal; a script must pass --yes."""

import argparse

from oldfriend.cli.open_context import is_interactive
from oldfriend.cli.person_option import ask_yes_no
from oldfriend.domain.errors import InvalidInput


def confirm(options: argparse.Namespace, question: str) -> bool:
    """Return whether the user agrees, by --yes or a prompt. Raises InvalidInput."""
    if options.yes:
        return True
    if not is_interactive():
        raise InvalidInput("Nobody is here to be asked. If you want it, add --yes.")
    return ask_yes_no(f"{question} [y/N] ")
