"""Whoever asks by their own name asks about themselves."""

from dataclasses import replace

import pytest

from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, EvidenceStats, MemoryState, StoredBelief
from oldfriend.search import BeliefIndex, IndexRow, PersonIndex, SearchQuery, search
from oldfriend.search.document_terms import encode_document_terms
from oldfriend.search.own_names import drop_own, find_own_names, to_first_person

NOW = 1_717_200_000_000_000
PERSON = PersonId("p")


def entity(name: str, *aliases: str) -> Entity:
    """Somebody with a name."""
    made = EntityId(ObjectId(name))
    return Entity(id=made, person=PERSON, name=name, aliases=aliases, kind="person", learned_at=NOW)


def believed(language: str, *memories: tuple[str, dict[str, object]]) -> BeliefIndex:
    """Beliefs, each a text and what else it says."""
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
            language=language,
            learned_at=NOW,
        )
        memory = replace(plain, **fields)
        index.upsert([MemoryState(memory=memory, stats=standing, base_seq=number)], {})
    return index


def found(
    text: str,
    language: str,
    *memories: tuple[str, dict[str, object]],
    is_named: bool = False,
) -> list[str]:
    """The beliefs that are found by Nora, best first."""
    index = believed(language, *memories)
    index.entities = (entity("Nora"), entity("Diego"))
    question = SearchQuery(text=text, language=language, asked_at=NOW, own_names=("Nora",))
    result = index.search(question, 5)
    assert ("Nora" in {each.name for each in result.named_entities}) is is_named
    return [hit.known.memory.text for hit in result.hits]


@pytest.mark.parametrize(
    ("language", "text", "of_her", "of_him"),
    [
        ("en", "Where does Nora live?", "Lives in Faro.", "Diego lives in Porto."),
        ("es", "¿Dónde vive Nora?", "Vive en Faro.", "Diego vive en Sevilla."),
        ("fr", "Où habite Nora ?", "Habite à Nice.", "Diego habite à Lyon."),
        ("de", "Wo wohnt Nora?", "Wohnt in Bonn.", "Diego wohnt in Köln."),
        ("zh", "Nora住在哪里?", "住在北京。", "Diego住在上海。"),
    ],
)
def test_question_with_own_name_finds_own_beliefs(
    language: str, text: str, of_her: str, of_him: str
) -> None:
    """Though no belief about them names them, and others' beliefs share the words."""
    other = {"subject": "other", "key": "Diego:location", "entities": (ObjectId("Diego"),)}
    hits = found(text, language, (of_him, other), (of_her, {"key": "location"}))

    assert hits == [of_her]


def test_question_about_a_relative_by_own_name_finds_the_relative() -> None:
    """Nora's sister is who "my sister" is."""
    sister = {"subject": "other", "key": "Ana:location"}
    kin = {"subject": "other", "key": "Ana:relation", "value": "sister"}
    told = [
        ("Ana is the sister.", kin),
        ("Ana lives in Braga.", sister),
        ("Lives in Faro.", {"key": "location"}),
    ]

    assert found("Where does Nora's sister live?", "en", *told)[0] == "Ana lives in Braga."


@pytest.mark.parametrize(
    ("text", "names", "in_it"),
    [
        ("what did nora say", ["Nora Vale"], ("Nora",)),
        ("noras cat", ["Nora"], ("Nora",)),
        ("honora knows", ["Nora"], ()),
        ("When will it rain?", ["Will"], ()),
        ("What does Will eat?", ["Will"], ("Will",)),
        ("Who is Nora Brandt?", ["Nora"], ()),
        ("小美住在哪里", ["小美"], ("小美",)),
        ("call +351 912", ["+351 912"], ()),
    ],
)
def test_own_name_is_found_as_a_whole_word_only(
    text: str, names: list[str], in_it: tuple[str, ...]
) -> None:
    """Not in somebody else's longer name, and not as a common word."""
    assert find_own_names(text, names, "en", others=[entity("Nora Brandt")]) == in_it


def test_question_with_own_name_is_rewritten_in_first_person() -> None:
    """In the forms that the language has."""
    assert to_first_person("Where does Nora live?", ["Nora"], "en") == "Where do I live?"
    assert to_first_person("what is noras job", ["Nora"], "en") == "what is my job"
    assert to_first_person("¿Cómo se llama el perro de Nora?", ["Nora"], "es") == (
        "¿Cómo se llama mi perro?"
    )


def test_entity_with_another_full_name_is_not_dropped_as_own() -> None:
    """A namesake has a name of their own besides."""
    namesake = entity("Nora", "Nora Brandt")

    assert drop_own([entity("nora"), namesake], ["Nora", "Nori"]) == (namesake,)


def test_question_with_own_name_finds_own_messages() -> None:
    """She speaks as "owner", and is asked about as Nora."""
    said = [("owner", "person", "the boat is blue"), ("Ana", "other", "the boat is red")]
    rows = [
        IndexRow(
            seq=number,
            chat="c",
            session="s",
            said_at=NOW,
            speaker=speaker,
            role=role,
            language="en",
            imprint=encode_document_terms(text, language="en"),
        )
        for number, (speaker, role, text) in enumerate(said, 1)
    ]
    query = SearchQuery(
        text="What boat does Nora have?", language="en", asked_at=NOW, own_names=("Nora",)
    )
    hits = search(PersonIndex.build(rows), query, 2).hits

    assert hits[0].seq == 1
    assert "said_by" in {reason.cause for reason in hits[0].reasons}


def test_relative_with_the_same_name_is_not_the_asker() -> None:
    """Whoever is called as their own father asks about the father by his name."""
    father = {"subject": "other", "key": "Nora:relation", "value": "mother"}
    told = [
        ("Nora is the mother.", {**father, "entities": (ObjectId("Nora"),)}),
        ("Nora lives in Braga.", {"subject": "other", "key": "Nora:location"}),
        ("Lives in Faro.", {"key": "location"}),
    ]

    hits = found("Where does Nora live?", "en", *told, is_named=True)
    assert hits[0] == "Nora lives in Braga."


def test_question_about_own_pet_by_own_name_finds_the_pet_entity() -> None:
    """Whose pet it is has not been said, so it is the asker's."""
    index = believed("en", ("Biscuit the whippet hates baths.", {"subject": "other"}))
    index.entities = (replace(entity("Biscuit"), kind="pet"), entity("Diego"))
    question = SearchQuery(
        text="what is Nora's dog called", language="en", asked_at=NOW, own_names=("Nora",)
    )

    hits = index.search(question, 5).hits
    assert [hit.known.memory.text for hit in hits] == ["Biscuit the whippet hates baths."]
