"""Event stream: the server-sent events for one open page until it closes.

Stored changes are read from the database by feed position; transient events, such as the text of a
reply in progress, come from the connection hub without a query.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from oldfriend.api.connections import Connection, ConnectionHub
from oldfriend.api.cursors import format_position
from oldfriend.api.page_assets import compute_version
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import StoreError
from oldfriend.domain.ids import ChatId, MessageId, ObjectId, PersonId, TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Entity, Evidence, JournalEntry, Mood, ObjectKind
from oldfriend.domain.messages import Message
from oldfriend.inbound.system_replies import STOPPED_MARKER
from oldfriend.learning.learning_progress import LearningProgress, find_learning_progress
from oldfriend.memory.belief_views import get_kind
from oldfriend.memory.change_feed import (
    AppendedMessage,
    FeedPosition,
    get_feed_position,
    list_appended_messages,
    list_journal_after,
)
from oldfriend.memory.chat_history import list_messages_with_audio
from oldfriend.memory.credentials import find_principal_by_token
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.groups import list_group_chats
from oldfriend.memory.identities import Identity, list_identities
from oldfriend.memory.mood import find_mood
from oldfriend.memory.people import get_companion_name
from oldfriend.memory.web_sessions import Principal, find_web_session
from oldfriend.presenters.base_schema import LocalizedTextSchema
from oldfriend.presenters.journal_schemas import JournalEntrySchema
from oldfriend.presenters.message_schemas import MessageSchema
from oldfriend.presenters.state_schemas import LearningProgressSchema, MoodSchema

MAX_EVENTS: Final = 200
"""A client that missed more events than this reloads the page."""
DIGEST_CHARS: Final = 16
HIDDEN_KINDS: Final[frozenset[ObjectKind]] = frozenset({"summary"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """A server-sent event."""

    topic: str
    data: dict[str, JsonValue] = field(default_factory=dict)
    position: FeedPosition | None = None  # None: transient, not sent again on reconnect

    def encode(self) -> bytes:
        """Encode in the text/event-stream format."""
        data = json.dumps(self.data, ensure_ascii=False)
        number = "" if self.position is None else f"id: {format_position(self.position)}\n"
        return f"{number}event: {self.topic}\ndata: {data}\n\n".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveUpdates:
    """What has changed for a person since a feed position, and the current position."""

    position: FeedPosition
    appended: list[AppendedMessage]
    changes: list[JournalEntry]
    evidence: Mapping[ObjectId, Sequence[Evidence]]
    with_audio: frozenset[MessageId]  # the appended messages that have audio
    groups: Mapping[ChatId, str]  # the titles of group chats
    mood: Mood | None
    companion: str  # its current name
    places: list[Identity]


async def load_updates(
    db: Database,
    clock: Clock,
    person: PersonId,
    feed_position: FeedPosition,
    *,
    companion: str,
    places: list[Identity],
) -> LiveUpdates | None:
    """Load a person's changes since a position, companion name and places; None without any."""
    async with db.begin_read() as tx:
        until, current_name = await get_feed_position(tx, person), await get_companion_name(tx)
        current_places = await list_identities(tx, person)
        if (until, current_name, current_places) == (feed_position, companion, places):
            return None
        appended = await list_appended_messages(
            tx, person, after=feed_position.last_seq, limit=MAX_EVENTS + 1
        )
        changes = await list_journal_after(
            tx, person, after=feed_position.last_change, limit=MAX_EVENTS + 1
        )
        evidence = await list_object_evidence(tx, person, [each.object_id for each in changes])
        with_audio = await list_messages_with_audio(
            tx, person, [each.message.id for each in appended]
        )
        groups = await list_group_chats(tx, person) if appended else {}
        mood = await find_mood(tx, person, at=clock())
    return LiveUpdates(
        position=until,
        appended=appended,
        changes=changes,
        evidence=evidence,
        with_audio=with_audio,
        groups=groups,
        mood=mood,
        companion=current_name,
        places=current_places,
    )


def build_events(
    updates: LiveUpdates, feed_position: FeedPosition, *, zone: str
) -> Iterator[ServerSentEvent]:
    """Yield one event per change; each carries the feed position after it."""
    if updates.position.deletions != feed_position.deletions:
        feed_position = replace(feed_position, deletions=updates.position.deletions)
        yield ServerSentEvent(topic="memory.rewritten", position=feed_position)
    if max(len(updates.appended), len(updates.changes)) > MAX_EVENTS:
        yield ServerSentEvent(topic="chat.history.changed", position=updates.position)
        return
    for each in updates.appended:
        feed_position = replace(feed_position, last_seq=each.message.seq)
        yield from build_message_events(each, feed_position, updates.with_audio, updates.groups)
    feed_position = replace(feed_position, last_seq=updates.position.last_seq)
    for change in updates.changes:
        feed_position = replace(feed_position, last_change=change.seq)
        if get_kind(change.after) not in HIDDEN_KINDS:
            shape = JournalEntrySchema.from_domain(
                change, updates.evidence.get(change.object_id, ()), zone=zone
            )
            yield ServerSentEvent(
                topic=get_change_topic(change), data=asdict(shape), position=feed_position
            )


