"""Graph API: the calls to Meta's Cloud API that a companion needs, and what its errors mean.

A message counts as refused only if Meta says so, or if it cannot have left this machine; whatever
else goes wrong leaves open whether it was sent.
"""

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

import httpx

from oldfriend.channels.json_fields import JsonFields, find_fields, find_text, list_json_objects
from oldfriend.domain.audio_formats import OGG_MIME, detect_audio_format
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    NotFound,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
    WindowClosed,
)
from oldfriend.domain.i18n_messages import localizable

TIMEOUT: Final = httpx.Timeout(20.0, connect=10.0)
MAX_AUDIO_BYTES: Final = 16 * 1024 * 1024
"""The largest recording that WhatsApp carries."""
MEDIA_HOSTS: Final = (".fbsbx.com", ".fbcdn.net", ".whatsapp.net")
"""Where Meta keeps files; the token is sent nowhere else."""
MEDIA_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
OPUS_MIME: Final = f"{OGG_MIME}; codecs=opus"
AUDIO_MIMES: Final = frozenset({"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4"})
"""What WhatsApp plays besides voice notes."""

WINDOW_CLOSED: Final = 131047
RETRY_AFTER_S: Final[Mapping[int, float]] = {
    4: 60.0,  # too many calls of the app
    80007: 60.0,  # too many calls of the business account
    130429: 1.0,  # too many messages a second
    131056: 6.0,  # too many messages to the same person
    131048: 300.0,  # too many were reported as spam
    131016: 10.0,  # a service is down
    133004: 10.0,  # a server is down
    131057: 60.0,  # the account is being maintained
    131042: 300.0,  # nobody pays for it
    131031: 300.0,  # the account is locked
    368: 300.0,  # the account is blocked for a time
}
"""Seconds after which a refused message may be accepted, by the number of the error."""
RETRYABLE: Final = frozenset({*RETRY_AFTER_S, 1, 2, 131000, 133010, 135000})
TOKEN_ERRORS: Final = frozenset({0, 3, 10, 190, 131005, *range(200, 300)})
"""The token is no longer valid, or may not do this."""
CHAT_GONE_ERRORS: Final = frozenset({131026, 131030})
"""The person is not on WhatsApp, has blocked us, or is on no list of a test number."""
TOKEN_ADVICE: Final = (
    "Meta does not accept the token any more. Make a permanent one for a system user, then: "
    "oldfriend connect whatsapp"
)


class GraphError(Exception):
    """A refusal by Meta."""

    def __init__(self, status: int, error: JsonFields) -> None:
        """Take the HTTP status and the error as Meta tells it."""
        code = error.get("code")
        self.code = code if isinstance(code, int) and not isinstance(code, bool) else 0
        self.status = status
        details = find_text(find_fields(error, "error_data"), "details")
        said = details or find_text(error, "message") or f"HTTP {status}"
        super().__init__(f"{said[:300]} ({self.code or status})")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneNumber:
    """The number that the companion has, as Meta knows it."""

    number: str  # digits only
    name: str
    quality: str
    webhook_url: str  # whom Meta calls; "" if it tells of none


