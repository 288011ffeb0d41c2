"""Checksums of what ships: written beside a network or weights that were made anew."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from oldfriend.domain.bundled_files import CHECKSUMS_FILE


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Write the list that `sha256sum --check` reads, and whoever loads the files."""
    lines = [f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    (folder / CHECKSUMS_FILE).write_text("".join(lines), "utf-8")
