"""oldfriend watches: lists the pages that are watched, watches one, and ends one."""

import argparse
from dataclasses import asdict

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.presenters.watch_schemas import WatchSchema
from oldfriend.watches.amounts import parse_amount
from oldfriend.watches.watch_edits import add_watch, end_watch, load_phrases_of
from oldfriend.watches.watch_store import list_watches
from oldfriend.web.links import normalize_public_link

USAGE_HELP = (
    "Use `oldfriend watches` to list them, `oldfriend watches add URL` (or `add URL below 50`, "
    "`add URL above 50`) to watch a page, and `oldfriend watches stop ID` to end one."
)


async def run(options: argparse.Namespace) -> int:
    """List watches, start one, or end one. Raises InvalidInput."""
    match options.what:
        case []:
            return await print_watches(options)
        case ["add", url]:
            return await start_watch(options, url, {})
        case ["add", url, ("below" | "above") as side, limit]:
            amount = parse_amount(limit)
            if amount is None:
                raise InvalidInput(f"{limit[:40]!r} is no number. {USAGE_HELP}")
            return await start_watch(options, url, {side: amount})
        case ["stop", watch]:
            return await stop_watch(options, watch)
    raise InvalidInput(f"{' '.join(options.what)[:40]!r} cannot be done with watches. {USAGE_HELP}")


async def print_watches(options: argparse.Namespace) -> int:
    """Print what is watched."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            found = await list_watches(tx, person.id)
        if options.json:
            rows: list[JsonValue] = [
                asdict(WatchSchema.from_domain(each, zone=person.zone)) for each in found
            ]
            print(dumps(rows, indent=2))
        else:
            print(load_phrases_of(person).list_watches(found))
    return 0


async def start_watch(options: argparse.Namespace, address: str, limits: dict[str, float]) -> int:
    """Watch a page."""
    url = normalize_public_link(address)
    if url is None:
        raise InvalidInput(f"{address[:80]!r} is not an address of the public web.")
    async with open_from_options(options, create=False) as app:
        if not app.settings.web.pages:
            raise InvalidInput("Reading pages is switched off: set `pages = true` under [web].")
        async with app.db.begin_write() as tx:
            person = await get_selected_person(tx, options)
            watch = await add_watch(
                tx,
                person,
                url,
                now=app.clock(),
                below=limits.get("below"),
                above=limits.get("above"),
            )
        print(load_phrases_of(person).confirm(watch))
    return 0


async def stop_watch(options: argparse.Namespace, name: str) -> int:
    """End a watch, by its number in the list or its id."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_write() as tx:
            person = await get_selected_person(tx, options)
            watch = await end_watch(tx, person, name, now=app.clock())
        print(load_phrases_of(person).tell_ended(watch))
    return 0
