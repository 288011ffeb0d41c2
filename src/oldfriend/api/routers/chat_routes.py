"""Chat routes: messages on all channels, search, receipts and the event stream."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Self

from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.responses import StreamingResponse

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.connections import Connection
from oldfriend.api.cursors import MAX_NUMBER, LimitParam, format_position, parse_position
from oldfriend.api.event_stream import stream_events
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import (
    MAX_KEY_CHARS,
    ButtonPressRequest,
    MessageEditRequest,
    MessageKey,
    MessageRequest,
)
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import MAX_TIME, Micros, get_zone
from oldfriend.domain.errors import NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import PRESSED_DETAIL, PROGRAM_DETAIL, Message
from oldfriend.inbound.accept import (
    ChatContext,
    MessageSubmission,
    accept_edit,
    accept_message,
    open_web_chat,
    stop_turn,
)
from oldfriend.inbound.button_presses import accept_page_press
from oldfriend.lang.command_menu import COMMAND_GROUPS, CommandMenu
from oldfriend.memory.change_feed import FeedPosition, get_feed_position
from oldfriend.memory.chat_history import (
    list_messages_after,
    list_messages_before,
    list_messages_containing,
    list_messages_with_audio,
)
from oldfriend.memory.groups import list_group_chats
from oldfriend.memory.message_log import find_message_by_external_id, get_message
from oldfriend.memory.people import get_chat, get_person_by_id
from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.base_schema import Schema, describe
from oldfriend.presenters.dated_sentences import Audience
from oldfriend.presenters.message_schemas import MessageSchema
from oldfriend.presenters.receipt_schemas import ReceiptSchema
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.replies.retry_reply import (
    UnansweredReason,
    UnansweredTurn,
    list_unanswered_turns,
    retry_reply,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredTurnSchema(Schema):
    """A message without a reply."""

    turn: str
    ending: UnansweredReason = field(
        metadata=describe("How the turn ended. A turn can be retried unless it is waiting.")
    )

    @classmethod
    def from_domain(cls, unanswered: UnansweredTurn) -> Self:
        """Present a turn without an answer."""
        return cls(turn=unanswered.turn, ending=unanswered.ending)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePageSchema(Schema):
    """A page of messages, oldest first."""

    items: tuple[MessageSchema, ...]
    earlier: str | None = field(
        metadata=describe("The cursor of the page before; null on the first page.")
    )
    later: str | None = field(
        metadata=describe("The cursor of the page after; null on the newest page.")
    )
    unanswered: tuple[UnansweredTurnSchema, ...]
    position: str = field(metadata=describe("Pass it as /events?after= to miss no later event."))


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSearchPageSchema(Schema):
    """A page of messages that match a search: people's own words first, then replies."""

    items: tuple[MessageSchema, ...]
    next: str | None = field(
        metadata=describe("The cursor of the next page; null on the last page.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSchema(Schema):
    """A command that a message may begin with."""

    command: str
    group: str = field(metadata=describe("What it belongs to, such as `reminders`."))
    does: str = field(metadata=describe("What it does, in words."))


ALREADY_ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": MessageSchema, "description": "It was already stored under the same key."},
}

router = APIRouter(prefix="/chat", tags=["chat"])


@router.get("/messages", summary="List messages on all channels")
async def list_messages(
    me: CurrentUser,
    hub: HubDep,
    before: Annotated[
        str | None,
        Query(
            max_length=64,
            description="The `earlier` cursor of a page, or the id of a message.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        Query(
            max_length=64,
            description="The `later` cursor of a page, or the id of a message.",
        ),
    ] = None,
    around: Annotated[
        str | None, Query(max_length=64, description="The id of the message to show in context.")
    ] = None,
    limit: LimitParam = 50,
) -> MessagePageSchema:
    """Return the newest page of messages, one before or after another, or one around a message."""
    if sum(each is not None for each in (before, after, around)) > 1:
        raise ApiError(422, "One at a time", "Name `before`, `after` or `around`, not several.")
    async with hub.app.db.begin_read() as tx:
        position = await get_feed_position(tx, me.person.id)
        if around is not None:
            window = await load_window_around(tx, me.person.id, around, limit=limit)
        elif after is not None:
            window = await load_window_after(tx, me.person.id, after, limit=limit)
        else:
            window = await load_window_before(tx, me.person.id, before, limit=limit)
        return await to_messages_shape(tx, me.person.id, window, position)


@router.get("/search", summary="Search messages on all channels")
async def search_messages(
    me: CurrentUser,
    hub: HubDep,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=200,
            description="The words to search for; a message must contain all of them.",
        ),
    ],
    cursor: Annotated[
        str | None, Query(max_length=100, description="The `next` cursor of the previous page.")
    ] = None,
    limit: LimitParam = 20,
    quotations: Annotated[
        bool, Query(description="Include replies that say nothing but what they quote.")
    ] = False,
) -> MessageSearchPageSchema:
    """List the messages that contain all of these words, the newest first, replies after them.

    A reply that only quotes one of these messages is left out, unless `quotations` is set.
    """
    person = me.person.id
    async with hub.app.db.begin_read() as tx:
        after = None if cursor is None else await get_message(tx, person, MessageId(cursor))
        found = await list_messages_containing(
            tx, person, q, after=after, limit=limit + 1, with_quotations=quotations
        )
        page = found[:limit]
        with_audio = await list_messages_with_audio(tx, me.person.id, [each.id for each in page])
        groups = await list_group_chats(tx, me.person.id)
    return MessageSearchPageSchema(
        items=tuple(
            MessageSchema.from_domain(each, with_audio=with_audio, groups=groups) for each in page
        ),
        next=page[-1].id if len(found) > limit else None,
    )


