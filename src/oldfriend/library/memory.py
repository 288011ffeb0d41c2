"""How does a program open somebody's memory, put words into it and find them again?"""

import asyncio
import logging
import threading
from collections.abc import Collection, Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Final, NoReturn

from oldfriend.app.accepting import open_line
from oldfriend.app.choices.settings import settings_for
from oldfriend.app.embedding import make_up
from oldfriend.app.forgetting import forget
from oldfriend.app.forgotten import forgotten_of
from oldfriend.app.forming.tending import note_brought
from oldfriend.app.given import Given, bound, told_from
from oldfriend.app.wiring import open_house
from oldfriend.domain.errors import InvalidInput, MemoryMisused
from oldfriend.domain.language import detect_language
from oldfriend.domain.messages import storable
from oldfriend.ledger.calls import Asker
from oldfriend.library.beliefs import NOT_OPEN, Beliefs
from oldfriend.library.shapes import (
    BeliefHit,
    Forgot,
    Hit,
    Moment,
    Words,
    belief_hit_from,
    fields_of,
    hit_from,
)
from oldfriend.library.sync import MemorySync
from oldfriend.memory.bringing import Target, bring
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages
from oldfriend.turn.context import assemble
from oldfriend.turn.kinds import kinds_wanted
from oldfriend.turn.recall import Cue, Remembered, neighbours_of, recall

AT_ONCE = 1000
OPEN_ALREADY: Final = (
    "This memory is open already. Open one for each with block: `with Memory.open(...) as memory:`."
)
logger = logging.getLogger("oldfriend")


class Memory(Beliefs):
    """One person's memory, open. Made by ``Memory.open``; every method is awaited."""

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
            forgotten = await forgotten_of(self._house.settings, tx, person.id)
        target = Target(chat=self._line.chat, language=self._language, forgotten=forgotten)
        added = 0
        for start in range(0, len(told), AT_ONCE):
            async with self._house.db.writing() as tx:
                kept = await bring(tx, target, told[start : start + AT_ONCE], now=now)
                await note_brought(tx, self._house, person.id, now=now)
            added += kept.added
        await self._make_up_for_vectors()
        return added

    async def recall(
        self, query: str, limit: int = 10, *, kinds: Collection[str] = (), around: bool = False
    ) -> list[Hit | BeliefHit]:
        """The messages and beliefs that answer a query, best first; each says its ``kind``.

        ``kinds`` are those wanted, such as "message", "fact" or "event" (see ``Belief``); none:
        all. With ``around`` a message brings the three before and after it. Raises InvalidInput.
        """
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least 1.")
        looking, person = self._house.looking, self._line.person
        wanted = kinds_wanted(kinds)
        cue = replace(self._cue(query), kinds=wanted.beliefs)
        hits: list[Hit | BeliefHit] = []
        found = await recall(looking, person, cue, limit=limit)
        for thing in wanted.among(found.ranking)[:limit]:
            if isinstance(thing, Remembered):
                hits.append(belief_hit_from(thing, person.zone))
            else:
                near = await neighbours_of(looking, thing.message) if around else ()
                hits.append(hit_from(thing, near))
        return hits

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
            raise InvalidInput("Name what to forget: ids, about, since, until, or everything.")
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
    def _language(self) -> str:
        return self._line.person.language or self._house.settings.language or "en"

    def _cue(self, query: str) -> Cue:
        text = storable(query)
        language = detect_language(text, fallback=self._language)
        return Cue(text=text, language=language, at=self._house.clock())


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
