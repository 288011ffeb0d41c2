"""Extraction schema: the JSON Schema of a model's extraction output, part by part.

A model is shown this schema, or the prompt's form if its provider takes no schema;
``llm_extractor`` and ``field_parsers`` read the output.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, get_args

from oldfriend.domain.belief_kinds import BELIEF_KINDS
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Category,
    EntityKind,
    EvidenceSignal,
    MemoryKind,
    MoodSignal,
    PatternKind,
    RelationalTag,
    RelationType,
    Subject,
)
from oldfriend.learning.extraction import Modality, ModelEffect

Schema = dict[str, JsonValue]

EXTRACTED_KINDS: Final = {
    kind.extraction.list_name: (kind, kind.extraction)
    for kind in BELIEF_KINDS
    if kind.extraction is not None
}
CLAIM_LISTS: Final[Mapping[str, MemoryKind]] = {
    name: kind.name for name, (kind, _) in EXTRACTED_KINDS.items()
}
"""The lists of claims in an answer, and the kind of each."""

FIRST_PASS: Final = (
    "names",
    "same",
    "ties",
    *(name for name, (_, spec) in EXTRACTED_KINDS.items() if spec.in_first_pass),
    "self_check",
)
SECOND_PASS: Final = (
    *(name for name, (_, spec) in EXTRACTED_KINDS.items() if not spec.in_first_pass),
    "topics",
    "summary",
    "mood",
    "self_check",
)


def enum_schema(literal: object) -> Schema:
    """Return the schema of one word of a closed set."""
    return {"type": "string", "enum": [*get_args(literal)]}


def array_schema(item: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def nullable_schema(schema: Schema) -> Schema:
    """Return the schema of a value or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def object_schema(fields: Mapping[str, Schema], *, required: Collection[str]) -> Schema:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": [*required],
        "additionalProperties": False,
    }


def reference_schema(name: str) -> Schema:
    """Return the schema that refers to a definition."""
    return {"$ref": f"#/$defs/{name}"}


TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final = array_schema(TEXT)
FRACTION: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
TIMESTAMP: Final = nullable_schema({"type": "string", "description": "ISO 8601"})
QUOTES, SIGNAL, MODALITY = map(reference_schema, ("quotes", "signal", "modality"))

COMMON_CLAIM_FIELDS: Final[dict[str, Schema]] = {
    "text": TEXT,
    "quotes": QUOTES,
    "subject": enum_schema(Subject),
    "confidence": FRACTION,
    "signal": SIGNAL,
    "modality": MODALITY,
    "importance": FRACTION,
    "bearing": enum_schema(ModelEffect),
    "target": TEXT,
    "names": TEXTS,
}
CLAIM_FIELDS: Final[dict[str, Schema]] = {
    "key": TEXT,
    "value": TEXT,
    "pattern": enum_schema(PatternKind),
    "impact": {"type": "integer", "minimum": -10, "maximum": 10},
    "tags": TEXTS,
    "arousal": {"type": "integer", "minimum": 0, "maximum": 10},
    "cues": TEXTS,
    "relational": array_schema(enum_schema(RelationalTag)),
    "happened_at": TEXT,
    "happened_until": TEXT,
    "holds_from": TEXT,
    "holds_until": TEXT,
    "due_at": TEXT,
}
CATEGORY: Final = enum_schema(Category)
OTHER_PARTS: Final[Mapping[str, Schema]] = {
    "names": array_schema(
        object_schema(
            {
                "name": TEXT,
                "kind": enum_schema(EntityKind),
                "aliases": TEXTS,
                "quotes": QUOTES,
            },
            required=["name", "kind", "quotes"],
        )
    ),
    "same": array_schema(
        object_schema(
            {"one": TEXT, "other": TEXT, "same": {"type": "boolean"}, "quotes": QUOTES},
            required=["one", "other", "same", "quotes"],
        )
    ),
    "ties": array_schema(
        object_schema(
            {
                "first": TEXT,
                "tie": enum_schema(RelationType),
                "second": TEXT,
                "text": TEXT,
                "quotes": QUOTES,
                "confidence": FRACTION,
                "signal": SIGNAL,
                "modality": MODALITY,
                "holds_from": TEXT,
                "holds_until": TEXT,
            },
            required=["first", "tie", "second", "text", "quotes"],
        )
    ),
    "topics": TEXTS,
    "summary": TEXT,
    "mood": nullable_schema(
        object_schema(
            {
                "phrase": TEXT,
                "energy": {"type": "integer", "minimum": 0, "maximum": 10},
                "signal": enum_schema(MoodSignal),
            },
            required=["phrase", "energy"],
        )
    ),
    "self_check": object_schema(
        {"missed_peak": TEXT, "attribution": TEXT}, required=["missed_peak", "attribution"]
    ),
}
ALL_PARTS: Final = (*CLAIM_LISTS, *OTHER_PARTS)

DEFINITIONS: Final[Mapping[str, Schema]] = {
    "quotes": array_schema(
        object_schema({"message": TEXT, "text": TEXT}, required=["message", "text"])
    ),
    "signal": enum_schema(EvidenceSignal),
    "modality": enum_schema(Modality),
    "claim": object_schema(COMMON_CLAIM_FIELDS | CLAIM_FIELDS, required=["text", "quotes"]),
}
"""What a schema refers to: one form for claims of all kinds, since providers count its tokens."""


def build_schema(parts: Sequence[str]) -> Schema:
    """Return the schema of an answer with these parts."""
    schema = object_schema({part: _build_part_schema(part) for part in parts}, required=parts)
    return schema | {"$defs": dict(DEFINITIONS)}


def _build_part_schema(part: str) -> Schema:
    """Return the schema of a part; claims whose key is of a closed set have a form of their own."""
    if part not in EXTRACTED_KINDS:
        return OTHER_PARTS[part]
    kind, spec = EXTRACTED_KINDS[part]
    if kind.key != "category":
        return array_schema(reference_schema("claim"))
    own_fields = {name: CLAIM_FIELDS[name] for name in spec.fields} | {"key": CATEGORY}
    return array_schema(
        object_schema(COMMON_CLAIM_FIELDS | own_fields, required=["text", "quotes"])
    )
