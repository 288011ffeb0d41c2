"""Whom and what does the companion know by name, and how are they tied? Reads only."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oldfriend.app.believing.looking import Belief, find_belief, with_words
from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, Known, Tie
from oldfriend.domain.sayings import saying
from oldfriend.domain.ties import Node
from oldfriend.memory.evidence import list_evidence_of, list_last_said
from oldfriend.memory.profile import in_order_of_worth
from oldfriend.memory.search import BeliefIndex
from oldfriend.memory.search.graph import Tied


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintance:
    """Somebody or something with a name, in short."""

    entity: Entity
    known: int  # so much is believed about them, ties among it
    told_at: Micros | None  # when the newest words were said that it knows of them by
    to_person: tuple[Known, ...]  # how they are tied to the person


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """A tie as it is drawn: between two that are known by name, or the person (None) and one."""

    tie: Tie
    first: Node
    second: EntityId
    known: Known


@dataclass(frozen=True, slots=True, kw_only=True)
class Portrait:
    """Somebody or something with a name, and everything believed about them."""

    about: Acquaintance
    itself: Belief
    ties: tuple[tuple[Belief, Node], ...]  # with whom or what is at the other end
    others: tuple[Belief, ...]  # what else is believed, the worthiest first
    names: dict[EntityId, str]  # of those at the other ends


async def list_acquaintances(tx: Transaction, house: House, person: PersonId) -> list[Acquaintance]:
    """All who are known by name, those of whom it was told last first."""
    beliefs = await house.shelf.beliefs_of(tx, person)
    said = await list_last_said(tx, person)
    about: defaultdict[EntityId, list[Known]] = defaultdict(list)
    for each in beliefs.live:
        for entity in set(each.memory.entities):
            about[entity].append(each)
    to_person: defaultdict[Node, list[Known]] = defaultdict(list)
    for tied in beliefs.graph.of(None):
        to_person[tied.other].append(tied.known)
    found = [
        Acquaintance(
            entity=each, known=len(about[each.id]),
            told_at=newest(said.get(each.id), about[each.id]),
            to_person=tuple(to_person.get(each.id, ())),
        )
        for each in beliefs.entities
    ]  # fmt: skip
    return sorted(found, key=rank)


def rank(one: Acquaintance) -> tuple[Micros, EntityId]:
    """What orders them: of whom it was told last comes first."""
    return Micros(-(one.told_at or 0)), one.entity.id


async def list_bonds(tx: Transaction, house: House, person: PersonId) -> list[Bond]:
    """Every tie that holds, once."""
    beliefs = await house.shelf.beliefs_of(tx, person)
    nodes: list[Node] = [None, *(each.id for each in beliefs.entities)]
    return [
        Bond(tie=tied.edge.tie, first=tied.edge.first, second=tied.edge.second, known=tied.known)
        for node in nodes for tied in beliefs.graph.of(node) if tied.edge.first == node
    ]  # fmt: skip


async def portrait_of(tx: Transaction, house: House, person: PersonId, name: str) -> Portrait:
    """Somebody or something, whose id begins or ends so. Raises NotFound, InvalidInput."""
    itself = await find_belief(tx, person, name)
    if not isinstance(itself.what, Entity):
        raise NotFound(saying("nobody_named", "That is nobody and nothing with a name."))
    beliefs = await house.shelf.beliefs_of(tx, person)
    ties = beliefs.graph.of(itself.what.id)
    told = {each.known.memory.id for each in ties}
    others = in_order_of_worth(
        [each for each in beliefs.about(itself.what.id) if each.memory.id not in told]
    )
    words = await list_evidence_of(
        tx, person, [*(ObjectId(each) for each in told), *(each.memory.id for each in others)]
    )
    return Portrait(
        about=in_short(itself.what, itself, beliefs, ties), itself=itself,
        ties=tuple(
            (with_words(each.known, words.get(each.known.memory.id, ())), each.other)
            for each in ties
        ),
        others=tuple(with_words(each, words.get(each.memory.id, ())) for each in others),
        names=names_at_ends(beliefs, ties),
    )  # fmt: skip


def in_short(
    entity: Entity, itself: Belief, beliefs: BeliefIndex, ties: Sequence[Tied]
) -> Acquaintance:
    """The same as in the list of all."""
    about = [each for each in beliefs.live if entity.id in each.memory.entities]
    return Acquaintance(
        entity=entity, told_at=newest(last_said(itself), about), known=len(about),
        to_person=tuple(each.known for each in ties if each.other is None),
    )  # fmt: skip


def names_at_ends(beliefs: BeliefIndex, ties: Sequence[Tied]) -> dict[EntityId, str]:
    """What those are called who are at the other ends of ties."""
    ends = {each.other for each in ties}
    return {each.id: each.name for each in beliefs.entities if each.id in ends}


def newest(said: Micros | None, about: Iterable[Known]) -> Micros | None:
    """When the newest words were said that speak for somebody, or for what is believed of them."""
    seen = (each.standing.last_seen for each in about)
    return max((at for at in (said, *seen) if at is not None), default=None)


def last_said(belief: Belief) -> Micros | None:
    """When the newest of its words were said; None: it has none."""
    return max((each.said_at for each in belief.words), default=None)
