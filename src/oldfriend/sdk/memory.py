"""Memory: opens one person's memory for a program, adds messages to it and recalls them."""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from typing_extensions import override

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
from oldfriend.memory.message_metadata import (
    Metadata,
    find_seqs_with_metadata,
    list_beliefs_from_messages,
    list_messages_with_metadata,
)
from oldfriend.presenters.belief_schemas import BeliefHit
from oldfriend.presenters.deletion_schemas import ForgetResult
from oldfriend.presenters.hit_schemas import Hit, RecalledHits
from oldfriend.presenters.message_schemas import StoredMessage
from oldfriend.runtime.maintenance import SLICE_S, MaintenanceTask, maintain
from oldfriend.runtime.wiring import open_app
from oldfriend.sdk.answering import Answer, answer_question
from oldfriend.sdk.belief_methods import BeliefMethods
from oldfriend.sdk.call_checks import build_unknown_method, check_calls, require_opened
from oldfriend.sdk.input_validation import (
    MessageInput,
    TimeInput,
    parse_bound,
    parse_count,
    parse_flag,
    parse_ids,
    parse_kind_names,
    parse_message_inputs,
    parse_metadata_filter,
    parse_optional_text,
    parse_seconds,
    parse_text,
)
from oldfriend.sdk.memory_sync import MemorySync
from oldfriend.sdk.open_memory import NOT_OPEN_MESSAGE
from oldfriend.sdk.record_methods import RecordMethods
from oldfriend.search.types import MessageScope
from oldfriend.turn.kind_filter import parse_kinds
from oldfriend.turn.later_messages import list_later_by_item
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.neighbors import list_neighbors
from oldfriend.turn.recalled import RecalledBelief, RecallQuery, get_item_id
from oldfriend.turn.retrieval import recall
from oldfriend.usage.model_calls import CallContext

BATCH_SIZE = 1000
ALREADY_OPEN_MESSAGE: Final = (
    "This memory is open already. Open one for each with block: `with Memory.open(...) as memory:`."
)
AWAITED_MESSAGE: Final = (
    "This memory was opened with `async with`, so its methods are awaited. To call them without "
    "await, open it with `with Memory.open(...) as memory:`."
)
logger = logging.getLogger("oldfriend")


