"""Polling: receives Telegram updates by long polling, which needs no public address.

Telegram keeps updates until they are confirmed by a request for later ones. Nothing is confirmed
before it has been accepted, so a process that dies receives its updates again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, TypeAlias

from oldfriend.channels.telegram.bot_api import BotApi
from oldfriend.channels.telegram.updates import (
    BotMembershipUpdate,
    CallbackUpdate,
    MalformedUpdate,
    MembersUpdate,
    MessageUpdate,
    MigrationUpdate,
    ParsedUpdate,
    ReactionUpdate,
    parse_update,
)
from oldfriend.domain.json import JsonValue

LONG_POLL_S: Final = 50
ALBUM_WAIT_S: Final = 0.5
"""Seconds after a picture in which another one of its album may follow."""
MAX_UPDATES: Final = 100
"""The most updates in one answer of Telegram."""
RETRY_PAUSE_S: Final = 1.0
"""Seconds before polling again if no update of an answer had an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnparsedUpdate:
    """An update that cannot be parsed."""

    update_id: int | None
    reason: str


Update: TypeAlias = ParsedUpdate | UnparsedUpdate
HandleUpdate: TypeAlias = Callable[[Update], Awaitable[None]]


async def poll(api: BotApi, handle_update: HandleUpdate) -> None:
    """Poll and handle updates in order, without end.

    An error of ``handle_update`` ends it, and updates not handled are received the next time.
    Raises PlatformUnavailable, PlatformRejected.
    """
    await api.remove_webhook()
    offset = 0
    while True:
        found = await wait_for_album(api, offset, await fetch_updates(api, offset, LONG_POLL_S))
        await handle_all(join_albums(found), handle_update)
        update_ids = [each.update_id for each in found if each.update_id is not None]
        if found and not update_ids:
            await asyncio.sleep(RETRY_PAUSE_S)
        offset = max([offset, *(update_id + 1 for update_id in update_ids)])


async def handle_all(updates: Sequence[Update], handle_update: HandleUpdate) -> None:
    """Handle the updates of each chat in order, and chats concurrently.

    If a chat has moved or an update cannot be parsed, all are handled in order. Raises what
    ``handle_update`` raises.
    """
    chats: dict[int | None, list[Update]] = {}
    is_sequential = any(isinstance(each, MigrationUpdate | UnparsedUpdate) for each in updates)
    for each in updates:
        chats.setdefault(None if is_sequential else find_chat_id(each), []).append(each)
    try:
        async with asyncio.TaskGroup() as tasks:
            for chat_updates in chats.values():
                tasks.create_task(handle_in_order(chat_updates, handle_update))
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group


async def handle_in_order(updates: Sequence[Update], handle_update: HandleUpdate) -> None:
    """Handle updates one after the other."""
    for each in updates:
        await handle_update(each)


def find_chat_id(update: Update) -> int | None:
    """Return the chat of an update; None: it has none."""
    match update:
        case MessageUpdate() | ReactionUpdate() | BotMembershipUpdate() | MembersUpdate():
            return update.chat.id
        case CallbackUpdate() if update.chat is not None:
            return update.chat.id
    return None


async def fetch_updates(api: BotApi, offset: int, wait_s: int) -> Sequence[Update]:
    """Return the updates from an offset on."""
    return [try_parse_update(each) for each in await api.get_updates(offset=offset, wait_s=wait_s)]


def try_parse_update(value: JsonValue) -> Update:
    """Parse an update, or return it as unparsed."""
    try:
        return parse_update(value)
    except MalformedUpdate as error:
        return UnparsedUpdate(update_id=error.update_id, reason=str(error))


async def wait_for_album(api: BotApi, offset: int, updates: Sequence[Update]) -> Sequence[Update]:
    """Return the updates once an album at their end is complete; without it if that may take long.

    The album is fetched again as a whole, so nothing waits only in this process.
    """
    while (start := find_open_album(updates)) is not None and len(updates) < MAX_UPDATES:
        await asyncio.sleep(ALBUM_WAIT_S)
        again = await fetch_updates(api, offset, 0)
        if len(again) <= len(updates):
            return updates
        updates = again
    return updates[:start] if start else updates


def find_open_album(updates: Sequence[Update]) -> int | None:
    """Return the index at which an album begins that is the last message of its chat."""
    last = {each.chat.id: each for each in updates if isinstance(each, MessageUpdate)}
    open_albums = {(each.chat.id, each.album_id) for each in last.values() if each.album_id}
    indexes = (
        index
        for index, each in enumerate(updates)
        if isinstance(each, MessageUpdate) and (each.chat.id, each.album_id) in open_albums
    )
    return next(indexes, None)


def join_albums(updates: Sequence[Update]) -> list[Update]:
    """Return the updates with each album joined into one message."""
    pieces = [
        each
        for each in updates
        if isinstance(each, MessageUpdate) and each.album_id and not each.is_edited
    ]
    by_album = sorted(pieces, key=get_album_key)
    albums = {album: list(messages) for album, messages in groupby(by_album, key=get_album_key)}
    joined: list[Update] = []
    for each in updates:
        if not (isinstance(each, MessageUpdate) and each in pieces):
            joined.append(each)
        elif (album := albums[get_album_key(each)])[0] is each:
            joined.append(join_album(album))
    return joined


def get_album_key(update: MessageUpdate) -> tuple[int, str]:
    """Return the key of the album that a message belongs to."""
    return update.chat.id, update.album_id


def join_album(album: Sequence[MessageUpdate]) -> MessageUpdate:
    """Join an album into one message: the first one, with the text of all."""
    words = "\n".join(each.text for each in album if each.text)
    mentions = tuple(name for each in album for name in each.mentions)
    return replace(album[0], text=words, mentions=mentions)
