"""Language model protocol: requests, completions and call records."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeAlias

from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens, sanitize_json, sanitize_text

Purpose = Literal[
    "reply",
    "classify",
    "extract",
    "adjudicate",
    "reflect",
    "slow_tick",
    "proactive",
    "describe",
    "summary",
    "test",
    "embedding",
    "transcription",
    "speech",
]
"""Purpose of a call, by which the ledger groups costs."""

TextCallback: TypeAlias = Callable[[str], Awaitable[None]]
"""Receives the next piece of a reply while it is streamed; best effort, never authoritative.

Must not raise: it handles a closed connection itself.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """Tool that a model may call."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]  # JSON Schema of an object


UNREADABLE_ARGUMENTS: Final = "unreadable"
"""Name under which a call holds arguments that are no JSON object; it is never run on a guess."""
MAX_UNREADABLE_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """Tool call by a model; `id` pairs it with its result."""

    id: str
    name: str
    arguments: Mapping[str, JsonValue]


def keep_unreadable(raw: str) -> Mapping[str, JsonValue]:
    """Return arguments that hold what a model has written in place of a JSON object."""
    return {UNREADABLE_ARGUMENTS: raw[:MAX_UNREADABLE_CHARS]}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTurn:
    """Text of one side in the conversation sent to a model.

    Role "instruction" is for the program's own instructions, such as "go on" after a reply that
    broke off. Providers know two sides only and get them as the user's; our records never attribute
    them to the person.
    """

    role: Literal["person", "companion", "instruction"]
    text: str
    calls: tuple[ToolCall, ...] = ()  # only in the companion's turns
    echo: JsonValue = None  # `echo` of the completion that made the calls


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """Result of a tool call; follows the turn that made the call."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRequest:
    """Everything that is sent to a model, and the purpose of the call.

    `prompt` names the versioned text file of the instructions ("reply/3"); `shown` has the ids of
    all messages and memories that the request contains, verbatim or paraphrased. The last turn is
    one to answer: text of the person, an instruction, or tool results.
    """

    purpose: Purpose
    prompt: str
    system_prompt: str  # the same from call to call: providers cache it
    call_instructions: str = ""  # for this call only; see `move_call_instructions`
    turns: tuple[PromptTurn | ToolResult, ...]
    tools: tuple[ToolDefinition, ...] = ()
    may_call: bool = True  # False: tools are declared, as turns mention them, but not offered
    output: Mapping[str, JsonValue] | None = None  # JSON Schema, for structured output
    output_form: str = ""  # the same in words, sent instead where a provider takes no schema
    # How calls are written in words, sent instead of the tools to a model that cannot call any.
    call_form: str = ""
    max_output_tokens: int = 2048  # limit on the answer; thinking comes on top
    temperature: float | None = None  # None: the model's own
    may_think: bool = False  # thinking before the answer, if supported: slower, costlier, better
    shown: tuple[str, ...] = ()


THINKING_TOKENS: Final = 8192
"""Tokens on top of the answer's, for models that think even if not asked to."""

USER_PLACEHOLDER: Final = "…"
"""First message if a conversation starts with the companion; providers expect the user's."""

MAX_TOKENS: Final = 1 << 40
"""Limit for one call; a larger reported count is taken for an error."""


def estimate_input_tokens(request: CompletionRequest) -> int:
    """Return about how many tokens of text a request has, without tool results."""
    turns = [turn.text for turn in request.turns if isinstance(turn, PromptTurn)]
    instructions = (request.system_prompt, request.output_form, request.call_instructions)
    return sum(map(estimate_tokens, (*instructions, *turns)))


def move_call_instructions(request: CompletionRequest) -> CompletionRequest:
    """Return a request of a conversation with its call instructions before the last words.

    So the conversation follows the system prompt, and a provider's cache holds both. They stand in
    the person's turn, as not every provider takes instructions between turns. They stay where
    nothing would stand before them, and where the person's last words have been answered already.
    """
    roles = [turn.role if isinstance(turn, PromptTurn) else "" for turn in request.turns]
    persons = [place for place, role in enumerate(roles) if role == "person"]
    if not request.call_instructions or not persons or persons[-1] == 0:
        return request
    if "companion" in roles[persons[-1] :]:
        return request
    turns = [*request.turns]
    last = turns[persons[-1]]
    assert isinstance(last, PromptTurn)
    turns[persons[-1]] = replace(last, text=f"{request.call_instructions}\n\n{last.text}")
    return replace(request, call_instructions="", turns=tuple(turns))


def clamp_token_count(tokens: int) -> int:
    """Return a token count, or 0 if the provider reports an impossible one."""
    return tokens if 0 <= tokens < MAX_TOKENS else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Token counts as the provider reports them."""

    input: int = 0
    cached: int = 0  # part of the input that was read from the cache
    output: int = 0


def sanitize_call(call: ToolCall) -> ToolCall:
    """Replace what no database can store in a call's texts."""
    arguments = {sanitize_text(key): sanitize_json(each) for key, each in call.arguments.items()}
    return replace(
        call, id=sanitize_text(call.id), name=sanitize_text(call.name), arguments=arguments
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Response of a model.

    `echo` is opaque data for the same model (signed thinking): it must be sent back unchanged in
    the turn that made the tool calls.
    """

    model: str  # "provider:name" of the model that answered
    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: int | None = None  # in millionths of a dollar; None: unknown
    audio_s: float | None = None  # seconds of audio transcribed or spoken; None: none, or unknown
    is_truncated: bool = False  # it ended at its token limit
    echo: JsonValue = None

    def __post_init__(self) -> None:
        """Replace what no database can store: half a character would block all that follows."""
        object.__setattr__(self, "text", sanitize_text(self.text))
        object.__setattr__(self, "calls", tuple(map(sanitize_call, self.calls)))
        object.__setattr__(self, "echo", sanitize_json(self.echo))

    @property
    def turn(self) -> PromptTurn:
        """Companion's turn with this response, for a follow-up request."""
        return PromptTurn(role="companion", text=self.text, calls=self.calls, echo=self.echo)


CallOutcome = Literal["done", "failed", "refused", "cut off", "late"]
""""late": answered after another call for the same purpose had; paid for but not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """Record of one finished call to one provider, successful or not.

    `reply_prefix` is the text that other models had streamed before they broke off. This model was
    asked to continue it; the text of its completion is the whole reply.
    """

    request: CompletionRequest
    model: str
    outcome: CallOutcome
    completion: Completion | None
    error: str | None
    latency_us: int
    reply_prefix: str = ""


CallSink: TypeAlias = Callable[[ModelCall], Awaitable[None]]
"""Records a finished call before its result is used."""


class LanguageModel(Protocol):
    """Language model, or a chain of them."""

    @property
    def name(self) -> str:
        """Provider and model name, such as "anthropic:claude-sonnet-5-5"."""

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Answer a request; with `on_text`, stream the text piece by piece.

        The streamed pieces add up to the text of the completion. Raises ModelUnavailable (may
        pass), ModelRefusal (will not pass), BrokenOutput, ModelMisconfigured.
        """
