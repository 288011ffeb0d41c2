"""Hermes memory provider: this memory in Hermes Agent, found before and kept after each turn."""

import json
from pathlib import Path
from typing import Any, Final

from agent.memory_provider import MemoryProvider
from typing_extensions import override

from oldfriend.prompts.prompt import get_prompt
from oldfriend.sdk.memory import Memory, MemoryOpener
from oldfriend.sdk.memory_sync import MemorySync

PROMPT: Final = "adapters/1"
TOOL: Final = "oldfriend_recall"
RECORD_TOKENS: Final = 1000
MAX_FOUND: Final = 20
SILENT_CONTEXTS: Final = ("subagent", "cron", "flush")
"""What is said in these is not by the person, and is not kept."""


class OldfriendMemoryProvider(MemoryProvider):
    """The memory of one person for Hermes: at a URL, or a file in Hermes's own folder."""

    def __init__(self, url: str | None = None, *, person: str | None = None) -> None:
        """Open nothing yet; without a name, each user of a gateway has a memory of their own."""
        self._url, self._person = url, person
        self._opener: MemoryOpener | None = None
        self._memory: MemorySync | None = None
        self._session = ""
        self._is_kept = True

    @property
    @override
    def name(self) -> str:
        """Return the name by which Hermes's settings choose it."""
        return "oldfriend"

    @override
    def is_available(self) -> bool:
        """Return True: it needs no key and no service."""
        return True

    @override
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Open the memory for a session."""
        self.shutdown()
        self._session = session_id
        self._is_kept = kwargs.get("agent_context", "primary") not in SILENT_CONTEXTS
        url = self._url or f"sqlite:///{Path(kwargs['hermes_home']) / 'oldfriend.db'}"
        person = self._person or kwargs.get("user_id")
        self._opener = Memory.open(url, person=person, channel="hermes")
        self._memory = self._opener.__enter__()

    @override
    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Return what is known that bears on the next turn."""
        if self._memory is None or not query.strip():
            return ""
        records = self._memory.context(query, RECORD_TOKENS)
        return get_prompt(PROMPT).render("records", records=records) if records else ""

    @override
    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Keep what was said and answered in a turn."""
        if self._memory is None or not self._is_kept:
            return
        said = [("user", user_content), ("assistant", assistant_content)]
        self._memory.add(
            [
                {"role": role, "content": text, "session": session_id or self._session}
                for role, text in said
                if text and text.strip()
            ]
        )

    @override
    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Offer one tool, which searches."""
        prompt = get_prompt(PROMPT)
        query = {"type": "string", "description": prompt.render("query")}
        parameters = {"type": "object", "properties": {"query": query}, "required": ["query"]}
        return [{"name": TOOL, "description": prompt.render("recall"), "parameters": parameters}]

    @override
    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Search, and return what was found as JSON."""
        if self._memory is None or tool_name != TOOL:
            return json.dumps({"error": f"There is no tool {tool_name} now."})
        hits = self._memory.recall(str(args.get("query", "")), MAX_FOUND)
        found = [{"kind": each.kind, "at": str(each.at), "text": each.text} for each in hits]
        return json.dumps({"found": found, "has_answer": hits.has_answer}, ensure_ascii=False)

    @override
    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        """Keep what comes in another session."""
        self._session = new_session_id

    @override
    def shutdown(self) -> None:
        """Close the memory."""
        if self._opener is not None:
            self._opener.__exit__(None, None, None)
        self._opener = self._memory = None
