"""What does the answer of a model that reads look like? Its JSON Schema, part by part.

The prompt shows the same form; what comes back is read in ``parsing``.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, get_args

from oldfriend.background.extraction import Bearing
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Category,
    EntityKind,
    MemoryKind,
    MoodSignal,
    PatternKind,
    RelationalTag,
    Signal,
    Subject,
    Tie,
)

Schema = dict[str, JsonValue]

KIND_OF_LIST: Final[Mapping[str, MemoryKind]] = {
    "events": "event",
    "facts": "fact",
    "preferences": "preference",
    "patterns": "pattern",
    "commitments": "commitment",
    "expectations": "expectation",
    "opinions": "opinion",
}
"""The lists of claims in an answer, and what each holds."""

FIRST_PASS: Final = ("names", "same", "ties", "facts", "preferences", "self_check")
SECOND_PASS: Final = (
    "events", "patterns", "commitments", "expectations", "opinions", "topics", "summary", "mood",
    "self_check",
)  # fmt: skip


def one_of(closed_set: object) -> Schema:
    """One word of a closed set."""
    return {"type": "string", "enum": [*get_args(closed_set)]}


def list_of(item: Schema) -> Schema:
    """Any number of them."""
    return {"type": "array", "items": item}


def maybe(schema: Schema) -> Schema:
    """It, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def record(fields: Mapping[str, Schema], *, required: Collection[str]) -> Schema:
    """An object with these fields."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": [*required],
        "additionalProperties": False,
    }


TEXT: Final[Schema] = {"type": "string"}
SHARE: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
WHEN: Final = maybe({"type": "string", "description": "ISO 8601"})
QUOTES: Final = list_of(record({"message": TEXT, "text": TEXT}, required=["message", "text"]))

COMMON: Final[Mapping[str, Schema]] = {
    "text": TEXT,
    "quotes": QUOTES,
    "subject": one_of(Subject),
    "confidence": SHARE,
    "signal": one_of(Signal),
    "importance": SHARE,
    "bearing": one_of(Bearing),
    "target": maybe(TEXT),
    "names": list_of(TEXT),
}
OF_KIND: Final[Mapping[str, Mapping[str, Schema]]] = {
    "events": {
        "impact": {"type": "integer", "minimum": -10, "maximum": 10},
        "tags": list_of(TEXT),
        "arousal": maybe({"type": "integer", "minimum": 0, "maximum": 10}),
        "cues": list_of(TEXT),
        "relational": list_of(one_of(RelationalTag)),
        "happened_at": WHEN,
        "happened_until": WHEN,
    },
    "facts": {"key": TEXT, "value": TEXT, "holds_from": WHEN, "holds_until": WHEN},
    "preferences": {"key": one_of(Category), "value": TEXT},
    "patterns": {"pattern": one_of(PatternKind)},
    "commitments": {"due_at": WHEN},
    "expectations": {"due_at": WHEN},
    "opinions": {"key": TEXT},
}
BESIDE: Final[Mapping[str, Schema]] = {
    "names": list_of(
        record(
            {"name": TEXT, "kind": one_of(EntityKind), "aliases": list_of(TEXT), "quotes": QUOTES},
            required=["name", "kind", "quotes"],
        )
    ),
    "same": list_of(
        record(
            {"one": TEXT, "other": TEXT, "same": {"type": "boolean"}, "quotes": QUOTES},
            required=["one", "other", "same", "quotes"],
        )
    ),
    "ties": list_of(
        record(
            {
                "first": TEXT,
                "tie": one_of(Tie),
                "second": TEXT,
                "text": TEXT,
                "quotes": QUOTES,
                "confidence": SHARE,
                "signal": one_of(Signal),
                "holds_from": WHEN,
                "holds_until": WHEN,
            },
            required=["first", "tie", "second", "text", "quotes"],
        )
    ),
    "topics": list_of(TEXT),
    "summary": TEXT,
    "mood": maybe(
        record(
            {
                "phrase": TEXT,
                "energy": {"type": "integer", "minimum": 0, "maximum": 10},
                "signal": maybe(one_of(MoodSignal)),
            },
            required=["phrase", "energy"],
        )
    ),
    "self_check": record(
        {"missed_peak": TEXT, "attribution": TEXT}, required=["missed_peak", "attribution"]
    ),
}
EVERYTHING: Final = (*KIND_OF_LIST, *BESIDE)


def form_of(wanted: Sequence[str]) -> Schema:
    """The schema of an answer with these parts."""
    return record({part: _schema_of(part) for part in wanted}, required=wanted)


def _schema_of(part: str) -> Schema:
    if part in OF_KIND:
        fields = {**COMMON, **OF_KIND[part]}
        return list_of(record(fields, required=["text", "quotes"]))
    return BESIDE[part]