class GraphApi:
    """Meta's Cloud API for one phone number."""

    def __init__(self, *, base_url: str, token: str, phone_number_id: str, app_secret: str) -> None:
        """Create without connecting."""
        self._base_url = base_url.rstrip("/")
        self._token = token
        self._phone_number_id = phone_number_id
        self._proof = hmac.new(app_secret.encode(), token.encode(), sha256).hexdigest()
        self._client = httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def get_phone_number(self) -> PhoneNumber:
        """Return our number; this tries token, number and app secret.

        Raises PlatformRejected, PlatformUnavailable.
        """
        fields = "display_phone_number,verified_name,quality_rating,webhook_configuration"
        try:
            found = await self._call(
                "GET",
                self._phone_number_id,
                params={"fields": fields, "appsecret_proof": self._proof},
            )
        except GraphError as error:
            raise to_platform_error(error) from error
        except (httpx.HTTPError, ValueError) as error:
            raise PlatformUnavailable(f"WhatsApp cannot be reached: {describe(error)}") from error
        shown = find_text(found, "display_phone_number")
        hooks = find_fields(found, "webhook_configuration")
        names = ("phone_number", "whatsapp_business_account", "application")
        return PhoneNumber(
            number="".join(each for each in shown if each.isdecimal()),
            name=find_text(found, "verified_name"),
            quality=find_text(found, "quality_rating"),
            webhook_url=next(filter(None, (find_text(hooks, name) for name in names)), ""),
        )

    async def send(self, raw_message: JsonFields) -> str:
        """Send a message and return its id.

        Raises OutcomeUnknown, DeliveryFailed, WindowClosed, Undeliverable.
        """
        told = await self._post_message(raw_message)
        sent = list_json_objects(told, "messages")
        external_id = find_text(sent[0], "id") if sent else ""
        if not external_id:
            raise OutcomeUnknown("WhatsApp has answered without the id of the message.")
        return external_id

    async def mark_as_read(self, external_id: str) -> None:
        """Mark a message as read, and show for a while that we are typing.

        Raises DeliveryFailed, Undeliverable.
        """
        typing: JsonFields = {"type": "text"}
        await self._post_message(
            {"status": "read", "message_id": external_id, "typing_indicator": dict(typing)}
        )

    async def upload_audio(self, audio: bytes, *, is_opus: bool) -> str:
        """Upload audio and return its id. Raises DeliveryFailed, Undeliverable."""
        found = detect_audio_format(audio)
        mime = OPUS_MIME if is_opus else found.mime
        if not is_opus and mime not in AUDIO_MIMES:
            raise Undeliverable(f"WhatsApp does not play {mime}.")
        if len(audio) > MAX_AUDIO_BYTES:
            raise Undeliverable(f"WhatsApp takes at most {MAX_AUDIO_BYTES:,} bytes of audio.")
        try:
            told = await self._call(
                "POST",
                f"{self._phone_number_id}/media",
                data={"messaging_product": "whatsapp", "type": mime},
                files={"file": (f"voice.{found.extension}", audio, mime)},
            )
        except GraphError as error:
            raise to_delivery_error(error) from error
        except (httpx.HTTPError, ValueError) as error:
            raise DeliveryFailed(f"WhatsApp cannot be reached: {describe(error)}") from error
        if not (media_id := find_text(told, "id")):
            raise DeliveryFailed("WhatsApp has answered without the id of the file.")
        return media_id

    async def download_media(self, media_id: str) -> bytes:
        """Download a file. Raises DeliveryFailed, NotFound."""
        if not MEDIA_ID.fullmatch(media_id):
            raise NotFound("That is no file of WhatsApp's.")
        try:
            found = await self._call(
                "GET", media_id, params={"phone_number_id": self._phone_number_id}
            )
            url = find_text(found, "url")
            if not self._is_media_url(url):
                raise NotFound("WhatsApp keeps this file where no token is sent to.")
            return await self._download(url)
        except GraphError as error:
            if isinstance(failed := to_delivery_error(error), DeliveryFailed):
                raise failed from error
            raise NotFound(f"WhatsApp does not provide this file: {error}") from error
        except (httpx.HTTPError, ValueError) as error:
            raise DeliveryFailed(f"WhatsApp cannot be reached: {describe(error)}") from error

    def _is_media_url(self, url: str) -> bool:
        """Tell whether the token may be sent to an address."""
        parts, own = urlsplit(url), urlsplit(self._base_url)
        if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
            return True
        is_plain = "@" not in parts.netloc and parts.scheme == "https" and parts.port in {None, 443}
        return is_plain and (parts.hostname or "").endswith(MEDIA_HOSTS)

    async def _download(self, url: str) -> bytes:
        async with self._client.stream("GET", url, headers=self._headers) as response:
            if response.status_code != httpx.codes.OK:
                raise GraphError(response.status_code, {})
            content = bytearray()
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > MAX_AUDIO_BYTES:
                    raise NotFound(f"The file has more than {MAX_AUDIO_BYTES:,} bytes.")
        return bytes(content)

    async def _post_message(self, raw_message: JsonFields) -> JsonFields:
        """Post to the messages of our number.

        Raises OutcomeUnknown, DeliveryFailed, WindowClosed, Undeliverable.
        """
        body = {"messaging_product": "whatsapp", **raw_message}
        try:
            return await self._call("POST", f"{self._phone_number_id}/messages", json=body)
        except GraphError as error:
            raise to_delivery_error(error) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise DeliveryFailed(f"WhatsApp cannot be reached: {describe(error)}") from error
        except (httpx.HTTPError, ValueError) as error:
            raise OutcomeUnknown(f"WhatsApp has not answered: {describe(error)}") from error

    async def _call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: JsonFields | None = None,
        data: Mapping[str, str] | None = None,
        files: Mapping[str, tuple[str, bytes, str]] | None = None,
    ) -> JsonFields:
        """Make one call. Raises GraphError, httpx.HTTPError, ValueError for what is no JSON."""
        response = await self._client.request(
            method,
            f"{self._base_url}/{path}",
            params=params,
            json=json,
            data=data,
            files=files,
            headers=self._headers,
        )
        return read_answer(response)

    @property
    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"}


