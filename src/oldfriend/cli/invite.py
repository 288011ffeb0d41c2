"""oldfriend invite: a one-time link for another person, who sees only their own data."""

import argparse

from oldfriend.app.pid_lock import find_server
from oldfriend.cli.open_context import get_data_folder, open_from_options
from oldfriend.cli.output import format_table
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput, ServerProcessError
from oldfriend.inbound.account_linking import cancel_invitation, create_invitation
from oldfriend.memory.web_sessions import list_invitations


async def run(options: argparse.Namespace) -> int:
    """Invite somebody, list invitations, or revoke one. Raises InvalidInput."""
    match options.what:
        case ["list"]:
            return await print_invitations(options)
        case ["end", name]:
            return await revoke_invitation(options, name)
        case [name]:
            return await print_new_invitation(options, name)
    raise InvalidInput("Name one person to invite; or: oldfriend invite list, invite end ID")


async def print_new_invitation(options: argparse.Namespace, name: str) -> int:
    """Create and print a link for a person. Raises ServerProcessError without a server."""
    data = get_data_folder(options)
    server = find_server(data)
    if server is None or server.port is None:
        raise ServerProcessError(
            f"Oldfriend is not running for {data}, so there is no page. "
            "Start it with: oldfriend serve"
        )
    async with open_from_options(options, create=False) as app:
        invitation = await create_invitation(
            app.db, app.clock, app.settings, name, port=server.port
        )
    print(f"A link for {invitation.person.name} (once, within a week): {invitation.link}")
    return 0


async def print_invitations(options: argparse.Namespace) -> int:
    """Print the pending invitations."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        pending = await list_invitations(tx, now=app.clock())
    zone = app.settings.zone
    rows = [
        (each.id, each.person.name, from_micros(each.expires_at, zone).strftime("%Y-%m-%d"))
        for each in pending
    ]
    print(
        format_table([("invitation", "for", "good until"), *rows], align_right=False)
        if rows
        else "Nobody is invited."
    )
    return 0


async def revoke_invitation(options: argparse.Namespace, invitation_id: str) -> int:
    """Revoke an invitation."""
    async with open_from_options(options, create=False) as app:
        await cancel_invitation(app.db, invitation_id)
    print("Its link opens nothing any more.")
    return 0
