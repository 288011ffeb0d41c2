"""Memory: opens one person's memory for a program, adds messages to it and recalls them."""

import asyncio
import logging
import math
import threading
from collections.abc import Collection, Coroutine, Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, NoReturn, TypeVar

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import load_deletion_filter
from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.config.settings import load_settings_for_url
from oldfriend.domain.errors import InvalidInput, MemoryMisused
from oldfriend.domain.messages import sanitize_text
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.lang.detection import detect_language
from oldfriend.learning.learning_scheduler import enqueue_learning_for_import
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.import_writer import ImportTarget, write_imported_messages
from oldfriend.memory.message_log import list_messages
from oldfriend.presenters.belief_schemas import Belief, BeliefHit
from oldfriend.presenters.deletion_schemas import Forgot
from oldfriend.presenters.history_schemas import Decided
from oldfriend.presenters.hit_schemas import Hit, RecalledHits
from oldfriend.presenters.message_schemas import Words
from oldfriend.runtime.maintenance import SLICE_S, MaintenanceTask, maintain
from oldfriend.runtime.wiring import open_app
from oldfriend.sdk.belief_methods import NOT_OPEN_MESSAGE, BeliefMethods
from oldfriend.sdk.input_validation import (
    MessageInput,
    TimeInput,
    parse_bound,
    parse_count,
    parse_message_inputs,
    parse_query,
)
from oldfriend.turn.kind_filter import parse_kinds
from oldfriend.turn.later_messages import list_later_by_message
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.neighbors import list_neighbors
from oldfriend.turn.retrieval import RecalledBelief, RecallQuery, recall
from oldfriend.usage.model_calls import CallContext

T = TypeVar("T")


class MemorySync:
    """One person's open memory for synchronous programs. See ``Memory``."""

    def __init__(self, memory: "Memory", loop: asyncio.AbstractEventLoop) -> None:
        """Internal: use ``Memory.open``."""
        self._memory = memory
        self._loop = loop

    def add(self, messages: Iterable[MessageInput]) -> int:
        """Store messages; return how many were new. See ``Memory.add``."""
        return self._run(self._memory.add(messages))

    def recall(
        self, query: str, limit: int = 10, *, kinds: Collection[str] = (), around: bool = False
    ) -> RecalledHits:
        """Return the messages and beliefs that answer a query, best first.

        See ``Memory.recall``.
        """
        return self._run(self._memory.recall(query, limit, kinds=kinds, around=around))

    def context(self, query: str, budget: int = 2000) -> str:
        """Return what the memory holds on a query, for a prompt. See ``Memory.context``."""
        return self._run(self._memory.context(query, budget))

    def messages(
        self, *, since: TimeInput | None = None, until: TimeInput | None = None, limit: int = 100
    ) -> list[Words]:
        """Return the newest messages in a span of time, oldest first. See ``Memory.messages``."""
        return self._run(self._memory.messages(since=since, until=until, limit=limit))

    def forget(
        self,
        *ids: str,
        about: str | None = None,
        since: TimeInput | None = None,
        until: TimeInput | None = None,
        everything: bool = False,
        orphan: bool = False,
    ) -> Forgot:
        """Delete messages for good, with everything that rests on them. See ``Memory.forget``."""
        return self._run(
            self._memory.forget(
                *ids, about=about, since=since, until=until, everything=everything, orphan=orphan
            )
        )

    def consolidate(self) -> int:
        """Read all stored messages and learn from them. See ``Memory.consolidate``."""
        return self._run(self._memory.consolidate())

    def maintain(self) -> int:
        """Run all due background jobs. See ``Memory.maintain``."""
        return self._run(self._memory.maintain())

    def facts(self) -> list[Belief]:
        """Return the current facts and preferences with their evidence, oldest first."""
        return self._run(self._memory.facts())

    def entities(self) -> list[Belief]:
        """Return the entities known by name. See ``Memory.entities``."""
        return self._run(self._memory.entities())

    def summaries(self) -> list[Belief]:
        """Return the summaries of conversations. See ``Memory.summaries``."""
        return self._run(self._memory.summaries())

    def beliefs(self, *, as_of: TimeInput | None = None, about: str | None = None) -> list[Belief]:
        """Return all beliefs held now, or at a moment. See ``Memory.beliefs``."""
        return self._run(self._memory.beliefs(as_of=as_of, about=about))

    def history(self, belief: str) -> list[Decided]:
        """Return the decisions about a belief, oldest first. See ``Memory.history``."""
        return self._run(self._memory.history(belief))

    def correct(
        self, belief: str, text: str, *, value: str | None = None, since: str | None = None
    ) -> list[Belief]:
        """Correct a belief. See ``Memory.correct``."""
        return self._run(self._memory.correct(belief, text, value=value, since=since))

    def pin(self, belief: str) -> list[Belief]:
        """Protect a belief from fading and from being merged away."""
        return self._run(self._memory.pin(belief))

    def unpin(self, belief: str) -> list[Belief]:
        """Let a belief fade like others."""
        return self._run(self._memory.unpin(belief))

    def confirm(self, belief: str) -> list[Belief]:
        """Confirm that a belief is true."""
        return self._run(self._memory.confirm(belief))

    def reject(self, belief: str) -> list[Belief]:
        """Reject a belief as false. See ``Memory.reject``."""
        return self._run(self._memory.reject(belief))

    def merge(self, belief: str, other: str) -> list[Belief]:
        """Merge the second of two beliefs into the first."""
        return self._run(self._memory.merge(belief, other))

    def separate(self, belief: str, other: str) -> list[Belief]:
        """Separate two beliefs for good."""
        return self._run(self._memory.separate(belief, other))

    def undo_import(self, number: int) -> int:
        """Remove an import; return how many messages were removed. See ``Memory.undo_import``."""
        return self._run(self._memory.undo_import(number))

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            coroutine.close()
            raise MemoryMisused(NOT_OPEN_MESSAGE)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


