"""Free disk space: measured by writing, since a quota or file system may refuse at any time."""

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import StoreError, StoreFull, StoreUnusable

MIN_FREE_BYTES: Final = 128 << 10
DISK_FULL_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def check_disk_space(path: Path, *, needed_bytes: int = MIN_FREE_BYTES) -> None:
    """Write this much beside a store, durably, and delete it. Raises StoreFull, StoreUnusable."""
    scratch = path.with_name(f"{path.name}.room")
    try:
        file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            scratch.unlink(missing_ok=True)  # a process that is killed now leaves no file
            left = needed_bytes
            while left > 0:
                left -= os.write(file, bytes(min(left, MIN_FREE_BYTES)))
            os.fsync(file)
        finally:
            with suppress(OSError):
                os.close(file)
    except OSError as error:
        raise map_os_error(path, error) from error


def map_os_error(path: Path, error: OSError) -> StoreError:
    """Return our error for one of the file system."""
    if error.errno in DISK_FULL_ERRNOS:
        return StoreFull(
            f"The disk that holds {path} is full. What was saved before is safe; "
            "nothing new can be saved. Free some space."
        )
    return StoreUnusable(
        f"{path} cannot be written ({error.strerror or error}). Check the permissions of the file "
        "and of its folder."
    )
