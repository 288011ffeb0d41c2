"""Converters for core blocks, the global persona and suggestions."""

from collections.abc import Sequence

from oldfriend.api.schemas.persona import (
    BlockShape,
    SoulShape,
    StartingShape,
    SuggestionShape,
    VersionShape,
)
from oldfriend.memory.core_blocks import BlockName, CoreBlock, diff_lines
from oldfriend.memory.global_persona import GlobalPersona
from oldfriend.memory.suggestions import Suggestion
from oldfriend.presenters.formatting import format_time
from oldfriend.prompts.starter_personas import StarterPersona


def to_block_shape(name: BlockName, block: CoreBlock | None, *, zone: str) -> BlockShape:
    """Convert a core block; None stands for one that was never written."""
    if block is None:
        return BlockShape(name=name, version=0, text="", written_at=None)
    return BlockShape(
        name=name,
        version=block.version,
        text=block.text,
        written_at=format_time(block.written_at, zone),
    )


def to_version_shapes(
    versions: Sequence[CoreBlock], *, limit: int, zone: str
) -> list[VersionShape]:
    """Convert the newest versions, each with its difference from the one before."""
    texts = {each.version: each.text for each in versions}
    return [
        VersionShape(
            version=each.version,
            written_at=format_time(each.written_at, zone),
            text=each.text,
            lines=[*diff_lines(texts.get(each.version - 1, ""), each.text)],
        )
        for each in reversed(versions[-limit:])
    ]


def to_soul_shape(soul: GlobalPersona, *, zone: str) -> SoulShape:
    """Convert the global persona, as it was last read from SOUL.md."""
    return SoulShape(version=soul.version, text=soul.text, read_at=format_time(soul.read_at, zone))


def to_starting_shape(preset: StarterPersona) -> StartingShape:
    """Convert a starter persona."""
    return StartingShape(
        name=preset.name, about=preset.summary, persona=preset.persona, style=preset.style
    )


def to_suggestion_shape(suggestion: Suggestion, *, zone: str) -> SuggestionShape:
    """Convert a suggestion."""
    proposal = suggestion.proposal
    return SuggestionShape(
        id=suggestion.id,
        block=proposal.block,
        text=proposal.text,
        replaces=proposal.replaces,
        reason=proposal.reason,
        by=proposal.author,
        status=suggestion.status,
        made_at=format_time(suggestion.made_at, zone),
    )
