"""A replay is killed again and again, as by a power cut; run again, it comes to the same memory."""

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from tests.processes import Program, kill, until

DAYS = 60
LINES = (
    "I live in Porto, by the river.",
    "I love jazz.",
    "My sister Ana is a nurse.",
    "I work as a baker.",
    "I can't stand coriander.",
    "My dog Rex died yesterday.",
    "I moved to Braga in March.",
    "I have a brother named Tom.",
)


def long_talk(path: Path) -> Path:
    """So many days of talk, in a file that can be imported."""
    lines = [
        {
            "speaker": "Maria",
            "role": "person",
            "text": f"{LINES[day % len(LINES)]} Day {day}.",
            "at": f"2024-{1 + day // 28:02d}-{1 + day % 28:02d}T12:00:00+00:00",
        }
        for day in range(DAYS)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def steps_left(path: Path) -> int:
    """How many steps of a replay wait in a file; -1: it was not begun."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            (count,) = db.execute(
                "SELECT count(*) FROM job WHERE partition LIKE 'replay:%'"
            ).fetchone()
            (begun,) = db.execute("SELECT count(*) FROM job WHERE partition = 'replay'").fetchone()
    except sqlite3.OperationalError:
        return -1
    return count if begun else -1


def has_begun(path: Path, left: int) -> bool:
    """Whether fewer steps wait than before."""
    return 0 <= steps_left(path) < left


def test_killed_replay_resumes_and_reaches_the_same_memory(
    oldfriend: Program, tmp_path: Path
) -> None:
    """Nothing is read twice, nothing is left out, and the first database is as it was."""
    oldfriend.done("import", long_talk(tmp_path / "talk.jsonl"), "--me", "Maria")
    oldfriend.done("consolidate", "--now")
    first, second = oldfriend.data / "oldfriend.db", tmp_path / "second.db"
    facts = oldfriend.done("facts", "--json").stdout

    left = DAYS
    for _ in range(2):
        with oldfriend.started("replay", "--into", second) as replay:
            until(partial(has_begun, second, left))
            kill(replay)
        left = steps_left(second)
        assert 0 < left < DAYS
    ended = oldfriend.done("replay", "--into", second, "--json")

    assert 0 < ended.json["read"] <= left
    compared = oldfriend("diff", first, second, "--json")
    assert (compared.code, compared.json[0]["differences"]) == (0, [])
    assert sum(compared.json[0]["counts"]["fact"].values()) > 3
    assert oldfriend.done("facts", "--json").stdout == facts