@router.get("/commands", summary="List the commands that a message may begin with")
async def list_commands(
    me: CurrentUser,
    language: Annotated[
        str | None,
        Query(
            pattern="^[a-z]{2}$",
            description="The language of the descriptions; by default the one you speak.",
        ),
    ] = None,
) -> list[CommandSchema]:
    """Return the commands in the order of their groups, with what each does."""
    menu = CommandMenu.load(language or me.person.language or "")
    return [
        CommandSchema(command=f"/{name}", group=group, does=menu.does[name])
        for group, names in COMMAND_GROUPS.items()
        for name in names
    ]


@router.post(
    "/messages",
    status_code=202,
    responses=ALREADY_ACCEPTED,
    summary="Send a message",
)
async def send_message(
    said: MessageRequest,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    idempotency_key: Annotated[
        MessageKey,
        Header(
            min_length=8,
            max_length=MAX_KEY_CHARS,
            description="A key chosen by the client: a request that is repeated with the same key "
            "is stored once.",
        ),
    ],
) -> MessageSchema:
    """Store the message durably. The reply arrives as events."""
    app = hub.app
    if said.zone is not None:
        get_zone(said.zone)
    chat_context = await open_web_chat(app.db, app.clock, me.person.id)
    submission = MessageSubmission(
        text=said.text,
        zone=None if me.person.has_chosen_zone else said.zone,
        external_id=idempotency_key,
        details={PROGRAM_DETAIL: me.token} if me.is_program else {},
    )
    claim_now = hub.has_capacity
    accepted = await accept_message(app, chat_context, submission, claim_now=claim_now)
    if accepted is None:
        response.status_code = 200
        return MessageSchema.from_domain(
            await get_message_by_key(app.db, chat_context, idempotency_key)
        )
    if claim_now:
        await hub.start_reply(accepted)
    return MessageSchema.from_domain(accepted.message)


@router.patch("/messages/{message}", summary="Edit a message")
async def edit_own_message(
    message: str, edited: MessageEditRequest, me: CurrentUser, hub: HubDep
) -> MessageSchema:
    """Add a new version of one of your own messages. Earlier versions are kept."""
    async with hub.app.db.begin_read() as tx:
        chat_context, found = await get_own_message(tx, me.person.id, message)
    if PRESSED_DETAIL in found.details:
        raise build_not_yours_error()
    return MessageSchema.from_domain(
        await accept_edit(hub.app, chat_context, MessageId(message), edited.text)
    )


@router.post(
    "/messages/{message}/press",
    status_code=202,
    responses={204: {"description": "A button below this message was pressed before."}},
    response_model=MessageSchema,
    summary="Press a button below a message",
)
async def press_button(
    message: str, press: ButtonPressRequest, me: CurrentUser, hub: HubDep
) -> MessageSchema | Response:
    """Say what a button says, once for each message. The reply arrives as events."""
    claim_now = hub.has_capacity
    accepted = await accept_page_press(
        hub.app, me.person.id, MessageId(message), press.command, claim_now=claim_now
    )
    if accepted is None:
        return Response(status_code=204)
    if claim_now:
        await hub.start_reply(accepted)
    return MessageSchema.from_domain(accepted.message)


