"""What would an import bring? The whole file is read and checked; nothing is written.

Knows nothing of what is in the memory already.
"""

import hashlib
import heapq
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import Spoken, estimate_tokens
from oldfriend.domain.people import SESSION_IDLE
from oldfriend.domain.sayings import saying
from oldfriend.domain.trust import Role
from oldfriend.transfer.casting import Cast, Roll
from oldfriend.transfer.formats.detection import Export, find_format, note_old_encodings
from oldfriend.transfer.formats.parsed import ParsedMessage
from oldfriend.transfer.formats.source import CHUNK_BYTES, refusing_unreadable

SAMPLES = 500
"""Enough messages of a chat to know it again under another name."""
TICK = 10_000
MOST_NOTICES = 20

Tick = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Sample:
    """One message of a chat, to be looked up in what is here."""

    draw: int  # the smallest are kept: the same ones in every export that holds them
    external_id: str
    has_own_id: bool
    speaker: str
    text_print: int
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerPreview:
    """Somebody who speaks in the file."""

    name: str
    role: Role
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPreview:
    """One chat of the file."""

    key: str
    title: str
    messages: int
    samples: tuple[Sample, ...]  # only where chats have no ids of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a file holds. ``first`` and ``last`` are the times of its earliest and latest words."""

    export: Export
    sha256: str
    zone: str
    cast: Cast
    messages: int
    speakers: tuple[SpeakerPreview, ...]  # those who speak most first
    chats: tuple[ChatPreview, ...]
    sessions: int
    tokens: int  # about so many
    first: datetime
    last: datetime
    notices: tuple[str, ...]


def inspect(
    path: Path, *, me: str | None, person: str, zone: str, tick: Tick | None = None
) -> Preview:
    """Check a whole file and say what is in it. Raises ImportRefused.

    ``me`` is the speaker who is the owner, ``person`` the owner's name. The tick is told now
    and then how many messages were checked.
    """
    export = find_format(path)
    notices = Notices()
    note_old_encodings(export, notices.add)
    count = Count(roll=Roll(by_speaker=Counter(), undecided=set()))
    nobody = Cast(person=person, me=frozenset(), is_clear=False)
    for number, message in enumerate(export.messages(notices.add), start=1):
        count.see(message, nobody.spoken(message, zone), samples=not export.format.chats_have_ids)
        if tick is not None and number % TICK == 0:
            tick(number)
    if count.messages == 0:
        raise ImportRefused(
            saying("import_without_message", f"There is no message in {path.name}.", name=path.name)
        )
    cast = count.roll.cast(me=me, person=person)
    return Preview(
        export=export, sha256=sha256_of(path), zone=zone, cast=cast, messages=count.messages,
        speakers=speakers_of(count.roles, cast), chats=count.chat_previews(),
        sessions=count.sessions, tokens=count.tokens, first=from_micros(count.first, zone),
        last=from_micros(count.last, zone), notices=notices.shown(),
    )  # fmt: skip


@dataclass(slots=True)
class Notices:
    """What the person should know about the file; the first few are enough."""

    told: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, notice: str) -> None:
        """Keep a notice, or only count it."""
        if len(self.told) < MOST_NOTICES:
            self.told.append(notice)
        else:
            self.more += 1

    def shown(self) -> tuple[str, ...]:
        """The notices as they are shown."""
        return (
            *self.told,
            *(
                [saying("notice_more", f"… and {self.more:,} more like these.", count=self.more)]
                if self.more
                else []
            ),
        )


@dataclass(slots=True)
class ChatCount:
    """What was seen of one chat so far."""

    title: str
    messages: int = 0
    last_at: Micros | None = None
    sessions: set[str] = field(default_factory=set)
    samples: list[tuple[int, Sample]] = field(default_factory=list)  # a heap, greatest draw first

    def begins_session(self, session: str | None, at: Micros) -> bool:
        """Note one more message; whether it begins a session."""
        last_at, self.last_at = self.last_at, at
        if session is None:
            return last_at is None or abs(at - last_at) > SESSION_IDLE
        is_new = session not in self.sessions
        self.sessions.add(session)
        return is_new

    def draw(self, message: ParsedMessage, spoken: Spoken) -> None:
        """Keep the message as a sample if it is drawn."""
        draw = zlib.crc32(message.external_id.encode())
        if len(self.samples) >= SAMPLES and -draw <= self.samples[0][0]:
            return
        sample = Sample(
            draw=draw, external_id=message.external_id, has_own_id=message.has_own_id,
            speaker=spoken.speaker, text_print=hash(message.text), at=spoken.at,
        )  # fmt: skip
        add = heapq.heappush if len(self.samples) < SAMPLES else heapq.heappushpop
        add(self.samples, (-draw, sample))


@dataclass(slots=True)
class Count:
    """What was seen of a file so far."""

    roll: Roll
    chats: dict[str, ChatCount] = field(default_factory=dict)
    roles: Counter[tuple[str, Role | None]] = field(default_factory=Counter)
    messages: int = 0
    sessions: int = 0
    tokens: int = 0
    first: Micros = 0
    last: Micros = 0

    def see(self, message: ParsedMessage, spoken: Spoken, *, samples: bool) -> None:
        """Count one more message."""
        at = spoken.at
        self.first = min(self.first, at) if self.messages else at
        self.last = max(self.last, at) if self.messages else at
        self.messages += 1
        self.tokens += estimate_tokens(message.text)
        self.roll.see(message)
        self.roles[message.speaker, message.role] += 1
        chat = self.chats.setdefault(message.chat, ChatCount(title=message.chat_title))
        chat.messages += 1
        self.sessions += chat.begins_session(message.session, at)
        if samples:
            chat.draw(message, spoken)

    def chat_previews(self) -> tuple[ChatPreview, ...]:
        """The chats, in the order of the file."""
        return tuple(
            ChatPreview(
                key=key, title=chat.title, messages=chat.messages,
                samples=tuple(sample for _, sample in chat.samples),
            )
            for key, chat in self.chats.items()
        )  # fmt: skip


def speakers_of(
    counted: Counter[tuple[str, Role | None]], cast: Cast
) -> tuple[SpeakerPreview, ...]:
    """The speakers with the roles they will have; the system is none."""
    settled: Counter[tuple[str, Role]] = Counter()
    for (speaker, told), messages in counted.items():
        role = cast.role_for(speaker, told)
        if role != "system":
            settled[speaker or cast.person, role] += messages
    return tuple(
        SpeakerPreview(name=name, role=role, messages=messages)
        for (name, role), messages in settled.most_common()
    )


def sha256_of(path: Path) -> str:
    """By which a file is known again."""
    digest = hashlib.sha256()
    with refusing_unreadable(path), path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
