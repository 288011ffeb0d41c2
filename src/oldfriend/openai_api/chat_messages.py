"""Chat messages: what a program sends of a conversation, in any of its formats, checked."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.channels.message_details import MEDIA_NAMES, MediaKind
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text
from oldfriend.llm.model import ToolCall, ToolDefinition, keep_unreadable
from oldfriend.openai_api.error_json import ApiRefusal

ChatRole = Literal["system", "user", "assistant", "tool"]

ROLES: Final[Mapping[str, ChatRole]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
TEXT_PARTS: Final = ("text", "input_text", "output_text")
"""Types of the parts of a content that hold text."""
PART_KINDS: Final[Mapping[str, MediaKind]] = {
    "image_url": "photo",
    "input_image": "photo",
    "input_audio": "audio",
    "video_url": "video",
}
"""What the other parts of a content are; any other is a file."""
NOT_SEEN: Final = "[{name}, which you cannot see]"
"""What a model is told in place of such a part."""
MAX_MESSAGES: Final = 5_000
MAX_TOOLS: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation as a program sends it."""

    role: ChatRole
    text: str
    calls: tuple[ToolCall, ...] = ()  # only the assistant's
    call_id: str = ""  # of the call whose result a tool's message is
    name: str = ""  # of the tool
    unseen: tuple[MediaKind, ...] = ()  # its parts that are no text

    @property
    def is_said(self) -> bool:
        """Tell whether it was said by one side to the other, not to or by a tool."""
        return self.role in {"user", "assistant"} and not self.calls

    @property
    def unseen_note(self) -> str:
        """Return what stands for the parts that are no text; empty if there are none."""
        return "\n".join(NOT_SEEN.format(name=MEDIA_NAMES[each]) for each in self.unseen)


def read_object(value: JsonValue, param: str) -> dict[str, JsonValue]:
    """Return a JSON object. Raises ApiRefusal."""
    if not isinstance(value, dict):
        raise ApiRefusal(400, f"“{param}” must be an object.", param=param)
    return value


def read_list(value: JsonValue, param: str, *, most: int) -> list[JsonValue]:
    """Return a JSON list; none counts as an empty one. Raises ApiRefusal."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise ApiRefusal(400, f"“{param}” must be a list.", param=param)
    if len(value) > most:
        raise ApiRefusal(400, f"“{param}” has more than {most} items.", param=param)
    return value


def read_text(value: JsonValue, param: str, *, default: str = "") -> str:
    """Return a text; none counts as the default. Raises ApiRefusal."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise ApiRefusal(400, f"“{param}” must be a text.", param=param)
    return sanitize_text(value)


def read_messages(value: JsonValue, param: str = "messages") -> tuple[ChatMessage, ...]:
    """Return the messages of a request. Raises ApiRefusal."""
    found = read_list(value, param, most=MAX_MESSAGES)
    return tuple(
        read_message(read_object(each, f"{param}[{number}]"), f"{param}[{number}]")
        for number, each in enumerate(found)
    )


def read_message(value: Mapping[str, JsonValue], param: str) -> ChatMessage:
    """Return one message. Raises ApiRefusal."""
    role = ROLES.get(read_text(value.get("role"), f"{param}.role"))
    if role is None:
        known = ", ".join(sorted({*ROLES.values()}))
        raise ApiRefusal(400, f"“{param}.role” must be one of: {known}.", param=f"{param}.role")
    text, unseen = read_content(value.get("content"), f"{param}.content")
    return ChatMessage(
        role=role,
        text=text,
        unseen=(*unseen, *read_images(value.get("images"), f"{param}.images")),
        calls=read_calls(value.get("tool_calls"), f"{param}.tool_calls"),
        call_id=read_text(value.get("tool_call_id"), f"{param}.tool_call_id"),
        name=read_text(value.get("name") or value.get("tool_name"), f"{param}.name"),
    )


def read_content(value: JsonValue, param: str) -> tuple[str, tuple[MediaKind, ...]]:
    """Return the text of a content, and what its other parts are. Raises ApiRefusal."""
    if value is None or isinstance(value, str):
        return read_text(value, param), ()
    texts: list[str] = []
    unseen: list[MediaKind] = []
    for number, each in enumerate(read_list(value, param, most=MAX_MESSAGES)):
        part = read_object(each, f"{param}[{number}]")
        if part.get("type") in TEXT_PARTS:
            texts.append(read_text(part.get("text"), f"{param}[{number}].text"))
        else:
            unseen.append(PART_KINDS.get(str(part.get("type")), "document"))
    return "\n".join(texts), tuple(unseen)


def read_images(value: JsonValue, param: str) -> tuple[MediaKind, ...]:
    """Return what stands for the pictures of a message of Ollama's programs. Raises ApiRefusal."""
    return tuple(PART_KINDS["image_url"] for _ in read_list(value, param, most=MAX_MESSAGES))


def read_calls(value: JsonValue, param: str) -> tuple[ToolCall, ...]:
    """Return the tool calls of an assistant's message. Raises ApiRefusal."""
    calls = []
    for number, each in enumerate(read_list(value, param, most=MAX_TOOLS)):
        place = f"{param}[{number}]"
        call = read_object(each, place)
        function = read_object(call.get("function"), f"{place}.function")
        name = read_text(function.get("name"), f"{place}.function.name")
        calls.append(
            ToolCall(
                id=read_text(call.get("id"), f"{place}.id") or name_call(place),
                name=name,
                arguments=read_arguments(function.get("arguments")),
            )
        )
    return tuple(calls)


def name_call(place: str) -> str:
    """Return an id for a call that has none, by its place: Ollama's programs send none."""
    return "call-" + "-".join("".join(c if c.isdigit() else " " for c in place).split())


def read_arguments(value: JsonValue) -> Mapping[str, JsonValue]:
    """Return the arguments of a call: an object, or one written as text."""
    if isinstance(value, dict):
        return value
    raw = value if isinstance(value, str) else ""
    try:
        found = json.loads(raw or "{}")
    except (ValueError, RecursionError):
        return keep_unreadable(raw)
    return found if isinstance(found, dict) else keep_unreadable(raw)


def read_tools(value: JsonValue, param: str = "tools") -> tuple[ToolDefinition, ...]:
    """Return the tools that a program offers, whether or not their function is nested."""
    tools = []
    for number, each in enumerate(read_list(value, param, most=MAX_TOOLS)):
        tool = read_object(each, f"{param}[{number}]")
        if tool.get("type", "function") != "function":
            continue  # such as a search that only OpenAI runs
        function = read_object(tool.get("function", tool), f"{param}[{number}].function")
        parameters = function.get("parameters")
        tools.append(
            ToolDefinition(
                name=read_text(function.get("name"), f"{param}[{number}].function.name"),
                description=read_text(function.get("description"), f"{param}[{number}]"),
                parameters=parameters
                if isinstance(parameters, dict)
                else {"type": "object", "properties": {}},
            )
        )
    return tuple(tools)


def is_call_required(choice: JsonValue) -> bool:
    """Tell whether a request wants a tool called, whatever was said, by its choice of tools."""
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools", choice)  # nested in one of OpenAI's two formats
        choice = allowed.get("mode") if isinstance(allowed, dict) else "required"
    return choice == "required" or isinstance(choice, dict)


def join_texts(messages: Sequence[ChatMessage], role: ChatRole) -> str:
    """Return all texts of one role, in order."""
    return "\n\n".join(each.text for each in messages if each.role == role and each.text.strip())
