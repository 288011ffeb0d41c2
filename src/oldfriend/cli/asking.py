"""How is somebody at a terminal asked whether to go on? A script must say it beforehand."""

import argparse

from oldfriend.cli.opening import is_at_terminal
from oldfriend.cli.whom import is_yes
from oldfriend.domain.errors import InvalidInput


def is_agreed(options: argparse.Namespace, question: str) -> bool:
    """Whether it is wanted: by --yes, or asked. Raises InvalidInput where nobody can be asked."""
    if options.yes:
        return True
    if not is_at_terminal():
        raise InvalidInput("Nobody is here to be asked. If you want it, add --yes.")
    return is_yes(f"{question} [y/N] ")
