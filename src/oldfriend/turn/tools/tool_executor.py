"""Tool executor: runs a requested tool once, within limits, and stores the call as it happens.

Every failure becomes a result that the model reads; no call can end the turn. Tools are known by
their class only.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import UNREADABLE_ARGUMENTS, ToolCall, ToolDefinition, ToolResult
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.retrieval import RecalledItem, get_item_id
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolCallStore, ToolOutput
from oldfriend.usage.tool_calls import RecordedToolCall

JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}

MAX_RESULT_CHARS = 500
"""Characters of a result that are stored and shown; shorter ones stay whole."""

ToolCallStatus = Literal[
    "done",
    "reused",
    "failed",
    "too slow",
    "end not known",
    "unknown",
    "bad arguments",
    "repeated",
    "too many",
]
SUCCESS_STATUSES: Final[frozenset[ToolCallStatus]] = frozenset({"done", "reused"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """The outcome of one call."""

    call: ToolCall
    status: ToolCallStatus
    result: str
    items: tuple[RecalledItem, ...] = ()  # the records shown in the result
    source_ids: tuple[str, ...] = ()  # of others, shown in it in other words

    @property
    def seen_ids(self) -> tuple[str, ...]:
        """Return the ids of everything quoted or paraphrased in the result."""
        return (*map(get_item_id, self.items), *self.source_ids)


class ToolExecutor:
    """Runs the tools of one turn, one after the other."""

    def __init__(
        self,
        tools: Sequence[BoundTool],
        call_store: ToolCallStore,
        prompt: Prompt,
        *,
        max_calls: int,
        call_timeout_s: float,
    ) -> None:
        """Take the tools, the call store, the prompt for refusals, and the limits."""
        self.tools_by_name = {tool.definition.name: tool for tool in tools}
        self.call_store = call_store
        self.prompt = prompt
        self.max_calls = max_calls
        self.call_timeout_s = call_timeout_s
        self.uses: list[ToolUse] = []
        # Of earlier attempts, not reused yet; None: not loaded.
        self._earlier_calls: list[RecordedToolCall] | None = None
        self._next_number = 0

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return the tool specifications for the model."""
        return tuple(tool.definition for tool in self.tools_by_name.values())

    @property
    def is_exhausted(self) -> bool:
        """Tell whether no more tools may be used in this turn."""
        return len(self.uses) >= self.max_calls

    async def execute(self, call: ToolCall) -> ToolResult:
        """Run a requested call, or return why not."""
        use = await self._execute(call)
        self.uses.append(use)
        return ToolResult(id=call.id, name=call.name, text=use.result)

    async def _execute(self, call: ToolCall) -> ToolUse:
        """Check the call's limits, name and arguments, then run it."""
        if self.is_exhausted:
            return self._refuse(call, "too many", "too_many")
        if self.uses and is_same_call(self.uses[-1].call, call):
            return self._refuse(call, "repeated", "repeated")
        tool = self.tools_by_name.get(call.name)
        if tool is None:
            return self._refuse(
                call, "unknown", "unknown_tool", names=", ".join(self.tools_by_name)
            )
        if errors := validate_arguments(call.arguments, tool.definition.parameters):
            return self._refuse(call, "bad arguments", "bad_arguments", faults="; ".join(errors))
        if tool.max_uses is not None and self._count_uses(call.name) >= tool.max_uses:
            return self._refuse(call, "too many", "too_many")
        return await (self._run_once(call, tool) if tool.is_recorded else self._try(call, tool))

    def _count_uses(self, name: str) -> int:
        """Return how often a tool has given a result in this turn."""
        return sum(use.call.name == name and use.status in SUCCESS_STATUSES for use in self.uses)

    async def _run_once(self, call: ToolCall, tool: BoundTool) -> ToolUse:
        """Return the result of an earlier attempt of this turn, else run the call."""
        earlier_calls = await self._load_earlier_calls()
        for earlier in earlier_calls:
            if earlier.matches(call) and earlier.result is not None:
                earlier_calls.remove(earlier)
                return ToolUse(call=call, status="reused", result=earlier.result)
        if tool.kind == "once":
            for earlier in earlier_calls:
                if earlier.name == call.name:
                    return self._refuse_repeat(earlier, call)
        return await self._run_new(call, tool)

    async def _load_earlier_calls(self) -> list[RecordedToolCall]:
        """Return the calls of earlier attempts that were not reused yet."""
        if self._earlier_calls is None:
            self._earlier_calls = [*await self.call_store.list_begun()]
            self._next_number = 1 + max((kept.number for kept in self._earlier_calls), default=-1)
        return self._earlier_calls

    def _refuse_repeat(self, kept: RecordedToolCall, call: ToolCall) -> ToolUse:
        """Refuse a call that an earlier attempt began and that must not run twice."""
        if kept.matches(call):
            return self._refuse(call, "end not known", "end_not_known")
        arguments = json.dumps(dict(kept.arguments), ensure_ascii=False)
        result = kept.result or self.prompt.render("no_result")
        return self._refuse(call, "end not known", "begun_otherwise", text=arguments, result=result)

    async def _run_new(self, call: ToolCall, tool: BoundTool) -> ToolUse:
        """Run a call that no attempt has made yet, and store it."""
        number = self._next_number
        self._next_number += 1
        if tool.kind == "once":
            await self.call_store.begin(number, call, tool.kind)
        use = await self._try(call, tool)
        if use.status != "end not known":
            await self.call_store.finish(number, call, tool.kind, use.result)
        return use

    async def _try(self, call: ToolCall, tool: BoundTool) -> ToolUse:
        """Run the tool with a timeout and turn failures into results."""
        try:
            async with asyncio.timeout(self.call_timeout_s):
                result = await tool.run(call.arguments)
        except TimeoutError:
            if tool.kind == "once":
                return self._refuse(call, "end not known", "end_not_known")
            return self._refuse(call, "too slow", "tool_too_slow")
        except OldfriendError as error:
            return self._refuse(call, "failed", "tool_failed", error=str(error))
        if isinstance(result, ToolOutput):
            return ToolUse(
                call=call,
                status="done",
                result=result.text,
                items=result.items,
                source_ids=result.source_ids,
            )
        return ToolUse(call=call, status="done", result=self._truncate(result))

    def _refuse(self, call: ToolCall, status: ToolCallStatus, part: str, **values: str) -> ToolUse:
        """Return a call's outcome with a message from the prompt."""
        result = self._truncate(self.prompt.render(part, **values))
        return ToolUse(call=call, status=status, result=result)

    def _truncate(self, result: str) -> str:
        """Cut a result to the length that is stored and shown."""
        if len(result) <= MAX_RESULT_CHARS:
            return result
        left_out = f"{len(result) - MAX_RESULT_CHARS:,}"
        return self.prompt.render("result_cut", text=result[:MAX_RESULT_CHARS], count=left_out)


