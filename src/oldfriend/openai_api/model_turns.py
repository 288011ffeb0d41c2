"""Model turns: a conversation as a program sends it, as the turns that models are sent."""

from collections.abc import Sequence

from oldfriend.llm.model import USER_PLACEHOLDER, PromptTurn, ToolCall, ToolResult
from oldfriend.openai_api.chat_messages import ChatMessage


def build_turns(messages: Sequence[ChatMessage]) -> tuple[PromptTurn | ToolResult, ...]:
    """Return the turns of a conversation, in which calls and results come in pairs.

    A result without its call is left out, and a call without a result gets an empty one: providers
    take neither. The last turn is one to answer.
    """
    turns: list[PromptTurn | ToolResult] = []
    waiting: list[ToolCall] = []
    for each in messages:
        if each.role == "tool":
            call = take_call(waiting, each)
            if call is not None:
                turns.append(ToolResult(id=call.id, name=call.name, text=each.text))
            continue
        turns += [ToolResult(id=call.id, name=call.name, text="") for call in waiting]
        waiting.clear()
        if each.role == "user" and (each.text.strip() or each.unseen):
            parts = filter(None, (each.text, each.unseen_note))
            turns.append(PromptTurn(role="person", text="\n".join(parts)))
        elif each.role == "assistant" and (each.calls or each.text.strip()):
            turns.append(PromptTurn(role="companion", text=each.text, calls=each.calls))
            waiting += each.calls
    turns += [ToolResult(id=call.id, name=call.name, text="") for call in waiting]
    is_open = bool(turns) and (isinstance(turns[-1], ToolResult) or turns[-1].role == "person")
    if not is_open:
        turns.append(PromptTurn(role="instruction", text=USER_PLACEHOLDER))
    return tuple(turns)


def take_call(waiting: list[ToolCall], result: ChatMessage) -> ToolCall | None:
    """Take the call that a result belongs to: by its id, else by its name, else the first one."""
    by_id = [each for each in waiting if result.call_id and each.id == result.call_id]
    if result.call_id and not by_id:
        return None
    by_name = [each for each in waiting if result.name and each.name == result.name]
    found = next(iter([*by_id, *by_name, *waiting]), None)
    if found is not None:
        waiting.remove(found)
    return found
