"""What has a model made of what it was shown? Its JSON as ideas, which nobody believes yet.

An idea cites by small names. What is no answer at all raises ValueError, so that it can be
mended; a single idea that cannot be read is dropped and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from oldfriend.background.fields import (
    Fields,
    choice_in,
    end_in,
    list_in,
    object_from,
    text_in,
    whole_in,
    words_in,
)
from oldfriend.background.form import TEXT, WHEN, Schema, list_of, one_of, record
from oldfriend.domain.clock import Micros
from oldfriend.domain.json import JsonValue
from oldfriend.memory.core_blocks import BlockName

IdeaKind = Literal["thought", "question", "expectation", "pattern", "suggestion"]
"""A suggestion is for a core block; it is put before the person, and believed by nobody."""
About = Literal["person", "companion"]
Link = Literal["causal", "belief"]
"""What a pattern over patterns says: that one brings the other, or what both rest on."""

ABOUT: Final[tuple[About, ...]] = get_args(About)
LINKS: Final[tuple[Link, ...]] = get_args(Link)
BLOCKS: Final[tuple[BlockName, ...]] = get_args(BlockName)
LONGEST_REASON: Final = 300
KIND_OF_LIST: Final[Mapping[str, IdeaKind]] = {
    "thoughts": "thought", "questions": "question", "expectations": "expectation",
    "patterns": "pattern", "suggestions": "suggestion",
}  # fmt: skip
"""The lists in an answer, and what each holds."""
CITES: Final = list_of(TEXT)
OF_LIST: Final[Mapping[str, Mapping[str, Schema]]] = {
    "thoughts": {
        "about": one_of(About), "impact": {"type": "integer"}, "tags": list_of(TEXT),
    },
    "questions": {},
    "expectations": {"due_at": WHEN},
    "patterns": {"pattern": one_of(Link)},
    "suggestions": {"block": one_of(BlockName), "reason": TEXT},
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """Something that a model makes of what it was shown, before it is sifted."""

    kind: IdeaKind
    text: str
    cites: tuple[str, ...]  # small names, as it gave them
    about: About = "person"
    impact: int = 0
    tags: tuple[str, ...] = ()
    due_at: Micros | None = None
    pattern: Link | None = None
    block: BlockName = "style"  # of a suggestion …
    reason: str = ""  # … and why
    said_again: str = ""  # by which prompt it was wished for in other words; none was needed: ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ideas:
    """All ideas of an answer, and how many could not be read."""

    ideas: tuple[Idea, ...]
    malformed: int = 0


def form_of_ideas(wanted: Sequence[str]) -> Schema:
    """The JSON Schema of an answer with these lists."""
    lists = {
        each: list_of(record({"text": TEXT, "cites": CITES, **OF_LIST[each]},
                             required=["text", "cites"]))
        for each in wanted
    }  # fmt: skip
    return record(lists, required=list(wanted))


def ideas_from(answer: JsonValue, wanted: Sequence[str], *, zone: str) -> Ideas:
    """The ideas of an answer. Raises ValueError, in words for the model."""
    fields = object_from(answer, "the answer")
    if not any(each in fields for each in wanted):
        raise ValueError(f"it has none of the keys {', '.join(wanted)}.")
    ideas: list[Idea] = []
    faults: list[str] = []
    for each in wanted:
        for item in list_in(fields, each):
            try:
                ideas.append(idea_from(object_from(item, "each"), KIND_OF_LIST[each], zone))
            except ValueError as fault:
                faults.append(f"in {each}, {fault}")
    if faults and not ideas:
        raise ValueError(f"nothing in it could be read. The first fault: {faults[0]}")
    return Ideas(ideas=tuple(ideas), malformed=len(faults))


def idea_from(item: Fields, kind: IdeaKind, zone: str) -> Idea:
    """One idea. Raises ValueError where a field is not what it has to be."""
    text = text_in(item, "text")
    if not text:
        raise ValueError("one has no text.")
    return Idea(
        kind=kind,
        text=text,
        cites=words_in(item, "cites"),
        about=choice_in(item, "about", ABOUT, "person"),
        impact=whole_in(item, "impact", 0),
        tags=words_in(item, "tags"),
        due_at=end_in(item, "due_at", zone),
        pattern=choice_in(item, "pattern", LINKS, "belief") if kind == "pattern" else None,
        block=choice_in(item, "block", BLOCKS, "style"),
        reason=text_in(item, "reason")[:LONGEST_REASON],
    )
