"""Do the arguments of a tool call fit its parameters? Looked at before a tool is used.

Knows as much of JSON Schema as our own tools need: an object whose properties have simple types.
"""

from collections.abc import Iterator, Mapping

from oldfriend.domain.json import JsonValue
from oldfriend.turn.tools.ability import Arguments

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    "array": (list,), "object": (dict,),
}  # fmt: skip


def faults_of(arguments: Arguments, parameters: Mapping[str, JsonValue]) -> list[str]:
    """What is wrong with the arguments, in words for the model; nothing if they fit."""
    properties, required = parameters.get("properties"), parameters.get("required")
    assert isinstance(properties, dict)
    needed = required if isinstance(required, list) else []
    missing = [f"{name} is missing" for name in needed if name not in arguments]
    unknown = [f"{name} is not known" for name in arguments if name not in properties]
    return [*missing, *unknown, *wrong_types(arguments, properties)]


def wrong_types(arguments: Arguments, properties: Mapping[str, JsonValue]) -> Iterator[str]:
    """The arguments that are of another type than they must be."""
    for name, value in arguments.items():
        form = properties.get(name)
        wanted = form.get("type") if isinstance(form, dict) else None
        if isinstance(wanted, str) and not is_of_type(value, wanted):
            yield f"{name} must be of type {wanted}"


def is_of_type(value: JsonValue, wanted: str) -> bool:
    """Whether a value is of a JSON type; true and false are no numbers."""
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, TYPES[wanted])
