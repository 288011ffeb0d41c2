"""Memory port: what the protocol server needs of a memory, so that it is loaded only when used."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

from oldfriend.domain.json import JsonValue


class MemoryPort(Protocol):
    """One person's memory, as far as a program may use it."""

    async def call(self, tool: str, arguments: Mapping[str, JsonValue], *, program: str) -> str:
        """Return a tool's result as JSON to a program. Raises OldfriendError with what to do."""
        ...

    async def build_profile(self) -> str:
        """Return what is known of the person, as text."""
        ...

    async def build_start(self, topic: str) -> str:
        """Return what is known of the person and of a topic, as text."""
        ...


OpenMemory: TypeAlias = Callable[[], Awaitable[MemoryPort]]
"""Opens the memory at the first use. Raises OldfriendError where it cannot be opened."""
