"""Extraction schema: the JSON Schema of a model's extraction output, part by part.

The prompt shows the same format; ``llm_extractor`` and ``field_parsers`` read
the output.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, get_args

from oldfriend.domain.belief_kinds import BELIEF_KINDS, ClaimField
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
from oldfriend.learning.extraction import ClaimEffect

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


TEXT: Final[Schema] = {"type": "string"}
FRACTION: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
TIMESTAMP: Final = nullable_schema({"type": "string", "description": "ISO 8601"})
QUOTES: Final = array_schema(
    object_schema({"message": TEXT, "text": TEXT}, required=["message", "text"])
)

COMMON_CLAIM_FIELDS: Final[Mapping[str, Schema]] = {
    "text": TEXT,
    "quotes": QUOTES,
    "subject": enum_schema(Subject),
    "confidence": FRACTION,
    "signal": enum_schema(EvidenceSignal),
    "importance": FRACTION,
    "bearing": enum_schema(ClaimEffect),
    "target": nullable_schema(TEXT),
    "names": array_schema(TEXT),
}
CLAIM_FIELDS: Final[Mapping[ClaimField, Schema]] = {
    "key": TEXT,
    "value": TEXT,
    "pattern": enum_schema(PatternKind),
    "impact": {"type": "integer", "minimum": -10, "maximum": 10},
    "tags": array_schema(TEXT),
    "arousal": nullable_schema({"type": "integer", "minimum": 0, "maximum": 10}),
    "cues": array_schema(TEXT),
    "relational": array_schema(enum_schema(RelationalTag)),
    "happened_at": TIMESTAMP,
    "happened_until": TIMESTAMP,
    "holds_from": TIMESTAMP,
    "holds_until": TIMESTAMP,
    "due_at": TIMESTAMP,
}
CATEGORY: Final = enum_schema(Category)
OTHER_PARTS: Final[Mapping[str, Schema]] = {
    "names": array_schema(
        object_schema(
            {
                "name": TEXT,
                "kind": enum_schema(EntityKind),
                "aliases": array_schema(TEXT),
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
                "signal": enum_schema(EvidenceSignal),
                "holds_from": TIMESTAMP,
                "holds_until": TIMESTAMP,
            },
            required=["first", "tie", "second", "text", "quotes"],
        )
    ),
    "topics": array_schema(TEXT),
    "summary": TEXT,
    "mood": nullable_schema(
        object_schema(
            {
                "phrase": TEXT,
                "energy": {"type": "integer", "minimum": 0, "maximum": 10},
                "signal": nullable_schema(enum_schema(MoodSignal)),
            },
            required=["phrase", "energy"],
        )
    ),
    "self_check": object_schema(
        {"missed_peak": TEXT, "attribution": TEXT}, required=["missed_peak", "attribution"]
    ),
}
ALL_PARTS: Final = (*CLAIM_LISTS, *OTHER_PARTS)


def build_schema(parts: Sequence[str]) -> Schema:
    """Return the schema of an answer with these parts."""
    return object_schema({part: _build_part_schema(part) for part in parts}, required=parts)


def _build_part_schema(part: str) -> Schema:
    if part not in EXTRACTED_KINDS:
        return OTHER_PARTS[part]
    kind, spec = EXTRACTED_KINDS[part]
    fields = dict(COMMON_CLAIM_FIELDS)
    fields.update((name, CLAIM_FIELDS[name]) for name in spec.fields)
    if kind.key == "category":
        fields["key"] = CATEGORY
    return array_schema(object_schema(fields, required=["text", "quotes"]))
