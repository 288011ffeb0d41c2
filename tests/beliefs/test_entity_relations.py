"""What somebody or something is to the person follows from the relations that are believed."""

from collections.abc import Mapping

from oldfriend.beliefs.entity_relations import EntityRelation, relate_entities
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import (
    Entity,
    EntityKind,
    EvidenceStats,
    MemoryState,
    Status,
    StoredBelief,
)
from oldfriend.domain.relations import EntityResolver
from oldfriend.search.entity_graph import EntityGraph

STATS = EvidenceStats(strength=1, confidence=0.9, times_seen=1, first_seen=0, last_seen=0)
KINDS: Mapping[str, EntityKind] = {"Leeds": "place", "Rex": "pet", "mill": "org"}


def relate(
    *triples: tuple[str, str, str], status: Status = "active", names: str = ""
) -> Mapping[str, EntityRelation]:
    """What each one is, by name; "me" is the person."""
    order = [*dict.fromkeys([*names.split(), *(end for one in triples for end in one[::2])])]
    entities = {
        name: Entity(
            id=EntityId(ObjectId(name)),
            person=PersonId("p"),
            name=name,
            kind=KINDS.get(name, "person"),
            learned_at=0,
        )
        for name in order
        if name != "me"
    }
    states = [
        MemoryState(
            memory=StoredBelief(
                id=MemoryId(ObjectId(f"m{place}")),
                person=PersonId("p"),
                kind="triple",
                text=f"{first} {relation} {second}",
                language="en",
                learned_at=0,
                subject="person" if first == "me" else "other",
                key=relation,
                status=status,
                entities=tuple(entities[end].id for end in (first, second) if end != "me"),
            ),
            stats=STATS,
            base_seq=place,
        )
        for place, (first, relation, second) in enumerate(triples)
    ]
    everybody = [*entities.values()]
    known_relations = relate_entities(everybody, EntityGraph(states, EntityResolver(everybody)))
    return {str(each): relation for each, relation in known_relations.items()}


def test_relation_to_the_person_comes_before_one_to_others() -> None:
    """Read from the entity's side: whose child the person is, is a parent."""
    known = relate(
        ("me", "child_of", "Ana"), ("me", "sibling_of", "Jonah"), ("Ana", "parent_of", "Jonah")
    )

    assert (known["Ana"].relation, known["Ana"].other) == ("parent_of", None)
    assert (known["Jonah"].relation, known["Jonah"].group) == ("sibling_of", "family")


def test_family_of_the_family_is_family_and_named_by_it() -> None:
    """A place is told by who lives there, where the person has only been."""
    known = relate(
        ("me", "sibling_of", "Jonah"),
        ("Priya", "partner_of", "Jonah"),
        ("Jonah", "lives_in", "Leeds"),
        ("me", "visited", "Leeds"),
        ("Sam", "works_at", "mill"),
    )

    assert (known["Priya"].group, known["Priya"].other) == ("family", "Jonah")
    assert (known["Jonah"].home, known["Leeds"].relation) == ("Leeds", "lives_in")
    assert (known["Leeds"].other, known["Leeds"].group) == ("Jonah", "places")
    assert (known["mill"].group, known["mill"].other) == ("work", "Sam")
    assert known["Sam"] == EntityRelation(group="others")


def test_doubted_relation_makes_nobody_a_relative() -> None:
    """It stays on the page of who it is about, worded as unsure."""
    known = relate(("me", "sibling_of", "Jonah"), status="tentative")

    assert known["Jonah"] == EntityRelation(group="others")


def test_name_for_a_parent_says_whose_they_are() -> None:
    """Nobody calls another's grandmother Gran."""
    known = relate(names="Dad Gran Rex")

    assert (known["Dad"].relation, known["Dad"].role) == ("parent_of", "father")
    assert (known["Gran"].relation, known["Gran"].role) == ("relative_of", "grandmother")
    assert known["Rex"] == EntityRelation(group="pets")
