"""Locked file: a file to which several processes append, and which one of them may replace."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked_file(path: Path) -> Iterator[int]:
    """Open a file to append to, locked, and not one that has just been replaced. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists() and path.stat().st_ino == os.fstat(file).st_ino:
                yield file
                return
        finally:
            os.close(file)
