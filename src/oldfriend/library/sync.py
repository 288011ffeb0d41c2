"""How does a program use the memory that does not await? The same methods, one by one."""

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from oldfriend.app.given import Given
from oldfriend.domain.errors import MemoryMisused
from oldfriend.library.beliefs import NOT_OPEN
from oldfriend.library.shapes import Belief, BeliefHit, Decided, Forgot, Hit, Moment, Words

if TYPE_CHECKING:
    from oldfriend.library.memory import Memory

T = TypeVar("T")


class MemorySync:
    """One person's memory, open, for programs that do not await. See ``Memory``."""

    def __init__(self, memory: "Memory", loop: asyncio.AbstractEventLoop) -> None:
        """Internal: use ``Memory.open``."""
        self._memory = memory
        self._loop = loop

    def add(self, messages: Iterable[Given]) -> int:
        """Keep messages; how many were new. See ``Memory.add``."""
        return self._wait(self._memory.add(messages))

    def recall(
        self, query: str, limit: int = 10, *, kinds: Collection[str] = (), around: bool = False
    ) -> list[Hit | BeliefHit]:
        """The messages and beliefs that answer a query, best first. See ``Memory.recall``."""
        return self._wait(self._memory.recall(query, limit, kinds=kinds, around=around))

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

    def consolidate(self) -> int:
        """Read everything that was kept, and learn from it. See ``Memory.consolidate``."""
        return self._wait(self._memory.consolidate())

    def facts(self) -> list[Belief]:
        """The facts and preferences that hold now, oldest first, each with its words."""
        return self._wait(self._memory.facts())

    def entities(self) -> list[Belief]:
        """Whom and what is known by name."""
        return self._wait(self._memory.entities())

    def summaries(self) -> list[Belief]:
        """What was said, in short: the highest level first."""
        return self._wait(self._memory.summaries())

    def beliefs(self, *, as_of: Moment | None = None, about: str | None = None) -> list[Belief]:
        """Everything believed now, or at a moment. See ``Memory.beliefs``."""
        return self._wait(self._memory.beliefs(as_of=as_of, about=about))

    def history(self, belief: str) -> list[Decided]:
        """What was decided about a belief, oldest first. See ``Memory.history``."""
        return self._wait(self._memory.history(belief))

    def correct(
        self, belief: str, text: str, *, value: str | None = None, since: str | None = None
    ) -> list[Belief]:
        """Say it right. See ``Memory.correct``."""
        return self._wait(self._memory.correct(belief, text, value=value, since=since))

    def pin(self, belief: str) -> list[Belief]:
        """Let it never fade, nor be merged away."""
        return self._wait(self._memory.pin(belief))

    def unpin(self, belief: str) -> list[Belief]:
        """Let it fade like others."""
        return self._wait(self._memory.unpin(belief))

    def confirm(self, belief: str) -> list[Belief]:
        """It is so."""
        return self._wait(self._memory.confirm(belief))

    def reject(self, belief: str) -> list[Belief]:
        """It is not so. See ``Memory.reject``."""
        return self._wait(self._memory.reject(belief))

    def merge(self, belief: str, other: str) -> list[Belief]:
        """Two say or name the same: the second joins the first."""
        return self._wait(self._memory.merge(belief, other))

    def separate(self, belief: str, other: str) -> list[Belief]:
        """Two are not the same, and stay two."""
        return self._wait(self._memory.separate(belief, other))

    def undo_import(self, number: int) -> int:
        """Take an import out; how many messages went. See ``Memory.undo_import``."""
        return self._wait(self._memory.undo_import(number))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise MemoryMisused(NOT_OPEN)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
