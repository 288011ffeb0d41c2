"""What was said, what is to be said, and why was it answered so? On every channel of a person."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from oldfriend.app.accepting import Line, accept, edit, open_page_line, stop
from oldfriend.app.accepting import Said as Words
from oldfriend.app.asking_again import ask_again, list_without_answer
from oldfriend.app.house import House
from oldfriend.app.showing import explained
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import LATEST, Micros, zone_named
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import Message
from oldfriend.domain.sayings import saying
from oldfriend.memory.log import find_by_key, get_message
from oldfriend.memory.people import get_chat, get_person_by_id
from oldfriend.memory.receipts import find_receipt
from oldfriend.memory.talk import (
    list_said_after,
    list_said_before,
    list_saying,
    list_sounding,
)
from oldfriend.memory.watching import Position, position_of
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.chat import (
    LONGEST_KEY,
    Edited,
    FoundMessages,
    Messages,
    MessageShape,
    ReceiptShape,
    Said,
    UnansweredShape,
)
from oldfriend.web.showing.chat import message_shape, position_from, position_text, receipt_shape
from oldfriend.web.signing import Here, Me
from oldfriend.web.watching import stream

LAST_SEQ: Final = 1 << 62

TAKEN_BEFORE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": MessageShape, "description": "It was taken in before, with the same key."},
}

router = APIRouter(prefix="/chat", tags=["chat"])
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


@router.get("/messages", summary="What was said, on all channels")
async def list_said(
    me: Me, room: Here,
    before: Annotated[str | None, Query(
        max_length=64, description="`earlier` of a page, or the id of a message.",
    )] = None,
    after: Annotated[str | None, Query(
        max_length=64, description="`later` of a page, or the id of a message.",
    )] = None,
    around: Annotated[str | None, Query(max_length=64, description="The id of a message.")] = None,
    limit: Limit = 50,
) -> Messages:  # fmt: skip
    """The newest page; the one before or after another; or the one around a message."""
    if sum(each is not None for each in (before, after, around)) > 1:
        raise Refused(422, "One at a time", "Name `before`, `after` or `around`, not several.")
    async with room.house.db.reading() as tx:
        position = await position_of(tx, me.person.id)
        if around is not None:
            window = await window_around(tx, me.person.id, around, limit=limit)
        elif after is not None:
            window = await window_after(tx, me.person.id, after, limit=limit)
        else:
            window = await window_before(tx, me.person.id, before, limit=limit)
        return await messages_shape(tx, me.person.id, window, position)


@router.get("/search", summary="Search what was said, on all channels")
async def search(
    me: Me, room: Here,
    q: Annotated[str, Query(min_length=1, max_length=200, description="Words: all of them.")],
    cursor: Annotated[str | None, Query(max_length=100, description="`next` of a page.")] = None,
    limit: Limit = 20,
) -> FoundMessages:  # fmt: skip
    """The messages that hold all of these words, the newest first."""
    async with room.house.db.reading() as tx:
        at, seq = await place_of(tx, me.person.id, cursor)
        found = await list_saying(tx, me.person.id, q, at=at, seq=seq, limit=limit + 1)
        page = found[:limit]
        sounding = await list_sounding(tx, me.person.id, [each.id for each in page])
    return FoundMessages(
        items=[message_shape(each, sounding=sounding) for each in page],
        next=page[-1].id if len(found) > limit else None,
    )


@router.post(
    "/messages", status_code=202, responses=TAKEN_BEFORE, summary="Say something",
)  # fmt: skip
async def say(
    said: Said, me: Me, room: Here, response: Response,
    idempotency_key: Annotated[str, Header(
        min_length=8, max_length=LONGEST_KEY,
        description="Chosen by the page for these words: sent again, they are said once.",
    )],
) -> MessageShape:  # fmt: skip
    """Take it in durably; its reply comes as events."""
    house = room.house
    if said.zone is not None:
        zone_named(said.zone)
    line = await open_page_line(house, me.person.id)
    words = Words(text=said.text, zone=said.zone, key=idempotency_key)
    is_seen = room.has_hands
    accepted = await accept(house, line, words, to_answer=is_seen)
    if accepted is None:
        response.status_code = 200
        return message_shape(await known_by(house, line, idempotency_key))
    if is_seen:
        await room.have_answered(accepted)
    return message_shape(accepted.message)


@router.patch("/messages/{message}", summary="Say it in other words")
async def change(message: str, edited: Edited, me: Me, room: Here) -> MessageShape:
    """Add a version to one's own message; the earlier one is kept."""
    async with room.house.db.reading() as tx:
        line, _ = await own_words(tx, me.person.id, message)
    return message_shape(await edit(room.house, line, MessageId(message), edited.text))


@router.post("/messages/{message}/stop", status_code=204, summary="Stop the reply to it")
async def stop_reply(message: str, me: Me, room: Here) -> Response:
    """Stop what is done about one's own message; nothing happens where it is over."""
    async with room.house.db.reading() as tx:
        line, _ = await own_words(tx, me.person.id, message)
    await stop(room.house, line, MessageId(message))
    return Response(status_code=204)


@router.post("/messages/{message}/retry", status_code=202, summary="Have it answered after all")
async def retry(message: str, me: Me, room: Here) -> MessageShape:
    """Have one's own message answered that got no answer; the reply comes as events."""
    async with room.house.db.reading() as tx:
        line, _ = await own_words(tx, me.person.id, message)
    asked = await ask_again(room.house, line, MessageId(message))
    if asked.claim is not None:
        await room.have_answered(asked)
    return message_shape(asked.message)


