"""Chat request: one request for a reply, whichever format it came in."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, Self

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolDefinition
from oldfriend.openai_api.chat_messages import ChatMessage, read_object
from oldfriend.openai_api.error_json import ApiRefusal

ModelUse = Literal["companion", "plain", "memory"]
"""What a model name stands for: the companion; a model alone; a model with this memory."""

MODEL_USES: Final[dict[str, ModelUse]] = {
    "oldfriend": "companion",
    "oldfriend-plain": "plain",
    "oldfriend-memory": "memory",
}
LATEST: Final = ":latest"
"""The tag that Ollama's clients add to a name."""
DEFAULT_MAX_TOKENS: Final = 4_096
MAX_MAX_TOKENS: Final = 32_768
MAX_TEMPERATURE: Final = 2.0
ANY_OBJECT: Final[Mapping[str, JsonValue]] = MappingProxyType({"type": "object"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a program asks for."""

    model: str  # as the program wrote it
    use: ModelUse
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()  # the program's own, which it runs itself
    must_call: bool = False  # one of them is to be called, whatever was said
    is_streamed: bool = False
    includes_usage: bool = False  # at the end of a stream
    conversation: str = ""  # the program's id of the conversation; empty: unknown
    is_continuation: bool = False  # what was said before is known here and not sent again
    is_retry: bool = False  # the same request was sent before and got no response
    idempotency_key: str = ""
    max_tokens: int = field(default=DEFAULT_MAX_TOKENS)
    temperature: float | None = None  # of a model that answers directly; None: its own
    output: Mapping[str, JsonValue] | None = None  # JSON Schema of the reply; None: it is a text

    def fit_to(self, *, has_model: bool) -> Self:
        """Return the request as it is answered: a companion without a model calls no tools.

        Some front ends offer tools with every message; those that need not be called are dropped.
        """
        if has_model or self.use != "companion" or self.must_call:
            return self
        return replace(self, tools=())

    @property
    def needs_model(self) -> bool:
        """Tell whether only a language model can answer, with tools or in a form of the program."""
        return bool(self.tools) or self.output is not None

    @property
    def may_be_own(self) -> bool:
        """Tell whether the companion may answer words that ask it for something of its own.

        Not while a tool of the program must be called, or its result is awaited.
        """
        is_talk = self.messages[-1].role == "user" and self.use == "companion"
        return is_talk and not self.must_call and self.output is None


def get_model_use(name: str) -> ModelUse:
    """Return what a model name stands for. Raises ApiRefusal."""
    use = MODEL_USES.get(name.strip().lower().removesuffix(LATEST))
    if use is None:
        raise ApiRefusal(
            404,
            f"There is no model “{name[:80]}” here. There are: {', '.join(MODEL_USES)}.",
            code="model_not_found",
            param="model",
        )
    return use


def clamp_temperature(value: JsonValue) -> float | None:
    """Return how freely a model is to choose its words, within reason."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(min(max(value, 0), MAX_TEMPERATURE))


def read_output(value: JsonValue, param: str) -> Mapping[str, JsonValue] | None:
    """Return the JSON Schema of a reply by OpenAI's form of it; None for a text.

    Raises ApiRefusal.
    """
    form = {} if value is None else read_object(value, param)
    if form.get("type") == "json_object":
        return ANY_OBJECT
    if form.get("type") != "json_schema":
        return None
    schema = read_object(form.get("json_schema", form), param).get("schema")
    return ANY_OBJECT if schema is None else read_object(schema, f"{param}.schema")


def clamp_max_tokens(value: JsonValue) -> int:
    """Return how long a reply may become, within reason."""
    if isinstance(value, bool) or not isinstance(value, int):
        return DEFAULT_MAX_TOKENS
    return min(max(value, 1), MAX_MAX_TOKENS)
