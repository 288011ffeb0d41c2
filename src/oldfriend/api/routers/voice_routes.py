"""Voice routes: transcribes recordings and serves stored and spoken audio."""

import re
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Request, Response

from oldfriend.api.auth import AudioUser, CurrentUser, HubDep
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import MAX_KEY_CHARS, MessageKey
from oldfriend.api.routers.chat_routes import ALREADY_ACCEPTED, get_message_by_key
from oldfriend.domain.audio_formats import EXTENSIONS, UNKNOWN_MIME, detect_audio_format
from oldfriend.domain.clock import get_zone
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.inbound.accept import open_web_chat
from oldfriend.inbound.audio_storage import find_audio
from oldfriend.inbound.voice_messages import (
    NoTranscriptReason,
    TranscriptionFailure,
    accept_voice_message,
)
from oldfriend.memory.chat_history import list_messages_with_audio
from oldfriend.memory.message_log import find_message_by_external_id, get_message
from oldfriend.presenters.message_schemas import MessageSchema

STATUS_BY_REASON: Final[dict[NoTranscriptReason, int]] = {
    "off": 409,
    "nothing": 422,
    "too large": 413,
    "later": 503,
    "spent": 503,
    "never": 422,
    "misconfigured": 503,
}
SETUP_HINT: Final = (
    "To connect a transcriber, run `oldfriend connect transcriber` where Oldfriend runs."
)
RANGE_HEADER: Final = re.compile(r"bytes=(\d{0,12})-(\d{0,12})", re.ASCII)

router = APIRouter(prefix="/chat", tags=["chat"])


@router.post(
    "/recordings",
    status_code=202,
    responses=ALREADY_ACCEPTED,
    summary="Send a voice message",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "audio/*": {"schema": {"type": "string", "format": "binary"}},
            },
        }
    },
)
async def send_recording(
    request: Request,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    idempotency_key: Annotated[
        MessageKey,
        Header(
            min_length=8,
            max_length=MAX_KEY_CHARS,
            description="A key chosen by the client: a recording repeated with the same key "
            "is stored once.",
        ),
    ],
    zone: Annotated[
        str | None,
        Query(
            max_length=100,
            description="The sender's time zone: an IANA name.",
        ),
    ] = None,
) -> MessageSchema:
    """Transcribe a recording (at most 20 MB) and store its words as a message.

    409: no transcriber is set up. 422: it contains no speech. 503: try again later.
    """
    app = hub.app
    if zone is not None:
        get_zone(zone)
    chat_context = await open_web_chat(app.db, app.clock, me.person.id)
    async with app.db.begin_read() as tx:
        known = await find_message_by_external_id(
            tx, chat_context.person.id, chat_context.chat.id, idempotency_key
        )
    if known is not None:
        response.status_code = 200
        return await load_message(hub, me, known.id)
    claim_now = hub.has_capacity
    accepted = await accept_voice_message(
        app,
        chat_context,
        await request.body(),
        mime=request.headers.get("content-type", ""),
        zone=None if me.person.has_chosen_zone else zone,
        key=idempotency_key,
        claim_now=claim_now,
    )
    if isinstance(accepted, TranscriptionFailure):
        raise ApiError(
            STATUS_BY_REASON[accepted.reason],
            "Nothing was heard",
            format_not_heard(accepted, me.person.language),
        )
    if accepted is None:
        response.status_code = 200
        return await load_message(
            hub, me, (await get_message_by_key(app.db, chat_context, idempotency_key)).id
        )
    if claim_now:
        await hub.start_reply(accepted)
    return await load_message(hub, me, accepted.message.id)


@router.get(
    "/messages/{message}/recording",
    summary="Play a recording",
    response_class=Response,
    responses={206: {"description": "The part that `Range` asks for."}},
)
async def play_recording(
    message: str,
    me: AudioUser,
    hub: HubDep,
    wanted: Annotated[
        str | None,
        Header(alias="Range", max_length=60, description="A byte range, such as `bytes=0-1023`."),
    ] = None,
) -> Response:
    """Return the recording of a voice message, if it is kept, or a reply as speech."""
    app, person, message_id = hub.app, me.person.id, MessageId(message)
    audio = await find_audio(app.db, app.settings, person, message_id, "heard")
    audio = audio or await find_audio(
        app.db, app.settings, person, message_id, "spoken", voice=None
    )
    if audio is None:
        raise NotFound("No recording of it is kept here.")
    mime = detect_audio_format(audio).mime
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Type": mime if mime in EXTENSIONS else UNKNOWN_MIME,
    }
    part = parse_range(wanted, len(audio))
    if part is None:
        return Response(audio, headers=headers)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(audio)}"
    return Response(audio[part.start : part.stop], status_code=206, headers=headers)


def parse_range(header: str | None, length: int) -> range | None:
    """Parse a Range header; None for the whole. Raises ApiError if the range is empty."""
    match = RANGE_HEADER.fullmatch(header or "")
    if match is None or match[1] == match[2] == "":
        return None
    if match[1] == "":
        start, stop = max(length - int(match[2]), 0), length
    else:
        start = int(match[1])
        stop = min(int(match[2]) + 1, length) if match[2] else length
    if start >= stop:
        raise ApiError(
            416,
            "There is no such part",
            f"The recording has {length} bytes.",
            headers={"Content-Range": f"bytes */{length}"},
        )
    return range(start, stop)


def format_not_heard(failure: TranscriptionFailure, language: str | None) -> str:
    """Format why there is no transcript, and what to do."""
    return (
        f"{failure.to_text(language)} {SETUP_HINT}"
        if failure.reason == "off"
        else failure.to_text(language)
    )


async def load_message(hub: HubDep, me: CurrentUser, message_id: MessageId) -> MessageSchema:
    """Load a message as it reads now."""
    async with hub.app.db.begin_read() as tx:
        found = await get_message(tx, me.person.id, message_id)
        return MessageSchema.from_domain(
            found, with_audio=await list_messages_with_audio(tx, me.person.id, [message_id])
        )
