"""How much of the disk is left alone, so that what is said can always be kept?

It does not know what else is to be written.
"""

import shutil
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import StoreFull
from oldfriend.domain.sayings import saying

SPARE_BYTES: Final = 512 << 20


def refuse_to_fill(folder: Path, *, spare: int = SPARE_BYTES) -> None:
    """Raises StoreFull where so little room is left that only what is said may have it."""
    if shutil.disk_usage(folder).free < spare:
        raise StoreFull(saying(
            "disk_nearly_full",
            "The disk is nearly full, and what is left of it is kept for what you say. Make room.",
        ))  # fmt: skip