def build_message_events(
    appended: AppendedMessage,
    feed_position: FeedPosition,
    with_audio: frozenset[MessageId] = frozenset(),
    groups: Mapping[ChatId, str] | None = None,
) -> Iterator[ServerSentEvent]:
    """Yield the event of a message, after a boundary event if it opens a session."""
    shape = MessageSchema.from_domain(appended.message, with_audio=with_audio, groups=groups)
    if appended.opens_session:
        yield ServerSentEvent(
            topic="chat.session.boundary",
            data={"session": shape.session, "channel": shape.channel, "at": shape.at},
        )
    yield ServerSentEvent(
        topic=get_message_topic(appended.message), data=asdict(shape), position=feed_position
    )


def digest_accounts(accounts: Sequence[Identity]) -> str:
    """Return a digest of the accounts that somebody is linked to, which changes with them."""
    addresses = sorted(f"{each.channel} {each.address}" for each in accounts)
    return hashlib.sha256("\n".join(addresses).encode()).hexdigest()[:DIGEST_CHARS]


def get_message_topic(message: Message) -> str:
    """Return the topic of a message's event."""
    if message.role == "marker":
        is_stopped = message.text == STOPPED_MARKER
        return "chat.message.stopped" if is_stopped else "chat.message.given_up"
    if message.version > 1:
        return "chat.message.edited"
    return "chat.message.done" if message.role == "companion" else "chat.message.user_appended"


def get_change_topic(change: JournalEntry) -> str:
    """Return the topic of a journal entry's event."""
    after = change.after
    if isinstance(after, Entity):
        if after.status == "confirmed" and change.op in {"learned", "confirmed"}:
            return "memory.entity.confirmed"
        is_described = change.op == "revised" and after.status == "confirmed"
        return "memory.entity.description_updated" if is_described else "memory.entity.changed"
    return f"memory.{get_kind(after)}.{'created' if change.op == 'learned' else 'changed'}"


HEARTBEAT_S: Final = 30.0
PROGRESS_EVERY_S: Final = 1.0
"""Minimum interval between two queries of the learning progress."""


