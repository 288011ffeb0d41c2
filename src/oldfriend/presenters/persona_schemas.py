"""Persona: core blocks, their versions, SOUL.md, starter personas and suggestions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.memory.core_blocks import BlockName, CoreBlock, GlobalPersona, Suggestion, diff_lines
from oldfriend.presenters.base_schema import (
    Schema,
    describe,
    format_date,
    format_exact_time,
    format_time,
)
from oldfriend.presenters.usage_schemas import CostEstimateSchema
from oldfriend.prompts.starter_personas import StarterPersona

Version: TypeAlias = CoreBlock | GlobalPersona


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreBlockSchema(Schema):
    """A core block."""

    name: BlockName
    version: int = field(metadata=describe("The version; 0 if nothing was ever written."))
    text: str
    written_at: str | None

    @classmethod
    def from_domain(cls, name: BlockName, block: CoreBlock | None, *, zone: str) -> Self:
        """Present a core block; None stands for one that was never written."""
        if block is None:
            return cls(name=name, version=0, text="", written_at=None)
        return cls(
            name=name,
            version=block.version,
            text=block.text,
            written_at=format_time(block.written_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulSchema(Schema):
    """The persona that everybody shares, from SOUL.md."""

    version: int
    text: str
    read_at: str

    @classmethod
    def from_domain(cls, soul: GlobalPersona, *, zone: str) -> Self:
        """Present the global persona, as it was last read from SOUL.md."""
        return cls(version=soul.version, text=soul.text, read_at=format_time(soul.read_at, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterPersonaSchema(Schema):
    """A starter persona with a style."""

    name: str
    about: str
    persona: str
    style: str

    @classmethod
    def from_domain(cls, preset: StarterPersona) -> Self:
        """Present a starter persona."""
        return cls(
            name=preset.name, about=preset.summary, persona=preset.persona, style=preset.style
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionSchema(Schema):
    """A suggested change of a core block that waits for a decision."""

    id: str
    block: BlockName
    text: str
    replaces: str = field(metadata=describe("The text it replaces; empty if it is added."))
    reason: str
    by: str
    status: Literal["pending", "accepted", "declined"]
    made_at: str

    @classmethod
    def from_domain(cls, suggestion: Suggestion, *, zone: str) -> Self:
        """Present a suggestion."""
        proposal = suggestion.proposal
        return cls(
            id=suggestion.id,
            block=proposal.block,
            text=proposal.text,
            replaces=proposal.replaces,
            reason=proposal.reason,
            by=proposal.author,
            status=suggestion.status,
            made_at=format_time(suggestion.made_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaSchema(Schema):
    """The companion's persona, and what it knows of the person."""

    name: str = field(metadata=describe("The companion's name.", examples=["Mira"]))
    longest_name: int = field(metadata=describe("The maximum length of the name, in characters."))
    blocks: tuple[CoreBlockSchema, ...]
    longest: int = field(metadata=describe("The maximum length of a block, in characters."))
    soul: SoulSchema | None
    soul_file: str | None = field(
        metadata=describe("Where SOUL.md is stored; shown to the owner only.")
    )
    starting: tuple[StarterPersonaSchema, ...]
    suggestions: tuple[SuggestionSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftEstimateSchema(Schema):
    """The estimated cost of having a model read a text."""

    pieces: int
    likely_cost: CostEstimateSchema | None = field(
        metadata=describe("Null if no model is connected.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftResultSchema(Schema):
    """Drafted suggestions, each of which waits for a decision."""

    suggestions: tuple[SuggestionSchema, ...]
    is_rough: bool = field(
        metadata=describe(
            "Whether it was drafted by simple rules, without a model, which miss much."
        )
    )
    left_out: dict[str, int] = field(
        metadata=describe("How much was left out, by where it belongs.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreBlockVersionSchema(Schema):
    """A version of a core block, with its changes."""

    version: int
    written_at: str
    text: str
    lines: tuple[str, ...] = field(
        metadata=describe("The changes as lines: “- ” removed, “+ ” added.")
    )

    @classmethod
    def from_domain(cls, version: CoreBlock, text_before: str, *, zone: str) -> Self:
        """Present a version of a core block, with its difference from the text before."""
        return cls(
            version=version.version,
            written_at=format_time(version.written_at, zone),
            text=version.text,
            lines=tuple(diff_lines(text_before, version.text)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreBlockVersionPageSchema(Schema):
    """A page of the versions of a core block, the newest first."""

    items: tuple[CoreBlockVersionSchema, ...]
    next: str | None = field(
        metadata=describe("The cursor of older versions; null on the last page.")
    )


def list_version_shapes(
    versions: Sequence[CoreBlock], *, limit: int, zone: str
) -> tuple[CoreBlockVersionSchema, ...]:
    """Return the newest versions, each with its difference from the one before."""
    texts = {each.version: each.text for each in versions}
    return tuple(
        CoreBlockVersionSchema.from_domain(each, texts.get(each.version - 1, ""), zone=zone)
        for each in reversed(versions[-limit:])
    )


def suggestion_as_json(suggestion: Suggestion, zone: str) -> dict[str, JsonValue]:
    """Return a suggestion as JSON."""
    proposal = suggestion.proposal
    return {
        "id": suggestion.id,
        "block": proposal.block,
        "text": proposal.text,
        "replaces": proposal.replaces,
        "reason": proposal.reason,
        "cites": [*proposal.cites],
        "author": proposal.author,
        "status": suggestion.status,
        "made_at": format_exact_time(suggestion.made_at, zone),
        "version": suggestion.version,
    }


def format_suggestion(suggestion: Suggestion, zone: str) -> str:
    """Format a suggestion with its author and reason."""
    proposal = suggestion.proposal
    day = format_date(suggestion.made_at, zone)
    verdict = "" if suggestion.status == "pending" else f", {suggestion.status}"
    lines = [f"{shorten_id(suggestion.id)}  {proposal.block}, by {proposal.author}, {day}{verdict}"]
    lines += [f"  - {line}" for line in proposal.replaces.splitlines()]
    lines += [f"  + {line}" for line in proposal.text.splitlines()]
    lines += [f"    {line}" for line in proposal.reason.splitlines()]
    if proposal.cites:
        lines.append(f"    because of {', '.join(map(shorten_id, proposal.cites))}")
    return "\n".join(lines)


def version_as_json(version: Version, zone: str) -> dict[str, JsonValue]:
    """Return a version of a block or of SOUL.md as JSON."""
    return {
        "name": get_block_name(version),
        "version": version.version,
        "text": version.text,
        "written_at": format_exact_time(get_written_at(version), zone),
    }


def get_block_name(version: Version) -> str:
    """Return the name of the block that this is a version of."""
    return "soul" if isinstance(version, GlobalPersona) else version.name


def get_written_at(version: Version) -> Micros:
    """Return when the version was written, or read from SOUL.md."""
    return version.read_at if isinstance(version, GlobalPersona) else version.written_at
