"""Call store: keeps the tool calls of a turn, so that a retried turn runs none of them twice.

Holds the protocol, which the caller implements on the database, and an in-memory implementation.
"""

from collections.abc import Sequence
from typing import Protocol

from oldfriend.llm.model import ToolCall
from oldfriend.usage.tool_calls import RecordedToolCall, ToolEffect


class ToolCallStore(Protocol):
    """The store for the tool calls of one turn, which are numbered from 0."""

    async def list_begun(self) -> Sequence[RecordedToolCall]:
        """Return all calls of this turn so far, in order, whichever attempt began them."""

    async def begin(self, number: int, call: ToolCall, kind: ToolEffect) -> None:
        """Record that a call begins; committed before the tool does anything."""

    async def finish(self, number: int, call: ToolCall, kind: ToolEffect, result: str) -> None:
        """Record a call's result, begun or not; committed before the result is used."""


class InMemoryToolCallStore:
    """A call store that does not outlive the process."""

    def __init__(self) -> None:
        """Start empty."""
        self.calls: dict[int, RecordedToolCall] = {}

    async def list_begun(self) -> Sequence[RecordedToolCall]:
        """Return the recorded calls."""
        return tuple(self.calls.values())

    async def begin(self, number: int, call: ToolCall, kind: ToolEffect) -> None:
        """Record that a call begins."""
        del kind  # a retried turn finds this store empty
        self._keep(number, call, None)

    async def finish(self, number: int, call: ToolCall, kind: ToolEffect, result: str) -> None:
        """Record a call's result."""
        del kind
        self._keep(number, call, result)

    def _keep(self, number: int, call: ToolCall, result: str | None) -> None:
        self.calls[number] = RecordedToolCall(
            number=number, name=call.name, arguments=call.arguments, result=result
        )