@router.get("/messages/{message}/receipt", summary="Why was that said?")
async def why(message: str, me: Me, room: Here) -> ReceiptShape:
    """What a reply stood on, and what was left out."""
    async with room.house.db.reading() as tx:
        receipt = await find_receipt(tx, me.person.id, message)
        if receipt is None:
            raise NotFound(saying(
                "no_receipt", "Nothing is kept of why this was said; it may have been forgotten.",
            ))  # fmt: skip
        return receipt_shape(await explained(tx, receipt))


@router.get("/events", summary="What happens, as it happens", response_class=StreamingResponse)
async def listen(
    me: Me, room: Here,
    after: Annotated[str | None, Query(max_length=80, description="`position` of a page.")] = None,
    last_event_id: Annotated[str | None, Header(
        max_length=80, description="The id of the last event that was heard."
    )] = None,
) -> StreamingResponse:  # fmt: skip
    """Server-sent events of everything about one person, on every channel.

    `chat.connection.ready`, `.heartbeat` (each 30 s); `chat.message.user_appended`, `.token`,
    `.done`, `.voice_ready`, `.edited`, `.stopped`, `.given_up`, `.failed`; `chat.session.boundary`;
    `chat.mood.update`; `chat.companion.renamed`; `chat.settings.updated`; `chat.history.changed`
    (too much is new: read the page anew); `memory.<kind>.created` and `.changed`;
    `memory.entity.confirmed`, `.description_updated`, `.changed`; `memory.rewritten` (something was
    forgotten); `memory.thinking` (how far it has come with reading what was said). What is kept has
    an id; `Last-Event-ID` goes on after it, in any process.
    """
    if room.is_full_for(me.person.id):
        raise Refused(429, "Too many pages", "Close one that shows Oldfriend, then load this anew.")
    told = last_event_id or after
    async with room.house.db.reading() as tx:
        now = await position_of(tx, me.person.id)
    since = now if told is None else position_from(told)
    if since.said > now.said or since.decided > now.decided:
        since = now  # of another database
    return StreamingResponse(stream(room, me, since), media_type="text/event-stream")


async def own_words(tx: Transaction, person: PersonId, message: str) -> tuple[Line, Message]:
    """A message that a person has said here, and its line. Raises NotFound, Refused."""
    found = await get_message(tx, person, MessageId(message))
    if found.role != "person" or found.turn is None:
        raise Refused(
            409,
            "Not yours to change",
            saying("not_yours_to_change", "Only what you have said here can be changed."),
        )
    chat = await get_chat(tx, person, found.chat)
    return Line(person=await get_person_by_id(tx, person), chat=chat), found


async def known_by(house: House, line: Line, key: str) -> Message:
    """The message that was taken in under a key."""
    async with house.db.reading() as tx:
        known = await find_by_key(tx, line.person.id, line.chat.id, key)
    if known is None:
        raise NotFound(saying(
            "said_and_forgotten",
            "This was said before, and has been forgotten since. Say it anew.",
        ))  # fmt: skip
    return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some of what was said, oldest first, and whether there is more on either side."""

    messages: list[Message]
    has_earlier: bool
    has_later: bool


async def window_before(
    tx: Transaction, person: PersonId, cursor: str | None, *, limit: int
) -> Window:
    """The newest messages, or those before a cursor."""
    at, seq = await place_of(tx, person, cursor)
    found = await list_said_before(tx, person, at=at, seq=seq, limit=limit + 1)
    return Window(
        messages=found[:limit][::-1], has_earlier=len(found) > limit, has_later=cursor is not None
    )


async def window_after(tx: Transaction, person: PersonId, cursor: str, *, limit: int) -> Window:
    """The messages after a cursor."""
    at, seq = await place_of(tx, person, cursor)
    found = await list_said_after(tx, person, at=at, seq=seq, limit=limit + 1)
    return Window(messages=found[:limit], has_earlier=True, has_later=len(found) > limit)


async def window_around(tx: Transaction, person: PersonId, message: str, *, limit: int) -> Window:
    """A message with what was said before and after it. Raises NotFound."""
    middle = await get_message(tx, person, MessageId(message))
    at, seq, each_side = middle.at, middle.seq, max(limit // 2, 1)
    before = await list_said_before(tx, person, at=at, seq=seq, limit=each_side + 1)
    after = await list_said_after(tx, person, at=at, seq=seq, limit=each_side + 1)
    return Window(
        messages=[*before[:each_side][::-1], middle, *after[:each_side]],
        has_earlier=len(before) > each_side, has_later=len(after) > each_side,
    )  # fmt: skip


async def messages_shape(
    tx: Transaction, person: PersonId, window: Window, position: Position
) -> Messages:
    """A window as a page."""
    said = window.messages
    sounding = await list_sounding(tx, person, [each.id for each in said])
    span = {"since": said[0].at, "until": said[-1].at} if said else {"since": 0, "until": 0}
    unanswered = await list_without_answer(tx, person, **span)
    return Messages(
        items=[message_shape(each, sounding=sounding) for each in said],
        earlier=said[0].id if said and window.has_earlier else None,
        later=said[-1].id if said and window.has_later else None,
        unanswered=[
            UnansweredShape(turn=each.turn, ending=each.ending) for each in unanswered
        ],
        position=position_text(position),
    )  # fmt: skip


async def place_of(tx: Transaction, person: PersonId, cursor: str | None) -> tuple[Micros, int]:
    """The place of the message that a cursor names; None: behind all. Raises NotFound."""
    if cursor is None:
        return LATEST, LAST_SEQ
    message = await get_message(tx, person, MessageId(cursor))
    return message.at, message.seq
