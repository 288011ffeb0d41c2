"""Whom a question asks about: nobody's belief stands in for somebody else's."""

from dataclasses import replace

import pytest

from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, EvidenceStats, MemoryState, StoredBelief
from oldfriend.search import BeliefIndex, SearchQuery

NOW = 1_717_200_000_000_000
PERSON = PersonId("p")
DIEGO = Entity(
    id=EntityId(ObjectId("Diego")), person=PERSON, name="Diego", kind="person", learned_at=0
)


def memory(text: str, language: str, **fields: object) -> StoredBelief:
    """A fact, unless it is something else."""
    plain = StoredBelief(
        id=MemoryId(ObjectId(text)),
        person=PERSON,
        kind="fact",
        text=text,
        language=language,
        learned_at=NOW,
    )
    return replace(plain, **fields)


def found(text: str, *memories: StoredBelief) -> set[str]:
    """The beliefs that are found for a question."""
    index = BeliefIndex()
    standing = EvidenceStats(
        strength=1.0, confidence=0.8, times_seen=1, first_seen=0, last_seen=NOW
    )
    index.upsert(
        [
            MemoryState(memory=each, stats=standing, base_seq=nth)
            for nth, each in enumerate(memories, 1)
        ],
        {},
    )
    index.entities = (DIEGO,)
    question = SearchQuery(text=text, language=memories[0].language, asked_at=NOW)
    return {hit.known.memory.text for hit in index.search(question, 5).hits}


HOMES = [
    ("en", "Where do I live?", "Where does Diego live?", "Diego lives in Porto.", "Lives in Faro."),
    ("es", "¿Dónde vivo?", "¿Dónde vive Diego?", "Diego vive en Sevilla.", "Vive en Faro."),
    ("fr", "Où j'habite ?", "Où habite Diego ?", "Diego habite à Lyon.", "Habite à Nice."),
    ("de", "Wo wohne ich?", "Wo wohnt Diego?", "Diego wohnt in Köln.", "Wohnt in Bonn."),
    ("zh", "我住在哪里?", "Diego住在哪里?", "Diego住在上海。", "住在北京。"),
]


@pytest.mark.parametrize(("language", "mine", "his", "of_him", "of_me"), HOMES)
def test_belief_about_one_person_never_answers_for_another(
    language: str, mine: str, his: str, of_him: str, of_me: str
) -> None:
    """Neither is Diego's home mine, nor is mine his."""
    diego = memory(of_him, language, key="Diego:location", subject="other")
    own = memory(of_me, language, key="location")

    assert found(mine, diego, own) == {of_me}
    assert of_me not in found(his, diego, own)
    assert of_him in found(his, diego, own)


def test_unknown_name_in_a_question_does_not_match_own_beliefs() -> None:
    """No promise of mine is what Omar promised."""
    own = memory("Promised to call the bank.", "en", kind="commitment")
    assert not found("what did Omar promise?", own)
    assert found("what did I promise?", own)


def test_relative_is_found_by_role_without_a_name() -> None:
    """The sister is somebody else, and meant."""
    sister = memory("Her sister lives in Porto.", "en", subject="other")
    assert found("Where does my sister live?", sister)


@pytest.mark.parametrize(
    ("language", "text", "own", "is_called"),
    [
        ("en", "What is my dog's name?", "What is my name?", "Is called Nora; her name."),
        ("es", "¿Cómo se llama mi perro?", "¿Cuál es mi nombre?", "Se llama Nora."),
        ("fr", "Comment s'appelle mon chien ?", "Quel est mon nom ?", "S'appelle Nora."),
        ("de", "Wie heißt mein Hund?", "Wie ist mein Name?", "Heißt Nora."),
        ("zh", "我的狗叫什么名字?", "我叫什么名字?", "名字叫Nora。"),
    ],
)
def test_own_name_does_not_answer_for_the_name_of_a_pet(
    language: str, text: str, own: str, is_called: str
) -> None:
    """With no dog known, the dog has no name."""
    name = memory(is_called, language, key="name", value="Nora")
    assert not found(text, name)
    assert found(own, name)
