"""Tool executor: runs a requested tool once, within limits, and stores the call as it happens.

Every failure becomes a result that the model reads; no call can end the turn. Tools are known by
their class only.
"""

import asyncio
import json
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import UNREADABLE_ARGUMENTS, ToolCall, ToolDefinition, ToolResult
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.recalled import RecalledItem, get_item_id
from oldfriend.turn.store_change import StoreChange
from oldfriend.turn.tools.confirmation import Question
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolCallStore, ToolGroup, ToolOutput
from oldfriend.turn.tools.tool_groups import build_more_tools
from oldfriend.usage.tool_calls import RecordedToolCall
from oldfriend.usage.tool_log import ToolSource, ToolUseStatus

JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}

logger = logging.getLogger("oldfriend")

MICROSECONDS: Final = 1_000_000
MAX_RESULT_CHARS = 500
"""Characters of a result that are stored and shown; shorter ones stay whole."""

SUCCESS_STATUSES: Final[frozenset[ToolUseStatus]] = frozenset({"done", "reused"})

Ask: TypeAlias = Callable[[ToolCall], Question | None]
"""Returns the question to the person about a call; None if they cannot be asked."""


def ask_nobody(call: ToolCall) -> None:
    """Ask nobody: then no call that needs a yes is run."""
    del call


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """The outcome of one call."""

    call: ToolCall
    status: ToolUseStatus
    result: str
    summary: str = ""  # for the person, where no model words the result
    items: tuple[RecalledItem, ...] = ()  # the records shown in the result
    source_ids: tuple[str, ...] = ()  # of others, shown in it in other words
    records: tuple[str, ...] = ()  # of own records, shown in it
    changes: tuple[StoreChange, ...] = ()  # made in the turn's commit
    sources: tuple[ToolSource, ...] = ()  # outside, that the result rests on
    question: str = ""  # to the person, who is asked first
    latency_us: int = 0

    @property
    def seen_ids(self) -> tuple[str, ...]:
        """Return the ids of everything quoted or paraphrased in the result."""
        records = () if self.changes else self.records  # what is changed may be new
        return (*map(get_item_id, self.items), *self.source_ids, *records)


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
        ask: Ask = ask_nobody,
        confirmed: ToolCall | None = None,
    ) -> None:
        """Take the tools, the call store, the prompt for refusals, and the limits.

        Only the ``confirmed`` call may do what the person has to allow; other such calls are asked
        about, one in a turn.
        """
        groups = group_tools(tools)
        if groups:
            tools = (*tools, build_more_tools(prompt, groups, self._open_group))
        self.tools_by_name = {tool.definition.name: tool for tool in tools}
        self._open_groups: set[str] = set()
        self.call_store = call_store
        self.prompt = prompt
        self.max_calls = max_calls
        self.call_timeout_s = call_timeout_s
        self.ask = ask
        self.confirmed = confirmed
        self.uses: list[ToolUse] = []
        # Of earlier attempts, not reused yet; None: not loaded.
        self._earlier_calls: list[RecordedToolCall] | None = None
        self._next_number = 0

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return the tool specifications for the model: those of opened groups last."""
        tools = self.tools_by_name.values()
        return (
            *(tool.definition for tool in tools if tool.group is None),
            *(
                tool.definition
                for tool in tools
                if tool.group is not None and tool.group.name in self._open_groups
            ),
        )

    def _open_group(self, name: str) -> None:
        """Offer the tools of a group for the rest of the turn."""
        self._open_groups.add(name)

    @property
    def is_exhausted(self) -> bool:
        """Tell whether no more tools may be used in this turn."""
        return len(self.uses) >= self.max_calls

    async def execute(self, call: ToolCall) -> ToolResult:
        """Run a requested call, or return why not."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        use = await self._execute(call)
        self.uses.append(replace(use, latency_us=round((clock() - begun) * MICROSECONDS)))
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
        is_confirmed = self.confirmed is not None and is_same_call(self.confirmed, call)
        if tool.needs_confirmation and not is_confirmed:
            return self._ask_first(call)
        return await (self._run_once(call, tool) if tool.is_recorded else self._try(call, tool))

    def _count_uses(self, name: str) -> int:
        """Return how often a tool has given a result in this turn."""
        return sum(use.call.name == name and use.status in SUCCESS_STATUSES for use in self.uses)

    @property
    def _has_asked(self) -> bool:
        """Tell whether the person is asked about a call in this turn."""
        return any(use.question for use in self.uses)

    def _ask_first(self, call: ToolCall) -> ToolUse:
        """Have the person asked in place of running a call; about one call in a turn."""
        if self._has_asked:
            return self._refuse(call, "not allowed", "asked_about_other")
        question = self.ask(call)
        if question is None:
            return self._refuse(call, "not allowed", "cannot_ask")
        refused = self._refuse(call, "asked", "asked_first")
        return replace(refused, question=question.text, changes=(question.change,))

    async def _run_once(self, call: ToolCall, bound_tool: BoundTool) -> ToolUse:
        """Return the result of an earlier attempt of this turn, else run the call."""
        earlier_calls = await self._load_earlier_calls()
        for earlier in earlier_calls:
            if earlier.matches(call) and earlier.result is not None:
                earlier_calls.remove(earlier)
                return ToolUse(call=call, status="reused", result=earlier.result)
        if bound_tool.kind == "once":
            for earlier in earlier_calls:
                if earlier.name == call.name:
                    return self._refuse_repeat(earlier, call)
        return await self._run_new(call, bound_tool)

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

    async def _run_new(self, call: ToolCall, bound_tool: BoundTool) -> ToolUse:
        """Run a call that no attempt has made yet, and store it."""
        number = self._next_number
        self._next_number += 1
        if bound_tool.kind == "once":
            await self.call_store.begin(number, call, bound_tool.kind)
        use = await self._try(call, bound_tool)
        if use.status != "end not known":
            await self.call_store.finish(number, call, bound_tool.kind, use.result)
        return use

    async def _try(self, call: ToolCall, bound_tool: BoundTool) -> ToolUse:
        """Run the tool with a timeout and turn failures into results."""
        try:
            async with asyncio.timeout(self.call_timeout_s):
                result = await bound_tool.run(call.arguments)
        except TimeoutError:
            if bound_tool.kind == "once":
                return self._refuse(call, "end not known", "end_not_known")
            return self._refuse(call, "too slow", "tool_too_slow")
        except OldfriendError as error:
            return self._refuse(call, "failed", "tool_failed", error=str(error))
        except Exception as error:
            # Where it failed, without its message, in which a person's words may stand.
            places = "".join(traceback.format_tb(error.__traceback__))
            kind = type(error).__name__
            logger.exception("The tool %s: %s at\n%s", call.name, kind, places, exc_info=False)
            if bound_tool.kind == "once":
                return self._refuse(call, "end not known", "end_not_known")
            return self._refuse(call, "failed", "tool_failed", error=type(error).__name__)
        if isinstance(result, ToolOutput):
            if result.question and self._has_asked:
                return self._refuse(call, "not allowed", "asked_about_other")
            return ToolUse(
                call=call,
                status="asked" if result.question else "done",
                result=result.text,
                items=result.items,
                source_ids=result.source_ids,
                records=result.records,
                changes=result.changes,
                sources=result.sources,
                summary=result.summary,
                question=result.question,
            )
        return ToolUse(call=call, status="done", result=self._truncate(result))

    def _refuse(self, call: ToolCall, status: ToolUseStatus, part: str, **values: str) -> ToolUse:
        """Return a call's outcome with a message from the prompt."""
        result = self._truncate(self.prompt.render(part, **values))
        return ToolUse(call=call, status=status, result=result)

    def _truncate(self, result: str) -> str:
        """Cut a result to the length that is stored and shown."""
        if len(result) <= MAX_RESULT_CHARS:
            return result
        left_out = f"{len(result) - MAX_RESULT_CHARS:,}"
        return self.prompt.render("result_cut", text=result[:MAX_RESULT_CHARS], count=left_out)


