"""Event listener: hears what happens in the rooms of a bot, one after the other and none twice.

How far it has heard is saved only once all of it is handled. What it cannot decrypt waits for its
key; the sender is told once.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import quote

from nio import Event, InviteEvent, MatrixRoom, MegolmEvent, SyncResponse, Timeline

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.channel import (
    ChannelEvent,
    ChatAvailability,
    Cursors,
    HandleEvent,
    IncomingMessage,
    UnreadableUpdate,
)
from oldfriend.channels.json_fields import JsonFields, find_fields, find_int, find_text
from oldfriend.channels.matrix.cross_signing import MatrixError
from oldfriend.channels.matrix.event_mapping import (
    CHANNEL_NAME,
    RelatedEvent,
    RoomView,
    find_related_id,
    read_text,
    to_channel_event,
)
from oldfriend.channels.matrix.matrix_client import MatrixClient, is_final
from oldfriend.channels.matrix.unread_events import (
    UnreadEvent,
    UnreadEvents,
)
from oldfriend.domain.clock import SECOND
from oldfriend.domain.json import JsonValue

SYNC_WAIT_S: Final = 30.0
MAX_RELATED: Final = 2_000
LOAD_PAUSES_S: Final = (0.0, 0.5, 2.0)
"""Before each try to load an event that another one refers to."""
MAX_EVENT_ID_CHARS: Final = 255
MAX_DIRECT_PEOPLE: Final = 1_000
MAX_DIRECT_ROOMS: Final = 10
"""Rooms with one of them that are remembered."""
MAX_STRANGE_INVITES: Final = 30
"""Direct rooms an hour that people who are not known can have us join."""
INVITE_WINDOW_S: Final = 3_600.0
UNREAD_FILE: Final = "unread.json"
CLIENT_PATH: Final = "/_matrix/client/v3"


class RoomDirectory:
    """The rooms of the bot: which are direct, and which invitations are accepted."""

    def __init__(self, client: MatrixClient) -> None:
        """Start without rooms."""
        self._client = client
        self._direct: dict[str, list[str]] = {}  # rooms by person, the one heard last at the end
        self._strange_invites: list[float] = []

    @property
    def _path(self) -> str:
        return f"{CLIENT_PATH}/user/{quote(self._client.user_id)}/account_data/m.direct"

    async def load(self) -> None:
        """Load which rooms are direct, as the account knows them. Raises MatrixError."""
        try:
            found = await self._client.call("GET", self._path)
        except MatrixError as error:
            if error.code != "M_NOT_FOUND":
                raise
            found = {}
        self._direct = {
            person: [each for each in rooms if isinstance(each, str)]
            for person, rooms in found.items()
            if isinstance(rooms, list)
        }

    async def mark_direct(self, person: str, room_id: str, cursors: Cursors) -> None:
        """Keep that a room is the one to answer somebody in. Raises MatrixError."""
        rooms = self._direct.get(person, [])
        if rooms[-1:] == [room_id]:
            return
        rooms = [each for each in rooms if each != room_id] + [room_id]
        self._direct[person] = rooms[-MAX_DIRECT_ROOMS:]
        if len(self._direct) > MAX_DIRECT_PEOPLE:
            await self._drop_stranger(person, cursors)
        body: dict[str, JsonValue] = {name: [*given] for name, given in self._direct.items()}
        try:
            await self._client.call("PUT", self._path, body)
        except MatrixError as error:
            if not is_final(error):
                raise  # otherwise it is known until the process ends

    async def _drop_stranger(self, newest: str, cursors: Cursors) -> None:
        """Drop the rooms with the first one whom we do not know."""
        for person in list(self._direct):
            if person != newest and not await cursors.is_known(person):
                del self._direct[person]
                return

    def find_partner(self, room: MatrixRoom) -> str | None:
        """Return the only other one in a direct room; invited people count."""
        others = [each for each in room.users if each != self._client.user_id]
        is_direct = len(others) == 1 and room.room_id in self._direct.get(others[0], [])
        return others[0] if is_direct else None

    def is_direct(self, person: str, room_id: str) -> bool:
        """Tell whether a room is a direct one with somebody, in it or not."""
        return room_id in self._direct.get(person, [])

    def find_room(self, address: str) -> tuple[str, str] | None:
        """Return the room of an address and the thread in it; None: we are in no such room.

        A person's is a direct room in which nobody else is, so what is private stays so.
        """
        rooms = self._client.rooms
        if not address.startswith("@"):
            room_id, _, thread = address.partition("/")
            return (room_id, thread) if room_id in rooms else None
        for room_id in reversed(self._direct.get(address, [])):
            if room_id in rooms and self.find_partner(rooms[room_id]) == address:
                return room_id, ""
        return None

    async def answer_invite(self, room_id: str, invite: JsonFields, cursors: Cursors) -> None:
        """Join a room, leave an invitation open, or decline it. Raises MatrixError if unanswered.

        A direct room is joined for anybody, since only there a stranger can pair; a group only for
        somebody whom we know.
        """
        inviter = find_text(invite, "sender")
        is_direct = find_fields(invite, "content").get("is_direct") is True
        is_known = await cursors.is_known(inviter) or await cursors.is_known(room_id)
        if is_direct and not is_known:
            now = time.monotonic()
            recent = [each for each in self._strange_invites if each > now - INVITE_WINDOW_S]
            if len(recent) >= MAX_STRANGE_INVITES:
                return
            self._strange_invites = [*recent, now]
        try:
            if is_direct or is_known:
                if is_direct:
                    await self.mark_direct(inviter, room_id, cursors)
                await self._client.call("POST", f"{CLIENT_PATH}/join/{quote(room_id)}", {})
            else:
                await self._client.call("POST", f"{CLIENT_PATH}/rooms/{quote(room_id)}/leave", {})
        except MatrixError as error:
            if not is_final(error):
                raise  # otherwise the invitation was withdrawn


class Listener:
    """Hears the rooms of a connected bot."""

    def __init__(
        self,
        client: MatrixClient,
        rooms: RoomDirectory,
        *,
        folder: Path,
        on_ready: Callable[[], None],
    ) -> None:
        """Create a listener; ``on_ready`` is called once the rooms are known."""
        self._client = client
        self._rooms = rooms
        self._on_ready = on_ready
        self._unread = UnreadEvents(folder / UNREAD_FILE)
        self._related = BoundedMap[str, RelatedEvent | None](MAX_RELATED)

    async def run(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Hear events without end. Raises MatrixError, StoreError."""
        await self._rooms.load()
        self._handle_event, self._cursors = handle_event, cursors
        scope = self._client.user_id
        since = await cursors.find(scope)
        is_first = True
        while True:
            wait_s = self._unread.wait_s or SYNC_WAIT_S
            batch = await self._client.sync(since, is_first=is_first, wait_s=wait_s)
            await self._client.keep_up_keys()
            self._on_ready()
            await self._handle_batch(batch, since)
            await self._review_unread()
            if batch.next_batch != since:
                await cursors.save(scope, batch.next_batch)
            since, is_first = batch.next_batch, False

    async def _handle_batch(self, sync_response: SyncResponse, since: str | None) -> None:
        """Handle what a sync returned."""
        for room_id in sync_response.rooms.leave:
            await self._handle_leaving(room_id)
        for room_id, info in sync_response.rooms.invite.items():
            for event in info.invite_state:
                source = read_source(event)
                if find_text(source, "state_key") == self._client.user_id:
                    await self._rooms.answer_invite(room_id, source, self._cursors)
        for room_id, info in sync_response.rooms.join.items():
            for event in await self._list_new(room_id, info.timeline, since):
                await self._handle(room_id, event)

    async def _list_new(
        self, room_id: str, timeline: Timeline, since: str | None
    ) -> Sequence[Event]:
        """Return the events of a room that were not handled yet."""
        events: list[Event] = timeline.events
        start = self._find_own_join(events)
        if since is None:
            began = self._client.began_ms
            return [e for e in events[start or 0 :] if (read_time_ms(e) or 0) >= began]
        if start is None and timeline.limited and timeline.prev_batch:
            missed = await self._client.list_missed(room_id, start=timeline.prev_batch, end=since)
            events = [*missed, *events]
            start = self._find_own_join(events)
        return events[start or 0 :]

    def _find_own_join(self, events: list[Event]) -> int | None:
        """Return where our time in a room begins, by our invitation; None: before these events."""
        found: int | None = None
        for index, event in enumerate(events):
            source = read_source(event)
            if (find_text(source, "type"), source.get("state_key")) == (
                "m.room.member",
                self._client.user_id,
            ):
                membership = find_text(find_fields(source, "content"), "membership")
                if membership == "invite":
                    found = index
                elif membership == "join" and not is_profile_change(source):
                    found = index if found is None else found
        return found

    async def _handle_leaving(self, room_id: str) -> None:
        """Handle that we are no longer in a room."""
        room = self._client.rooms.get(room_id)
        if room is None:
            return
        chat_ref = self._view(room).build_chat_ref()
        self._client.leave_room(room_id)
        if not chat_ref.is_private or self._rooms.find_room(chat_ref.address) is None:
            await self._handle_event(ChatAvailability(chat_ref=chat_ref, is_available=False))

    async def _handle(self, room_id: str, event: Event) -> None:
        """Handle an event of a room that we are in."""
        source = read_source(event)
        room = self._client.rooms.get(room_id)
        if room is None:
            return
        if isinstance(event, MegolmEvent):
            if event.sender != self._client.user_id:
                await self._let_wait(room_id, event)
            return
        kind = find_text(source, "type")
        if kind == "m.room.redaction":
            self._unread.remove(find_related_id(source))
        if kind == "m.room.member" and not getattr(event, "decrypted", False):
            await self._handle_member(room, source)
        await self._pass_on(room, source, is_decrypted=bool(getattr(event, "decrypted", False)))

    async def _handle_member(self, room: MatrixRoom, source: JsonFields) -> None:
        """Handle that we have joined, or that the other one in a direct room has left."""
        member = find_text(source, "state_key")
        membership = find_text(find_fields(source, "content"), "membership")
        if member == self._client.user_id and membership == "join":
            chat_ref = self._view(room).build_chat_ref()
            await self._handle_event(ChatAvailability(chat_ref=chat_ref, is_available=True))
        elif (
            membership in {"leave", "ban"}
            and self._rooms.is_direct(member, room.room_id)
            and self._rooms.find_room(member) is None
        ):
            chat_ref = replace(self._view(room), partner=member).build_chat_ref()
            await self._handle_event(ChatAvailability(chat_ref=chat_ref, is_available=False))

    async def _let_wait(self, room_id: str, event: MegolmEvent) -> None:
        """Let an event wait for its key, and ask for that."""
        source: JsonFields = event.source
        event_id = find_text(source, "event_id")
        if event_id and self._unread.add(UnreadEvent(room_id=room_id, source=source)):
            await self._client.ask_for_key(event)

    async def _review_unread(self) -> None:
        """Handle what can be read now, and tell the senders of what cannot be read in time."""
        self._unread.drop_old()
        await self._unread.drop_forgotten(self._cursors)
        for event_id, each in list(self._unread.waiting.items()):
            room = self._client.rooms.get(each.room_id)
            if room is None:
                continue
            decrypted = self._client.try_decrypt(each.room_id, each.source)
            if decrypted is not None:
                await self._pass_on(
                    room, decrypted.source, is_decrypted=True, was_shown=each.is_shown
                )
                self._unread.remove(event_id)
            elif (
                not each.is_due
                and self._unread.has_waited(event_id)
                and self._unread.mark_due(each)
            ):
                await self._pass_on(room, each.source)
        await self._unread.save(self._cursors)

    async def _pass_on(
        self,
        room: MatrixRoom,
        source: JsonFields,
        *,
        is_decrypted: bool = False,
        was_shown: bool = False,
    ) -> None:
        """Pass an event on; one that cannot be understood ends nothing."""
        related_id = find_related_id(source)
        related = await self._find_related(room.room_id, related_id) if related_id else None
        event: ChannelEvent | None
        try:
            event = to_channel_event(source, self._view(room), related, is_decrypted=is_decrypted)
        except (TypeError, ValueError, RecursionError) as error:
            reason = type(error).__name__
            event = UnreadableUpdate(channel=CHANNEL_NAME, update_id=None, reason=reason)
        if event is None:
            return
        if isinstance(event, IncomingMessage):
            if event.chat_ref.is_private:
                await self._rooms.mark_direct(event.sender.address, room.room_id, self._cursors)
            event = replace(event, is_edit=event.is_edit or (was_shown and event.is_readable))
        await self._handle_event(event)

    async def _find_related(self, room_id: str, event_id: str) -> RelatedEvent | None:
        """Return the event that another one refers to. Raises MatrixError."""
        if not is_event_id(event_id):
            return None
        key = f"{room_id} {event_id}"
        if key not in self._related:
            source = await self._load_event(room_id, event_id)
            self._related[key] = (
                None
                if source is None
                else RelatedEvent(sender=find_text(source, "sender"), text=read_text(source))
            )
        return self._related[key]

    async def _load_event(self, room_id: str, event_id: str) -> JsonFields | None:
        """Return an event; None if it is refused, also after some tries. Raises MatrixError."""
        for pause_s in LOAD_PAUSES_S:
            await asyncio.sleep(pause_s)
            try:
                return await self._client.load_event(room_id, event_id)
            except MatrixError as error:
                if not is_final(error):
                    raise
        return None

    def _view(self, room: MatrixRoom) -> RoomView:
        """Return a room as its events are read."""
        names: Mapping[str, str] = {
            user: each.display_name or user for user, each in room.users.items()
        }
        us = self._client.user_id
        partner = self._rooms.find_partner(room)
        return RoomView(
            room_id=room.room_id,
            title=names.get(partner, "") if partner else room.name or room.canonical_alias or "",
            user_id=us,
            name=names.get(us, us).removeprefix("@").partition(":")[0],
            partner=partner,
            name_of=lambda user: names.get(user, user),
            now=round(time.time() * SECOND),
        )


def read_source(event: Event | InviteEvent) -> JsonFields:
    """Return the JSON of an event, from which the library takes the content of a membership."""
    source: dict[str, JsonValue] = event.source
    return source if "content" in source else {**source, "content": getattr(event, "content", {})}


def is_event_id(text: str) -> bool:
    """Tell whether a text can be the id of an event; whoever refers to one writes it freely."""
    is_short = len(text) <= MAX_EVENT_ID_CHARS
    return is_short and text.startswith("$") and text.isascii() and text.isprintable()


def read_time_ms(event: Event) -> int | None:
    """Return when an event was sent, as its server says."""
    return find_int(event.source, "origin_server_ts")


def is_profile_change(source: JsonFields) -> bool:
    """Tell whether somebody who was in a room only changed how they are called there."""
    before = find_fields(find_fields(source, "unsigned"), "prev_content")
    return find_text(before, "membership") == "join"
