"""What does SOUL.md say? Read when a process starts and on `reload`, and kept with its versions.

A file that cannot be used changes nothing: the last version that could goes on. Nor does one that
is not there any more, for other machines may work on the same database; an empty one ends it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.app.house import House
from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.people import ensure_companion, find_companion
from oldfriend.memory.soul import LONGEST_SOUL, keep_soul, list_souls

FILE: Final = "SOUL.md"
MOST_BYTES: Final = 8 * LONGEST_SOUL
"""More is no text of that many characters, in any encoding of Unicode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """What came of looking into SOUL.md."""

    version: int = 0  # that holds now; 0: none
    is_new: bool = False
    trouble: str | None = None  # why the file was not taken up, and what holds


async def take_up_soul(house: House) -> TakenUp:
    """Keep what SOUL.md says now, if it is new and can be used."""
    path = house.settings.data / FILE
    held = await version_held(house)
    try:
        text = text_in(path)
        if text is None:
            return TakenUp(version=held)
        async with house.db.writing() as tx:
            companion = await ensure_companion(tx, now=house.clock())
            soul, is_new = await keep_soul(tx, companion.id, text, now=house.clock())
    except InvalidInput as error:
        holds = f"Version {held} of it still holds." if held else "The companion is as before."
        return TakenUp(version=held, trouble=f"{path} was not taken up: {error}. {holds}")
    return TakenUp(version=soul.version, is_new=is_new)


async def version_held(house: House) -> int:
    """The version that holds; 0 where nothing was ever read."""
    async with house.db.reading() as tx:
        companion = await find_companion(tx)
        souls = [] if companion is None else await list_souls(tx, companion.id)
    return souls[-1].version if souls else 0


def text_in(path: Path) -> str | None:
    """The words in a file; None where there is none. Raises InvalidInput for what is no text."""
    try:
        with path.open("rb") as file:
            words = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"it cannot be read ({error.strerror})") from error
    if len(words) > MOST_BYTES:
        raise InvalidInput(f"it is too long, and {LONGEST_SOUL:,} characters fit")
    try:
        text = words.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("it is not UTF-8 text") from error
    if "\x00" in text:
        raise InvalidInput("it is not text")
    return text
