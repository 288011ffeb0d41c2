"""Bundled files: networks and weights of the package, read only with their shipped checksums."""

import hashlib
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import InstallationDamaged
from oldfriend.domain.i18n_messages import localizable

BUNDLED_MODEL: Final = "all-MiniLM-L6-v2/int8-1"
"""The embedding model that ships; the search weights were learned with it."""
CHECKSUMS_FILE: Final = "SHA256SUMS"


def read_bundled_file(path: Path) -> bytes:
    """Return a file's bytes. Raises InstallationDamaged unless they have the shipped checksum."""
    try:
        data = path.read_bytes()
        _check(path, hashlib.sha256(data).hexdigest(), _load_checksums(path.parent)[path.name])
    except (OSError, ValueError, KeyError) as error:
        raise _unreadable(path.parent, error) from error
    return data


def verify_checksums(folder: Path, *, only: str = "") -> None:
    """Raise InstallationDamaged unless all listed files, or only one, have their checksums."""
    try:
        for name, checksum in _load_checksums(folder).items():
            if not only or name == only:
                with (folder / name).open("rb") as file:
                    _check(folder / name, hashlib.file_digest(file, "sha256").hexdigest(), checksum)
    except (OSError, ValueError) as error:
        raise _unreadable(folder, error) from error


def _load_checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file of a folder that ships."""
    checksums: dict[str, str] = {}
    for line in (folder / CHECKSUMS_FILE).read_text(encoding="utf-8").splitlines():
        checksum, name = line.split()
        checksums[name] = checksum
    return checksums


def _check(path: Path, found: str, expected: str) -> None:
    if found != expected:
        raise InstallationDamaged(
            localizable(
                "model_files_damaged", f"{path} is damaged: install Oldfriend anew.", file=str(path)
            )
        )


def _unreadable(folder: Path, error: Exception) -> InstallationDamaged:
    return InstallationDamaged(
        localizable(
            "model_files_unreadable",
            f"The model in {folder} cannot be read: {error}",
            folder=str(folder),
            error=str(error),
        )
    )