def is_same_call(one: ToolCall, other: ToolCall) -> bool:
    """Tell whether two calls have the same tool and arguments."""
    return one.name == other.name and one.arguments == other.arguments


def validate_arguments(arguments: ToolArguments, parameters: Mapping[str, JsonValue]) -> list[str]:
    """Return what is wrong with the arguments, in words for the model; empty if they fit."""
    if UNREADABLE_ARGUMENTS in arguments:
        return ["they are no JSON object; send them again as one"]
    properties, required = parameters.get("properties"), parameters.get("required")
    assert isinstance(properties, dict)
    needed = required if isinstance(required, list) else []
    missing = [f"{name} is missing" for name in needed if name not in arguments]
    unknown = [f"{name} is not known" for name in arguments if name not in properties]
    given = {
        name: value for name, value in arguments.items() if value is not None or name in needed
    }  # some models send null for what they leave out
    return [*missing, *unknown, *list_type_errors(given, properties)]


def list_type_errors(
    arguments: ToolArguments, properties: Mapping[str, JsonValue]
) -> Iterator[str]:
    """Yield an error for each argument of the wrong type."""
    for name, value in arguments.items():
        schema = properties.get(name)
        type_name = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(type_name, str) and not is_json_type(value, type_name):
            yield f"{name} must be of type {type_name}"


def is_json_type(value: JsonValue, type_name: str) -> bool:
    """Tell whether a value is of a JSON type; true and false are not numbers."""
    if isinstance(value, bool):
        return type_name == "boolean"
    return isinstance(value, JSON_TYPES[type_name])
