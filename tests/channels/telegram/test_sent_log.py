"""What Telegram has taken is known at once, and to those who come after a process that died."""

import subprocess
import sys
import time
from os import utime
from pathlib import Path

from oldfriend.channels.telegram.sent_log import (
    FILE_SUFFIX,
    MAX_FILE_AGE_S,
    SLOT_BYTES,
    SLOTS,
    SentLog,
    is_locked,
)

KILLED = """
import os, signal, sys
from pathlib import Path
from oldfriend.channels.telegram.sent_log import SentLog
SentLog(Path(sys.argv[1])).record_sent("reply/0", 7)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_sent_log_of_a_killed_process_is_read_by_others(tmp_path: Path) -> None:
    """Also to somebody who lived and looked before that."""
    beside = SentLog(tmp_path)
    assert beside.find_message_id("reply/0") is None
    died = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)

    assert died.returncode < 0
    assert beside.find_message_id("reply/0") == SentLog(tmp_path).find_message_id("reply/0") == 7
    assert beside.find_message_id("reply/1") is None


KILLED_IN_THE_AIR = """
import os, signal, sys
from pathlib import Path
from oldfriend.channels.telegram.sent_log import SentLog
SentLog(Path(sys.argv[1])).record_attempt("reply/0")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_unanswered_send_attempts_are_counted_across_killed_processes(tmp_path: Path) -> None:
    """Nobody knows whether it arrived; what was refused did not."""
    beside = SentLog(tmp_path)
    counts = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED_IN_THE_AIR, str(tmp_path)], check=False)
        counts.append(beside.count_unanswered("reply/0"))
    living = SentLog(tmp_path)
    living.record_attempt("reply/1")
    counts.append(beside.count_unanswered("reply/1"))
    living.record_refused("reply/1")
    counts.append(beside.count_unanswered("reply/1"))

    assert counts == [1, 2, 1, 0]
    assert SentLog(tmp_path).count_unanswered("reply/0") == 2


def test_sent_log_of_a_running_process_is_read_by_others(tmp_path: Path) -> None:
    """Somebody who was too slow has lost what they held to another, and notes it all the same."""
    slow, other = SentLog(tmp_path), SentLog(tmp_path)
    slow.record_sent("reply/0", 7)
    assert (other.find_message_id("reply/0"), other.find_message_id("reply/1")) == (7, None)
    slow.record_sent("reply/1", 8)
    assert other.find_message_id("reply/1") == 8


def test_sent_log_works_in_memory_without_a_writable_folder(tmp_path: Path) -> None:
    """Where nothing can be written nothing breaks either."""
    (tmp_path / "file").touch()
    for folder in (None, tmp_path / "file"):
        taken = SentLog(folder)
        taken.record_sent("reply/0", 7)

        assert taken.find_message_id("reply/0") == 7


def test_sent_log_file_keeps_only_the_newest_slots(tmp_path: Path) -> None:
    """The file is as large as it was at first; each line can be read."""
    taken = SentLog(tmp_path)
    for number in range(SLOTS + 5):
        taken.record_sent(f"reply/{number}", number)
    taken.close()
    after = SentLog(tmp_path)

    assert [path.stat().st_size for path in tmp_path.iterdir()] == [SLOT_BYTES * SLOTS]
    assert [after.find_message_id(f"reply/{number}") for number in (0, 4, 5, SLOTS + 4)] == [
        None,
        None,
        5,
        SLOTS + 4,
    ]


def test_old_sent_log_files_are_removed_unless_in_use(tmp_path: Path) -> None:
    """What is in them nobody sends any more; who lives and was silent for long keeps theirs."""
    old, recent, silent = SentLog(tmp_path), SentLog(tmp_path), SentLog(tmp_path)
    files: list[Path] = []
    for each in (old, recent, silent):
        each.record_sent("reply/0", 7)
        files += [path for path in tmp_path.iterdir() if path not in files]
    old.close()
    recent.close()
    long_ago = time.time() - MAX_FILE_AGE_S - 60
    unnamed = tmp_path / f"killed{FILE_SUFFIX}.new"
    unnamed.touch()
    for path in (files[0], files[2], unnamed):
        utime(path, (long_ago, long_ago))
    after = SentLog(tmp_path)
    after.record_sent("reply/1", 8)

    left = set(tmp_path.iterdir())
    assert {files[1], files[2]} < left
    assert not {files[0], unnamed} & left
    assert [path.suffix for path in left] == [FILE_SUFFIX] * 3


def test_vanished_sent_log_file_does_not_stop_reading_the_others(tmp_path: Path) -> None:
    """Another process removes what is old at the same moment: its name is read, and no more."""
    left = SentLog(tmp_path)
    left.record_sent("reply/0", 7)
    left.close()
    for number in range(8):  # in whichever order the names are read, some come before the file
        (tmp_path / f"{number}{FILE_SUFFIX}").symlink_to(tmp_path / "gone")
    mine = SentLog(tmp_path)
    mine.record_sent("reply/1", 8)
    mine.close()
    after = SentLog(tmp_path)

    assert [after.find_message_id("reply/0"), after.find_message_id("reply/1")] == [7, 8]


def test_record_after_close_is_written_and_leaves_no_lock(tmp_path: Path) -> None:
    """An answer may be late: whoever comes next knows of it all the same."""
    over = SentLog(tmp_path)
    over.close()
    over.record_sent("reply/0", 7)

    (path,) = tmp_path.iterdir()
    with path.open("rb") as file:
        assert not is_locked(file)
    assert SentLog(tmp_path).find_message_id("reply/0") == 7
