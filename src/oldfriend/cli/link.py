"""oldfriend link: a sign-in link for the browser, and codes by which other apps are yours, too."""

import argparse
import sys

from oldfriend.app.app_context import AppContext
from oldfriend.app.pid_lock import find_server
from oldfriend.cli.open_context import (
    get_data_folder,
    get_person_option,
    get_selected_person,
    open_from_options,
)
from oldfriend.db.merge_record import list_merges
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput, NotFound, ServerProcessError
from oldfriend.domain.messages import Person
from oldfriend.inbound.account_linking import create_code_for, create_sign_in_link, label_account
from oldfriend.inbound.link_commands import find_given_code
from oldfriend.inbound.person_merge import MergePreview, merge_people, preview_merge, undo_merge
from oldfriend.memory.credentials import list_front_end_names
from oldfriend.memory.identities import list_identities

TERMINAL: str = "terminal"


async def run(options: argparse.Namespace) -> int:
    """Print a new sign-in link, or do what is asked about places. Raises ServerProcessError."""
    if not (options.code or options.places or options.take or options.undo is not None):
        return await print_sign_in_link(options)
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        if options.code:
            code = await create_code_for(app.db, app.clock, person)
            print(f"Code for {person.name}: {code[:3]} {code[3:]}  (valid once, for ten minutes)")
            print("A code that you were shown before, if any, no longer works.")
            print("Send it to the companion from the other app. Give it to nobody.")
        elif options.places:
            await print_places(app, person)
        elif options.take:
            return await take_code(app, person, options.take, is_sure=options.yes)
        else:
            await undo(app, person, options.undo)
    return 0


async def print_sign_in_link(options: argparse.Namespace) -> int:
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


async def print_places(app: AppContext, person: Person) -> None:
    """Print where somebody is known, and what can be undone."""
    async with app.db.begin_read() as tx:
        places = await list_identities(tx, person.id)
        merges = await list_merges(tx, person.id, now=app.clock())
        front_ends = await list_front_end_names(tx)
    for each in places:
        print(f"{each.channel}: {label_account(each, front_ends) or each.address}")
    for merge in merges:
        until = from_micros(merge.undo_until, person.zone)
        print(
            f"joined with {merge.name} (until {until:%Y-%m-%d}: oldfriend link --undo {merge.id})"
        )


async def take_code(app: AppContext, person: Person, code: str, *, is_sure: bool) -> int:
    """Show what would come together, ask, and do it. Raises InvalidInput."""
    given = await find_given_code(app, TERMINAL, person, code)
    print(format_preview(await preview_merge(app.db, given.person, person.id)))
    if not is_sure:
        print("Join them [no]? ", end="", flush=True)
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            print("Nothing was changed.")
            return 1
    if await merge_people(app.db, app.clock, app.settings, given, person.id) != "joined":
        raise InvalidInput("Somebody is being answered just now. Try again in a moment.")
    print("Joined.")
    return 0


def format_preview(preview: MergePreview) -> str:
    """Format what would come together."""
    counts = ", ".join(f"{what}: {count:,}" for what, count in preview.counts.items() if count)
    lines = [f"All that is kept of {preview.former.name} would be {preview.kept.name}'s: {counts}"]
    lines += [f"  only the newer will hold: {old} -> {new}" for old, new in preview.contradictions]
    if preview.ends_oura:
        lines.append("  the Oura ring has to be connected again")
    lines.append(
        "Whoever gave you this code would have everything of yours and, if you are the owner, "
        "run this installation. Who is joined to the owner is signed out everywhere."
    )
    return "\n".join([*lines, "It can be undone for 30 days; what comes after stays."])


async def undo(app: AppContext, person: Person, merge_id: str) -> None:
    """Undo a joining, or the last one. Raises NotFound, InvalidInput."""
    if not merge_id:
        async with app.db.begin_read() as tx:
            merges = await list_merges(tx, person.id, now=app.clock())
        if not merges:
            raise NotFound("There is nothing to undo.")
        merge_id = merges[0].id
    former = await undo_merge(app.db, app.clock, app.settings, person.id, merge_id)
    print(f"{former.name} is somebody else again. What came since stays with {person.name}.")


def format_link(link: str) -> str:
    """Format a link with instructions."""
    return f"Open this link in your browser (it works once, within ten minutes): {link}"
