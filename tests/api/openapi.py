"""The API as it describes itself: its operations, and what they say may be sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that can be asked for."""

    method: str
    path: str
    told: dict[str, Any]
    document: dict[str, Any]

    @property
    def name(self) -> str:
        """How it is named in messages."""
        return f"{self.method.upper()} {self.path}"

    def parameters(self, place: str) -> dict[str, dict[str, Any]]:
        """What is named in its path, its query or its headers."""
        return {
            each["name"]: each for each in self.told.get("parameters", ()) if each["in"] == place
        }

    def example(self) -> Any:
        """What may be sent with it; None: nothing is. Raises LookupError where none is shown."""
        content = self.told.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            return None
        return example_of(content["application/json"]["schema"], self.document, self.name)

    def at(self, ids: dict[str, str]) -> str:
        """Its address, with ids filled in."""
        path = self.path
        for name in self.parameters("path"):
            path = path.replace(f"{{{name}}}", ids[name])
        return path


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """Every operation of a document."""
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            yield Operation(method=method, path=path, told=told, document=document)


def example_of(schema: dict[str, Any], document: dict[str, Any], where: str) -> Any:
    """An example of a schema, from those that are shown. Raises LookupError."""
    if "$ref" in schema:
        named = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return example_of(named, document, where)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    if "const" in schema or "default" in schema:
        return schema.get("const", schema.get("default"))
    if schema.get("properties"):
        needed = schema.get("required", ())
        return {
            name: example_of(part, document, f"{where}: {name}")
            for name, part in schema["properties"].items()
            if name in needed or part.get("examples")
        }
    if schema.get("type") == "boolean":
        return True
    raise LookupError(f"{where} shows no example")
