"""Requests for tests, and somebody who hears what is said."""

from dataclasses import dataclass, field

from oldfriend.llm.model import CompletionRequest, ModelCall, PromptTurn, ToolDefinition, ToolResult

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather in a city.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)


def saying(*texts: str, **fields: object) -> CompletionRequest:
    """A request whose turns are the person's and the companion's by turns, the person's last."""
    turns: list[PromptTurn | ToolResult] = [
        PromptTurn(role="person" if (len(texts) - place) % 2 else "companion", text=text)
        for place, text in enumerate(texts)
    ]
    given = {
        "purpose": "reply",
        "prompt": "reply/1",
        "system_prompt": "Be kind.",
        "turns": tuple(turns),
    }
    return CompletionRequest(**{**given, **fields})


@dataclass(slots=True)
class Listener:
    """Hears what is said, piece by piece."""

    pieces: list[str] = field(default_factory=list)

    async def __call__(self, piece: str) -> None:
        self.pieces.append(piece)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class Ledger:
    """Keeps finished calls."""

    calls: list[ModelCall] = field(default_factory=list)

    async def __call__(self, call: ModelCall) -> None:
        self.calls.append(call)

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(call.model, call.outcome) for call in self.calls]
