"""What do we ask of a language model, and what does it give back? Values and one protocol.

It does not know which provider answers, what is remembered, or who keeps the record of a call.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from oldfriend.domain.json import JsonValue

Purpose = Literal["reply", "classify", "extract", "reflect", "summary", "test"]
"""What a call is for; the ledger adds up by it (ACCEPTANCE P1)."""

Say: TypeAlias = Callable[[str], Awaitable[None]]
"""Takes the next piece of a reply while it is being written; best effort, never the truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something that a model may ask for."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]  # JSON Schema of an object


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a model asks for; ``id`` pairs it with its result."""

    id: str
    name: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Words of one side, as the model is to read them."""

    role: Literal["person", "companion"]
    text: str
    calls: tuple[ToolCall, ...] = ()  # only the companion's


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave; stands after the turn that asked for it."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that is sent to a model, and what it is sent for.

    ``prompt`` names the versioned text file that the instructions were rendered from
    ("reply/3"); ``shown`` are the ids of every message and memory in it.
    """

    purpose: Purpose
    prompt: str
    stable: str  # instructions that are the same each time: providers cache this prefix
    changing: str = ""  # instructions of this time only
    turns: tuple[Turn | ToolResult, ...]
    tools: tuple[Tool, ...] = ()
    output: Mapping[str, JsonValue] | None = None  # JSON Schema, where an object is wanted
    most_tokens: int = 2048
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, as the provider counted them."""

    input: int = 0
    cached: int = 0  # of the input
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model gave back."""

    model: str  # "provider:name" of the model that answered
    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: int | None = None  # millionths of a dollar; None: unknown
    is_cut: bool = False  # it ended because it reached its limit


Outcome = Literal["done", "failed", "refused", "cut off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One finished call to one provider, as the ledger keeps it; failed ones too."""

    request: Request
    model: str
    outcome: Outcome
    completion: Completion | None
    error: str | None
    latency_us: int


Record: TypeAlias = Callable[[Call], Awaitable[None]]
"""Keeps a finished call, before anything is done with what it gave."""


class Model(Protocol):
    """A language model, or a chain of them."""

    @property
    def name(self) -> str:
        """Provider and name, such as "anthropic:claude-sonnet-5"."""

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """Answer a request; with ``say``, piece by piece as it is written.

        Raises ModelUnavailable (may pass), ModelRefused (will not pass), ModelMisconfigured.
        """
