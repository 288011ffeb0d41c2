"""oldfriend token: creates, lists and revokes API tokens."""

import argparse

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import format_table
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.api_tokens import (
    ApiToken,
    generate_api_token,
    list_api_tokens,
    revoke_api_token,
    save_api_token,
)

USAGE_HELP = "oldfriend token new NAME | list | end ID"


async def run(options: argparse.Namespace) -> int:
    """Create a token, list tokens, or revoke one. Raises InvalidInput."""
    match options.what:
        case ["list"]:
            return await print_tokens(options)
        case ["new", name]:
            return await create_token(options, name)
        case ["end", name]:
            return await revoke_token(options, name)
    raise InvalidInput(f"That is nothing that can be done with tokens. {USAGE_HELP}")


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
            [("token", "what for", "scope", "good until", "used"), *rows], align_right=False
        )
        if rows
        else f"{person.name} has no tokens."
    )
    return 0


async def create_token(options: argparse.Namespace, name: str) -> int:
    """Create a token and print its secret, which is shown only once."""
    secret = generate_api_token()
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_selected_person(tx, options)
        token = await save_api_token(
            tx,
            person.id,
            secret,
            name=name,
            scope=options.scope,
            days=options.days,
            now=app.clock(),
        )
    print(secret)
    until = format_day(token.expires_at, person.zone)
    print(f"Of {person.name}, until {until}, scope {token.scope}. It is not shown again.")
    return 0


async def revoke_token(options: argparse.Namespace, token_id: str) -> int:
    """Revoke a token."""
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_selected_person(tx, options)
        await revoke_api_token(tx, person.id, token_id)
    print("It opens nothing any more.")
    return 0


def format_token_row(token: ApiToken, zone: str, *, now: Micros) -> tuple[str, ...]:
    """Format a token as a table row."""
    until = "over" if token.expires_at <= now else format_day(token.expires_at, zone)
    used = "never" if token.used_at is None else format_day(token.used_at, zone)
    return token.id, token.name, token.scope, until, used


def format_day(at: Micros, zone: str) -> str:
    """Format the day of a time."""
    return from_micros(at, zone).strftime("%Y-%m-%d")
