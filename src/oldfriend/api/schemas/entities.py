"""Schemas for entities and the relation graph."""

from pydantic import Field

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.domain.memories import EntityKind, EntityStatus, RelationType
from oldfriend.presenters.beliefs import BeliefShape


class AcquaintanceShape(ApiModel):
    """Somebody or something with a name, in short."""

    id: str
    name: str = Field(examples=["Ana"])
    kind: EntityKind
    status: EntityStatus
    aliases: list[str] = Field(description="Other names, as they were said.")
    description: str
    same_as: str | None = Field(description="Uncertain: perhaps the one with this id.")
    is_pinned: bool
    to_you: list[str] = Field(description="How they are tied to the person, in words.")
    known: int = Field(description="So much is believed about them.")
    told_at: str | None = Field(
        description="When the newest words were said from which something of them is known."
    )


class Acquaintances(ApiModel):
    """Everybody and everything that is known by name, those of whom it was told last first."""

    items: list[AcquaintanceShape]
    total: int
    next: str | None = Field(description="The cursor of the next page; None: this is the last.")


class TieShape(ApiModel):
    """How somebody is tied to another."""

    other: str | None = Field(description="The id of the other; None: the person themself.")
    name: str | None
    belief: BeliefShape


class PortraitShape(ApiModel):
    """Somebody or something, and everything believed about them."""

    about: AcquaintanceShape
    belief: BeliefShape = Field(description="That they are known at all, with the words.")
    ties: list[TieShape]
    others: list[BeliefShape] = Field(description="What else is believed, the worthiest first.")


class NodeShape(ApiModel):
    """A point of the graph."""

    id: str
    name: str
    kind: EntityKind
    known: int


class BondShape(ApiModel):
    """A line of the graph."""

    first: str = Field(description="The id of one; empty: the person themself.")
    second: str
    tie: RelationType
    text: str
    memory: str = Field(description="The id of what says so.")


class GraphShape(ApiModel):
    """Who is tied to whom and what; those who are tied to nobody are left out."""

    nodes: list[NodeShape]
    bonds: list[BondShape]
    left_out: int = Field(description="So many more are known than can be drawn.")
