"""Synchronous memory: the methods of ``Memory`` for programs that do not await."""

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from oldfriend.domain.errors import MemoryMisused
from oldfriend.presenters.belief_schemas import Belief
from oldfriend.presenters.deletion_schemas import Forgot
from oldfriend.presenters.history_schemas import Decided
from oldfriend.presenters.hit_schemas import RecalledHits
from oldfriend.presenters.message_schemas import Words
from oldfriend.sdk.belief_methods import NOT_OPEN_MESSAGE
from oldfriend.sdk.input_validation import MessageInput, TimeInput

if TYPE_CHECKING:
    from oldfriend.sdk.memory import Memory

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
