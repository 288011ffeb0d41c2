"""Reflection output: parses a model's JSON into ideas that nobody believes yet.

Ideas cite aliases. Raises ValueError if the text is no usable answer, so that the caller can ask
for a repair; a single unreadable idea is dropped and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from oldfriend.domain.clock import Micros
from oldfriend.domain.json import JsonValue
from oldfriend.learning.extraction_schema import (
    TEXT,
    TIMESTAMP,
    Schema,
    array_schema,
    enum_schema,
    object_schema,
)
from oldfriend.learning.field_parsers import (
    Fields,
    parse_choice,
    parse_end,
    parse_int,
    parse_list,
    parse_object,
    parse_text,
    parse_texts,
)
from oldfriend.memory.core_blocks import BlockName

IdeaKind = Literal["thought", "question", "expectation", "pattern", "suggestion"]
"""A suggestion is for a core block; it is shown to the person, and nobody believes it."""
IdeaSubject = Literal["person", "companion"]
MetaPatternKind = Literal["causal", "belief"]
"""What a pattern over patterns says: that one causes another, or what both rest on."""

IDEA_SUBJECTS: Final[tuple[IdeaSubject, ...]] = get_args(IdeaSubject)
META_PATTERN_KINDS: Final[tuple[MetaPatternKind, ...]] = get_args(MetaPatternKind)
BLOCK_NAMES: Final[tuple[BlockName, ...]] = get_args(BlockName)
MAX_REASON_LENGTH: Final = 300
IDEA_LISTS: Final[Mapping[str, IdeaKind]] = {
    "thoughts": "thought",
    "questions": "question",
    "expectations": "expectation",
    "patterns": "pattern",
    "suggestions": "suggestion",
}
"""The lists in an answer, and the kind of each."""
CITATIONS_SCHEMA: Final = array_schema(TEXT)
IDEA_FIELDS_BY_LIST: Final[Mapping[str, Mapping[str, Schema]]] = {
    "thoughts": {
        "about": enum_schema(IdeaSubject),
        "impact": {"type": "integer"},
        "tags": array_schema(TEXT),
    },
    "questions": {},
    "expectations": {"due_at": TIMESTAMP},
    "patterns": {"pattern": enum_schema(MetaPatternKind)},
    "suggestions": {"block": enum_schema(BlockName), "reason": TEXT},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """Idea: something a model concludes from what it was shown, before validation."""

    kind: IdeaKind
    text: str
    cites: tuple[str, ...]  # aliases, as the model gave them
    about: IdeaSubject = "person"
    impact: int = 0
    tags: tuple[str, ...] = ()
    due_at: Micros | None = None
    pattern: MetaPatternKind | None = None
    block: BlockName = "style"  # core block of a suggestion …
    reason: str = ""  # … and the reason for it
    reworded_by: str = ""  # id of the prompt that asked for a rewording; "": none was needed


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedIdeas:
    """Parsed ideas: all ideas of an answer, and how many were unreadable."""

    ideas: tuple[Idea, ...]
    malformed: int = 0


def build_ideas_schema(keys: Sequence[str]) -> Schema:
    """Build the JSON Schema of an answer with these lists."""
    lists = {
        each: array_schema(
            object_schema(
                {"text": TEXT, "cites": CITATIONS_SCHEMA, **IDEA_FIELDS_BY_LIST[each]},
                required=["text", "cites"],
            )
        )
        for each in keys
    }
    return object_schema(lists, required=list(keys))


def parse_ideas(answer: JsonValue, keys: Sequence[str], *, zone: str) -> ParsedIdeas:
    """Parse the ideas of an answer. Raises ValueError, with a message for the model."""
    fields = parse_object(answer, "the answer")
    if not any(each in fields for each in keys):
        raise ValueError(f"it has none of the keys {', '.join(keys)}.")
    ideas: list[Idea] = []
    errors: list[str] = []
    for each in keys:
        for item in parse_list(fields, each):
            try:
                ideas.append(parse_idea(parse_object(item, "each"), IDEA_LISTS[each], zone))
            except ValueError as error:
                errors.append(f"in {each}, {error}")
    if errors and not ideas:
        raise ValueError(f"nothing in it could be read. The first fault: {errors[0]}")
    return ParsedIdeas(ideas=tuple(ideas), malformed=len(errors))


def parse_idea(item: Fields, kind: IdeaKind, zone: str) -> Idea:
    """Parse one idea. Raises ValueError if a field is invalid."""
    text = parse_text(item, "text")
    if not text:
        raise ValueError("one has no text.")
    return Idea(
        kind=kind,
        text=text,
        cites=parse_texts(item, "cites"),
        about=parse_choice(item, "about", IDEA_SUBJECTS, "person"),
        impact=parse_int(item, "impact", 0),
        tags=parse_texts(item, "tags"),
        due_at=parse_end(item, "due_at", zone),
        pattern=parse_choice(item, "pattern", META_PATTERN_KINDS, "belief")
        if kind == "pattern"
        else None,
        block=parse_choice(item, "block", BLOCK_NAMES, "style"),
        reason=parse_text(item, "reason")[:MAX_REASON_LENGTH],
    )
