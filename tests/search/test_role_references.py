"""Whom somebody means who calls others by their roles, as people write."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, EntityKind, EvidenceStats, MemoryState, StoredBelief
from oldfriend.lang.detection import detect_language
from oldfriend.search import BeliefIndex, SearchQuery
from oldfriend.turn.role_names import find_told_names

NOW = 1_717_200_000_000_000
PERSON = PersonId("p")
QUESTIONS = tomllib.loads((Path(__file__).parent / "role_questions.toml").read_text("utf-8"))
LANGUAGES = ("en", "es", "de", "fr", "pt", "it", "zh", "ja")


def entity(name: str, kind: EntityKind = "person") -> Entity:
    """Somebody with a name."""
    return Entity(id=EntityId(ObjectId(name)), person=PERSON, name=name, kind=kind, learned_at=NOW)


ROLES = {
    "Mia": "daughter",
    "Leo": "son",
    "Irene": "mother",
    "Ana": "sister",
    "Dev": "boyfriend",
    "Shona": "best friend",
    "Carol": "boss",
    "Jas": "flatmate",
}
PETS = ("Bruno", "Miso", "Biscuit")
ENTITIES = [entity(name, "pet" if name in PETS else "person") for name in (*ROLES, "Karl", *PETS)]


def build_beliefs(*memories: tuple[str, dict[str, object]]) -> BeliefIndex:
    """Beliefs, each a text and what else it says, about a few people and animals."""
    standing = EvidenceStats(
        strength=1.0, confidence=0.8, times_seen=1, first_seen=0, last_seen=NOW
    )
    index = BeliefIndex()
    for number, (said, fields) in enumerate(memories, 1):
        plain = StoredBelief(
            id=MemoryId(ObjectId(said)),
            person=PERSON,
            kind="fact",
            text=said,
            language="en",
            learned_at=NOW,
        )
        memory = replace(plain, **fields)
        index.upsert([MemoryState(memory=memory, stats=standing, base_seq=number)], {})
    index.entities = ENTITIES
    return index


def of(owner: str, key: str, value: str) -> tuple[str, dict[str, object]]:
    """A fact about somebody else."""
    mentioned = tuple(each.id for each in ENTITIES if each.name in (owner, value))
    fields = {
        "subject": "other",
        "key": f"{owner}:{key}",
        "value": value,
        "entities": mentioned,
    }
    return f"{owner}'s {key} is {value}.", fields


@pytest.fixture(scope="module")
def beliefs() -> BeliefIndex:
    """A family with pets, and some friends."""
    pets = [
        (f"Has the {role} {name}.", {"key": role, "value": name, "entities": (ObjectId(name),)})
        for name, role in (("Bruno", "dog"), ("Miso", "cat"))
    ]
    relations = [of(name, "relation", role) for name, role in ROLES.items()]
    return build_beliefs(
        *relations, *pets, of("Ana", "husband", "Karl"), of("Shona", "dog", "Biscuit")
    )


@pytest.mark.parametrize(
    ("language", "text", "meant"),
    [
        (language, text, meant)
        for language in LANGUAGES
        for part in ("seen",)
        for text, meant in QUESTIONS[language][part]
    ],
)
def test_role_in_a_question_resolves_to_its_entities(
    beliefs: BeliefIndex, language: str, text: str, meant: str
) -> None:
    """A kid is a daughter or a son, and Ana's husband nobody of the asker's."""
    found = beliefs.list_meant_entities(SearchQuery(text=text, language=language))

    assert {each.name for each in found} == {*meant.split()}


@pytest.mark.parametrize(("text", "role", "name"), QUESTIONS["told"]["seen"])
def test_name_for_a_role_is_extracted_from_a_message(text: str, role: str, name: str) -> None:
    """Also in lower case, and no verb is taken for a name."""
    told = [*find_told_names(text, detect_language(text, fallback="en"))]

    assert [each for _, each in told] == [name] * bool(name)
    assert all(role in reference.readings[0] for reference, _ in told)