BATCH_SIZE = 1000
ALREADY_OPEN_MESSAGE: Final = (
    "This memory is open already. Open one for each with block: `with Memory.open(...) as memory:`."
)
logger = logging.getLogger("oldfriend")


class Memory(BeliefMethods):
    """One person's open memory, made by ``Memory.open``; every method is awaited."""

    def __init__(self, app: AppContext, chat_context: ChatContext, *, maintenance_s: float) -> None:
        """Internal: use ``Memory.open``."""
        super().__init__(app, chat_context)
        self._maintenance = MaintenanceTask(app, chat_context.person.id, budget_s=maintenance_s)

    @staticmethod
    def open(
        url: str | None = None,
        *,
        person: str | None = None,
        channel: str = "library",
        maintenance_s: float = SLICE_S,
    ) -> "MemoryOpener":
        """Open or create a memory: ``sqlite:///PATH``; None for the companion's own.

        The companion's own memory, even when opened by its URL, uses its owner's settings in
        ``oldfriend.toml``, so that no program embeds it again with another model. Any other memory
        uses the environment and the defaults: no text leaves the machine unless the program asks
        for it (``OLDFRIEND_EMBEDDER_MODEL``). ``person`` is whose memory it is (None: the owner);
        people never see each other's. For ``maintenance_s`` seconds after a call, overdue
        background work may start beside the program, where no ``serve`` or ``work`` process does
        it; 0: never. Use the result with ``with`` or ``async with``. Raises StoreError,
        InvalidInput.
        """
        if not 0 <= maintenance_s < math.inf:
            raise InvalidInput(f"maintenance_s is {maintenance_s}; give seconds, 0 for none.")
        return MemoryOpener(url, person=person, channel=channel, maintenance_s=maintenance_s)

    async def close(self) -> None:
        """Internal: called when leaving the ``with`` block."""
        await self._maintenance.close()
        self._close()

    async def maintain(self) -> int:
        """Run all due background jobs; return how many were done.

        They read new messages, roll up summaries, expire what is over, merge duplicates and embed
        what lacks a vector; with a connected model they also reflect on what was read. Jobs that
        another process is running are left to it.
        """
        return await maintain(self._app, self._chat_context.person.id)

    async def add(self, messages: Iterable[MessageInput]) -> int:
        """Store messages; return how many were new.

        Each is a mapping or an object with ``text`` and, if known, ``speaker``, ``role`` ("person",
        "companion", "other"), ``at`` (ISO 8601 or datetime; now if missing), ``id`` and
        ``session``. Without a role, a message without a speaker or with the person's own name is
        the person's, and any other is by somebody else; but where no message has a role, and one of
        two speakers answers at length whatever the other asks, that one is the companion and the
        other the person. A known ``id`` with the same text is
        skipped; with another text it becomes a new version. Without a session, messages of the last
        half hour continue the open session, and the rest is split into sessions at pauses of half
        an hour. Messages are stored, and found by words, before they are embedded.

        Raises InvalidInput, naming the message (counted from 0); nothing is stored then.
        """
        now, person = self._app.clock(), self._chat_context.person
        parsed = parse_message_inputs(messages, person, now=now)
        async with self._app.db.begin_read() as tx:
            forgotten = await load_deletion_filter(self._app.settings, tx, person.id)
        target = ImportTarget(
            chat=self._chat_context.chat, language=self._language, tombstones=forgotten
        )
        added = 0
        for start in range(0, len(parsed), BATCH_SIZE):
            async with self._app.db.begin_write() as tx:
                written = await write_imported_messages(
                    tx, target, parsed[start : start + BATCH_SIZE], now=now
                )
                await enqueue_learning_for_import(tx, self._app.settings, person.id, now=now)
            added += written.added
        await self._embed_missing()
        self._maintenance.start()
        return added

    async def recall(
        self, query: str, limit: int = 10, *, kinds: Collection[str] = (), around: bool = False
    ) -> RecalledHits:
        """Return the messages and beliefs that answer a query, best first; each has a ``kind``.

        What is nearest is returned even if it answers nothing: ``has_answer`` of the result tells
        whether any of it is likely to. ``kinds`` restricts them, such as to "message", "fact" or
        "event" (see ``Belief``); empty: all. With ``around`` a message comes with the three before
        and after it. ``later`` of a message is what was said since and probably changed it. Raises
        InvalidInput.
        """
        limit = parse_count(limit, "limit")
        deps, person = self._app.search_deps, self._chat_context.person
        kind_filter = parse_kinds(kinds)
        recall_query = replace(self._build_query(query), kinds=kind_filter.belief_kinds)
        hits: list[Hit | BeliefHit] = []
        found = await recall(deps, person, recall_query, limit=limit)
        shown = kind_filter.select(found.ranking)[:limit]
        later = await list_later_by_message(deps, person, recall_query, shown)
        for recalled in shown:
            if isinstance(recalled, RecalledBelief):
                hits.append(BeliefHit.from_recalled(recalled, person.zone))
            else:
                neighbors = await list_neighbors(deps, recalled.message) if around else ()
                since = later.get(recalled.message.id, ())
                hits.append(Hit.from_recalled(recalled, neighbors, since))
        self._maintenance.start()
        return RecalledHits.from_recalled(hits, found)

    async def context(self, query: str, budget: int = 2000) -> str:
        """Return what the memory holds on a query, for a prompt, in at most ``budget`` tokens."""
        deps, recall_query = self._app.search_deps, self._build_query(query)
        most = parse_count(budget, "budget", least=0)
        assembled = await build_context(deps, self._chat_context.person, recall_query, budget=most)
        self._maintenance.start()
        return assembled

    async def messages(
        self, *, since: TimeInput | None = None, until: TimeInput | None = None, limit: int = 100
    ) -> list[Words]:
        """Return the newest messages in a span of time (``until`` excluded), oldest first.

        Times are datetimes or ISO 8601 text, as in ``add``. Raises InvalidInput.
        """
        person = self._chat_context.person
        first, end = (
            parse_bound(since, "since", person.zone),
            parse_bound(until, "until", person.zone),
        )
        async with self._app.db.begin_read() as tx:
            found = await list_messages(
                tx, person.id, since=first, until=end, limit=parse_count(limit, "limit")
            )
        return [Words.from_domain(message) for message in found]

    async def forget(
        self,
        *ids: str,
        about: str | None = None,
        since: TimeInput | None = None,
        until: TimeInput | None = None,
        everything: bool = False,
        orphan: bool = False,
    ) -> Forgot:
        """Delete messages for good, with everything that rests on them; it cannot be undone.

        ``ids`` are those of ``Words`` and ``Hit``, not the ones that a program gave to ``add``;
        ``about`` is the name of an entity. With ``orphan``, beliefs that rested on them stay.
        Raises NotFound, InvalidInput.
        """
        zone = self._chat_context.person.zone
        deletion = DeletionRequest(
            ids=ids,
            about=about,
            since=parse_bound(since, "since", zone),
            until=parse_bound(until, "until", zone),
            everything=everything,
        )
        if deletion == DeletionRequest():
            raise InvalidInput("Name what to forget: ids, about, since, until, or everything.")
        report = await forget(self._app, self._chat_context.person.id, deletion, orphan=orphan)
        return Forgot.from_domain(report)

    async def _embed_missing(self) -> None:
        problem = await try_embed_missing(self._app, self._chat_context.person.id)
        if problem is not None:  # the messages are stored, and found by words
            logger.warning("%s", problem)

    @property
    def _language(self) -> str:
        return self._chat_context.person.language or self._app.settings.language or "en"

    def _build_query(self, query: str) -> RecallQuery:
        text = sanitize_text(parse_query(query))
        language = detect_language(text, fallback=self._language)
        return RecallQuery(text=text, language=language, at=self._app.clock())