def read_answer(response: httpx.Response) -> JsonFields:
    """Return the object of an answer. Raises GraphError, ValueError if nothing is told by it."""
    try:
        told = json.loads(response.content)
    except RecursionError as error:
        raise ValueError("The answer cannot be read.") from error
    except ValueError:
        if httpx.codes.is_client_error(response.status_code):
            raise GraphError(response.status_code, {}) from None
        raise
    match told:
        case {"error": dict(refusal)}:
            raise GraphError(response.status_code, refusal)
        case dict(fields) if response.is_success:
            return fields
        case _ if httpx.codes.is_client_error(response.status_code):
            raise GraphError(response.status_code, {})
        case _:
            raise ValueError("The answer is no object of an API.")


def describe(error: Exception) -> str:
    """Describe an error of the connection; its text may hold an address with parameters."""
    return type(error).__name__


def to_failure(code: int) -> DeliveryFailed | Undeliverable:
    """Return the error of a message that was accepted and then not delivered."""
    error: JsonFields = {"code": code, "message": "It was not delivered."}
    return to_delivery_error(GraphError(httpx.codes.BAD_REQUEST, error))


def to_delivery_error(error: GraphError) -> DeliveryFailed | Undeliverable:
    """Convert a refusal while sending to an error of ours."""
    if error.code == WINDOW_CLOSED:
        return WindowClosed(f"More than a day has passed since they wrote: {error}")
    if error.code in CHAT_GONE_ERRORS:
        return ChatBlocked(f"WhatsApp reaches nobody there: {error}")
    if error.code in RETRYABLE or error.status == httpx.codes.TOO_MANY_REQUESTS:
        return DeliveryFailed(
            f"WhatsApp refuses for now: {error}", retry_after_s=RETRY_AFTER_S.get(error.code)
        )
    if is_token_error(error):
        return DeliveryFailed(TOKEN_ADVICE)
    if httpx.codes.is_server_error(error.status):
        return OutcomeUnknown(f"WhatsApp is in trouble: {error}")
    return Undeliverable(f"WhatsApp refuses: {error}")


def is_token_error(error: GraphError) -> bool:
    """Tell whether a refusal is about the token."""
    is_unauthorized = error.status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}
    return (error.code in TOKEN_ERRORS and bool(error.code)) or is_unauthorized


def to_platform_error(error: GraphError) -> PlatformRejected | PlatformUnavailable:
    """Convert a refusal while asking about our number to an error of ours."""
    if error.code in RETRYABLE or httpx.codes.is_server_error(error.status):
        return PlatformUnavailable(
            f"WhatsApp refuses for now: {error}", retry_after_s=RETRY_AFTER_S.get(error.code)
        )
    if is_token_error(error):
        return PlatformRejected(localizable("whatsapp_token_unknown", TOKEN_ADVICE))
    return PlatformRejected(
        localizable(
            "whatsapp_refuses",
            f"Meta refuses: {error}. Are the phone number ID and the app secret right?",
            error=str(error),
        )
    )