@check_calls
class Memory(BeliefMethods, RecordMethods):
    """One person's open memory, made by ``Memory.open``; every method is awaited."""

    def __new__(cls, *given: object, **_: object) -> Self:
        """Raise MemoryMisused where it is not made by ``Memory.open``."""
        require_opened(given)
        return super().__new__(cls)

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
        return MemoryOpener(
            parse_optional_text(url, "url"),
            person=parse_optional_text(person, "person"),
            channel=parse_text(channel, "channel"),
            maintenance_s=parse_seconds(maintenance_s, "maintenance_s"),
        )

    async def __aenter__(self) -> Self:
        """Return itself: it stays open until the block that opened it ends."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave it open."""

    def __enter__(self) -> NoReturn:
        """Raise MemoryMisused: its methods are awaited."""
        raise MemoryMisused(AWAITED_MESSAGE)

    def __exit__(self, *_: object) -> None:
        """Never reached."""

    def __getattr__(self, name: str) -> NoReturn:
        """Raise UnknownMethod, which names what may be meant."""
        raise build_unknown_method(type(self), name)

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

        Each is a text, or a mapping or an object with ``text`` (or ``content``) and, if known,
        ``speaker``, ``role`` ("person", "companion", "other", or "user", "assistant", "tool",
        "system"), ``at`` (ISO 8601 or datetime; now if missing), ``id``, ``session`` and
        ``metadata`` (a mapping that ``recall`` and ``messages`` filter by). Without a role, a
        message without a speaker or with the person's own name is the person's, and any other is
        by somebody else; but where no message has a role, and one of two speakers answers at length
        whatever the other asks, that one is the companion and the other the person. A known ``id``
        with the same text is skipped; with another text or metadata it becomes a new version.
        Without a session, messages of the last half hour continue the open session, and the rest is
        split into sessions at pauses of half an hour. One dated more than a day ahead counts as
        said a day ago. Messages are stored, and found by words, before they are embedded.

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
        self,
        query: str,
        limit: int = 10,
        *,
        kinds: Collection[str] = (),
        around: bool = False,
        metadata: Metadata | None = None,
    ) -> RecalledHits:
        """Return the messages and beliefs that answer a query, best first; each has a ``kind``.

        What is nearest is returned even if it answers nothing: ``has_answer`` of the result tells
        whether any of it is likely to. ``kinds`` restricts them, such as to "message", "fact" or
        "event" (see ``Belief``); empty: all. With ``around`` a message comes with the three before
        and after it. ``later`` is what was said since and probably changed it.
        ``metadata`` restricts them to messages that were added with these values, and to beliefs
        that rest on those. Raises InvalidInput.
        """
        limit = parse_count(limit, "limit")
        deps, person = self._app.search_deps, self._chat_context.person
        kind_filter = parse_kinds(parse_kind_names(kinds, "kinds"))
        has_neighbors = parse_flag(around, "around")
        recall_query = replace(self._build_query(query), kinds=kind_filter.belief_kinds)
        recall_query = await self._limit_to_metadata(recall_query, metadata)
        hits: list[Hit | BeliefHit] = []
        found = await recall(deps, person, recall_query, limit=limit)
        shown = kind_filter.select(found.ranking)[:limit]
        later = await list_later_by_item(deps, person, recall_query, shown)
        for recalled in shown:
            since = later.get(get_item_id(recalled), ())
            if isinstance(recalled, RecalledBelief):
                hit = BeliefHit.from_recalled(recalled, person.zone, since, now=recall_query.at)
                hits.append(hit)
            else:
                neighbors = await list_neighbors(deps, recalled.message) if has_neighbors else ()
                hits.append(Hit.from_recalled(recalled, neighbors, since))
        self._maintenance.start()
        return RecalledHits.from_recalled(hits, found)

    async def ask(self, query: str, *, metadata: Metadata | None = None) -> Answer:
        """Have the connected language model answer a question from what is recalled for it.

        Neither the question nor the answer becomes part of the memory; the call counts against the
        daily limits. ``metadata`` restricts what is recalled, as in ``recall``. Raises
        InvalidInput, ModelNotSetUp without a model, AllowanceUsedUp, ModelError.
        """
        asked = await self._limit_to_metadata(self._build_query(query), metadata)
        answer = await answer_question(self._app, self._chat_context.person, asked)
        self._maintenance.start()
        return answer

    async def context(self, query: str, budget: int = 2000) -> str:
        """Return what the memory holds on a query, for a prompt, in at most ``budget`` tokens."""
        deps, recall_query = self._app.search_deps, self._build_query(query)
        most = parse_count(budget, "budget", least=0)
        assembled = await build_context(deps, self._chat_context.person, recall_query, budget=most)
        self._maintenance.start()
        return assembled

    async def messages(
        self,
        *,
        since: TimeInput | None = None,
        until: TimeInput | None = None,
        limit: int = 100,
        metadata: Metadata | None = None,
    ) -> list[StoredMessage]:
        """Return the newest messages in a span of time (``until`` excluded), oldest first.

        Times are datetimes or ISO 8601 text, as in ``add``; with ``metadata`` only messages that
        were added with these values are returned. Raises InvalidInput.
        """
        person = self._chat_context.person
        first, end = (
            parse_bound(since, "since", person.zone),
            parse_bound(until, "until", person.zone),
        )
        wanted, most = parse_metadata_filter(metadata, "metadata"), parse_count(limit, "limit")
        async with self._app.db.begin_read() as tx:
            if wanted is None:
                found = await list_messages(tx, person.id, since=first, until=end, limit=most)
            else:
                found = await list_messages_with_metadata(
                    tx, person.id, wanted, since=first, until=end, limit=most
                )
        return [StoredMessage.from_domain(message) for message in found]

    async def forget(
        self,
        *ids: str,
        about: str | None = None,
        since: TimeInput | None = None,
        until: TimeInput | None = None,
        everything: bool = False,
        orphan: bool = False,
    ) -> ForgetResult:
        """Delete messages for good, with everything that rests on them; it cannot be undone.

        ``ids`` are those of ``StoredMessage`` and ``Hit``, not those that a program gave to
        ``add``; ``about`` is the name of an entity. With ``orphan``, beliefs that rested on them
        stay. Raises NotFound, InvalidInput.
        """
        zone = self._chat_context.person.zone
        deletion = DeletionRequest(
            ids=parse_ids(ids, "ids"),
            about=parse_optional_text(about, "about"),
            since=parse_bound(since, "since", zone),
            until=parse_bound(until, "until", zone),
            everything=parse_flag(everything, "everything"),
        )
        keeps_beliefs = parse_flag(orphan, "orphan")
        if deletion == DeletionRequest():
            raise InvalidInput("Name what to forget: ids, about, since, until, or everything.")
        person = self._chat_context.person.id
        report = await forget(self._app, person, deletion, orphan=keeps_beliefs)
        return ForgetResult.from_domain(report)

    async def _limit_to_metadata(
        self, query: RecallQuery, metadata: Metadata | None
    ) -> RecallQuery:
        wanted, person = parse_metadata_filter(metadata, "metadata"), self._chat_context.person.id
        if wanted is None:
            return query
        async with self._app.db.begin_read() as tx:
            messages = await find_seqs_with_metadata(tx, person, wanted)
            beliefs = await list_beliefs_from_messages(tx, person, messages.values())
        scope = MessageScope(seqs=frozenset(messages))
        return replace(query, scope=scope, belief_ids=beliefs)

    async def _embed_missing(self) -> None:
        problem = await try_embed_missing(self._app, self._chat_context.person.id)
        if problem is not None:  # the messages are stored, and found by words
            logger.warning("%s", problem)

    @property
    def _language(self) -> str:
        return self._chat_context.person.language or self._app.settings.language or "en"

    def _build_query(self, query: str) -> RecallQuery:
        text = sanitize_text(parse_text(query, "query"))
        language = detect_language(text, fallback=self._language)
        return RecallQuery(text=text, language=language, at=self._app.clock())


