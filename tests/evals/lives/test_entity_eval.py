"""Who is known by name, and who is taken for somebody else."""

from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import Entity, EntityStatus
from oldfriend_evals.lives.entity_eval import compute_recognized_share, list_confused
from oldfriend_evals.lives.life_files import load_life
from tests.evals.lives.life_fixtures import PERSON

LIFE = load_life("en")


def known(name: str, *aliases: str, status: EntityStatus = "confirmed") -> Entity:
    """Somebody."""
    return Entity(
        id=EntityId(ObjectId(name)),
        person=PERSON,
        name=name,
        kind="person",
        aliases=aliases,
        status=status,
        learned_at=0,
    )


def test_recognised_share_counts_the_known_entities_of_a_life():
    everybody = [known(called.name, *called.aliases) for called in LIFE.truth.names]

    assert compute_recognized_share(everybody, LIFE) == 1
    assert compute_recognized_share(everybody[:10], LIFE) == 10 / len(everybody)
    assert list_confused(everybody, LIFE) == []


def test_entity_with_aliases_of_two_people_is_reported_as_confused():
    one = known("Ana", "Annie", "Ana Ruiz")

    assert [(a.name, b.name) for a, b in list_confused([one], LIFE)] == [("Ana", "Ana Ruiz")]


def test_merged_entity_is_not_counted_as_recognised():
    assert compute_recognized_share([known("Ana", status="merged")], LIFE) == 0
