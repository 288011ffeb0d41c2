"""Matrix client: the bot's login, its keys for encryption, and calls with errors of ours."""

import asyncio
import fcntl
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from aiohttp import ClientError
from nio import (
    AsyncClient,
    AsyncClientConfig,
    ErrorResponse,
    Event,
    KeysQueryError,
    LoginResponse,
    MatrixRoom,
    MegolmEvent,
    Response,
    RoomMessagesResponse,
    SyncResponse,
)
from nio.exceptions import EncryptionError, LocalProtocolError, SendRetryError
from nio.store import SqliteStore

from oldfriend.channels.json_fields import JsonFields
from oldfriend.channels.matrix.cross_signing import (
    MatrixError,
    is_device_signed,
    sign_own_device,
    write_private_file,
)
from oldfriend.channels.matrix.guarded_client import GuardedClient
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue

DEVICE_NAME: Final = "Oldfriend"
LOGIN_FILE: Final = "login.json"
LOCK_FILE: Final = "lock"
KEYS_FILE: Final = "keys-{device}.db"
REQUEST_TIMEOUT_S: Final = 30.0
FULL_SYNC_TIMEOUT_S: Final = 300.0
SYNC_SLACK_S: Final = 20.0
TIMELINE_EVENTS: Final = 100
"""Events of a room that a sync returns; earlier ones are asked for."""
MAX_MISSED_EVENTS: Final = 2_000
"""Events of a room that are asked for after having been away."""
MAX_MEDIA_BYTES: Final = 32 * 1024 * 1024
SYNC_FILTER: Final[dict[str, Any]] = {
    "presence": {"types": []},
    "account_data": {"types": []},
    "room": {
        "timeline": {"limit": TIMELINE_EVENTS},
        "ephemeral": {"types": []},
        "account_data": {"types": []},
        "state": {"lazy_load_members": False},
    },
}
LOCAL: Final = "not sent"
"""In place of a code: nothing was sent to the homeserver."""
LOGIN_REFUSALS: Final = frozenset({"M_FORBIDDEN", "M_USER_DEACTIVATED", "M_INVALID_USERNAME"})
TOKEN_REFUSALS: Final = frozenset({"M_UNKNOWN_TOKEN", "M_MISSING_TOKEN"})
CHAT_REFUSALS: Final = frozenset({"M_FORBIDDEN", "M_NOT_FOUND", "M_GUEST_ACCESS_FORBIDDEN"})
MESSAGE_REFUSALS: Final = frozenset({"M_TOO_LARGE", "M_BAD_JSON", "M_INVALID_PARAM"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A device of the account, and the token that was given to it."""

    homeserver: str
    user: str  # as it was given; the id of the account is ``user_id``
    user_id: str
    device_id: str
    access_token: str
    at_ms: int  # when it was made: what was said before is not read


def build_keys_name(login: Login) -> str:
    """Return the name of the file with the keys of a device."""
    device = sha256(f"{login.user_id} {login.device_id}".encode()).hexdigest()[:16]
    return KEYS_FILE.format(device=device)


def read_token(login: Login | None) -> str:
    """Return the token of a login; "" if there is none."""
    return "" if login is None else login.access_token


def read_login(folder: Path) -> Login | None:
    """Return the stored login; None if there is none that can be read."""
    try:
        return Login(**json.loads((folder / LOGIN_FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


class MatrixClient:
    """The bot on its homeserver."""

    def __init__(self, homeserver: str, user: str, password: str, *, folder: Path) -> None:
        """Create without connecting; ``folder`` holds the login and the keys."""
        self._homeserver = homeserver.rstrip("/")
        self._user = user
        self._password = password
        self._folder = folder
        self._nio: AsyncClient | None = None
        self._token = ""  # the one used last
        self.began_ms = 0
        self._is_signing_due = True

    @property
    def nio(self) -> AsyncClient:
        """Return the connected client. Raises MatrixError."""
        if self._nio is None:
            raise MatrixError(LOCAL, "not connected")
        return self._nio

    @property
    def user_id(self) -> str:
        """Return the id of the account."""
        return str(self.nio.user_id)

    @property
    def rooms(self) -> Mapping[str, MatrixRoom]:
        """Return the rooms that we are in."""
        rooms: Mapping[str, MatrixRoom] = self.nio.rooms
        return rooms

    async def log_in(self) -> Login:
        """Log in with the password, and store the login. Raises MatrixError."""
        stored = self.find_login()
        nio = self._build_client(None)
        try:
            with map_transport_errors():
                nio.device_id = stored.device_id if stored else ""
                response = await nio.login(self._password, device_name=DEVICE_NAME)
            check_response(response)
            assert isinstance(response, LoginResponse)
        finally:
            await nio.close()
        login = Login(
            homeserver=self._homeserver,
            user=self._user,
            user_id=response.user_id,
            device_id=response.device_id,
            access_token=response.access_token,
            at_ms=round(1_000 * time.time()) if stored is None else stored.at_ms,
        )
        write_private_file(self._folder / LOGIN_FILE, json.dumps(asdict(login)))
        return login

    def clone(self) -> "MatrixClient":
        """Return another client of the same account, which is not connected."""
        return MatrixClient(self._homeserver, self._user, self._password, folder=self._folder)

    async def renew_login(self, error: MatrixError) -> MatrixError:
        """Log in again if the token has ended; return what went wrong."""
        if error.code not in TOKEN_REFUSALS or self._token != read_token(self.find_login()):
            return error  # something else, or another process has logged in meanwhile
        if not error.is_soft:
            self.forget_device()
        try:
            await self.log_in()
        except MatrixError as refusal:
            return refusal
        return error

    def find_login(self) -> Login | None:
        """Return the stored login of this account."""
        login = read_login(self._folder)
        is_ours = login is not None and (login.homeserver, login.user) == (
            self._homeserver,
            self._user,
        )
        return login if is_ours else None

    def forget_device(self) -> None:
        """Forget the login and the keys of a device that the homeserver has deleted."""
        for path in [self._folder / LOGIN_FILE, *self._folder.glob(KEYS_FILE.format(device="*"))]:
            path.unlink(missing_ok=True)

    @asynccontextmanager
    async def opened(self, *, keeps_keys: bool) -> AsyncIterator[None]:
        """Connect with the stored login, or log in.

        With the keys only one process at a time: two would use the same key twice. Raises
        MatrixError.
        """
        with hold_lock(self._folder / LOCK_FILE) if keeps_keys else nullcontext():
            login = self.find_login() or await self.log_in()
            keys = self._folder / build_keys_name(login) if keeps_keys else None
            if keys is not None:  # the library would let others read it
                os.close(os.open(keys, os.O_RDWR | os.O_CREAT, 0o600))
            nio = self._build_client(keys)
            try:
                nio.restore_login(login.user_id, login.device_id, login.access_token)
                self._nio, self._token, self._is_signing_due = nio, login.access_token, True
                self.began_ms = login.at_ms
                yield
            finally:
                self._nio = None
                await nio.close()
                await asyncio.sleep(0)  # its connections end only then
                if nio.store is not None:
                    nio.store.database.close()

    def _build_client(self, keys: Path | None) -> AsyncClient:
        logging.getLogger("nio.responses").setLevel(logging.ERROR)  # each answer is checked here
        return GuardedClient(
            self._homeserver,
            self._user,
            store_path="" if keys is None else str(keys.parent),
            config=AsyncClientConfig(
                store=SqliteStore,
                store_name="" if keys is None else keys.name,
                max_limit_exceeded=0,
                max_timeouts=0,
                request_timeout=REQUEST_TIMEOUT_S,
            ),
        )

    async def call(
        self, method: str, path: str, body: JsonValue = None, *, data: bytes | None = None
    ) -> dict[str, Any]:
        """Make a call that the library does not have. Raises MatrixError."""
        content = json.dumps(body).encode() if data is None and body is not None else data
        mime = "application/json" if data is None else "application/octet-stream"
        with map_transport_errors():
            answer = await self.nio.send(
                method, path, content, {**self._authorization, "Content-Type": mime}
            )
            found = await self.nio.parse_body(answer)
        fields = found if isinstance(found, dict) else {}
        if answer.status >= 400:
            raise to_error(fields, f"HTTP {answer.status}")
        return fields

    @property
    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.nio.access_token}"}

    async def sync(self, since: str | None, *, is_first: bool, wait_s: float) -> SyncResponse:
        """Return what has happened since; keys that came with it are stored. Raises MatrixError."""
        self.nio.next_batch = ""  # the library handles nothing that comes with the position it has
        limit_s = FULL_SYNC_TIMEOUT_S if is_first else wait_s + SYNC_SLACK_S
        with map_transport_errors():
            async with asyncio.timeout(limit_s):
                response = await self.nio.sync(
                    timeout=0 if is_first else round(1_000 * wait_s),
                    sync_filter=SYNC_FILTER,
                    since=since,
                    full_state=is_first or None,
                )
        check_response(response)
        assert isinstance(response, SyncResponse)
        olm = self.nio.olm
        if olm is not None and response.device_key_count.signed_curve25519 is not None:
            olm.uploaded_key_count = response.device_key_count.signed_curve25519
        return response

    async def keep_up_keys(self) -> None:
        """Upload, ask for and send the keys that are due. Raises MatrixError."""
        nio = self.nio
        with map_transport_errors():
            if nio.should_upload_keys:
                check_response(await nio.keys_upload())
            if nio.should_query_keys:
                response = await nio.keys_query()
                if not isinstance(response, KeysQueryError):
                    check_response(response)
            if nio.should_claim_keys:
                check_response(await nio.keys_claim(nio.get_users_for_key_claiming()))
            await nio.send_to_device_messages()
            if self._is_signing_due:
                self._is_signing_due = False
                await self._sign_device()

    async def _sign_device(self) -> None:
        """Have the account vouch for our device, if the homeserver accepts it. Raises MatrixError.

        Without that it is heard and answered all the same.
        """
        device_id = str(self.nio.device_id)
        try:
            await sign_own_device(self.call, self.user_id, device_id, self._password, self._folder)
        except MatrixError as error:
            if not is_final(error):
                raise

    async def is_device_signed(self) -> bool:
        """Tell whether the account vouches for our device. Raises MatrixError."""
        return await is_device_signed(self.call, self.user_id, str(self.nio.device_id))

    async def list_missed(self, room_id: str, *, start: str, end: str) -> list[Event]:
        """Return events of a room between two positions, the oldest first. Raises MatrixError."""
        events: list[Event] = []
        position: str | None = start
        while position and len(events) < MAX_MISSED_EVENTS:
            with map_transport_errors():
                page = await self.nio.room_messages(room_id, position, end, limit=TIMELINE_EVENTS)
            if isinstance(page, ErrorResponse) and page.status_code in CHAT_REFUSALS:
                break  # the room does not show its past
            check_response(page)
            assert isinstance(page, RoomMessagesResponse)
            for event in page.chunk:
                if isinstance(event, MegolmEvent):
                    event.room_id = room_id
            events += page.chunk
            position = page.end if page.chunk and page.end != position else None
        return events[::-1]

    async def load_event(self, room_id: str, event_id: str) -> JsonFields | None:
        """Return an event, decrypted if possible; None if there is none. Raises MatrixError."""
        with map_transport_errors():
            response = await self.nio.room_get_event(room_id, event_id)
        if isinstance(response, ErrorResponse) and response.status_code in CHAT_REFUSALS:
            return None
        check_response(response)
        source: JsonFields = response.event.source
        return source

    def try_decrypt(self, room_id: str, source: JsonFields) -> Event | None:
        """Decrypt an event if its key has come."""
        event = Event.parse_event(dict(source))
        if not isinstance(event, MegolmEvent):
            return None
        event.room_id = room_id
        with suppress(Exception):
            return self.nio.decrypt_event(event)
        return None

    def leave_room(self, room_id: str) -> None:
        """Forget a room that we are no longer in."""
        self.nio.rooms.pop(room_id, None)

    async def ask_for_key(self, event: MegolmEvent) -> None:
        """Ask the sender's device and other devices of ours for a key; best effort."""
        nio = self.nio
        with suppress(MatrixError), map_transport_errors():
            if event.session_id not in nio.outgoing_key_requests:
                await nio.request_room_key(event)
            await nio.to_device(
                event.as_key_request(event.sender, nio.device_id, device_id=event.device_id)
            )

    async def send_event(
        self,
        room_id: str,
        kind: str,
        content: Mapping[str, JsonValue],
        *,
        transaction_id: str | None,
    ) -> str:
        """Send an event, encrypted if the room is, and return its id. Raises MatrixError."""
        with map_transport_errors():
            await self._share_key(room_id)
            response = await self.nio.room_send(
                room_id, kind, dict(content), tx_id=transaction_id, ignore_unverified_devices=True
            )
        check_response(response)
        return str(response.event_id)

    async def _share_key(self, room_id: str) -> None:
        """Share the key of an encrypted room, so that all know it before the first message."""
        nio, room = self.nio, self.rooms.get(room_id)
        if nio.olm is None or room is None or not room.encrypted or room_id in nio.sharing_session:
            return
        if not room.members_synced:
            check_response(await nio.joined_members(room_id))
        if nio.should_query_keys:
            check_response(await nio.keys_query())
        if not nio.olm.should_share_group_session(room_id):
            return
        await nio.share_group_session(room_id, ignore_unverified_devices=True)
        session = nio.olm.outbound_group_sessions[room_id]
        wanted = {
            (user, device.id)
            for user in room.users
            for device in nio.device_store.active_user_devices(user)
            if device.id != nio.device_id and nio.olm.session_store.get(device.curve25519)
        }
        if wanted - session.users_shared_with - session.users_ignored:
            del nio.olm.outbound_group_sessions[room_id]
            raise MatrixError(LOCAL, "not every device was given the room's key")

    async def upload(self, content: bytes) -> str:
        """Upload a file and return its address. Raises MatrixError."""
        found = await self.call("POST", "/_matrix/media/v3/upload", data=content)
        return str(found.get("content_uri", ""))

    async def download(self, address: str) -> bytes:
        """Download a file by its address. Raises MatrixError."""
        server, _, name = address.removeprefix("mxc://").partition("/")
        path = f"/_matrix/client/v1/media/download/{quote(server, safe='')}/{quote(name, safe='')}"
        if not address.startswith("mxc://") or not server or not name:
            raise MatrixError("M_NOT_FOUND")
        with map_transport_errors():
            answer = await self.nio.send("GET", path, None, self._authorization)
            if answer.status >= 400:
                await self.nio.parse_body(answer)
                raise MatrixError("M_NOT_FOUND" if answer.status == 404 else "M_UNKNOWN")
            content = await answer.content.read(MAX_MEDIA_BYTES + 1)
            while chunk := await answer.content.read(MAX_MEDIA_BYTES + 1 - len(content)):
                content += chunk
        if len(content) > MAX_MEDIA_BYTES:
            answer.close()
            raise MatrixError("M_TOO_LARGE")
        return bytes(content)


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Hold a lock among processes. Raises MatrixError if another one has it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise MatrixError(LOCAL, "another process has this bot's keys") from error
        yield
    finally:
        os.close(file)


@contextmanager
def map_transport_errors() -> Iterator[None]:
    """Map errors of the connection and of the library to MatrixError."""
    try:
        yield
    except (ClientError, TimeoutError, OSError) as error:
        raise MatrixError("", f"no answer ({type(error).__name__})") from error
    except (LocalProtocolError, EncryptionError, SendRetryError) as error:
        raise MatrixError(LOCAL, f"not possible now ({type(error).__name__})") from error


def check_response(response: Response | ErrorResponse) -> None:
    """Raise MatrixError for a refusal."""
    if isinstance(response, ErrorResponse):
        fields = {"errcode": response.status_code, "retry_after_ms": response.retry_after_ms}
        raise to_error({**fields, "soft_logout": response.soft_logout}, "M_UNKNOWN")


def is_final(error: MatrixError) -> bool:
    """Tell whether an error is a refusal that asking again, or logging in, would not change."""
    return bool(error.code) and error.retry_after_s is None and error.code not in TOKEN_REFUSALS


def to_error(fields: Mapping[str, Any], otherwise: str) -> MatrixError:
    """Return the error that an answer of the homeserver means."""
    wait_ms, session = fields.get("retry_after_ms"), fields.get("session")
    return MatrixError(
        str(fields.get("errcode") or otherwise),
        retry_after_s=wait_ms / 1_000 if isinstance(wait_ms, int) else None,
        session=session if isinstance(session, str) else None,
        is_soft=fields.get("soft_logout") is True,
    )


def to_receive_error(error: MatrixError) -> PlatformUnavailable | PlatformRejected:
    """Convert an error while receiving or connecting."""
    if error.code in LOGIN_REFUSALS:
        return PlatformRejected(
            localizable(
                "matrix_login_refused",
                "The homeserver does not accept this name and password. Give the right ones: "
                "oldfriend connect matrix",
            )
        )
    return PlatformUnavailable(
        f"Matrix cannot be reached: {error}", retry_after_s=error.retry_after_s
    )


def to_send_error(error: MatrixError) -> DeliveryFailed | Undeliverable:
    """Convert an error while sending."""
    if error.code in CHAT_REFUSALS:
        return ChatBlocked(f"The bot may not write there: {error}")
    if error.code in MESSAGE_REFUSALS:
        return Undeliverable(f"The homeserver refuses: {error}")
    if not error.code:
        return OutcomeUnknown(f"Matrix cannot be reached: {error}")
    return DeliveryFailed(f"The homeserver refuses: {error}", retry_after_s=error.retry_after_s)
