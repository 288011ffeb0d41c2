"""Disk quota: the free space reserved so that messages can always be stored."""

import shutil
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import StoreFull
from oldfriend.domain.i18n_messages import localizable

RESERVED_DISK_BYTES: Final = 512 << 20


def check_free_space(folder: Path, *, spare: int = RESERVED_DISK_BYTES) -> None:
    """Raise StoreFull if the free space is down to what is reserved for messages."""
    if shutil.disk_usage(folder).free < spare:
        raise StoreFull(
            localizable(
                "disk_nearly_full",
                "The disk is nearly full, and what is left of it is kept for what you say. Make "
                "room.",
            )
        )
