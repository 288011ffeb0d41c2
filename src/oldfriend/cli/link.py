"""oldfriend link: a one-time link that opens your companion in a browser, as a person here."""

import argparse
from typing import Final

from oldfriend.app.house import House
from oldfriend.app.running.presence import address, find_serving
from oldfriend.cli.opening import folder_from, opened, person_named
from oldfriend.domain.errors import CannotServe
from oldfriend.memory.people import ensure_owner, get_person
from oldfriend.memory.sign_in import new_secret, write_link

LOCALHOST: Final = frozenset({"127.0.0.1", "::1", "localhost"})


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


async def new_link(house: House, person: str | None, *, port: int) -> str:
    """A link that is good once, for ten minutes, as a person (None: the owner). Raises NotFound."""
    now, secret = house.clock(), new_secret()
    async with house.db.writing() as tx:
        if person is None:
            await ensure_owner(tx, now=now, zone=house.settings.zone)
        someone = await get_person(tx, person)
        await write_link(tx, someone.id, secret, now=now)
    return f"{page_at(house.settings.serve.host, port)}/#{secret}"


def page_at(host: str, port: int) -> str:
    """Where the page is; by the name under which browsers allow the most, where it leads there."""
    return address("localhost" if host in LOCALHOST else host, port)


def opens_at(link: str) -> str:
    """What is said of a link."""
    return f"Open it in your browser (once, within ten minutes): {link}"