@router.post("/messages/{message}/stop", status_code=204, summary="Stop the reply to a message")
async def stop_reply(message: str, me: CurrentUser, hub: HubDep) -> Response:
    """Stop the reply to one of your own messages. This has no effect once the reply is finished."""
    async with hub.app.db.begin_read() as tx:
        chat_context, _ = await get_own_message(tx, me.person.id, message)
    await stop_turn(hub.app, chat_context, MessageId(message))
    return Response(status_code=204)


@router.post("/messages/{message}/retry", status_code=202, summary="Retry the reply to a message")
async def retry_message(message: str, me: CurrentUser, hub: HubDep) -> MessageSchema:
    """Retry the reply to one of your own messages that got none. The reply arrives as events."""
    async with hub.app.db.begin_read() as tx:
        chat_context, _ = await get_own_message(tx, me.person.id, message)
    accepted = await retry_reply(hub.app, chat_context, MessageId(message))
    if accepted.lease is not None:
        await hub.start_reply(accepted)
    return MessageSchema.from_domain(accepted.message)


@router.get("/messages/{message}/receipt", summary="Show the receipt of a reply")
async def show_receipt(message: str, me: CurrentUser, hub: HubDep) -> ReceiptSchema:
    """Return what a reply was based on, and what was left out."""
    async with hub.app.db.begin_read() as tx:
        receipt = await find_receipt(tx, me.person.id, message)
        if receipt is None:
            raise NotFound(
                localizable(
                    "no_receipt",
                    "There is no record of why this was said; it may have been forgotten.",
                )
            )
        resolved = await resolve_receipt(tx, receipt)
    audience = Audience(language=me.language, zone=me.person.zone, now=hub.app.clock())
    return ReceiptSchema.from_domain(resolved, audience)


async def open_connection(me: CurrentUser, hub: HubDep) -> AsyncIterator[Connection]:
    """Count and open a connection for the length of the request. Raises ApiError."""
    token = me.digest if me.is_program else ""
    if hub.is_full(me.person.id, token):
        raise ApiError(
            429,
            "Too many open pages",
            "Close another page that shows Oldfriend, then reload this one.",
        )
    with hub.connect(me.person.id, token) as connection:
        yield connection


ConnectionDep = Annotated[Connection, Depends(open_connection, scope="request")]


@router.get("/events", summary="Stream live events", response_class=StreamingResponse)
async def stream_chat_events(
    me: CurrentUser,
    hub: HubDep,
    connection: ConnectionDep,
    after: Annotated[
        str | None, Query(max_length=80, description="The `position` of a page.")
    ] = None,
    last_event_id: Annotated[
        str | None, Header(max_length=80, description="The id of the last event received.")
    ] = None,
) -> StreamingResponse:
    """Stream everything that happens to a person's memory, on every channel, as server-sent events.

    `chat.connection.ready`, `.heartbeat` (every 30 s); `chat.message.user_appended`, `.token`,
    `.done`, `.voice_ready`, `.edited`, `.stopped`, `.given_up`, `.failed`; `chat.session.boundary`;
    `chat.mood.update`; `chat.companion.renamed`; `chat.settings.updated`; `chat.tasks.updated`;
    `chat.linked_accounts.updated` (an app was linked or unlinked);
    `chat.history.changed` (so much is new that the page should be reloaded);
    `memory.<kind>.created` and `.changed`;
    `memory.entity.confirmed`, `.description_updated`, `.changed`; `memory.rewritten` (something was
    forgotten); `memory.thinking` (progress of learning). Stored events have an id; `Last-Event-ID`
    continues after it, on any server process.
    """
    position = last_event_id or after
    async with hub.app.db.begin_read() as tx:
        now = await get_feed_position(tx, me.person.id)
    since = now if position is None else parse_position(position)
    if since.last_seq > now.last_seq or since.last_change > now.last_change:
        since = now  # the position is from another database
    return StreamingResponse(
        stream_events(hub, me, connection, since), media_type="text/event-stream"
    )


