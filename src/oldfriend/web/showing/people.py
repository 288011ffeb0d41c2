"""How are those shown whom it knows by name, and what ties them?"""

from collections import Counter
from collections.abc import Sequence

from oldfriend.app.believing.acquaintances import Acquaintance, Bond, Portrait
from oldfriend.web.shapes.people import (
    AcquaintanceShape,
    BondShape,
    GraphShape,
    NodeShape,
    PortraitShape,
    TieShape,
)
from oldfriend.web.showing.common import at_or_none
from oldfriend.web.showing.memories import belief_shape

MOST_DRAWN = 150


def acquaintance_shape(one: Acquaintance, *, zone: str) -> AcquaintanceShape:
    """Somebody, in short."""
    entity = one.entity
    return AcquaintanceShape(
        id=entity.id, name=entity.name, kind=entity.kind, status=entity.status,
        aliases=list(entity.aliases), description=entity.description, same_as=entity.same_as,
        is_pinned=entity.is_pinned, to_you=[each.memory.text for each in one.to_person],
        known=one.known, told_at=at_or_none(one.told_at, zone),
    )  # fmt: skip


def portrait_shape(portrait: Portrait, *, zone: str) -> PortraitShape:
    """Somebody, and everything believed about them."""
    return PortraitShape(
        about=acquaintance_shape(portrait.about, zone=zone),
        belief=belief_shape(portrait.itself, zone=zone),
        ties=[
            TieShape(
                other=other, name=None if other is None else portrait.names.get(other),
                belief=belief_shape(tie, zone=zone),
            )
            for tie, other in portrait.ties
        ],
        others=[belief_shape(each, zone=zone) for each in portrait.others],
    )  # fmt: skip


def graph_shape(known: Sequence[Acquaintance], bonds: Sequence[Bond]) -> GraphShape:
    """The ties of as many as can be drawn, those with the most ties first."""
    ends = Counter(end for bond in bonds for end in (bond.first, bond.second) if end is not None)
    tied = sorted(
        (each for each in known if ends[each.entity.id]),
        key=lambda each: (-ends[each.entity.id], -each.known),
    )
    drawn = tied[:MOST_DRAWN]
    ids = {each.entity.id for each in drawn} | {None}
    return GraphShape(
        nodes=[
            NodeShape(id=each.entity.id, name=each.entity.name, kind=each.entity.kind,
                      known=each.known)
            for each in drawn
        ],
        bonds=[
            BondShape(
                first=bond.first or "", second=bond.second, tie=bond.tie,
                text=bond.known.memory.text, memory=bond.known.memory.id,
            )
            for bond in bonds if bond.first in ids and bond.second in ids
        ],
        left_out=len(tied) - len(drawn),
    )  # fmt: skip
