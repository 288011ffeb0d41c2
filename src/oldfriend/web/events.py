"""What happens while a page is open? Told as it happens, on every channel of its person.

What is kept is told from the database, by where the page has looked to, so that nothing is missed
after a pause, whichever process has written it, and nothing is kept for those who are away. What
passes (the words of a reply as they come) is told beside it, from where it has come to.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from oldfriend.app.forming.progress import Progress, find_progress
from oldfriend.app.house import House
from oldfriend.app.marking import STOPPED
from oldfriend.domain.errors import StoreError
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Change, Entity, Evidence, Mood, ObjectKind
from oldfriend.domain.messages import Message
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.moods import find_mood
from oldfriend.memory.rows import kind_of
from oldfriend.memory.sign_in import SignedIn, find_web_session
from oldfriend.memory.talk import list_sounding
from oldfriend.memory.tokens import find_by_token
from oldfriend.memory.watching import (
    Appended,
    Position,
    list_appended,
    list_decided,
    position_of,
)
from oldfriend.web.room import Room, Seat
from oldfriend.web.shapes.common import Shape
from oldfriend.web.showing.chat import message_shape, position_text
from oldfriend.web.showing.memories import decided_shape
from oldfriend.web.showing.session import mood_shape, progress_shape

HEARTBEAT_S: Final = 30.0
BEHIND_S: Final = 1.0
"""So often at most it is looked what goes on behind the talk."""
MOST_AT_ONCE: Final = 200
"""Who has missed more reads the page anew."""
UNTOLD: Final[frozenset[ObjectKind]] = frozenset({"summary"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened."""

    topic: str
    data: dict[str, JsonValue] = field(default_factory=dict)
    position: Position | None = None  # None: it passes, and is not told again

    def encoded(self) -> bytes:
        """As server-sent events are written."""
        data = json.dumps(self.data, ensure_ascii=False)
        number = "" if self.position is None else f"id: {position_text(self.position)}\n"
        return f"{number}event: {self.topic}\ndata: {data}\n\n".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is new since a position, and where there is nothing newer."""

    until: Position
    appended: list[Appended]
    decided: list[Change]
    words: Mapping[ObjectId, Sequence[Evidence]]
    sounding: frozenset[MessageId]  # what of it can be listened to
    mood: Mood | None


async def look(house: House, person: PersonId, since: Position) -> News | None:
    """What is new of a person; None: nothing is."""
    async with house.db.reading() as tx:
        until = await position_of(tx, person)
        if until == since:
            return None
        appended = await list_appended(tx, person, after=since.said, limit=MOST_AT_ONCE + 1)
        decided = await list_decided(tx, person, after=since.decided, limit=MOST_AT_ONCE + 1)
        words = await list_evidence_of(tx, person, [each.object for each in decided])
        sounding = await list_sounding(tx, person, [each.message.id for each in appended])
        mood = await find_mood(tx, person, at=house.clock())
    return News(
        until=until, appended=appended, decided=decided, words=words, sounding=sounding, mood=mood
    )


def events_of(news: News, since: Position, *, zone: str) -> Iterator[Event]:
    """What is new, one event for each thing; each says how far one has looked with it."""
    if news.until.rewritten != since.rewritten:
        since = replace(since, rewritten=news.until.rewritten)
        yield Event(topic="memory.rewritten", position=since)
    if max(len(news.appended), len(news.decided)) > MOST_AT_ONCE:
        yield Event(topic="chat.history.changed", position=news.until)
        return
    for each in news.appended:
        since = replace(since, said=each.message.seq)
        yield from events_of_message(each, since, news.sounding)
    since = replace(since, said=news.until.said)
    for change in news.decided:
        since = replace(since, decided=change.seq)
        if kind_of(change.after) not in UNTOLD:
            shape = decided_shape(change, news.words.get(change.object, ()), zone=zone)
            yield Event(topic=topic_of_change(change), data=plain(shape), position=since)


def events_of_message(
    appended: Appended, position: Position, sounding: frozenset[MessageId] = frozenset()
) -> Iterator[Event]:
    """That a message was written, and before it that a talk begins with it."""
    told = message_shape(appended.message, sounding=sounding)
    if appended.opens_session:
        yield Event(
            topic="chat.session.boundary",
            data={"session": told.session, "channel": told.channel, "at": told.at},
        )
    yield Event(topic=topic_of_message(appended.message), data=plain(told), position=position)


def topic_of_message(message: Message) -> str:
    """Under which name it is told that a message was written."""
    if message.role == "marker":
        stopped = message.text == STOPPED
        return "chat.message.stopped" if stopped else "chat.message.given_up"
    if message.version > 1:
        return "chat.message.edited"
    return "chat.message.done" if message.role == "companion" else "chat.message.user_appended"


def topic_of_change(change: Change) -> str:
    """Under which name it is told that something was decided."""
    after = change.after
    if isinstance(after, Entity):
        if after.status == "confirmed" and change.op in {"learned", "confirmed"}:
            return "memory.entity.confirmed"
        is_described = change.op == "revised" and after.status == "confirmed"
        return "memory.entity.description_updated" if is_described else "memory.entity.changed"
    return f"memory.{kind_of(after)}.{'created' if change.op == 'learned' else 'changed'}"


class Watch:
    """One open page: what it has been told already."""

    def __init__(self, room: Room, me: SignedIn, since: Position) -> None:
        """It was told everything until here."""
        self._room = room
        self._me = me
        self._person = me.person.id
        self._since = since
        self._failure = room.last_failure
        self._settings = room.house.settings
        self._shown: dict[TurnId, tuple[int, str]] = {}
        self._ended: set[TurnId] = set()  # of what is being said, what was told whole
        self._mood: Mood | None = None
        self._progress: Progress | None = None
        self._looked_behind_at = 0.0

    async def begin(self) -> Event:
        """That it listens, and how things are."""
        now = self._room.house.clock()
        async with self._room.house.db.reading() as tx:
            self._mood = await find_mood(tx, self._person, at=now)
            self._progress = await find_progress(tx, self._person, now=now)
        progress = progress_data(self._progress, self._me.person.zone)
        return Event(
            topic="chat.connection.ready",
            data={"person": self._person, "mood": mood_data(self._mood), "progress": progress},
            position=self._since,
        )

    @property
    def rest_s(self) -> float:
        """How long it may rest at most, also where nothing rings: what goes on behind ends so."""
        return HEARTBEAT_S if self._progress is None else BEHIND_S

    async def news(self) -> AsyncIterator[Event]:
        """Everything that was kept and is new."""
        house = self._room.house
        found = await look(house, self._person, self._since)
        if found is not None:
            said = (each.message for each in found.appended)
            self._ended |= {each.turn for each in said if each.turn and each.role == "companion"}
            for event in events_of(found, self._since, zone=self._me.person.zone):
                yield event
            self._since = found.until
            if found.mood != self._mood:
                self._mood = found.mood
                yield Event(topic="chat.mood.update", data={"mood": mood_data(found.mood)})
        for event in self._failures():
            yield event
        if house.settings is not self._settings:
            self._settings = house.settings
            yield Event(topic="chat.settings.updated")

    async def behind(self) -> AsyncIterator[Event]:
        """How far it has come with reading, where that has changed; asked now and then only."""
        now = asyncio.get_running_loop().time()
        if now - self._looked_behind_at < BEHIND_S:
            return
        self._looked_behind_at, house = now, self._room.house
        async with house.db.reading() as tx:
            progress = await find_progress(tx, self._person, now=house.clock())
        if progress != self._progress:
            self._progress = progress
            data = progress_data(progress, self._me.person.zone)
            yield Event(topic="memory.thinking", data={"progress": data})

    async def passed(self) -> AsyncIterator[Event]:
        """That a mood is over which has lasted long enough: nothing is written then."""
        if self._mood is None:
            return
        async with self._room.house.db.reading() as tx:
            mood = await find_mood(tx, self._person, at=self._room.house.clock())
        if mood != self._mood:
            self._mood = mood
            yield Event(topic="chat.mood.update", data={"mood": mood_data(mood)})

    def words(self) -> Iterator[Event]:
        """What is being said just now, from where it was told; nothing of what was told whole."""
        drafts = self._room.drafts.values()
        self._ended &= {each.turn for each in drafts}
        mine = [each for each in drafts
                if each.person == self._person and each.turn not in self._ended]  # fmt: skip
        self._shown = {each.turn: self._shown.get(each.turn, (0, "")) for each in mine}
        for draft in mine:
            start, remark = self._shown[draft.turn]
            if len(draft.text) > start or draft.remark != remark:
                self._shown[draft.turn] = len(draft.text), draft.remark
                yield Event(topic="chat.message.token", data={
                    "turn": draft.turn, "asked": draft.asked, "start": start,
                    "text": draft.text[start:], "remark": draft.remark,
                })  # fmt: skip

    def _failures(self) -> Iterator[Event]:
        """What was not answered."""
        for failure in self._room.failures_since(self._person, self._failure):
            self._failure = failure.number
            yield Event(
                topic="chat.message.failed", data={"asked": failure.asked, "why": failure.why}
            )

    async def is_signed_in(self) -> bool:
        """Whether the session or token is still good with which it was opened."""
        house = self._room.house
        async with house.db.reading() as tx:
            find = find_by_token if self._me.is_program else find_web_session
            found = await find(tx, self._me.print, now=house.clock())
        return found is not None


async def stream(room: Room, me: SignedIn, since: Position) -> AsyncIterator[bytes]:
    """Everything that happens from a position on, until the page is closed, or this process."""
    watch, clock = Watch(room, me, since), asyncio.get_running_loop().time
    beat_at, endings = clock() + HEARTBEAT_S, room.endings
    with room.seat(me.person.id) as seat, suppress(StoreError):  # the page comes again
        yield (await watch.begin()).encoded()
        while not room.is_closing:
            if room.endings != endings:
                endings = room.endings
                if not await watch.is_signed_in():
                    return
            async for event in heard(watch, seat):
                yield event.encoded()
            if clock() >= beat_at:
                if not await watch.is_signed_in():
                    return
                beat_at = clock() + HEARTBEAT_S
                yield Event(topic="chat.connection.heartbeat").encoded()
                async for event in watch.passed():
                    yield event.encoded()
            await seat.wait(max(min(beat_at - clock(), watch.rest_s), 0.0))


async def heard(watch: Watch, seat: Seat) -> AsyncIterator[Event]:
    """Words as they come, before their end and without the database; then what was kept."""
    for event in watch.words():
        yield event
    if seat.take_news():
        async for event in watch.news():
            yield event
        async for event in watch.behind():
            yield event


def plain(shape: Shape) -> dict[str, JsonValue]:
    """A form as JSON values."""
    values: dict[str, JsonValue] = shape.model_dump(mode="json")
    return values


def mood_data(mood: Mood | None) -> JsonValue:
    """A mood as JSON values."""
    shape = mood_shape(mood)
    return None if shape is None else plain(shape)


def progress_data(progress: Progress | None, zone: str) -> JsonValue:
    """What goes on behind the talk as JSON values."""
    shape = progress_shape(progress, zone=zone)
    return None if shape is None else plain(shape)