async def get_own_message(
    tx: Transaction, person: PersonId, message: str
) -> tuple[ChatContext, Message]:
    """Return a message that the person sent here, and its chat. Raises NotFound, ApiError."""
    found = await get_message(tx, person, MessageId(message))
    if found.role != "person" or found.turn is None:
        raise build_not_yours_error()
    chat = await get_chat(tx, person, found.chat)
    return ChatContext(person=await get_person_by_id(tx, person), chat=chat), found


def build_not_yours_error() -> ApiError:
    """Return the error about a message that nobody wrote here, such as what a button says."""
    return ApiError(
        409,
        "Not yours to change",
        localizable("not_yours_to_change", "You can only change messages that you wrote here."),
    )


async def get_message_by_key(db: Database, line: ChatContext, key: str) -> Message:
    """Return the message accepted under an idempotency key. Raises NotFound."""
    async with db.begin_read() as tx:
        message = await find_message_by_external_id(tx, line.person.id, line.chat.id, key)
    if message is None:
        raise NotFound(
            localizable(
                "said_and_forgotten",
                "This was sent before, and has been forgotten since. Send it as a new message.",
            )
        )
    return message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWindow:
    """A page of messages, oldest first, and whether there are more on either side."""

    messages: list[Message]
    has_earlier: bool
    has_later: bool


async def load_window_before(
    tx: Transaction, person: PersonId, cursor: str | None, *, limit: int
) -> MessageWindow:
    """Load the newest messages, or those before a cursor. Raises NotFound."""
    at, seq = await get_position(tx, person, cursor)
    found = await list_messages_before(tx, person, at=at, seq=seq, limit=limit + 1)
    return MessageWindow(
        messages=found[:limit][::-1], has_earlier=len(found) > limit, has_later=cursor is not None
    )


async def load_window_after(
    tx: Transaction, person: PersonId, cursor: str, *, limit: int
) -> MessageWindow:
    """Load the messages after a cursor. Raises NotFound."""
    at, seq = await get_position(tx, person, cursor)
    found = await list_messages_after(tx, person, at=at, seq=seq, limit=limit + 1)
    return MessageWindow(messages=found[:limit], has_earlier=True, has_later=len(found) > limit)


async def load_window_around(
    tx: Transaction, person: PersonId, message: str, *, limit: int
) -> MessageWindow:
    """Load a message with those before and after it. Raises NotFound."""
    middle = await get_message(tx, person, MessageId(message))
    at, seq, each_side = middle.at, middle.seq, max(limit // 2, 1)
    before = await list_messages_before(tx, person, at=at, seq=seq, limit=each_side + 1)
    after = await list_messages_after(tx, person, at=at, seq=seq, limit=each_side + 1)
    return MessageWindow(
        messages=[*before[:each_side][::-1], middle, *after[:each_side]],
        has_earlier=len(before) > each_side,
        has_later=len(after) > each_side,
    )


async def to_messages_shape(
    tx: Transaction, person: PersonId, window: MessageWindow, feed_position: FeedPosition
) -> MessagePageSchema:
    """Convert a window to a page of messages."""
    messages = window.messages
    with_audio = await list_messages_with_audio(tx, person, [each.id for each in messages])
    groups = await list_group_chats(tx, person)
    span = (
        {"since": messages[0].at, "until": messages[-1].at}
        if messages
        else {"since": 0, "until": 0}
    )
    unanswered = await list_unanswered_turns(tx, person, **span)
    return MessagePageSchema(
        items=tuple(
            MessageSchema.from_domain(each, with_audio=with_audio, groups=groups)
            for each in messages
        ),
        earlier=messages[0].id if messages and window.has_earlier else None,
        later=messages[-1].id if messages and window.has_later else None,
        unanswered=tuple(UnansweredTurnSchema.from_domain(each) for each in unanswered),
        position=format_position(feed_position),
    )


async def get_position(tx: Transaction, person: PersonId, cursor: str | None) -> tuple[Micros, int]:
    """Return time and sequence of the cursor's message; None is past the end. Raises NotFound."""
    if cursor is None:
        return MAX_TIME, MAX_NUMBER
    message = await get_message(tx, person, MessageId(cursor))
    return message.at, message.seq
