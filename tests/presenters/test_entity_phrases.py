"""What somebody or something is to the person is said in the words of each language."""

from dataclasses import replace

import pytest

from oldfriend.beliefs.entity_relations import UNNAMED, EntityRelation
from oldfriend.domain.relations import PET_ROLES, RELATION_BY_ROLE, RELATION_TYPES
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.presenters.entity_phrases import phrase_relation

SPOKEN = ("en", "de", "es", "fr", "zh")


@pytest.mark.parametrize("language", SPOKEN)
def test_every_relation_has_words_for_the_person_and_for_somebody_else(language: str) -> None:
    """Each other key is a role that exists, so that no phrase is dead."""
    kin = load_language_pack(language).read("address")["kin"]
    needed = {*RELATION_TYPES} - UNNAMED | {"pet"}

    assert needed <= kin.keys()
    assert kin.keys() - needed <= RELATION_BY_ROLE.keys() | PET_ROLES
    assert all("{" not in own and "{name}" in other for own, other in kin.values())


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "your brother"),
        ("de", "dein Bruder"),
        ("es", "tu hermano"),
        ("fr", "ton frère"),
        ("zh", "你的兄弟"),
        ("ja", "your brother"),
    ],
)
def test_told_role_comes_before_the_relation(language: str, said: str) -> None:
    """A language without words of its own is answered in English."""
    brother = EntityRelation(group="family", relation="sibling_of", role="brother")

    assert phrase_relation(brother, "person", language) == said


def test_relation_without_a_told_role_claims_no_more_than_is_known() -> None:
    """Nobody is made a brother or a sister by a guess."""
    sibling = EntityRelation(group="family", relation="sibling_of")
    stranger = EntityRelation(group="others")

    assert phrase_relation(sibling, "person", "en") == "your brother or sister"
    assert phrase_relation(stranger, "person", "en") == ""


def test_persons_own_word_is_kept_in_its_language() -> None:
    """Chinese tells older and younger brothers apart; English words do not say which."""
    brother = EntityRelation(group="family", relation="sibling_of", role="brother")
    older = replace(brother, word="哥哥", language="zh")

    assert phrase_relation(older, "person", "zh") == "你的哥哥"
    assert phrase_relation(older, "person", "en") == "your brother"


def test_pets_places_and_others_relatives_are_worded_by_what_they_are() -> None:
    """A dog is owned, a town lived in; a wife is somebody's."""
    dog = EntityRelation(group="pets", relation="owns", role="dog", word="puppy", language="en")
    pet = EntityRelation(group="pets", relation="owns")
    town = EntityRelation(group="places", relation="lives_in", other="Jonah")
    wife = EntityRelation(group="family", relation="partner_of", role="wife", other="Jonah")

    assert phrase_relation(dog, "pet", "en") == "your dog"
    assert phrase_relation(pet, "pet", "en") == "your pet"
    assert phrase_relation(town, "place", "en") == "where Jonah lives"
    assert phrase_relation(wife, "person", "zh") == "Jonah的妻子"
