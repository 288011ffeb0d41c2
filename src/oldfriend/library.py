"""How does another program use the memory? ``from oldfriend import Memory``.

    with Memory.open("sqlite:///notes.db") as memory:
        memory.add([{"speaker": "me", "text": "My cat is called Miso."}])
        hits = memory.recall("What is my cat called?")

``async with`` gives the same methods to await. It is the same store, search and log that the
companion uses; no network, no key.
"""

import asyncio
import logging
import threading
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, Final, NoReturn, TypeVar

from oldfriend.app.accepting import Line, open_line
from oldfriend.app.choices.settings import settings_for
from oldfriend.app.embedding import make_up
from oldfriend.app.forgetting import forget, forgotten_of
from oldfriend.app.house import House
from oldfriend.app.wiring import open_house
from oldfriend.domain.clock import Micros, from_micros, parse_moment, place_in_zone
from oldfriend.domain.errors import InvalidInput, MemoryMisused
from oldfriend.domain.language import detect_language
from oldfriend.domain.messages import MAX_TEXT, Message, Spoken, storable
from oldfriend.domain.people import Person
from oldfriend.domain.trust import TRUST_OF_ROLE, Role
from oldfriend.ledger.calls import Asker
from oldfriend.memory.bringing import Target, Told, bring
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages
from oldfriend.transfer.casting import same_name
from oldfriend.turn.context import assemble
from oldfriend.turn.explaining import reasons_in_words
from oldfriend.turn.recall import Cue, Recalled, recall

Given = Mapping[str, Any] | object
"""A message to add: a mapping or an object with the fields of our JSONL (see ``Memory.add``)."""

Moment = datetime | str
"""A moment: aware, or by the person's clocks; or as ISO 8601 text."""

AT_ONCE = 1000
SPOKEN_ROLES: dict[str, Role] = {"person": "person", "companion": "companion", "other": "other"}
NOT_OPEN: Final = (
    "This memory is not open. Use it inside its with block: `with Memory.open(...) as memory:`, "
    "or `async with` in a program that awaits."
)
OPEN_ALREADY: Final = (
    "This memory is open already. Open one for each with block: `with Memory.open(...) as memory:`."
)
T = TypeVar("T")
logger = logging.getLogger("oldfriend")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A message in the memory, as a program sees it."""

    id: str
    external_id: str | None  # the id that it was added with
    session: str
    channel: str
    speaker: str
    role: str
    trust: str  # "outside": forwarded, fetched or pasted, so not the speaker's own words
    at: datetime  # aware, in the zone where it was said
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Words):
    """A message that answers a query; ``score`` runs from 0 to 1."""

    score: float
    why: tuple[str, ...]  # in plain words, the strongest cause first


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot:
    """What was forgotten, without a word of it."""

    messages: int
    beliefs: int
    orphans: tuple[str, ...]  # ids of beliefs that stay although they rested on it
    near: tuple[str, ...]  # ids of messages that stay and say nearly the same
    is_proved: bool  # it was looked for everywhere in reach, and is nowhere


class Memory:
    """One person's memory, open. Made by ``Memory.open``; every method is awaited."""

    def __init__(self, house: House, line: Line) -> None:
        """Internal: use ``open``."""
        self._opened: House | None = house
        self._line = line

    def close(self) -> None:
        """Internal: leaving the ``with`` does it."""
        self._opened = None

    @staticmethod
    def open(
        url: str | None = None, *, person: str | None = None, channel: str = "library"
    ) -> "Opening":
        """Open or make a memory: ``sqlite:///PATH``; None for the companion's own.

        The companion's own, also by its url, is opened as its owner chose in ``oldfriend.toml``,
        so that no program embeds it anew by another model. Any other goes by
        the environment and the defaults: no text leaves the machine unless the program wants it
        (``OLDFRIEND_EMBEDDER_MODEL``). ``person`` is whose memory it is (None: the owner); people
        never see each other's. Use the result with ``with`` or ``async with``. Raises StoreError,
        InvalidInput.
        """
        return Opening(url, person=person, channel=channel)

    async def add(self, messages: Iterable[Given]) -> int:
        """Keep messages; how many were new.

        Each is a mapping or an object with ``text`` and, as far as known, ``speaker``, ``role``
        ("person", "companion", "other"), ``at`` (ISO 8601 or datetime; now if missing), ``id``
        and ``session``. Without a role, who bears the person's name, or none, is the person; all
        others are others. A known ``id`` with the same text is left alone; with another text it
        becomes a new version. Without a session, what was said within the last half hour goes on
        in the open one; the rest is cut into sessions at pauses of half an hour. The words are
        safe, and found, before their vectors are made.
        Raises InvalidInput, naming the message (the first is 0); nothing is kept then.
        """
        now, person = self._house.clock(), self._line.person
        told = [told_from(given, number, person, now=now) for number, given in enumerate(messages)]
        async with self._house.db.reading() as tx:
            forgotten = await forgotten_of(self._house, tx, person.id)
        target = Target(chat=self._line.chat, language=self._language, forgotten=forgotten)
        added = 0
        for start in range(0, len(told), AT_ONCE):
            async with self._house.db.writing() as tx:
                kept = await bring(tx, target, told[start : start + AT_ONCE], now=now)
            added += kept.added
        await self._make_up_for_vectors()
        return added

    async def recall(self, query: str, limit: int = 10) -> list[Hit]:
        """The messages that answer a query best, best first."""
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least 1.")
        found = await recall(self._house.looking, self._line.person, self._cue(query), limit=limit)
        return [hit_from(recalled) for recalled in found.found]

    async def context(self, query: str, budget: int = 2000) -> str:
        """What the memory holds on a query, for a model's prompt, in at most so many tokens."""
        return await assemble(
            self._house.looking, self._line.person, self._cue(query), budget=budget
        )

    async def messages(
        self, *, since: Moment | None = None, until: Moment | None = None, limit: int = 100
    ) -> list[Words]:
        """The newest messages in a span of time (``until`` not included), oldest first.

        Times are datetimes or ISO 8601 text, as in ``add``. Raises InvalidInput.
        """
        person = self._line.person
        first, end = bound(since, "since", person.zone), bound(until, "until", person.zone)
        async with self._house.db.reading() as tx:
            found = await list_messages(tx, person.id, since=first, until=end, limit=limit)
        return [Words(**fields_of(message)) for message in found]

    async def forget(
        self, *ids: str, about: str | None = None, since: Moment | None = None,
        until: Moment | None = None, everything: bool = False, orphan: bool = False,
    ) -> Forgot:  # fmt: skip
        """Take words away for good, with everything that rests on them; there is no way back.

        ``ids`` are those of ``Words`` and ``Hit``, not the ones that a program gave to ``add``;
        ``about`` names somebody or something. With ``orphan`` beliefs stay that rested on it.
        Raises NotFound, InvalidInput.
        """
        zone = self._line.person.zone
        wish = Wish(
            ids=ids, about=about, since=bound(since, "since", zone),
            until=bound(until, "until", zone), everything=everything,
        )  # fmt: skip
        if wish == Wish():
            raise InvalidInput("Name what is to be forgotten: ids, about, since, until, everything.")
        report = await forget(self._house, self._line.person.id, wish, orphan=orphan)
        return Forgot(
            messages=report.counts["messages"], beliefs=report.counts["memories"],
            orphans=report.orphans, near=report.near, is_proved=report.is_proved,
        )  # fmt: skip

    async def _make_up_for_vectors(self) -> None:
        trouble = await make_up(self._house, self._line.person.id)
        if trouble is not None:  # the words are kept, and found by words
            logger.warning("%s", trouble)

    @property
    def _house(self) -> House:
        if self._opened is None:
            raise MemoryMisused(NOT_OPEN)
        return self._opened

    @property
    def _language(self) -> str:
        return self._line.person.language or self._house.settings.language or "en"

    def _cue(self, query: str) -> Cue:
        text = storable(query)
        language = detect_language(text, fallback=self._language)
        return Cue(text=text, language=language, at=self._house.clock())