def group_tools(tools: Sequence[BoundTool]) -> dict[ToolGroup, list[BoundTool]]:
    """Return the tools that are offered only on request, by their groups."""
    groups: dict[ToolGroup, list[BoundTool]] = {}
    for tool in tools:
        if tool.group is not None:
            groups.setdefault(tool.group, []).append(tool)
    return groups


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
    return [*missing, *unknown, *list_value_errors(given, properties)]


def list_value_errors(
    arguments: ToolArguments, properties: Mapping[str, JsonValue]
) -> Iterator[str]:
    """Yield an error for each argument of the wrong type, or with none of the known values."""
    for name, value in arguments.items():
        schema = properties.get(name)
        if not isinstance(schema, dict):
            continue
        type_name, known = schema.get("type"), schema.get("enum")
        if isinstance(type_name, str) and not is_json_type(value, type_name):
            yield f"{name} must be of type {type_name}"
        elif isinstance(known, list) and value not in known:
            yield f"{name} must be one of {', '.join(map(str, known))}"
        else:
            yield from list_unknown_keys(name, value, schema)


def list_unknown_keys(
    path: str, value: JsonValue, schema: Mapping[str, JsonValue]
) -> Iterator[str]:
    """Yield an error for each key within a value that its schema does not name."""
    items, properties = schema.get("items"), schema.get("properties")
    if isinstance(value, list) and isinstance(items, dict):
        for each in value:
            yield from list_unknown_keys(path, each, items)
    if isinstance(value, dict) and isinstance(properties, dict):
        for key, each in value.items():
            inner = properties.get(key)
            if not isinstance(inner, dict):
                yield f"{key[:40]!r} in {path} is not known"
            else:
                yield from list_unknown_keys(f"{path}.{key}", each, inner)


def is_json_type(value: JsonValue, type_name: str) -> bool:
    """Tell whether a value is of a JSON type; true and false are not numbers."""
    if isinstance(value, bool):
        return type_name == "boolean"
    return isinstance(value, JSON_TYPES[type_name])
