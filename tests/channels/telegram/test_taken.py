"""What Telegram has taken is known at once, and to those who come after a process that died."""

import subprocess
import sys
import time
from os import utime
from pathlib import Path

from oldfriend.channels.telegram.taken import ENDING, KEPT_S, SLOT, SLOTS, Taken, is_held

KILLED = """
import os, signal, sys
from pathlib import Path
from oldfriend.channels.telegram.taken import Taken
Taken(Path(sys.argv[1])).note("reply/0", 7)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_who_is_killed_leaves_it_to_others(tmp_path: Path) -> None:
    """Also to somebody who lived and looked before that."""
    beside = Taken(tmp_path)
    assert beside.find("reply/0") is None
    died = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)

    assert died.returncode < 0
    assert beside.find("reply/0") == Taken(tmp_path).find("reply/0") == 7
    assert beside.find("reply/1") is None


def test_who_lives_is_asked_as_well(tmp_path: Path) -> None:
    """Somebody who was too slow has lost what they held to another, and notes it all the same."""
    slow, other = Taken(tmp_path), Taken(tmp_path)
    slow.note("reply/0", 7)
    assert (other.find("reply/0"), other.find("reply/1")) == (7, None)
    slow.note("reply/1", 8)
    assert other.find("reply/1") == 8


def test_it_is_known_at_once_without_a_folder_and_without_room(tmp_path: Path) -> None:
    """Where nothing can be written nothing breaks either."""
    (tmp_path / "file").touch()
    for folder in (None, tmp_path / "file"):
        taken = Taken(folder)
        taken.note("reply/0", 7)

        assert taken.find("reply/0") == 7


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    """The file is as large as it was at first; each line can be read."""
    taken = Taken(tmp_path)
    for number in range(SLOTS + 5):
        taken.note(f"reply/{number}", number)
    taken.close()
    after = Taken(tmp_path)

    assert [path.stat().st_size for path in tmp_path.iterdir()] == [SLOT * SLOTS]
    assert [after.find(f"reply/{number}") for number in (0, 4, 5, SLOTS + 4)] == [
        None, None, 5, SLOTS + 4
    ]  # fmt: skip


def test_files_of_long_ago_are_removed(tmp_path: Path) -> None:
    """What is in them nobody sends any more; who lives and was silent for long keeps theirs."""
    old, recent, silent = Taken(tmp_path), Taken(tmp_path), Taken(tmp_path)
    files: list[Path] = []
    for each in (old, recent, silent):
        each.note("reply/0", 7)
        files += [path for path in tmp_path.iterdir() if path not in files]
    old.close()
    recent.close()
    long_ago = time.time() - KEPT_S - 60
    unnamed = tmp_path / f"killed{ENDING}.new"
    unnamed.touch()
    for path in (files[0], files[2], unnamed):
        utime(path, (long_ago, long_ago))
    after = Taken(tmp_path)
    after.note("reply/1", 8)

    left = set(tmp_path.iterdir())
    assert {files[1], files[2]} < left
    assert not {files[0], unnamed} & left
    assert [path.suffix for path in left] == [ENDING] * 3


def test_a_file_that_is_gone_meanwhile_keeps_nothing_from_being_known(tmp_path: Path) -> None:
    """Another process removes what is old at the same moment: its name is read, and no more."""
    left = Taken(tmp_path)
    left.note("reply/0", 7)
    left.close()
    for number in range(8):  # in whichever order the names are read, some come before the file
        (tmp_path / f"{number}{ENDING}").symlink_to(tmp_path / "gone")
    mine = Taken(tmp_path)
    mine.note("reply/1", 8)
    mine.close()
    after = Taken(tmp_path)

    assert [after.find("reply/0"), after.find("reply/1")] == [7, 8]


def test_what_comes_after_the_end_is_noted_and_held_by_nobody(tmp_path: Path) -> None:
    """An answer may be late: whoever comes next knows of it all the same."""
    over = Taken(tmp_path)
    over.close()
    over.note("reply/0", 7)

    (path,) = tmp_path.iterdir()
    with path.open("rb") as file:
        assert not is_held(file)
    assert Taken(tmp_path).find("reply/0") == 7