class MemoryOpener:
    """A memory to be opened by ``with`` or ``async with``."""

    def __init__(
        self, url: str | None, *, person: str | None, channel: str, maintenance_s: float
    ) -> None:
        """Store what to open; nothing is opened yet."""
        self._maintenance_s = maintenance_s
        self._url = url
        self._person = person
        self._channel = channel
        self._is_entered = False
        self._stack = AsyncExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __getattr__(self, name: str) -> NoReturn:
        """Raise MemoryMisused for methods that only an open memory has."""
        if hasattr(MemorySync, name):
            raise MemoryMisused(NOT_OPEN_MESSAGE)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    async def __aenter__(self) -> Memory:
        """Open it for asynchronous use. Raises StoreError, InvalidInput, MemoryMisused."""
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
        """Close the memory."""
        try:
            await self._stack.aclose()
        finally:
            self._is_entered = False

    def __enter__(self) -> MemorySync:
        """Open it for synchronous use, with an event loop in a thread of its own."""
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
        """Close the memory and stop its event loop."""
        assert self._loop is not None
        try:
            asyncio.run_coroutine_threadsafe(self._stack.aclose(), self._loop).result()
        finally:
            self._stop()

    def _enter(self) -> None:
        if self._is_entered:
            raise MemoryMisused(ALREADY_OPEN_MESSAGE)
        self._is_entered = True

    async def _open(self) -> Memory:
        async with AsyncExitStack() as stack:
            settings = load_settings_for_url(self._url)
            app = await stack.enter_async_context(open_app(settings))
            chat_context = await open_local_chat(
                app.db, app.clock, app.settings, person=self._person, channel=self._channel
            )
            app_with_asker = app.with_asker(CallContext(person=chat_context.person.id))
            memory = Memory(app_with_asker, chat_context, maintenance_s=self._maintenance_s)
            stack.push_async_callback(memory.close)
            self._stack = stack.pop_all()
        return memory

    def _stop(self) -> None:
        self._is_entered = False
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
