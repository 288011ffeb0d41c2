"""Guarded client: the library's client, which no event that somebody sends can end or deceive."""

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

from nio import (
    AsyncClient,
    ErrorResponse,
    Event,
    MatrixRoom,
    MegolmEvent,
    Response,
    SyncResponse,
    ToDeviceEvent,
)
from typing_extensions import override

from oldfriend.domain.json import JsonValue


class GuardedClient(AsyncClient):
    """A client that no single event can end: one that the library cannot handle is left out."""

    @override
    async def create_matrix_response(
        self, response_class: type, transport_response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        """Parse a response; if an event of a sync cannot be parsed, without such events."""
        with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
            return await super().create_matrix_response(
                response_class, transport_response, *args, **kwargs
            )
        if not issubclass(response_class, SyncResponse):
            return ErrorResponse("It cannot be parsed.", "M_NOT_JSON")
        body = drop_unfit_events(await self.parse_body(transport_response))
        return SyncResponse.from_dict(body)

    @override
    def _handle_joined_state(self, room_id: str, join_info: Any, encrypted_rooms: set[str]) -> None:
        """Apply the state of a room event by event."""
        states = [[each] for each in join_info.state] or [[]]
        for state in states:
            with suppress(Exception):
                super()._handle_joined_state(
                    room_id, replace(join_info, state=state), encrypted_rooms
                )

    @override
    def _handle_timeline_event(
        self, event: Any, room_id: str, room: MatrixRoom, encrypted_rooms: set[str]
    ) -> Event | None:
        """Apply an event to its room, or decrypt it.

        What was encrypted changes no room: anybody there may encrypt that somebody has left.
        """
        with suppress(Exception):
            if not isinstance(event, MegolmEvent):
                return super()._handle_timeline_event(event, room_id, room, encrypted_rooms)
            event.room_id = room_id
            return None if self.olm is None else self.olm.decrypt_megolm_event(event)
        return None

    @override
    def _handle_decrypt_to_device(self, to_device_event: Any) -> ToDeviceEvent | None:
        """Decrypt what another device sent."""
        with suppress(Exception):
            return super()._handle_decrypt_to_device(to_device_event)
        return None


def drop_unfit_events(body: dict[str, Any]) -> dict[str, Any]:
    """Return a sync response without events that the library cannot parse."""
    rooms = body.get("rooms")
    rooms = rooms if isinstance(rooms, dict) else {}
    for room in [
        each for kind in rooms.values() if isinstance(kind, dict) for each in kind.values()
    ]:
        for part in room.values() if isinstance(room, dict) else ():
            if isinstance(part, dict) and isinstance(part.get("events"), list):
                part["events"] = [each for each in part["events"] if is_fit(Event, each)]
    inbox = body.get("to_device")
    if isinstance(inbox, dict) and isinstance(inbox.get("events"), list):
        inbox["events"] = [each for each in inbox["events"] if is_fit(ToDeviceEvent, each)]
    return body


def is_fit(kind: type[Event] | type[ToDeviceEvent], event: JsonValue) -> bool:
    """Tell whether the library can parse an event."""
    with suppress(Exception):
        kind.parse_event(deepcopy(event))
        return True
    return False
