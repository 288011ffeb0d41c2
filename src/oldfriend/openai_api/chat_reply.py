"""Chat reply: what a reply to a program is made of, whoever writes it and in whichever format."""

from dataclasses import dataclass
from typing import Protocol

from oldfriend.llm.model import TextCallback, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedReply:
    """A whole reply."""

    text: str
    calls: tuple[ToolCall, ...] = ()  # of the program's own tools, which it is to run
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    is_truncated: bool = False

    @property
    def finish_reason(self) -> str:
        """Return why it ended, as OpenAI names it."""
        if self.calls:
            return "tool_calls"
        return "length" if self.is_truncated else "stop"


class ChatReply(Protocol):
    """A reply that is about to be written."""

    @property
    def id(self) -> str:
        """Return the id by which the receipt is found, where there is one."""

    async def write(self, on_text: TextCallback) -> FinishedReply:
        """Write the reply, piece by piece as far as it is written here.

        The pieces add up to the text. Raises OldfriendError, ApiRefusal.
        """

    async def abandon(self) -> None:
        """End it, because nobody waits for it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedReply:
    """A reply that is known already."""

    id: str
    finished: FinishedReply

    async def write(self, on_text: TextCallback) -> FinishedReply:
        """Write it at once."""
        await on_text(self.finished.text)
        return self.finished

    async def abandon(self) -> None:
        """Do nothing: it is over."""


@dataclass(slots=True)
class WrittenText:
    """Text that is passed on piece by piece and compared with what it becomes."""

    on_text: TextCallback
    text: str = ""

    async def write(self, piece: str) -> None:
        """Pass a piece on."""
        if piece:
            self.text += piece
            await self.on_text(piece)

    async def complete(self, whole: str) -> str:
        """Pass on what is missing of a whole text; return what was passed on altogether.

        What was passed on cannot be taken back: if the text has become another, it stays.
        """
        if whole.startswith(self.text):
            await self.write(whole[len(self.text) :])
        return self.text
