"""Confirmation: has the person asked before a call that acts outside or costs, and keeps the call.

The question is worded here from the call itself, so that what the person agrees to is what is done.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall
from oldfriend.turn.prompt_labels import strip_invisible
from oldfriend.turn.store_change import ChangeScope, StoreChange
from oldfriend.turn.tools.tool_words import ToolWords
from oldfriend.usage.tool_log import (
    LoggedToolUse,
    PendingCall,
    ToolUseStatus,
    delete_pending_call,
    log_tool_use,
    save_pending_call,
)

ANSWERABLE_FOR: Final[Micros] = 10 * MINUTE
MAX_QUESTION_CHARS: Final = 1_000
"""A call with more to show is not asked about: nobody agrees to what they cannot read."""

ESCAPED: Final = re.compile(r"[“”\\<>␣]|(?<=\[)\[|(?<=\])\]|[^\S ]|(?<=\s) | (?=\s)|^ | $")
"""What is shown as an escape: the rest of a value is shown as it is."""
ESCAPES: Final = {
    "“": "\\“",
    "”": "\\”",
    "\\": "\\\\",
    "\n": "\\n",
    "\t": "\\t",
    " ": "␣",
    "[": "\\[",
    "]": "\\]",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the person is asked, and the call that waits for the answer."""

    text: str
    change: StoreChange


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepPendingCall:
    """The change that has a call wait for the person's yes."""

    call: ToolCall

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Keep the call, in place of what the person was asked before in this chat."""
        assert scope.message.turn is not None
        pending = PendingCall(
            chat=scope.message.chat, turn=scope.message.turn, call=self.call, asked_at=scope.now
        )
        await save_pending_call(tx, scope.person.id, pending)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlePendingCall:
    """The change that ends the wait of a call, and logs why if it was not done."""

    pending: PendingCall
    status: ToolUseStatus

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Delete the call."""
        pending, person = self.pending, scope.person.id
        was_there = await delete_pending_call(tx, person, pending.chat, pending.turn)
        if was_there and self.status != "done":
            use = LoggedToolUse(
                turn=scope.message.turn or pending.turn,
                name=pending.call.name,
                status=self.status,
                arguments=pending.call.arguments,
                made_at=scope.now,
            )
            await log_tool_use(tx, person, use)


def build_question(call: ToolCall, label: str, words: ToolWords) -> Question | None:
    """Return the question about a call; None if it cannot be read: too long, or partly hidden."""
    if has_hidden(dict(call.arguments)):
        return None
    details = format_arguments(call.arguments, words)
    text = words.say["ask_with" if details else "ask"].format(label=label, details=details)
    if len(text) > MAX_QUESTION_CHARS:
        return None
    return Question(text=text, change=KeepPendingCall(call=call))


def format_arguments(arguments: Mapping[str, JsonValue], words: ToolWords) -> str:
    """Return all arguments of a call in words."""
    values = {name: format_value(value) for name, value in arguments.items() if value is not None}
    if len(values) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{words.get_field_label(name)}: {each}" for name, each in values.items())


def format_value(value: JsonValue) -> str:
    """Return a value on one line, within marks that show where it and its parts begin and end."""
    if isinstance(value, list):
        return f"[{', '.join(map(format_value, value))}]"
    if isinstance(value, dict):
        parts = (f"{format_value(name)}: {format_value(each)}" for name, each in value.items())
        return f"{{{', '.join(parts)}}}"
    return f"“{ESCAPED.sub(escape, value if isinstance(value, str) else json.dumps(value))}”"


def escape(found: re.Match[str]) -> str:
    """Return characters as they are shown that would not be seen, or pass for marks of ours."""
    return "".join(ESCAPES.get(each) or f"\\u{ord(each):04x}" for each in found[0])


def has_hidden(value: JsonValue) -> bool:
    """Tell whether there is anything in a value or its names that nobody sees."""
    if isinstance(value, list):
        return any(map(has_hidden, value))
    if isinstance(value, dict):
        return any(has_hidden(name) or has_hidden(each) for name, each in value.items())
    return isinstance(value, str) and strip_invisible(value) != value
