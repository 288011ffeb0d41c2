"""oldfriend invite, token, person: who may come in, what programs may do, and names of people."""

import argparse

from oldfriend.app.pid_lock import find_server
from oldfriend.cli.open_context import (
    get_data_folder,
    get_person_by_name,
    get_person_option,
    get_selected_person,
    open_from_options,
)
from oldfriend.cli.output import format_table
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import InvalidInput, ServerProcessError
from oldfriend.domain.messages import Person
from oldfriend.inbound.account_linking import cancel_invitation, create_code, create_invitation
from oldfriend.memory.credentials import (
    ApiToken,
    generate_api_token,
    list_api_tokens,
    renew_api_token,
    revoke_api_token,
    save_api_token,
)
from oldfriend.memory.people import ensure_owner, list_people, rename_person
from oldfriend.memory.web_sessions import Scope, list_invitations


async def run_invite(options: argparse.Namespace) -> int:
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
    print(f"A link for {invitation.person.name} (works once, for a week): {invitation.link}")
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
        format_table([("invitation", "for", "valid until"), *rows], align_right=False)
        if rows
        else "There are no open invitations."
    )
    return 0


async def revoke_invitation(options: argparse.Namespace, invitation_id: str) -> int:
    """Revoke an invitation."""
    async with open_from_options(options, create=False) as app:
        await cancel_invitation(app.db, invitation_id)
    print("The invitation was withdrawn; its link no longer works.")
    return 0


DEFAULT_SCOPE: Scope = "read"
DEFAULT_DAYS = 90
"""Days for which a new token is valid, if nobody says how many."""
TOKEN_USAGE = "oldfriend token new NAME | list | renew ID | end ID | code"


async def run_token(options: argparse.Namespace) -> int:
    """Create a token, list tokens, renew or revoke one. Raises InvalidInput."""
    if options.what[0] not in {"new", "renew"} and (options.scope or options.days):
        raise InvalidInput(
            "--scope goes with: oldfriend token new NAME. --days goes with that, too, and with: "
            "oldfriend token renew ID"
        )
    match options.what:
        case ["list"]:
            return await print_tokens(options)
        case ["new", name]:
            return await create_token(options, name)
        case ["renew", name]:
            return await renew_token(options, name)
        case ["end", name]:
            return await revoke_token(options, name)
        case ["code"]:
            return await print_code(options)
    raise InvalidInput(f"That is not something you can do with tokens. Use: {TOKEN_USAGE}")


async def print_tokens(options: argparse.Namespace) -> int:
    """Print a person's tokens, never their secrets."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            tokens = await list_api_tokens(tx, person.id)
        now = app.clock()
    rows = [format_token_row(each, person.zone, now=now) for each in tokens]
    print(
        format_table(
            [("token", "what for", "scope", "valid until", "used"), *rows], align_right=False
        )
        if rows
        else f"{person.name} has no tokens."
    )
    return 0


async def create_token(options: argparse.Namespace, name: str) -> int:
    """Create a token and print its secret, which is shown only once."""
    secret = generate_api_token()
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        await ensure_owner(tx, now=app.clock(), zone=app.settings.zone)
        person = await get_selected_person(tx, options)
        token = await save_api_token(
            tx,
            person.id,
            secret,
            name=name,
            scope=options.scope or DEFAULT_SCOPE,
            days=options.days or DEFAULT_DAYS,
            now=app.clock(),
        )
    print_new_secret(person, token, secret)
    return 0


async def renew_token(options: argparse.Namespace, token_id: str) -> int:
    """Give a token a new secret and more days, and print the secret. Raises InvalidInput."""
    if options.scope is not None:
        raise InvalidInput(
            "A renewed token keeps its scope, and nothing was changed. For another scope: "
            f"oldfriend token new NAME --scope {options.scope}, then oldfriend token end {token_id}"
        )
    secret = generate_api_token()
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_selected_person(tx, options)
        token = await renew_api_token(
            tx, person.id, token_id, secret, days=options.days, now=app.clock()
        )
    print_new_secret(person, token, secret)
    print("Enter it where the old one was, which no longer works.")
    return 0


def print_new_secret(person: Person, token: ApiToken, secret: str) -> None:
    """Print a token's secret, which is shown only once, and what it is good for."""
    print(secret)
    until = format_day(token.expires_at, person.zone)
    print(
        f"It belongs to {person.name}, is valid until {until} and has the scope {token.scope}. It "
        "will not be shown again."
    )


async def revoke_token(options: argparse.Namespace, token_id: str) -> int:
    """Revoke a token."""
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_selected_person(tx, options)
        await revoke_api_token(tx, person.id, token_id)
    print("The token was revoked and no longer works.")
    return 0


async def print_code(options: argparse.Namespace) -> int:
    """Print a code with which a person introduces themselves in a chat front end."""
    async with open_from_options(options, create=False) as app:
        name = get_person_option(options)
        person, code = await create_code(app.db, app.clock, app.settings, name)
    print(code)
    print(
        f"In the chat front end, {person.name} sends it as their first message. It works once, "
        "within ten minutes."
    )
    return 0


def format_token_row(token: ApiToken, zone: str, *, now: Micros) -> tuple[str, ...]:
    """Format a token as a table row."""
    until = "over" if token.expires_at <= now else format_day(token.expires_at, zone)
    used = "never" if token.used_at is None else format_day(token.used_at, zone)
    return token.id, token.name, token.scope, until, used


def format_day(at: Micros, zone: str) -> str:
    """Format the day of a time."""
    return from_micros(at, zone).strftime("%Y-%m-%d")


PERSON_USAGE = (
    "Use `oldfriend person list` to list everybody, or `oldfriend person rename OLD NEW` to "
    "rename one."
)


async def run_person(options: argparse.Namespace) -> int:
    """List people, or rename one. Raises InvalidInput."""
    match options.what:
        case ["list"]:
            return await print_people(options)
        case ["rename", old, new]:
            return await rename_one(options, old, new)
        case ["rename", *more]:
            raise InvalidInput(f"A rename takes two names, not {len(more)}. {PERSON_USAGE}")
        case other:
            words = " ".join(other)[:40]
            raise InvalidInput(f"{words!r} is not something you can do with people. {PERSON_USAGE}")


async def print_people(options: argparse.Namespace) -> int:
    """Print everybody, the owner first."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        people = await list_people(tx)
    for person in people:
        print(f"{person.name} (the owner)" if person.is_owner else person.name)
    if not people:
        print("Nobody has talked here yet.")
    return 0


async def rename_one(options: argparse.Namespace, old: str, new: str) -> int:
    """Rename a person. Raises NotFound."""
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_person_by_name(tx, old)
        renamed = await rename_person(tx, person, new, platforms=app.platforms)
    print(f"{person.name} is called {renamed.name} from now on.")
    if not person.is_owner:
        print(f"To talk as them: oldfriend chat --person {renamed.name!r}")
    return 0
