"""oldfriend token: what a program shows to act as somebody through the API, made and ended."""

import argparse

from oldfriend.cli.columns import in_columns
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.tokens import Token, end_token, list_tokens, new_token, write_token

HOW = "oldfriend token new NAME | list | end ID"


async def run(options: argparse.Namespace) -> int:
    """Make one, list them, or end one."""
    match options.what:
        case ["list"]:
            return await show(options)
        case ["new", name]:
            return await make(options, name)
        case ["end", name]:
            return await end(options, name)
    raise InvalidInput(f"That is nothing that can be done with tokens. {HOW}")


async def show(options: argparse.Namespace) -> int:
    """List a person's tokens, never what they consist of."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
            tokens = await list_tokens(tx, person.id)
        now = house.clock()
    rows = [row_of(each, person.zone, now=now) for each in tokens]
    print(in_columns([("token", "what for", "scope", "good until", "used"), *rows], right=False)
          if rows else f"{person.name} has no tokens.")  # fmt: skip
    return 0


async def make(options: argparse.Namespace, name: str) -> int:
    """Make one, and show it this once."""
    secret = new_token()
    async with opened(options, create=False) as house, house.db.writing() as tx:
        person = await person_looked_into(tx, options)
        token = await write_token(
            tx, person.id, secret, name=name, scope=options.scope, days=options.days,
            now=house.clock(),
        )  # fmt: skip
    print(secret)
    until = day_of(token.expires_at, person.zone)
    print(f"Of {person.name}, until {until}, scope {token.scope}. It is not shown again.")
    return 0


async def end(options: argparse.Namespace, name: str) -> int:
    """Let one open nothing any more."""
    async with opened(options, create=False) as house, house.db.writing() as tx:
        person = await person_looked_into(tx, options)
        await end_token(tx, person.id, name)
    print("It opens nothing any more.")
    return 0


def row_of(token: Token, zone: str, *, now: Micros) -> tuple[str, ...]:
    """A token to read."""
    until = "over" if token.expires_at <= now else day_of(token.expires_at, zone)
    used = "never" if token.used_at is None else day_of(token.used_at, zone)
    return token.id, token.name, token.scope, until, used


def day_of(at: Micros, zone: str) -> str:
    """A day to read."""
    return from_micros(at, zone).strftime("%Y-%m-%d")
