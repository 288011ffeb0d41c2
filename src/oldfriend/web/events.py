"""What has happened since a page looked, and under which names is it told? On every channel.

What is kept is told from the database, by where the page has looked to, so that nothing is missed
after a pause, whichever process has written it, and nothing is kept for those who are away. It does
not know who listens, nor when (``watching``).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from oldfriend.app.house import House
from oldfriend.app.marking import STOPPED
from oldfriend.domain.ids import MessageId, ObjectId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Change, Entity, Evidence, Mood, ObjectKind
from oldfriend.domain.messages import Message
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.moods import find_mood
from oldfriend.memory.people import companion_name
from oldfriend.memory.rows import kind_of
from oldfriend.memory.talk import list_sounding
from oldfriend.memory.watching import (
    Appended,
    Position,
    list_appended,
    list_decided,
    position_of,
)
from oldfriend.web.shapes.common import Shape
from oldfriend.web.showing.chat import message_shape, position_text
from oldfriend.web.showing.memories import decided_shape

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
    companion: str  # what it is called


async def look(house: House, person: PersonId, since: Position, *, companion: str) -> News | None:
    """What is new of a person, for whom the companion was called so; None: nothing is."""
    async with house.db.reading() as tx:
        until, called = await position_of(tx, person), await companion_name(tx)
        if until == since and called == companion:
            return None
        appended = await list_appended(tx, person, after=since.said, limit=MOST_AT_ONCE + 1)
        decided = await list_decided(tx, person, after=since.decided, limit=MOST_AT_ONCE + 1)
        words = await list_evidence_of(tx, person, [each.object for each in decided])
        sounding = await list_sounding(tx, person, [each.message.id for each in appended])
        mood = await find_mood(tx, person, at=house.clock())
    return News(
        until=until, appended=appended, decided=decided, words=words, sounding=sounding, mood=mood,
        companion=called,
    )  # fmt: skip


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


def plain(shape: Shape) -> dict[str, JsonValue]:
    """A form as JSON values."""
    values: dict[str, JsonValue] = shape.model_dump(mode="json")
    return values
