"""Measurements: `bench` and `eval` run the evals project, which comes with the source only."""

import argparse
from importlib import import_module

from oldfriend.domain.errors import InvalidInput


async def run(options: argparse.Namespace) -> int:
    """Run a command of the evals project. Raises InvalidInput where that is not installed."""
    try:
        command = import_module(f"oldfriend_evals.commands.{options.measurement}")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("oldfriend_evals"):
            raise
        raise InvalidInput(
            f"`oldfriend {options.measurement}` measures Oldfriend itself and comes with its "
            "source: get the repository, and run `make bench` there."
        ) from error
    code: int = await command.run(options)
    return code
