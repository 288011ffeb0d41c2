"""What is said aloud: taken in as words, and listened to again where it is kept; replies, too."""

import re
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Request, Response

from oldfriend.app.accepting import open_page_line
from oldfriend.app.attaching import find_sound
from oldfriend.app.hearing import NotHeard, Reason
from oldfriend.app.saying_aloud import say_aloud
from oldfriend.domain.clock import zone_named
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.sounds import EXTENSIONS, UNKNOWN, kind_of
from oldfriend.memory.log import find_by_key, get_message
from oldfriend.memory.talk import list_sounding
from oldfriend.web.problems import Refused
from oldfriend.web.routes.chat import TAKEN_BEFORE, known_by
from oldfriend.web.shapes.chat import LONGEST_KEY, MessageShape
from oldfriend.web.showing.chat import message_shape
from oldfriend.web.signing import Here, Me

STATUS: Final[dict[Reason, int]] = {
    "off": 409, "nothing": 422, "too large": 413, "later": 503, "spent": 503, "never": 422,
    "misconfigured": 503,
}  # fmt: skip
HOW: Final = "Choose who listens: run `oldfriend connect transcriber` where Oldfriend runs."
RANGE: Final = re.compile(r"bytes=(\d{0,12})-(\d{0,12})")

router = APIRouter(prefix="/chat", tags=["chat"])


@router.post(
    "/sounds", status_code=202, responses=TAKEN_BEFORE, summary="Say something aloud",
    openapi_extra={"requestBody": {"required": True, "content": {
        "audio/*": {"schema": {"type": "string", "format": "binary"}},
    }}},
)  # fmt: skip
async def say_sound(
    request: Request, me: Me, room: Here, response: Response,
    idempotency_key: Annotated[str, Header(
        min_length=8, max_length=LONGEST_KEY,
        description="Chosen by the page for this recording: sent again, it is said once.",
    )],
    zone: Annotated[str | None, Query(
        max_length=100, description="Where it is said: an IANA time zone.",
    )] = None,
) -> MessageShape:  # fmt: skip
    """Have a recording (at most 20 MB) heard, and take its words in.

    409: nobody listens here. 422: there are no words in it. 503: try again later.
    """
    house = room.house
    if zone is not None:
        zone_named(zone)
    line = await open_page_line(house, me.person.id)
    async with house.db.reading() as tx:
        before = await find_by_key(tx, line.person.id, line.chat.id, idempotency_key)
    if before is not None:
        response.status_code = 200
        return await shown(room, me, before.id)
    is_seen = room.has_hands
    accepted = await say_aloud(
        house, line, await request.body(), mime=request.headers.get("content-type", ""),
        zone=zone, key=idempotency_key, to_answer=is_seen,
    )  # fmt: skip
    if isinstance(accepted, NotHeard):
        raise Refused(
            STATUS[accepted.reason], "Nothing was heard", unheard(accepted, me.person.language)
        )
    if accepted is None:
        response.status_code = 200
        return await shown(room, me, (await known_by(house, line, idempotency_key)).id)
    if is_seen:
        await room.have_answered(accepted)
    return await shown(room, me, accepted.message.id)


@router.get(
    "/messages/{message}/sound", summary="Listen to it as it was said",
    response_class=Response,
    responses={206: {"description": "A part of it, as `Range` asks."}},
)  # fmt: skip
async def listen_to(
    message: str, me: Me, room: Here,
    wanted: Annotated[
        str | None, Header(alias="Range", max_length=60, description="Such as `bytes=0-1023`.")
    ] = None,
) -> Response:  # fmt: skip
    """The recording of something that was said aloud, where it is kept; or a reply as spoken."""
    house, person, named = room.house, me.person.id, MessageId(message)
    sound = await find_sound(house, person, named, "heard")
    sound = sound or await find_sound(house, person, named, "spoken", voice=None)
    if sound is None:
        raise NotFound("No recording of it is kept here.")
    mime = kind_of(sound).mime
    headers = {"Accept-Ranges": "bytes", "Content-Type": mime if mime in EXTENSIONS else UNKNOWN}
    part = part_of(wanted, len(sound))
    if part is None:
        return Response(sound, headers=headers)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(sound)}"
    return Response(sound[part.start : part.stop], status_code=206, headers=headers)


def part_of(wanted: str | None, length: int) -> range | None:
    """The bytes that are asked for; None: all. Raises Refused where there are none."""
    asked = RANGE.fullmatch(wanted or "")
    if asked is None or asked[1] == asked[2] == "":
        return None
    if asked[1] == "":
        start, stop = max(length - int(asked[2]), 0), length
    else:
        start = int(asked[1])
        stop = min(int(asked[2]) + 1, length) if asked[2] else length
    if start >= stop:
        raise Refused(
            416, "There is no such part", f"The recording has {length} bytes.",
            headers={"Content-Range": f"bytes */{length}"},
        )  # fmt: skip
    return range(start, stop)


def unheard(why: NotHeard, language: str | None) -> str:
    """Why there are no words, and what to do."""
    return f"{why.in_words(language)} {HOW}" if why.reason == "off" else why.in_words(language)


async def shown(room: Here, me: Me, message: MessageId) -> MessageShape:
    """A message as it reads now."""
    async with room.house.db.reading() as tx:
        said = await get_message(tx, me.person.id, message)
        return message_shape(said, sounding=await list_sounding(tx, me.person.id, [message]))
