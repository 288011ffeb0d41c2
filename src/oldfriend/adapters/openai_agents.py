"""OpenAI Agents session: a conversation of the Agents SDK, kept word by word in a memory."""

import json
from typing import Any, Final, cast

from agents import TResponseInputItem
from agents.memory import SessionSettings

from oldfriend.domain.messages import MAX_TEXT_CHARS, Role
from oldfriend.sdk.memory import Memory

SESSION_KEY: Final = "agents_session"
ITEM_KEY: Final = "agents_item"
EVERYTHING: Final = 2**31
ROLES: Final[dict[object, Role]] = {"user": "person", "assistant": "companion"}
TOOL_TYPES: Final = ("function_call_output", "function_call", "mcp_call", "web_search_call")


class OldfriendSession:
    """A session of the Agents SDK; what the person says in it is learned and found elsewhere.

    ``Runner.run(agent, "Hi!", session=OldfriendSession(memory, "chat-1"))``
    """

    def __init__(
        self, memory: Memory, session_id: str, *, session_settings: SessionSettings | None = None
    ) -> None:
        """Keep the items of one session in a memory opened by ``async with``."""
        self.session_id = session_id
        self.session_settings = session_settings
        self._memory = memory

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest items, or all, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit < 1:
            return []
        stored = await self._memory.messages(metadata=self._own, limit=limit or EVERYTHING)
        return [cast(TResponseInputItem, each.metadata[ITEM_KEY]) for each in stored]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items verbatim; only the person's own words are evidence about them."""
        await self._memory.add([self._to_message(cast(dict[str, Any], each)) for each in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Forget the newest item and return it; None if there is none."""
        newest = await self._memory.messages(metadata=self._own, limit=1)
        if not newest:
            return None
        await self._memory.forget(newest[0].id)
        return cast(TResponseInputItem, newest[0].metadata[ITEM_KEY])

    async def clear_session(self) -> None:
        """Forget all items for good, with what was learned from them."""
        stored = await self._memory.messages(metadata=self._own, limit=EVERYTHING)
        if stored:
            await self._memory.forget(*(each.id for each in stored))

    @property
    def _own(self) -> dict[str, Any]:
        return {SESSION_KEY: self.session_id}

    def _to_message(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return an item as a message; what is no text of anybody is kept and never found."""
        text, role = read_text(item), ROLES.get(item.get("role"), "system")
        if item.get("type") in TOOL_TYPES:
            role = "tool"
        return {
            "role": role,
            "text": (text if text.strip() else json.dumps(item))[:MAX_TEXT_CHARS],
            "session": self.session_id,
            "metadata": {**self._own, ITEM_KEY: item},
        }


def read_text(item: dict[str, Any]) -> str:
    """Return the text of an item, or the result of its tool; empty if it has none."""
    content = item.get("content") or item.get("output") or ""
    if isinstance(content, str):
        return content
    texts = (each.get("text") for each in content if isinstance(each, dict))
    return "\n".join(each for each in texts if isinstance(each, str))
