"""oldfriend link: a one-time link that opens your companion in a browser, as a person here."""

import argparse

from oldfriend.app.inviting import new_link
from oldfriend.app.running.presence import find_serving
from oldfriend.cli.opening import folder_from, opened, person_named
from oldfriend.domain.errors import CannotServe


async def run(options: argparse.Namespace) -> int:
    """Print a new link; those before it are no longer good."""
    data = folder_from(options)
    serving = find_serving(data)
    if serving is None or serving.port is None:
        raise CannotServe(f"Nothing serves {data}, so there is no page. Start it: oldfriend serve")
    async with opened(options, create=False) as house:
        link = await new_link(house, person_named(options), port=serving.port)
    print(opens_at(link))
    return 0


def opens_at(link: str) -> str:
    """What is said of a link."""
    return f"Open it in your browser (once, within ten minutes): {link}"
