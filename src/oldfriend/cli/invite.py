"""oldfriend invite: a link for somebody else, who then sees only what is theirs."""

import argparse

from oldfriend.app.inviting import invite, uninvite
from oldfriend.app.running.presence import find_serving
from oldfriend.cli.columns import in_columns
from oldfriend.cli.opening import folder_from, opened
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import CannotServe, InvalidInput
from oldfriend.memory.sign_in import list_invitations


async def run(options: argparse.Namespace) -> int:
    """Invite somebody, list who is invited, or end an invitation."""
    match options.what:
        case ["list"]:
            return await show(options)
        case ["end", name]:
            return await end(options, name)
        case [name]:
            return await make(options, name)
    raise InvalidInput("Name one person to invite; or: oldfriend invite list, invite end ID")


async def make(options: argparse.Namespace, name: str) -> int:
    """Print a link for somebody."""
    data = folder_from(options)
    serving = find_serving(data)
    if serving is None or serving.port is None:
        raise CannotServe(f"Nothing serves {data}, so there is no page. Start it: oldfriend serve")
    async with opened(options, create=False) as house:
        made = await invite(house, name, port=serving.port)
    print(f"A link for {made.person.name} (once, within a week): {made.link}")
    return 0


async def show(options: argparse.Namespace) -> int:
    """List who is invited and has not come yet."""
    async with opened(options, create=False) as house, house.db.reading() as tx:
        waiting = await list_invitations(tx, now=house.clock())
    zone = house.settings.zone
    rows = [(each.id, each.person.name, from_micros(each.expires_at, zone).strftime("%Y-%m-%d"))
            for each in waiting]  # fmt: skip
    print(in_columns([("invitation", "for", "good until"), *rows], right=False)
          if rows else "Nobody is invited.")  # fmt: skip
    return 0


async def end(options: argparse.Namespace, name: str) -> int:
    """Let an invitation open nothing any more."""
    async with opened(options, create=False) as house:
        await uninvite(house, name)
    print("Its link opens nothing any more.")
    return 0
