"""oldfriend diff: what two memories believe differently, in words and counts.

Exit codes as of diff: 0 the same, 1 something differs, 2 trouble.
"""

import argparse
import json
import sys
from collections.abc import Iterator

from oldfriend.app.choices.database_url import database_meant, shown_url
from oldfriend.app.comparing.differing import Compared, compare
from oldfriend.app.comparing.showing import (
    compared_as_json,
    compared_as_lines,
    counts_as_rows,
    is_same,
)
from oldfriend.app.wiring import open_database
from oldfriend.cli.columns import in_columns
from oldfriend.cli.opening import person_named
from oldfriend.domain.errors import NotFound, OldfriendError

SAME, DIFFERS, TROUBLE = 0, 1, 2


async def run(options: argparse.Namespace) -> int:
    """Compare, and print it."""
    try:
        compared = await compared_in(options)
    except OldfriendError as error:
        print(f"oldfriend: {error}", file=sys.stderr)
        return TROUBLE
    if options.json:
        print(json.dumps([compared_as_json(each) for each in compared], ensure_ascii=False))
    else:
        print("\n".join(lines_of(compared, options)))
    return SAME if is_same(compared) else DIFFERS


async def compared_in(options: argparse.Namespace) -> list[Compared]:
    """What the two databases believe differently. Raises OldfriendError."""
    name = person_named(options)
    one = await open_database(database_meant(options.one), create=False)
    try:
        other = await open_database(database_meant(options.other), create=False)
        try:
            async with one.reading() as ours, other.reading() as theirs:
                compared = await compare(ours, theirs, person=name, is_all=options.all)
        finally:
            await other.close()
    finally:
        await one.close()
    if name is not None and not compared:
        raise NotFound(f"Neither of them knows {name}.")
    return compared


def lines_of(compared: list[Compared], options: argparse.Namespace) -> Iterator[str]:
    """What differs, person by person, and how much."""
    yield f"1: {shown_url(database_meant(options.one))}"
    yield f"2: {shown_url(database_meant(options.other))}"
    for each in compared:
        yield ""
        if len(compared) > 1:
            yield f"{each.person}:"
        yield from compared_as_lines(each, why=options.why)
        yield in_columns(counts_as_rows(each))
    if is_same(compared):
        yield "\nBoth believe the same."
    elif not options.why:
        yield "\nBecause of which words: the same command with --why"
