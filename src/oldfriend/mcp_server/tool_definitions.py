"""Tool definitions: what a program's model is told of the tools, in as few words as possible.

Nothing heavy is imported here: a client asks for them before it uses any.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.prompts.prompt import Prompt, get_prompt

REMEMBER: Final = "remember"
"""The only tool that writes."""
TEXT: Final[Mapping[str, JsonValue]] = {"type": "string"}
TEXTS: Final[Mapping[str, JsonValue]] = {"type": "array", "items": {"type": "string"}}
INTEGER: Final[Mapping[str, JsonValue]] = {"type": "integer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolShape:
    """A tool: its name, what its arguments are, and which of them are needed."""

    name: str
    arguments: Mapping[str, Mapping[str, JsonValue]]
    required: tuple[str, ...] = ()

    @property
    def is_reading(self) -> bool:
        """Tell whether it leaves the memory as it is."""
        return self.name != REMEMBER

    @property
    def description(self) -> str:
        """Return what a model is told of it."""
        return get_server_prompt().render(self.name)

    @property
    def input_schema(self) -> dict[str, JsonValue]:
        """Return the JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.arguments.items()},
            **({"required": list(self.required)} if self.required else {}),
        }


def get_server_prompt() -> Prompt:
    """Return what models of other programs are told."""
    return get_prompt("mcp_server/2")


def describe(schema: Mapping[str, JsonValue], part: str) -> Mapping[str, JsonValue]:
    """Return a schema with a description from the prompt."""
    return {**schema, "description": get_server_prompt().render(part)}


def build_tools() -> tuple[ToolShape, ...]:
    """Build the shapes of all tools."""
    day = describe(TEXT, "recall_since")
    return (
        ToolShape(
            name="recall",
            arguments={
                "query": TEXT,
                "limit": INTEGER,
                "person": describe(TEXT, "recall_person"),
                "since": day,
                "until": TEXT,
            },
        ),
        ToolShape(name=REMEMBER, arguments={"text": TEXT}, required=("text",)),
        ToolShape(name="about", arguments={"name": TEXT}),
        ToolShape(name="why", arguments={"id": TEXT}, required=("id",)),
        ToolShape(
            name="forget_preview",
            arguments={"ids": TEXTS, "about": TEXT, "since": TEXT, "until": TEXT},
        ),
    )
