"""oldfriend convert: copy everything into a database of another kind."""

import argparse
import sys
import time

from oldfriend.app.choices.database_url import shown_url
from oldfriend.app.wiring import open_database
from oldfriend.db.database import Database
from oldfriend.domain.errors import InvalidInput
from oldfriend.transfer.converting import Moving, convert

SHOWN_EVERY_S = 0.2


async def run(options: argparse.Namespace) -> int:
    """Copy, check, and say what was copied."""
    source = await open_database(options.source, create=False)
    try:
        refuse_edited(source, options.source)
        target = await open_database(options.target)
        try:
            copied = await convert(source, target, progress=Shown())
        finally:
            await target.close()
    finally:
        await source.close()
    for name, table in copied.items():
        if table.rows:
            print(f"{table.rows:>12,}  {name}")
    print(
        f"Everything is in {shown_url(options.target)}, read back and found the same. "
        f"{shown_url(options.source)} was left as it is."
    )
    return 0


def refuse_edited(source: Database, url: str) -> None:
    """Raise InvalidInput for a store that was edited by hand, and not opened since."""
    if source.by_hand is not None:
        raise InvalidInput(
            f"{shown_url(url)} was edited by hand. Have that taken over first, then convert: "
            f"oldfriend doctor --database {shown_url(url)}"
        )


class Shown:
    """Progress on a terminal, now and then."""

    def __init__(self) -> None:
        """Nothing was shown yet."""
        self._last = 0.0

    def __call__(self, moving: Moving) -> None:
        """Show how far it is."""
        now = time.monotonic()
        is_done = moving.done == moving.total
        if not sys.stderr.isatty() or (now - self._last < SHOWN_EVERY_S and not is_done):
            return
        self._last = now
        end = "\n" if is_done else ""
        print(f"\r{moving.done:,} of {moving.total:,} rows", end=end, file=sys.stderr, flush=True)
