"""How is shown who is who?"""

from collections.abc import Sequence

from oldfriend.memory.core_blocks import BlockName, CoreBlock, differences
from oldfriend.memory.soul import Soul
from oldfriend.memory.suggestions import Suggestion
from oldfriend.prompts.starting import StartingPoint
from oldfriend.web.shapes.character import (
    BlockShape,
    SoulShape,
    StartingShape,
    SuggestionShape,
    VersionShape,
)
from oldfriend.web.showing.common import in_zone


def block_shape(name: BlockName, block: CoreBlock | None, *, zone: str) -> BlockShape:
    """A block as it reads; None: nothing was ever written."""
    if block is None:
        return BlockShape(name=name, version=0, text="", written_at=None)
    return BlockShape(
        name=name, version=block.version, text=block.text,
        written_at=in_zone(block.written_at, zone),
    )  # fmt: skip


def version_shapes(versions: Sequence[CoreBlock], *, most: int, zone: str) -> list[VersionShape]:
    """The newest of some versions, each with what it changed in the one before."""
    texts = {each.version: each.text for each in versions}
    return [
        VersionShape(
            version=each.version, written_at=in_zone(each.written_at, zone), text=each.text,
            lines=[*differences(texts.get(each.version - 1, ""), each.text)],
        )
        for each in reversed(versions[-most:])
    ]  # fmt: skip


def soul_shape(soul: Soul, *, zone: str) -> SoulShape:
    """What SOUL.md said when it was read last."""
    return SoulShape(version=soul.version, text=soul.text, read_at=in_zone(soul.read_at, zone))


def starting_shape(point: StartingPoint) -> StartingShape:
    """From what one can start."""
    return StartingShape(
        name=point.name, about=point.about, persona=point.persona, style=point.style
    )


def suggestion_shape(suggestion: Suggestion, *, zone: str) -> SuggestionShape:
    """Words that wait for a decision."""
    what = suggestion.what
    return SuggestionShape(
        id=suggestion.id, block=what.block, text=what.text, replaces=what.replaces,
        reason=what.reason, by=what.author, status=suggestion.status,
        made_at=in_zone(suggestion.made_at, zone),
    )  # fmt: skip
