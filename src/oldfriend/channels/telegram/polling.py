"""How is it heard what happens on Telegram? By asking for it again and again, which works anywhere.

Telegram keeps what has happened until it is confirmed, by asking for what comes after it. So
nothing is confirmed before it was taken: whoever dies here hears it again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, TypeAlias

from oldfriend.channels.telegram.api import Api
from oldfriend.channels.telegram.updates import (
    Attended,
    Happened,
    Membership,
    Migrated,
    Pressed,
    Reacted,
    Said,
    Unreadable,
    read_update,
)
from oldfriend.domain.json import JsonValue

LONGEST_WAIT_S: Final = 50
ALBUM_S: Final = 0.5
"""So long after a picture another one may belong to it (ACCEPTANCE A16)."""
MOST_AT_ONCE: Final = 100
"""Updates that Telegram gives in one answer."""
PAUSE_S: Final = 1.0
"""Before it asks again where an answer could not be read at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """An update that cannot be read."""

    update: int | None
    why: str


Update: TypeAlias = Happened | Lost
Take: TypeAlias = Callable[[Update], Awaitable[None]]


async def poll(api: Api, take: Take) -> None:
    """Have everything taken that happens, in order, without end.

    What ``take`` raises ends it, and what was not taken is heard the next time. Raises
    PlatformUnavailable, PlatformRefused.
    """
    await api.remove_webhook()
    offset = 0
    while True:
        found = await settled(api, offset, await heard(api, offset, LONGEST_WAIT_S))
        await take_all(in_albums(found), take)
        numbers = [each.update for each in found if each.update is not None]
        if found and not numbers:
            await asyncio.sleep(PAUSE_S)
        offset = max([offset, *(number + 1 for number in numbers)])


async def take_all(found: Sequence[Update], take: Take) -> None:
    """Have what happened in each chat taken in order, and chats beside each other.

    Where a chat gets another address, or one cannot be read, all is taken in order. Raises what
    ``take`` raises.
    """
    chats: dict[int | None, list[Update]] = {}
    in_order = any(isinstance(each, Migrated | Lost) for each in found)
    for each in found:
        chats.setdefault(None if in_order else chat_of(each), []).append(each)
    try:
        async with asyncio.TaskGroup() as beside:
            for of_chat in chats.values():
                beside.create_task(take_in_order(of_chat, take))
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group


async def take_in_order(found: Sequence[Update], take: Take) -> None:
    """Have one taken after the other."""
    for each in found:
        await take(each)


def chat_of(update: Update) -> int | None:
    """In which chat it has happened; None: in none."""
    match update:
        case Said() | Reacted() | Membership() | Attended():
            return update.place.id
        case Pressed() if update.place is not None:
            return update.place.id
    return None


async def heard(api: Api, offset: int, wait_s: int) -> Sequence[Update]:
    """What has happened from an offset on."""
    return [read(each) for each in await api.updates(offset=offset, wait_s=wait_s)]


def read(value: JsonValue) -> Update:
    """One update, if it can be read."""
    try:
        return read_update(value)
    except Unreadable as error:
        return Lost(update=error.update, why=str(error))


async def settled(api: Api, offset: int, found: Sequence[Update]) -> Sequence[Update]:
    """The same, once nothing more comes to an album at its end; without it, where that may be long.

    It is asked for again as a whole: nothing that waits is only in this process.
    """
    while (begins := open_album(found)) is not None and len(found) < MOST_AT_ONCE:
        await asyncio.sleep(ALBUM_S)
        again = await heard(api, offset, 0)
        if len(again) <= len(found):
            return found
        found = again
    return found[:begins] if begins else found


def open_album(found: Sequence[Update]) -> int | None:
    """Where an album begins that is the last thing said in its chat so far."""
    last = {each.place.id: each for each in found if isinstance(each, Said)}
    open_ones = {(each.place.id, each.album) for each in last.values() if each.album}
    places = (
        place for place, each in enumerate(found)
        if isinstance(each, Said) and (each.place.id, each.album) in open_ones
    )  # fmt: skip
    return next(places, None)


def in_albums(found: Sequence[Update]) -> list[Update]:
    """The same, where what was sent in one go is one message."""
    pieces = [
        each for each in found if isinstance(each, Said) and each.album and not each.is_edited
    ]
    by_album = sorted(pieces, key=album_of)
    albums = {album: list(said) for album, said in groupby(by_album, key=album_of)}
    joined: list[Update] = []
    for each in found:
        if not (isinstance(each, Said) and each in pieces):
            joined.append(each)
        elif (album := albums[album_of(each)])[0] is each:
            joined.append(as_one(album))
    return joined


def album_of(said: Said) -> tuple[int, str]:
    """Which album a piece belongs to."""
    return said.place.id, said.album


def as_one(album: Sequence[Said]) -> Said:
    """An album as one message: the first piece, with the words of all."""
    words = "\n".join(each.text for each in album if each.text)
    mentions = tuple(name for each in album for name in each.mentions)
    return replace(album[0], text=words, mentions=mentions)
