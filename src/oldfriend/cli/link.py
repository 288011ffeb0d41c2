"""oldfriend link: a one-time sign-in link for the browser."""

import argparse

from oldfriend.app.pid_lock import find_server
from oldfriend.cli.open_context import get_data_folder, get_person_option, open_from_options
from oldfriend.domain.errors import ServerProcessError
from oldfriend.inbound.account_linking import create_sign_in_link


async def run(options: argparse.Namespace) -> int:
    """Print a new sign-in link; earlier ones become invalid. Raises ServerProcessError."""
    data = get_data_folder(options)
    server = find_server(data)
    if server is None or server.port is None:
        raise ServerProcessError(
            f"Oldfriend is not running for {data}, so there is no page. "
            "Start it with: oldfriend serve"
        )
    async with open_from_options(options, create=False) as app:
        link = await create_sign_in_link(
            app.db, app.clock, app.settings, get_person_option(options), port=server.port
        )
    print(format_link(link))
    return 0


def format_link(link: str) -> str:
    """Format a link with instructions."""
    return f"Open this link in your browser (it works once, within ten minutes): {link}"
