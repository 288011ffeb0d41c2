"""What does an open page hear, until it is closed? All that happens to its person, as it happens.

What was kept is told from where the page has looked to; what passes (the words of a reply as they
come) beside it, without the database. It does not know what a change that was kept is called
(``events``).
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Final

from oldfriend.app.forming.progress import Progress, find_progress
from oldfriend.domain.errors import StoreError
from oldfriend.domain.ids import TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Mood
from oldfriend.memory.moods import find_mood
from oldfriend.memory.people import companion_name
from oldfriend.memory.sign_in import SignedIn, find_web_session
from oldfriend.memory.tokens import find_by_token
from oldfriend.memory.watching import Position
from oldfriend.web.events import Event, events_of, look, plain
from oldfriend.web.room import Room, Seat
from oldfriend.web.shapes.common import saying_shape
from oldfriend.web.showing.session import mood_shape, progress_shape

HEARTBEAT_S: Final = 30.0
BEHIND_S: Final = 1.0
"""So often at most it is looked what goes on behind the talk."""


class Watch:
    """One open page: what it has been told already."""

    def __init__(self, room: Room, me: SignedIn, since: Position) -> None:
        """It was told everything until here."""
        self._room = room
        self._me = me
        self._person = me.person.id
        self._since = since
        self._passing = room.last_passing
        self._settings = room.house.settings
        self._shown: dict[TurnId, tuple[int, str]] = {}
        self._ended: set[TurnId] = set()  # of what is being said, what was told whole
        self._mood: Mood | None = None
        self._companion = ""  # what it is called
        self._progress: Progress | None = None
        self._looked_behind_at = 0.0

    async def begin(self) -> Event:
        """That it listens, and how things are."""
        now = self._room.house.clock()
        async with self._room.house.db.reading() as tx:
            self._mood = await find_mood(tx, self._person, at=now)
            self._progress = await find_progress(tx, self._person, now=now)
            self._companion = await companion_name(tx)
        progress = progress_data(self._progress, self._me.person.zone)
        return Event(
            topic="chat.connection.ready",
            data={
                "person": self._person,
                "companion": self._companion,
                "mood": mood_data(self._mood),
                "progress": progress,
            },
            position=self._since,
        )

    @property
    def rest_s(self) -> float:
        """How long it may rest at most, also where nothing rings: what goes on behind ends so."""
        return HEARTBEAT_S if self._progress is None else BEHIND_S

    async def news(self) -> AsyncIterator[Event]:
        """Everything that was kept and is new."""
        house = self._room.house
        found = await look(house, self._person, self._since, companion=self._companion)
        if found is not None:
            said = (each.message for each in found.appended)
            self._ended |= {each.turn for each in said if each.turn and each.role == "companion"}
            for event in events_of(found, self._since, zone=self._me.person.zone):
                yield event
            self._since = found.until
            if found.mood != self._mood:
                self._mood = found.mood
                yield Event(topic="chat.mood.update", data={"mood": mood_data(found.mood)})
            if found.companion != self._companion:
                self._companion = found.companion
                yield Event(topic="chat.companion.renamed", data={"companion": found.companion})
        for event in self._passings():
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

    def _passings(self) -> Iterator[Event]:
        """What was not answered, and which reply can be heard."""
        for each in self._room.passed_since(self._person, self._passing):
            self._passing = each.number
            if each.what == "failed":
                told: dict[str, JsonValue] = {
                    "asked": each.message, "why": saying_shape(each.why).model_dump(),
                }  # fmt: skip
                yield Event(topic="chat.message.failed", data=told)
            else:
                yield Event(topic="chat.message.voice_ready", data={"message": each.message})

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


def mood_data(mood: Mood | None) -> JsonValue:
    """A mood as JSON values."""
    shape = mood_shape(mood)
    return None if shape is None else plain(shape)


def progress_data(progress: Progress | None, zone: str) -> JsonValue:
    """What goes on behind the talk as JSON values."""
    shape = progress_shape(progress, zone=zone)
    return None if shape is None else plain(shape)
