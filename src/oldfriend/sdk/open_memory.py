"""Open memory: what every part of ``Memory`` works with while it is open."""

from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import MemoryMisused
from oldfriend.inbound.accept import ChatContext

NOT_OPEN_MESSAGE: Final = (
    "This memory is not open. Use it inside its with block: `with Memory.open(...) as memory:`, "
    "or `async with` in a program that awaits."
)


class OpenMemory:
    """One person's memory while it is open; its methods stand in parts by what they are about."""

    def __init__(self, app: AppContext, chat_context: ChatContext) -> None:
        """Internal: use ``Memory.open``."""
        self._open_app: AppContext | None = app
        self._chat_context = chat_context

    @property
    def _app(self) -> AppContext:
        if self._open_app is None:
            raise MemoryMisused(NOT_OPEN_MESSAGE)
        return self._open_app
