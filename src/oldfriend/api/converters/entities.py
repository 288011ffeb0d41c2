"""Converters for entities and the relation graph."""

from collections import Counter
from collections.abc import Sequence

from oldfriend.api.schemas.entities import (
    AcquaintanceShape,
    BondShape,
    GraphShape,
    NodeShape,
    PortraitShape,
    TieShape,
)
from oldfriend.beliefs.entities import EntityDetails, EntityOverview, RelationEdge
from oldfriend.presenters.beliefs import BeliefShape
from oldfriend.presenters.formatting import format_time

MAX_NODES = 150


def to_entity_overview_shape(acquaintance: EntityOverview, *, zone: str) -> AcquaintanceShape:
    """Convert the overview of an entity."""
    entity = acquaintance.entity
    return AcquaintanceShape(
        id=entity.id,
        name=entity.name,
        kind=entity.kind,
        status=entity.status,
        aliases=list(entity.aliases),
        description=entity.description,
        same_as=entity.same_as,
        is_pinned=entity.is_pinned,
        to_you=[each.memory.text for each in acquaintance.relations_to_person],
        known=acquaintance.belief_count,
        told_at=format_time(acquaintance.last_mentioned_at, zone),
    )


def to_entity_details_shape(portrait: EntityDetails, *, zone: str) -> PortraitShape:
    """Convert an entity with everything believed about it."""
    return PortraitShape(
        about=to_entity_overview_shape(portrait.overview, zone=zone),
        belief=BeliefShape.from_domain(portrait.belief, zone=zone),
        ties=[
            TieShape(
                other=other,
                name=None if other is None else portrait.entity_names.get(other),
                belief=BeliefShape.from_domain(tie, zone=zone),
            )
            for tie, other in portrait.relations
        ],
        others=[BeliefShape.from_domain(each, zone=zone) for each in portrait.other_beliefs],
    )


def to_graph_shape(
    acquaintances: Sequence[EntityOverview], bonds: Sequence[RelationEdge]
) -> GraphShape:
    """Convert the relation graph, limited to the MAX_NODES entities with the most relations."""
    degrees = Counter(end for bond in bonds for end in (bond.first, bond.second) if end is not None)
    connected = sorted(
        (each for each in acquaintances if degrees[each.entity.id]),
        key=lambda each: (-degrees[each.entity.id], -each.belief_count),
    )
    drawn = connected[:MAX_NODES]
    ids = {each.entity.id for each in drawn} | {None}
    return GraphShape(
        nodes=[
            NodeShape(
                id=each.entity.id,
                name=each.entity.name,
                kind=each.entity.kind,
                known=each.belief_count,
            )
            for each in drawn
        ],
        bonds=[
            BondShape(
                first=bond.first or "",
                second=bond.second,
                tie=bond.relation,
                text=bond.known.memory.text,
                memory=bond.known.memory.id,
            )
            for bond in bonds
            if bond.first in ids and bond.second in ids
        ],
        left_out=len(connected) - len(drawn),
    )
