"""A disk that takes its time is one for whoever opens a database on it, and only then."""

import time
from contextlib import closing
from pathlib import Path

import apsw

from oldfriend_evals.slow_disk import use_slow_disk

SYNC_S = 0.05


def seconds_to_keep(file: Path) -> float:
    """How long one commit takes that is kept through a power cut."""
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        connection.execute("CREATE TABLE IF NOT EXISTS note (text)")
        began = time.perf_counter()
        connection.execute("INSERT INTO note VALUES ('kept')")
        return time.perf_counter() - began


def test_simulated_slow_disk_delays_commits_and_keeps_data(tmp_path: Path) -> None:
    """Afterwards everything is opened as before."""
    before = apsw.vfs_names()
    with use_slow_disk(sync_s=SYNC_S):
        assert seconds_to_keep(tmp_path / "slow.db") >= SYNC_S
    assert apsw.vfs_names() == before
    with closing(apsw.Connection(str(tmp_path / "slow.db"))) as connection:
        assert connection.execute("SELECT * FROM note").fetchall() == [("kept",)]
