"""Where are the tool calls of one turn kept, so that a turn that runs again does nothing twice?

A protocol for the shell, which keeps them in the ledger, and a desk that lasts as long as the
process for whoever needs no more. Neither knows any tool.
"""

from collections.abc import Sequence
from typing import Protocol

from oldfriend.ledger.tools import Kept, ToolClass
from oldfriend.llm.model import ToolCall


class Desk(Protocol):
    """Where the tool calls of one turn are kept; they are counted from 0."""

    async def list_begun(self) -> Sequence[Kept]:
        """All calls of this turn so far, in order, whichever run began them."""

    async def begin(self, call: int, asked: ToolCall, kind: ToolClass) -> None:
        """Keep that a call begins; committed before the tool does anything."""

    async def finish(self, call: int, asked: ToolCall, kind: ToolClass, result: str) -> None:
        """Keep what a call gave, begun or not; committed before anything is done with it."""


class LooseDesk:
    """A desk that keeps nothing beyond the process."""

    def __init__(self) -> None:
        """Begin with an empty one."""
        self.kept: dict[int, Kept] = {}

    async def list_begun(self) -> Sequence[Kept]:
        """What was kept."""
        return tuple(self.kept.values())

    async def begin(self, call: int, asked: ToolCall, kind: ToolClass) -> None:
        """Keep that it began."""
        del kind  # whoever runs again finds this desk empty
        self._keep(call, asked, None)

    async def finish(self, call: int, asked: ToolCall, kind: ToolClass, result: str) -> None:
        """Keep what it gave."""
        del kind
        self._keep(call, asked, result)

    def _keep(self, call: int, asked: ToolCall, result: str | None) -> None:
        self.kept[call] = Kept(
            number=call, name=asked.name, arguments=asked.arguments, result=result
        )