class MemorySync:
    """One person's memory, open, for programs that do not await. See ``Memory``."""

    def __init__(self, memory: Memory, loop: asyncio.AbstractEventLoop) -> None:
        """Internal: use ``Memory.open``."""
        self._memory = memory
        self._loop = loop

    def add(self, messages: Iterable[Given]) -> int:
        """Keep messages; how many were new. See ``Memory.add``."""
        return self._wait(self._memory.add(messages))

    def recall(self, query: str, limit: int = 10) -> list[Hit]:
        """The messages that answer a query best, best first."""
        return self._wait(self._memory.recall(query, limit))

    def context(self, query: str, budget: int = 2000) -> str:
        """What the memory holds on a query, for a model's prompt."""
        return self._wait(self._memory.context(query, budget))

    def messages(
        self, *, since: Moment | None = None, until: Moment | None = None, limit: int = 100
    ) -> list[Words]:
        """The newest messages in a span of time, oldest first. See ``Memory.messages``."""
        return self._wait(self._memory.messages(since=since, until=until, limit=limit))

    def forget(
        self, *ids: str, about: str | None = None, since: Moment | None = None,
        until: Moment | None = None, everything: bool = False, orphan: bool = False,
    ) -> Forgot:  # fmt: skip
        """Take words away for good, with everything that rests on them. See ``Memory.forget``."""
        return self._wait(
            self._memory.forget(
                *ids, about=about, since=since, until=until, everything=everything, orphan=orphan
            )
        )

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise MemoryMisused(NOT_OPEN)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class Opening:
    """A memory about to be opened, with ``with`` or ``async with``."""

    def __init__(self, url: str | None, *, person: str | None, channel: str) -> None:
        """Remember what to open; nothing happens yet."""
        self._url = url
        self._person = person
        self._channel = channel
        self._is_entered = False
        self._stack = AsyncExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __getattr__(self, name: str) -> NoReturn:
        """Raise MemoryMisused for what only an open memory can do."""
        if hasattr(MemorySync, name):
            raise MemoryMisused(NOT_OPEN)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    async def __aenter__(self) -> Memory:
        """Open it for a program that awaits. Raises StoreError, InvalidInput, MemoryMisused."""
        self._enter()
        try:
            return await self._open()
        except BaseException:
            self._is_entered = False
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        try:
            await self._stack.aclose()
        finally:
            self._is_entered = False

    def __enter__(self) -> MemorySync:
        """Open it for a program that does not await; a thread of its own does."""
        self._enter()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            memory = asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        except BaseException:
            self._stop()
            raise
        return MemorySync(memory, self._loop)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        assert self._loop is not None
        try:
            asyncio.run_coroutine_threadsafe(self._stack.aclose(), self._loop).result()
        finally:
            self._stop()

    def _enter(self) -> None:
        if self._is_entered:
            raise MemoryMisused(OPEN_ALREADY)
        self._is_entered = True

    async def _open(self) -> Memory:
        async with AsyncExitStack() as stack:
            settings = settings_for(self._url)
            house = await stack.enter_async_context(open_house(settings))
            line = await open_line(house, person=self._person, channel=self._channel)
            memory = Memory(house.on_behalf_of(Asker(person=line.person.id)), line)
            stack.callback(memory.close)
            self._stack = stack.pop_all()
        return memory

    def _stop(self) -> None:
        self._is_entered = False
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def told_from(given: Given, number: int, person: Person, *, now: Micros) -> Told:
    """A given message, checked. Raises InvalidInput, naming the message."""
    text = field_of(given, "text")
    if not isinstance(text, str):
        raise InvalidInput(f'Message {number} has no text. Give it a field "text" that is a str.')
    if len(text) > MAX_TEXT:
        raise InvalidInput(
            f"Message {number} has {len(text):,} characters; {MAX_TEXT:,} fit. Split it."
        )
    speaker = name_of(given, "speaker", number)
    role = role_of(given, speaker, number, person)
    at, zone = moment_of(given, number, now=now, zone=person.zone)
    spoken = Spoken(
        role=role, speaker=speaker or (person.name if role == "person" else role),
        text=storable(text), at=at, zone=zone, trust=TRUST_OF_ROLE[role],
        external_id=name_of(given, "id", number) or None,
    )  # fmt: skip
    return Told(spoken=spoken, session=name_of(given, "session", number) or None)


