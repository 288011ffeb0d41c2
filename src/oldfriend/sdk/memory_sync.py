"""Synchronous memory: the methods of ``Memory`` for programs that do not await."""

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self, TypeVar

from oldfriend.domain.errors import MemoryMisused
from oldfriend.memory.message_metadata import Metadata
from oldfriend.presenters.belief_schemas import Belief
from oldfriend.presenters.deletion_schemas import ForgetResult
from oldfriend.presenters.history_schemas import Decision
from oldfriend.presenters.hit_schemas import RecalledHits
from oldfriend.presenters.message_schemas import StoredMessage
from oldfriend.sdk.answering import Answer
from oldfriend.sdk.call_checks import build_unknown_method, check_calls
from oldfriend.sdk.input_validation import MessageInput, TimeInput
from oldfriend.sdk.open_memory import NOT_OPEN_MESSAGE
from oldfriend.sdk.record_methods import Goal, Task, Watch

if TYPE_CHECKING:
    from oldfriend.sdk.memory import Memory

T = TypeVar("T")
NOT_AWAITED_MESSAGE: Final = (
    "This memory was opened with `with`, so its methods are called, not awaited. To await them, "
    "open it with `async with Memory.open(...) as memory:`."
)


@check_calls
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
        self,
        query: str,
        limit: int = 10,
        *,
        kinds: Collection[str] = (),
        around: bool = False,
        metadata: Metadata | None = None,
    ) -> RecalledHits:
        """Return the messages and beliefs that answer a query, best first.

        See ``Memory.recall``.
        """
        return self._run(
            self._memory.recall(query, limit, kinds=kinds, around=around, metadata=metadata)
        )

    def ask(self, query: str, *, metadata: Metadata | None = None) -> Answer:
        """Have the connected language model answer a question. See ``Memory.ask``."""
        return self._run(self._memory.ask(query, metadata=metadata))

    def context(self, query: str, budget: int = 2000) -> str:
        """Return what the memory holds on a query, for a prompt. See ``Memory.context``."""
        return self._run(self._memory.context(query, budget))

    def messages(
        self,
        *,
        since: TimeInput | None = None,
        until: TimeInput | None = None,
        limit: int = 100,
        metadata: Metadata | None = None,
    ) -> list[StoredMessage]:
        """Return the newest messages in a span of time, oldest first. See ``Memory.messages``."""
        return self._run(
            self._memory.messages(since=since, until=until, limit=limit, metadata=metadata)
        )

    def forget(
        self,
        *ids: str,
        about: str | None = None,
        since: TimeInput | None = None,
        until: TimeInput | None = None,
        everything: bool = False,
        orphan: bool = False,
    ) -> ForgetResult:
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

    def unconfirmed(self) -> list[Belief]:
        """Return what is not believed before it is confirmed. See ``Memory.unconfirmed``."""
        return self._run(self._memory.unconfirmed())

    def entities(self) -> list[Belief]:
        """Return the entities known by name. See ``Memory.entities``."""
        return self._run(self._memory.entities())

    def summaries(self) -> list[Belief]:
        """Return the summaries of conversations. See ``Memory.summaries``."""
        return self._run(self._memory.summaries())

    def beliefs(self, *, as_of: TimeInput | None = None, about: str | None = None) -> list[Belief]:
        """Return all beliefs held now, or at a moment. See ``Memory.beliefs``."""
        return self._run(self._memory.beliefs(as_of=as_of, about=about))

    def history(self, belief: str) -> list[Decision]:
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

    def add_task(
        self, text: str, *, due: TimeInput | None = None, rrule: str | None = None
    ) -> Task:
        """Put a reminder or a to-do on the list. See ``Memory.add_task``."""
        return self._run(self._memory.add_task(text, due=due, rrule=rrule))

    def tasks(self, *, ended: bool = False) -> list[Task]:
        """Return the reminders and to-dos, the next due first. See ``Memory.tasks``."""
        return self._run(self._memory.tasks(ended=ended))

    def complete_task(self, task: str) -> Task:
        """Mark a task as done. See ``Memory.complete_task``."""
        return self._run(self._memory.complete_task(task))

    def add_goal(self, text: str, *, deadline: TimeInput | None = None) -> Goal:
        """Set a goal. See ``Memory.add_goal``."""
        return self._run(self._memory.add_goal(text, deadline=deadline))

    def goals(self, *, ended: bool = False) -> list[Goal]:
        """Return the goals with how far they are. See ``Memory.goals``."""
        return self._run(self._memory.goals(ended=ended))

    def count_for_goal(self, goal: str) -> Goal:
        """Count that something was done for a goal. See ``Memory.count_for_goal``."""
        return self._run(self._memory.count_for_goal(goal))

    def complete_goal(self, goal: str) -> Goal:
        """Say that a goal is reached. See ``Memory.complete_goal``."""
        return self._run(self._memory.complete_goal(goal))

    def drop_goal(self, goal: str) -> Goal:
        """Put a goal aside. See ``Memory.drop_goal``."""
        return self._run(self._memory.drop_goal(goal))

    def add_watch(
        self, url: str, *, below: float | None = None, above: float | None = None
    ) -> Watch:
        """Have a page watched. See ``Memory.add_watch``."""
        return self._run(self._memory.add_watch(url, below=below, above=above))

    def watches(self, *, ended: bool = False) -> list[Watch]:
        """Return what is watched. See ``Memory.watches``."""
        return self._run(self._memory.watches(ended=ended))

    def end_watch(self, watch: str) -> Watch:
        """End a watch. See ``Memory.end_watch``."""
        return self._run(self._memory.end_watch(watch))

    def undo_import(self, number: int) -> int:
        """Remove an import; return how many messages were removed. See ``Memory.undo_import``."""
        return self._run(self._memory.undo_import(number))

    def __enter__(self) -> Self:
        """Return itself: it stays open until the block that opened it ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it open."""

    async def __aenter__(self) -> NoReturn:
        """Raise MemoryMisused: its methods are not awaited."""
        raise MemoryMisused(NOT_AWAITED_MESSAGE)

    async def __aexit__(self, *_: object) -> None:
        """Never reached."""

    def __getattr__(self, name: str) -> NoReturn:
        """Raise UnknownMethod, which names what may be meant."""
        raise build_unknown_method(type(self), name)

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            coroutine.close()
            raise MemoryMisused(NOT_OPEN_MESSAGE)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