class EventFeed:
    """The state of one open page: what it has been sent."""

    def __init__(self, hub: ConnectionHub, me: Principal, feed_position: FeedPosition) -> None:
        """Start from a feed position up to which the page is current."""
        self._hub = hub
        self._user = me
        self._person = me.person.id
        self._position = feed_position
        self._last_transient = hub.last_transient_number
        self._settings = hub.app.settings
        self._drafts_sent: dict[TurnId, tuple[int, str]] = {}
        self._finished_turns: set[TurnId] = set()  # drafts whose whole reply was sent
        self._mood: Mood | None = None
        self._companion = ""  # its name
        self._places: list[Identity] = []
        self._progress: LearningProgress | None = None
        self._progress_checked_at = 0.0

    async def build_ready_event(self) -> ServerSentEvent:
        """Build the first event, with the companion's name, mood and learning progress."""
        now = self._hub.app.clock()
        async with self._hub.app.db.begin_read() as tx:
            self._mood = await find_mood(tx, self._person, at=now)
            self._progress = await find_learning_progress(tx, self._person, now=now)
            self._companion = await get_companion_name(tx)
            self._places = await list_identities(tx, self._person)
        progress = to_progress_json(self._progress, self._user.person.zone)
        return ServerSentEvent(
            topic="chat.connection.ready",
            data={
                "person": self._person,
                "companion": self._companion,
                "mood": to_mood_json(self._mood),
                "progress": progress,
                "page": compute_version(),
                "linked_accounts": digest_accounts(self._places),
            },
            position=self._position,
        )

    @property
    def max_wait_s(self) -> float:
        """How long to wait without a signal; shorter while learning, whose end sends none."""
        return HEARTBEAT_S if self._progress is None else PROGRESS_EVERY_S

    async def iter_stored_events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield the events of stored changes, then transient ones and settings reloads."""
        app = self._hub.app
        found = await load_updates(
            app.db,
            app.clock,
            self._person,
            self._position,
            companion=self._companion,
            places=self._places,
        )
        if found is not None:
            messages = (each.message for each in found.appended)
            self._finished_turns |= {
                each.turn for each in messages if each.turn and each.role == "companion"
            }
            for event in build_events(found, self._position, zone=self._user.person.zone):
                yield event
            self._position = found.position
            if found.mood != self._mood:
                self._mood = found.mood
                yield ServerSentEvent(
                    topic="chat.mood.update", data={"mood": to_mood_json(found.mood)}
                )
            if found.companion != self._companion:
                self._companion = found.companion
                yield ServerSentEvent(
                    topic="chat.companion.renamed", data={"companion": found.companion}
                )
            if found.places != self._places:
                self._places = found.places
                yield ServerSentEvent(
                    topic="chat.linked_accounts.updated",
                    data={"linked_accounts": digest_accounts(found.places)},
                )
        for event in self._iter_transient_events():
            yield event
        if app.settings is not self._settings:
            self._settings = app.settings
            yield ServerSentEvent(topic="chat.settings.updated")

    async def iter_progress_events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield the learning progress if it changed, querying once per PROGRESS_EVERY_S."""
        now = asyncio.get_running_loop().time()
        if now - self._progress_checked_at < PROGRESS_EVERY_S:
            return
        self._progress_checked_at, app = now, self._hub.app
        async with app.db.begin_read() as tx:
            progress = await find_learning_progress(tx, self._person, now=app.clock())
        if progress != self._progress:
            self._progress = progress
            data = to_progress_json(progress, self._user.person.zone)
            yield ServerSentEvent(topic="memory.thinking", data={"progress": data})

    async def iter_mood_events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield an event if the mood has expired, which writes nothing to the store."""
        if self._mood is None:
            return
        async with self._hub.app.db.begin_read() as tx:
            mood = await find_mood(tx, self._person, at=self._hub.app.clock())
        if mood != self._mood:
            self._mood = mood
            yield ServerSentEvent(topic="chat.mood.update", data={"mood": to_mood_json(mood)})

    def iter_draft_events(self) -> Iterator[ServerSentEvent]:
        """Yield the new text of replies in progress, except of turns already sent in full."""
        drafts = self._hub.drafts.values()
        self._finished_turns &= {each.turn for each in drafts}
        mine = [
            each
            for each in drafts
            if each.person == self._person and each.turn not in self._finished_turns
        ]
        self._drafts_sent = {each.turn: self._drafts_sent.get(each.turn, (0, "")) for each in mine}
        for draft in mine:
            start, remark = self._drafts_sent[draft.turn]
            if len(draft.text) > start or draft.remark != remark:
                self._drafts_sent[draft.turn] = len(draft.text), draft.remark
                yield ServerSentEvent(
                    topic="chat.message.token",
                    data={
                        "turn": draft.turn,
                        "asked": draft.asked,
                        "start": start,
                        "text": draft.text[start:],
                        "remark": draft.remark,
                    },
                )

    def _iter_transient_events(self) -> Iterator[ServerSentEvent]:
        """Yield failed replies, replies that now have audio, and changes of tasks."""
        for each in self._hub.list_transient_since(self._person, self._last_transient):
            self._last_transient = each.number
            if each.kind == "failed":
                data: dict[str, JsonValue] = {
                    "asked": each.message,
                    "why": asdict(LocalizedTextSchema.from_domain(each.reason)),
                }
                yield ServerSentEvent(topic="chat.message.failed", data=data)
            elif each.kind == "tasks changed":
                yield ServerSentEvent(topic="chat.tasks.updated")
            else:
                yield ServerSentEvent(
                    topic="chat.message.voice_ready", data={"message": each.message}
                )

    async def is_signed_in(self) -> bool:
        """Tell whether the session or token that opened the stream is still valid."""
        app = self._hub.app
        async with app.db.begin_read() as tx:
            find = find_principal_by_token if self._user.is_program else find_web_session
            found = await find(tx, self._user.digest, now=app.clock())
        return found is not None


async def stream_events(
    hub: ConnectionHub, me: Principal, connection: Connection, feed_position: FeedPosition
) -> AsyncIterator[bytes]:
    """Yield encoded events until the page closes, signs out or this process stops."""
    feed, clock = EventFeed(hub, me, feed_position), asyncio.get_running_loop().time
    heartbeat_at, seen_sign_outs = clock() + HEARTBEAT_S, hub.sign_outs
    with suppress(StoreError):  # the page reconnects
        yield (await feed.build_ready_event()).encode()
        while not hub.is_closing:
            if hub.sign_outs != seen_sign_outs:
                seen_sign_outs = hub.sign_outs
                if not await feed.is_signed_in():
                    return
            async for event in iter_events(feed, connection):
                yield event.encode()
            if clock() >= heartbeat_at:
                if not await feed.is_signed_in():
                    return
                heartbeat_at = clock() + HEARTBEAT_S
                yield ServerSentEvent(topic="chat.connection.heartbeat").encode()
                async for event in feed.iter_mood_events():
                    yield event.encode()
            await connection.wait(max(min(heartbeat_at - clock(), feed.max_wait_s), 0.0))


async def iter_events(feed: EventFeed, connection: Connection) -> AsyncIterator[ServerSentEvent]:
    """Yield draft text first, which needs no query, then stored changes."""
    for event in feed.iter_draft_events():
        yield event
    if connection.take_update_flag():
        async for event in feed.iter_stored_events():
            yield event
        async for event in feed.iter_progress_events():
            yield event


def to_mood_json(mood: Mood | None) -> JsonValue:
    """Convert a mood to JSON values."""
    return None if mood is None else asdict(MoodSchema.from_domain(mood))


def to_progress_json(progress: LearningProgress | None, zone: str) -> JsonValue:
    """Convert the learning progress to JSON values."""
    return (
        None
        if progress is None
        else asdict(LearningProgressSchema.from_domain(progress, zone=zone))
    )
