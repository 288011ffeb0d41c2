"""Tool: its spec, the context that it may use in a turn, its bound form and its stored calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from oldfriend.domain.clock import Clock
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolCall, ToolDefinition
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.recalled import RecalledItem, SearchDeps
from oldfriend.turn.record_keys import RecordKeys
from oldfriend.turn.store_change import StoreChange
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.usage.tool_calls import RecordedToolCall, ToolEffect
from oldfriend.usage.tool_log import ToolSource

Importance = Literal["critical", "secondary", "metadata"]
CostClass = Literal["free", "network", "paid"]
"""free: on this machine. network: asks a server outside. paid: each use may cost money."""


class ToolCallStore(Protocol):
    """The store for the tool calls of one turn, which are numbered from 0."""

    async def list_begun(self) -> Sequence[RecordedToolCall]:
        """Return all calls of this turn so far, in order, whichever attempt began them."""

    async def begin(self, number: int, call: ToolCall, kind: ToolEffect) -> None:
        """Record that a call begins; committed before the tool does anything."""

    async def finish(self, number: int, call: ToolCall, kind: ToolEffect, result: str) -> None:
        """Record a call's result, begun or not; committed before the result is used."""


class InMemoryToolCallStore:
    """A call store that does not outlive the process."""

    def __init__(self) -> None:
        """Start empty."""
        self.calls: dict[int, RecordedToolCall] = {}

    async def list_begun(self) -> Sequence[RecordedToolCall]:
        """Return the recorded calls."""
        return tuple(self.calls.values())

    async def begin(self, number: int, call: ToolCall, kind: ToolEffect) -> None:
        """Record that a call begins."""
        del kind  # a retried turn finds this store empty
        self._keep(number, call, None)

    async def finish(self, number: int, call: ToolCall, kind: ToolEffect, result: str) -> None:
        """Record a call's result."""
        del kind
        self._keep(number, call, result)

    def _keep(self, number: int, call: ToolCall, result: str | None) -> None:
        self.calls[number] = RecordedToolCall(
            number=number, name=call.name, arguments=call.arguments, result=result
        )


ToolArguments: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may use in the turn that it is bound to."""

    prompt: Prompt  # what the model is told about the tool, and the labels of records
    clock: Clock
    utterance: Utterance
    search_deps: SearchDeps
    person_name: str  # what the person is called, or words that stand for a name
    recall_tokens: int  # what all results with records may take in this turn
    # Ids of the messages and memories that the model was shown so far in this turn; a tool adds
    # what it shows.
    shown_ids: set[str]
    # The keys of the records that it was shown, by which it cites them; a tool adds its own.
    record_keys: RecordKeys = field(default_factory=RecordKeys)
    noted_text: str | None = None  # what a rule has noted from the same message
    found_links: set[str] = field(default_factory=set)  # that a search has returned in this turn
    # The changes decided so far in this turn; a tool adds its own.
    decided: list[StoreChange] = field(default_factory=list)
    outside_tools: list[str] = field(default_factory=list)  # that were used so far in this turn

    @property
    def has_read_outside(self) -> bool:
        """Tell whether anything from outside was asked for in this turn."""
        return bool(self.outside_tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """A result within the limits of the tool: with records of the memory, or from outside."""

    text: str
    items: tuple[RecalledItem, ...] = ()  # shown in it
    source_ids: tuple[str, ...] = ()  # ids of others, shown in it in other words
    records: tuple[str, ...] = ()  # ids of own records, such as reminders, shown in it
    changes: tuple[StoreChange, ...] = ()  # made in the turn's commit, not by the tool
    sources: tuple[ToolSource, ...] = ()  # outside, that it rests on
    summary: str = ""  # for the person, where no model words the result; empty: the text
    question: str = ""  # to the person, whose yes does it


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolGroup:
    """A kind of tools, with the section of the reply prompt that says what it is for.

    The tools of another program's server have a group of their own and no section: ``text`` says
    whose they are.
    """

    name: str
    section: str = ""
    text: str = ""

    def describe(self, prompt: Prompt) -> str:
        """Return what the group is for, in words for the model."""
        return prompt.render(self.section) if self.section else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTool:
    """One thing that the companion can do besides talking.

    ``run`` takes arguments that fit the tool's schema and returns the result for the model. It
    raises an OldfriendError if it cannot do what was asked. A tool that only reads the memory is
    not recorded: a turn that runs again reads anew, as it recalls anew. Nor is a tool that decides
    changes, which are made in the turn's commit.
    """

    definition: ToolDefinition
    kind: ToolEffect
    run: Callable[[ToolArguments], Awaitable[str | ToolOutput]]
    max_uses: int | None = None  # in one turn; None: as many as of all tools
    is_recorded: bool = True
    needs_confirmation: bool = False  # it acts outside or costs: the person is asked first
    group: ToolGroup | None = None  # None: offered in every turn


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputField:
    """A field of a tool's result; its name for people stands in the language packs."""

    name: str
    type: Literal["text", "number", "time", "address"] = "text"
    importance: Importance = "secondary"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is registered; ``build`` binds it to a turn under the same name.

    ``label`` is what people read where the language packs do not know the tool, such as one that a
    server offers.
    """

    name: str
    build: Callable[[ToolContext], BoundTool]
    label: str = ""
    output: tuple[OutputField, ...] = ()
    cost: CostClass = "free"
    needs_confirmation: bool = False
    group: ToolGroup | None = None  # None: offered in every turn

    def bind(self, context: ToolContext) -> BoundTool:
        """Bind the tool to a turn; it asks first if the tool or its registration says so."""
        bound = self.build(context)
        asks = self.needs_confirmation or bound.needs_confirmation
        run = bound.run if self.cost == "free" else self._note_use(bound, context)
        return replace(bound, run=run, needs_confirmation=asks, group=self.group)

    def _note_use(
        self, bound: BoundTool, context: ToolContext
    ) -> Callable[[ToolArguments], Awaitable[str | ToolOutput]]:
        """Return what runs a tool that asks outside, and notes it for the others of the turn."""

        async def run(arguments: ToolArguments) -> str | ToolOutput:
            context.outside_tools.append(self.name)
            return await bound.run(arguments)

        return run
