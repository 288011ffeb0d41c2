"""A long import survives being killed."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Sizes
from tests.processes import Program, kill, until

WORDS = (
    "lemon",
    "boat",
    "rain",
    "otter",
    "knot",
    "lorry",
    "cast",
    "flat",
    "shift",
    "walnut",
    "green",
)


def lines(count: int) -> Iterator[str]:
    """A made-up conversation in our JSONL."""
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    for number in range(count):
        words = [WORDS[(number * step) % len(WORDS)] for step in (1, 3, 5)]
        yield (
            json.dumps(
                {
                    "id": f"m{number}",
                    "session": f"s{number // 50}",
                    "speaker": ("Nora", "Tomás")[number % 2],
                    "text": f"{number} {' '.join(words)}",
                    "at": (begin + timedelta(minutes=5 * number)).isoformat(),
                }
            )
            + "\n"
        )


def count(store: Path, what: str) -> int:
    """How many rows there are, as long as there is a store at all."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute(f"SELECT {what}").fetchone()[0])
        except sqlite3.OperationalError:  # the tables are not there yet
            return 0


@pytest.mark.timeout(3600)
def test_killed_import_resumes_without_loss_or_duplicates(
    oldfriend: Program, tmp_path: Path, sizes: Sizes
) -> None:
    """Killed while it writes, killed while it embeds, complete in the end, nothing twice."""
    file, store = tmp_path / "long.jsonl", oldfriend.data / "oldfriend.db"
    file.write_text("".join(lines(sizes.imported)), "utf-8")
    messages, vectors = "count(*) FROM message", "count(*) FROM message_vector"
    for reached in (messages, vectors):
        with oldfriend.started("import", file, "--me", "Nora") as process:
            until(lambda reached=reached: count(store, reached) > 0, within_s=600)
            assert process.poll() is None
            kill(process)
        assert count(store, vectors) < sizes.imported

    oldfriend.done("import", file, "--me", "Nora")

    assert count(store, messages) == sizes.imported
    assert count(store, "count(DISTINCT external_id) FROM message") == sizes.imported
    assert count(store, "count(DISTINCT session) FROM message") == -(-sizes.imported // 50)
    assert count(store, vectors) == sizes.imported
    assert count(store, "count(*) FROM import_batch") == 1
    assert oldfriend.done("doctor").code == 0
    hits = oldfriend.done("recall", "1234 walnut", "-k", "3", "--json").json
    assert "m1234" in [hit.get("external_id") for hit in hits]
