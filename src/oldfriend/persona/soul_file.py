"""Soul file: reads SOUL.md at start and on ``reload`` and keeps its versions.

A file that cannot be used changes nothing: the last usable version stays in effect. Neither does a
missing file, because other machines may work on the same database; an empty file ends it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.core_blocks import (
    MAX_PERSONA_LENGTH,
    list_persona_versions,
    save_global_persona,
)
from oldfriend.memory.people import ensure_companion, find_companion

SOUL_FILE_NAME: Final = "SOUL.md"
MAX_SOUL_BYTES: Final = 8 * MAX_PERSONA_LENGTH
"""Anything larger exceeds the character limit in every Unicode encoding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulSyncResult:
    """The result of reading SOUL.md."""

    version: int = 0  # the version in effect; 0: none
    is_new: bool = False
    problem: str | None = None  # why the file was not accepted, and what stays in effect


async def sync_soul_file(db: Database, clock: Clock, settings: Settings) -> SoulSyncResult:
    """Store the content of SOUL.md, if it is new and usable."""
    path = settings.data / SOUL_FILE_NAME
    current = await load_soul_version(db)
    try:
        text = read_soul_text(path)
        if text is None:
            return SoulSyncResult(version=current)
        async with db.begin_write() as tx:
            companion = await ensure_companion(tx, now=clock())
            soul, is_new = await save_global_persona(tx, companion.id, text, now=clock())
    except InvalidInput as error:
        consequence = (
            f"Version {current} of it stays in effect."
            if current
            else "The companion stays as it was."
        )
        return SoulSyncResult(
            version=current, problem=f"{path} cannot be used: {error}. {consequence}"
        )
    return SoulSyncResult(version=soul.version, is_new=is_new)


async def load_soul_version(db: Database) -> int:
    """Return the version in effect; 0 if none was ever read."""
    async with db.begin_read() as tx:
        companion = await find_companion(tx)
        souls = [] if companion is None else await list_persona_versions(tx, companion.id)
    return souls[-1].version if souls else 0


def read_soul_text(path: Path) -> str | None:
    """Read the text of the file; None if there is no file. Raises InvalidInput if it is no text."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SOUL_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"it cannot be read ({error.strerror})") from error
    if len(content) > MAX_SOUL_BYTES:
        raise InvalidInput(f"it is too long, and {MAX_PERSONA_LENGTH:,} characters fit")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("it is not UTF-8 text") from error
    if "\x00" in text:
        raise InvalidInput("it is not text")
    return text
