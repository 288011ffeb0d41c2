"""A clock that stands still until it is told to go on; and stores for which time has passed."""

import sqlite3
from contextlib import closing
from pathlib import Path

from oldfriend.domain.clock import MINUTE, SECOND, Micros

NOON = 1_700_000_000 * SECOND
"""14 November 2023, 22:13:20 UTC: any moment would do."""


class FrozenClock:
    """Time for tests."""

    def __init__(self, now: Micros = NOON) -> None:
        """Stand still at a moment."""
        self.now = now

    def __call__(self) -> Micros:
        """The time, as every clock tells it."""
        return self.now

    def tick(self, *, minutes: float = 0, seconds: float = 0) -> Micros:
        """Go on; the new time."""
        self.now += round(minutes * MINUTE + seconds * SECOND)
        return self.now


def let_pass(store: Path, *, minutes: float) -> None:
    """Move what a SQLite store holds of talk and of what is planned into the past."""
    by = int(minutes * MINUTE)
    with closing(sqlite3.connect(store)) as opened, opened:
        for sql in (
            "UPDATE message SET said_at = said_at - ?1, written_at = written_at - ?1",
            "UPDATE session SET opened_at = opened_at - ?1, closed_at = closed_at - ?1",
            "UPDATE job SET due_at = due_at - ?1, enqueued_at = enqueued_at - ?1",
            "UPDATE job_partition SET ready_at = ready_at - ?1",
        ):
            opened.execute(sql, (by,))
