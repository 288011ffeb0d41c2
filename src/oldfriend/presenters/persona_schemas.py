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
from oldfriend.presenters.usage_schemas import LikelyCost
from oldfriend.prompts.starter_personas import StarterPersona

Version: TypeAlias = CoreBlock | GlobalPersona


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShape(Schema):
    """One block, in people's words."""

    name: BlockName
    version: int = field(metadata=describe("0: nothing was ever written."))
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
class SoulShape(Schema):
    """Who the companion is to everybody, as SOUL.md says."""

    version: int
    text: str
    read_at: str

    @classmethod
    def from_domain(cls, soul: GlobalPersona, *, zone: str) -> Self:
        """Present the global persona, as it was last read from SOUL.md."""
        return cls(version=soul.version, text=soul.text, read_at=format_time(soul.read_at, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingShape(Schema):
    """A persona and a style to begin with."""

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
class SuggestionShape(Schema):
    """Words for a block that wait for a decision."""

    id: str
    block: BlockName
    text: str
    replaces: str = field(metadata=describe("The words it stands in for; empty: it is added."))
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
class Character(Schema):
    """Who is who."""

    name: str = field(metadata=describe("What the companion is called.", examples=["Mira"]))
    longest_name: int = field(metadata=describe("So many characters fit in its name."))
    blocks: tuple[BlockShape, ...]
    longest: int = field(metadata=describe("So many characters fit in a block."))
    soul: SoulShape | None
    soul_file: str | None = field(metadata=describe("Where SOUL.md is written: for the owner."))
    starting: tuple[StartingShape, ...]
    suggestions: tuple[SuggestionShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen(Schema):
    """What it would take to have a model read some words."""

    pieces: int
    likely_cost: LikelyCost | None = field(metadata=describe("None: no model is connected."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted(Schema):
    """What was drafted: suggestions, of which each is to be decided."""

    suggestions: tuple[SuggestionShape, ...]
    is_rough: bool = field(metadata=describe("By plain rules, without a model: much is missed."))
    left_out: dict[str, int] = field(
        metadata=describe("What belongs elsewhere, and how much of it.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionShape(Schema):
    """One version of a block, with what it changed."""

    version: int
    written_at: str
    text: str
    lines: tuple[str, ...] = field(
        metadata=describe("What changed since before: “- ” gone, “+ ” new.")
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
class Versions(Schema):
    """Every version of a block, the newest first."""

    items: tuple[VersionShape, ...]
    next: str | None = field(metadata=describe("The cursor of older ones."))


def list_version_shapes(
    versions: Sequence[CoreBlock], *, limit: int, zone: str
) -> tuple[VersionShape, ...]:
    """Return the newest versions, each with its difference from the one before."""
    texts = {each.version: each.text for each in versions}
    return tuple(
        VersionShape.from_domain(each, texts.get(each.version - 1, ""), zone=zone)
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