def field_of(given: Given, name: str) -> object:
    """A field of a mapping or an object; None where it is missing."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def name_of(given: Given, name: str, number: int) -> str:
    """A name or id as it can be stored; empty where it is missing. Raises InvalidInput."""
    value = field_of(given, name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"Message {number} has a {name!r} that is neither str nor int.")
    return storable(str(value))


def role_of(given: Given, speaker: str, number: int, person: Person) -> Role:
    """The role that is given, else by whose name it is. Raises InvalidInput."""
    role = name_of(given, "role", number)
    if not role:
        is_own = not speaker or same_name(speaker, person.name)
        return "person" if is_own else "other"
    if role not in SPOKEN_ROLES:
        raise InvalidInput(
            f"Message {number} has the role {role!r}. Use person, companion or other."
        )
    return SPOKEN_ROLES[role]


def moment_of(given: Given, number: int, *, now: Micros, zone: str) -> tuple[Micros, str]:
    """When a given message was said, and in which zone. Raises InvalidInput."""
    at = field_of(given, "at")
    if at is None:
        return now, zone
    try:
        return placed(at, "at", zone)
    except InvalidInput as error:
        raise InvalidInput(f"Message {number}: {error}") from error


def bound(moment: object, name: str, zone: str) -> Micros | None:
    """Where a span of time begins or ends; None where it does not. Raises InvalidInput."""
    return None if moment is None else placed(moment, name, zone)[0]


def placed(moment: object, name: str, zone: str) -> tuple[Micros, str]:
    """A given moment, and its zone. Raises InvalidInput."""
    if isinstance(moment, datetime):
        return place_in_zone(moment, zone)
    if isinstance(moment, str):
        return parse_moment(moment, zone)
    raise InvalidInput(f"{name!r} is neither datetime nor ISO 8601 text.")


def fields_of(message: Message) -> dict[str, Any]:
    """The fields of Words for a message."""
    return {
        "id": message.id, "external_id": message.external_id, "session": message.session_name,
        "channel": message.channel, "speaker": message.speaker, "role": message.role,
        "trust": message.trust, "at": from_micros(message.at, message.zone), "text": message.text,
    }  # fmt: skip


def hit_from(recalled: Recalled) -> Hit:
    """A recalled message as a program sees it."""
    return Hit(
        **fields_of(recalled.message),
        score=recalled.hit.score,
        why=tuple(reasons_in_words(recalled.hit.why)),
    )
