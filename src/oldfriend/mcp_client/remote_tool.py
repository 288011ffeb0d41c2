"""Remote tools: what servers say of their tools, cut down to what can be shown to a model.

All of it is somebody else's text. Schemas keep only what says which arguments there are; what is
too large, or has a name that cannot be, is left out.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.config.settings_schema import ToolServerSettings
from oldfriend.domain.json import JsonValue

MAX_TOOLS: Final = 24
"""Tools of one server; each costs tokens in every prompt."""
MAX_DESCRIPTION_CHARS: Final = 240
MAX_ARGUMENT_CHARS: Final = 100
"""Characters of the description of one argument."""
MAX_SCHEMA_CHARS: Final = 1_500
MAX_SCHEMA_DEPTH: Final = 3
MAX_ARGUMENTS: Final = 16
MAX_CHOICES: Final = 16
MAX_CHOICE_CHARS: Final = 40
MAX_NAME_CHARS: Final = 60
JSON_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "array", "object"})
ARGUMENT_PATTERN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
UNUSUAL: Final = re.compile(r"[^a-z0-9_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool as a server describes it."""

    name: str
    description: str
    input_schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTool:
    """A tool of a server that may be offered to a model."""

    server: str
    name: str  # as the server has it
    description: str  # one line of the server's own words
    parameters: dict[str, JsonValue]
    is_reading: bool  # as the owner has said, not the server

    @property
    def full_name(self) -> str:
        """Return the name by which a model calls it."""
        return build_full_name(self.server, self.name)


def build_full_name(server: str, tool: str) -> str:
    """Return the name by which a model calls a tool of a server."""
    return UNUSUAL.sub("_", f"{server}_{tool}".lower())[:MAX_NAME_CHARS]


def select_tools(
    server: str, server_settings: ToolServerSettings, offered: Iterable[OfferedTool]
) -> tuple[RemoteTool, ...]:
    """Return the tools that the owner has named and that can be shown to a model."""
    found: dict[str, RemoteTool] = {}
    for each in offered:
        parameters = bound_parameters(each.input_schema)
        if each.name not in server_settings.tools or parameters is None:
            continue
        tool = RemoteTool(
            server=server,
            name=each.name,
            description=to_short_line(each.description, MAX_DESCRIPTION_CHARS),
            parameters=parameters,
            is_reading=each.name in server_settings.reading,
        )
        found.setdefault(tool.full_name, tool)
    return tuple(found.values())[:MAX_TOOLS]


def bound_parameters(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return a schema with nothing but its arguments; None if it cannot be used here."""
    properties = schema.get("properties") or {}
    if not isinstance(properties, dict) or len(properties) > MAX_ARGUMENTS:
        return None
    if not all(ARGUMENT_PATTERN.fullmatch(name) for name in properties):
        return None
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    if any(name not in properties for name in needed):
        return None
    bounded: dict[str, JsonValue] = {
        "type": "object",
        "properties": {name: bound_schema(each, 1) for name, each in properties.items()},
        "required": [*needed],
        "additionalProperties": False,
    }
    return bounded if len(json.dumps(bounded, ensure_ascii=False)) <= MAX_SCHEMA_CHARS else None


def bound_schema(schema: JsonValue, depth: int) -> dict[str, JsonValue]:
    """Return what a model needs of the schema of one value; nothing below MAX_SCHEMA_DEPTH."""
    if not isinstance(schema, dict):
        return {}
    bounded: dict[str, JsonValue] = {}
    if type_name := find_type(schema.get("type")):
        bounded["type"] = type_name
    if isinstance(description := schema.get("description"), str):
        bounded["description"] = to_short_line(description, MAX_ARGUMENT_CHARS)
    if choices := select_choices(schema.get("enum")):
        bounded["enum"] = choices
    if depth >= MAX_SCHEMA_DEPTH:
        return bounded
    if "items" in schema:
        bounded["items"] = bound_schema(schema["items"], depth + 1)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        bounded["properties"] = {
            name: bound_schema(each, depth + 1)
            for name, each in [*properties.items()][:MAX_ARGUMENTS]
            if ARGUMENT_PATTERN.fullmatch(name)
        }
    return bounded


def find_type(given: JsonValue) -> str:
    """Return the type of a value; of several the first that is not null; empty if it is open."""
    names: Sequence[JsonValue] = given if isinstance(given, list) else [given]
    known = [each for each in names if isinstance(each, str) and each in JSON_TYPES]
    return known[0] if known and len(known) == sum(each != "null" for each in names) == 1 else ""


def select_choices(given: JsonValue) -> list[JsonValue]:
    """Return the values to choose from, if they are few and short."""
    if not isinstance(given, list) or len(given) > MAX_CHOICES:
        return []
    texts = [each for each in given if isinstance(each, str) and len(each) <= MAX_CHOICE_CHARS]
    return [*texts] if len(texts) == len(given) else []


def to_short_line(text: str, most: int) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