class MemoryOpener:
    """A memory to be opened by ``with`` or ``async with``; within the block it has its methods."""

    def __init__(
        self, url: str | None, *, person: str | None, channel: str, maintenance_s: float
    ) -> None:
        """Store what to open; nothing is opened yet."""
        self._maintenance_s = maintenance_s
        self._url = url
        self._person = person
        self._channel = channel
        self._is_entered = False
        self._opened: Memory | MemorySync | None = None
        self._stack = AsyncExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a method of the memory while it is open; raise MemoryMisused otherwise."""
        if name.startswith("_") or not hasattr(MemorySync, name):
            raise build_unknown_method(MemorySync, name)
        if self._opened is None:
            raise MemoryMisused(NOT_OPEN_MESSAGE)
        method: Callable[..., Any] = getattr(self._opened, name)
        return method

    @override
    def __dir__(self) -> list[str]:
        """Name what an open memory has."""
        return [name for name in dir(MemorySync) if not name.startswith("_")]

    async def __aenter__(self) -> Memory:
        """Open it for asynchronous use. Raises StoreError, InvalidInput, MemoryMisused."""
        self._enter()
        try:
            self._opened = memory = await self._open()
        except BaseException:
            self._is_entered = False
            raise
        return memory

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the memory."""
        self._opened = None
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
        self._opened = opened = MemorySync(memory, self._loop)
        return opened

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the memory and stop its event loop."""
        self._opened = None
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
