"""What do we ask of a language model, and what does it give back? Values and one protocol.

It does not know which provider answers, what is remembered, or who keeps the record of a call.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from oldfriend.domain.json import JsonValue

Purpose = Literal[
    "reply", "classify", "extract", "adjudicate", "reflect", "slow_tick", "describe", "summary",
    "test", "embedding", "transcription", "speech",
]  # fmt: skip
"""What a call is for; the ledger adds up by it (ACCEPTANCE P1)."""

Say: TypeAlias = Callable[[str], Awaitable[None]]
"""Takes the next piece of a reply while it is being written; best effort, never the truth.

It raises nothing: whoever shows pieces deals with a window that was closed.
"""


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
    """Words of one side, as the model is to read them.

    The house's are the program's own, such as "go on" after a reply that broke off. Providers
    know two sides only and take them for the user's; in our records they are never the person's.
    """

    role: Literal["person", "companion", "house"]
    text: str
    calls: tuple[ToolCall, ...] = ()  # only the companion's
    echo: JsonValue = None  # the ``echo`` of the completion that asked for the calls


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
    ("reply/3"); ``shown`` are the ids of every message and memory in it, in their own words or in
    others. The turns end with something to answer: words of the person or the house, or results.
    """

    purpose: Purpose
    prompt: str
    stable: str  # instructions that are the same each time: providers cache this prefix
    changing: str = ""  # instructions of this time only
    turns: tuple[Turn | ToolResult, ...]
    tools: tuple[Tool, ...] = ()
    may_call: bool = True  # False: tools are named, because the turns mention them, not offered
    output: Mapping[str, JsonValue] | None = None  # JSON Schema, where an object is wanted
    most_tokens: int = 2048  # of the answer; what is thought before it comes on top
    may_think: bool = False  # before it answers, where it can: slower, dearer, better
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, as the provider counted them."""

    input: int = 0
    cached: int = 0  # of the input
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model gave back.

    ``echo`` is for the same model only: what it wants to see again, unchanged, in the turn that
    asked for tools (signed thoughts). Nobody else reads it.
    """

    model: str  # "provider:name" of the model that answered
    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: int | None = None  # millionths of a dollar; None: unknown
    sound_s: float | None = None  # seconds of sound, heard or spoken; None: none, or unknown
    is_cut: bool = False  # it ended because it reached its limit
    echo: JsonValue = None

    @property
    def turn(self) -> Turn:
        """The companion's turn that this makes, for asking again after it."""
        return Turn(role="companion", text=self.text, calls=self.calls, echo=self.echo)


Outcome = Literal["done", "failed", "refused", "cut off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One finished call to one provider, as the ledger keeps it; failed ones too.

    ``began`` is what other models had said of the reply before they broke off. This one was
    shown it and asked to go on; the text of its completion is the whole reply.
    """

    request: Request
    model: str
    outcome: Outcome
    completion: Completion | None
    error: str | None
    latency_us: int
    began: str = ""


Record: TypeAlias = Callable[[Call], Awaitable[None]]
"""Keeps a finished call, before anything is done with what it gave."""


class Model(Protocol):
    """A language model, or a chain of them."""

    @property
    def name(self) -> str:
        """Provider and name, such as "anthropic:claude-sonnet-5-5"."""

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """Answer a request; with ``say``, piece by piece as it is written.

        What was said is then the text of the completion. Raises ModelUnavailable (may pass),
        ModelRefused (will not pass), BrokenOutput, ModelMisconfigured.
        """
