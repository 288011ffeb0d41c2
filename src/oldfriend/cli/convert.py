"""oldfriend convert: copies everything into a database of another kind."""

import argparse
import sys
import time

from oldfriend.cli.output import EscapeSequence
from oldfriend.db.database import Database
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.setting_parsers import redact_url
from oldfriend.runtime.wiring import open_database
from oldfriend.transfer.copy_database import CopyProgress, copy_database

REFRESH_S = 0.2


async def run(options: argparse.Namespace) -> int:
    """Copy, verify, and print what was copied."""
    source = await open_database(options.source, create=False)
    try:
        check_not_edited(source, options.source)
        target = await open_database(options.target)
        try:
            copied = await copy_database(source, target, progress=CopyProgressLine())
        finally:
            await target.close()
    finally:
        await source.close()
    for name, table in copied.items():
        if table.rows:
            print(f"{table.rows:>12,}  {name}")
    print(
        f"Everything is in {redact_url(options.target)}, read back and found the same. "
        f"{redact_url(options.source)} was left as it is."
    )
    return 0


def check_not_edited(source: Database, url: str) -> None:
    """Raise InvalidInput for a store that was edited by hand and not opened since."""
    if source.external_edits is not None:
        raise InvalidInput(
            f"{redact_url(url)} was edited by hand. Have that taken over first, then convert: "
            f"oldfriend doctor --database {redact_url(url)}"
        )


class CopyProgressLine:
    """Progress display in a terminal, refreshed every REFRESH_S seconds."""

    def __init__(self) -> None:
        """Start with nothing shown."""
        self._last_shown_at = 0.0

    def __call__(self, progress: CopyProgress) -> None:
        """Show the progress."""
        now = time.monotonic()
        is_done = progress.done == progress.total
        if not sys.stderr.isatty() or (now - self._last_shown_at < REFRESH_S and not is_done):
            return
        self._last_shown_at = now
        end = "\n" if is_done else ""
        sys.stderr.write(EscapeSequence("\r"))
        print(f"{progress.done:,} of {progress.total:,} rows", end=end, file=sys.stderr, flush=True)
