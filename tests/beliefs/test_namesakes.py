"""Namesakes: people whose names go together, found without comparing everybody with everybody."""

import sys
from collections.abc import Sequence
from types import FrameType

from oldfriend.beliefs.entities import find_namesakes
from oldfriend.beliefs.entity_relations import EntityRelation
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Entity

ALONE = EntityRelation(group="others")


def somebody(name: str, *aliases: str, at: int = 0) -> Entity:
    """Somebody who has been known since a moment."""
    return Entity(
        id=EntityId(ObjectId(name)),
        person=PersonId("nora"),
        name=name,
        aliases=aliases,
        kind="person",
        learned_at=at,
    )


def pair(*people: Entity) -> dict[EntityId, EntityId]:
    """Who may be the same as whom."""
    return find_namesakes(people, dict.fromkeys((each.id for each in people), ALONE))


def count_calls(people: Sequence[Entity]) -> int:
    """Return how many functions of Python and C are called to find the namesakes."""
    calls = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        pair(*people)
    finally:
        sys.setprofile(None)
    return calls


def test_a_short_name_and_one_longer_go_together() -> None:
    """By any name, whichever came first; never where there is a third."""
    tom, baker = somebody("Tom"), somebody("Tom Baker", at=1)
    assert pair(baker, tom) == {baker.id: tom.id}
    assert pair(tom, baker, somebody("Tom Cook", at=2)) == {}
    ana, anne = somebody("Ana María"), somebody("Sis", "ana", at=1)
    assert pair(ana, anne) == {anne.id: ana.id}
    assert pair(somebody("Tom Cook"), baker) == {}


def test_twice_as_many_people_take_about_twice_the_work() -> None:
    """Whoever shares no part of a name is not compared."""
    few = [somebody(f"First{each} Last{each}", at=each) for each in range(60)]
    many = [somebody(f"First{each} Last{each}", at=each) for each in range(120)]
    assert count_calls(many) < 2.5 * count_calls(few)
