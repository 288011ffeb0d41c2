"""The beliefs that answer a question, found by words alone: what is so, and what was so once."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from oldfriend.domain.clock import DAY, to_micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, EvidenceStats, MemoryState, StoredBelief
from oldfriend.search import BeliefIndex, BeliefSearchResult, SearchQuery, list_named_entities
from oldfriend.search.name_index import NameIndex

NOW = to_micros(datetime(2024, 6, 1, tzinfo=UTC))
MOVED = to_micros(datetime(2024, 3, 1, tzinfo=UTC))
PERSON = PersonId("p")


def entity(name: str, *aliases: str) -> Entity:
    """Somebody with a name."""
    return Entity(
        id=EntityId(ObjectId(name)),
        person=PERSON,
        name=name,
        kind="person",
        aliases=aliases,
        learned_at=0,
    )


ANA, OTHER_ANA = entity("Ana", "Anita"), entity("Ana Ruiz")


def memory(name: str, text: str, **fields: object) -> StoredBelief:
    """A fact, unless it is something else."""
    plain = StoredBelief(
        id=MemoryId(ObjectId(name)),
        person=PERSON,
        kind="fact",
        text=text,
        language="en",
        learned_at=NOW,
    )
    return replace(plain, **fields)


MEMORIES = (
    memory(
        "porto",
        "Lives in Porto.",
        key="location",
        status="superseded",
        ended_at=MOVED,
        holds_until=MOVED,
    ),
    memory("lisbon", "Moved to Lisbon.", key="location", holds_from=MOVED),
    memory("job", "Is a nurse.", key="occupation"),
    memory("jazz", "Loves jazz.", kind="preference", key="interests"),
    memory("nuts", "Is allergic to nuts.", kind="preference", key="allergies"),
    memory("ana", "Ana sings in a choir.", subject="other", entities=(ANA.id,)),
    memory("ruiz", "Ana Ruiz is from Seville.", subject="other", entities=(OTHER_ANA.id,)),
    memory("rex", "The dog Rex died.", kind="event", impact=-8),
    memory("tea", "Drinks tea in the morning.", kind="pattern", pattern="behavior"),
    memory("chess", "Plays chess on Sundays.", kind="pattern", status="tentative"),
)


@pytest.fixture
def index() -> BeliefIndex:
    """What is believed of somebody, without any vector."""
    beliefs = BeliefIndex()
    beliefs.upsert([known(each, base) for base, each in enumerate(MEMORIES, start=1)], {})
    beliefs.entities = (ANA, OTHER_ANA)
    return beliefs


def known(each: StoredBelief, base: int) -> MemoryState:
    """A belief as it stands."""
    standing = EvidenceStats(
        strength=1.0, confidence=0.8, times_seen=1, first_seen=NOW - DAY, last_seen=NOW - DAY
    )
    return MemoryState(memory=each, stats=standing, base_seq=base)


def asked(index: BeliefIndex, text: str, k: int = 3) -> BeliefSearchResult:
    """What answers a question."""
    return index.search(SearchQuery(text=text, language="en", asked_at=NOW), k)


def best(index: BeliefIndex, text: str) -> str:
    """The id of what answers best."""
    return asked(index, text).hits[0].known.memory.id


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Where do I live?", "lisbon"),
        ("What do I do for a living?", "job"),
        ("What am I allergic to?", "nuts"),
        ("Do I like jazz?", "jazz"),
        ("When did Rex die?", "rex"),
    ],
)
def test_belief_is_found_by_words_or_by_key(index: BeliefIndex, text: str, answer: str) -> None:
    """“Lives” need not stand in “Moved to Lisbon.”"""
    assert best(index, text) == answer
    assert asked(index, text).is_answerable


def test_superseded_belief_is_found_only_for_questions_about_the_past(index: BeliefIndex) -> None:
    """But it is there for whoever asks what was before, or at a time."""
    assert "porto" not in {hit.known.memory.id for hit in asked(index, "Where do I live?").hits}
    assert best(index, "Where did I live before?") == "porto"
    assert best(index, "Where did I live in 2023?") == "porto"
    in_2023 = {hit.known.memory.id for hit in asked(index, "Where did I live in 2023?").hits}
    assert "lisbon" not in in_2023


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("¿Dónde vivo?", "lisbon"),
        ("我住在哪里？", "lisbon"),
        ("Wo habe ich früher gewohnt?", "porto"),
        ("Quel est mon métier ?", "job"),
    ],
)
def test_belief_is_found_by_key_in_every_language(
    index: BeliefIndex, text: str, answer: str
) -> None:
    """Whoever replies is shown it, with that it is what was asked for; no vector is needed."""
    found = asked(index, text)

    assert found.hits[0].known.memory.id == answer
    assert found.hits[0].score.reasons[0].cause == "asked_for"
    assert found.is_answerable


def test_values_of_other_times_are_returned_separately_from_hits(index: BeliefIndex) -> None:
    """Lisbon is no answer for a time before anybody said so, and neither is Porto after it."""
    later = asked(index, "Where did I live in 2030?")
    index.remove([MemoryId(ObjectId("porto"))])
    before = asked(index, "Where did I live in 2019?")

    assert "porto" not in {hit.known.memory.id for hit in later.hits}
    assert "lisbon" not in {hit.known.memory.id for hit in before.hits}
    assert [hit.known.memory.id for hit in before.other_times] == ["lisbon"]


def test_longest_matching_entity_name_or_alias_wins(index: BeliefIndex) -> None:
    """The longer name is tried first; other names count, too."""
    assert best(index, "Who is Ana Ruiz?") == "ruiz"
    assert best(index, "Tell me about Anita") == "ana"
    assert asked(index, "Tell me about Anita").named_entities == (ANA,)


def test_tentative_belief_is_found_only_without_a_surer_one(index: BeliefIndex) -> None:
    """Alone it may still help."""
    assert best(index, "Do I play chess on Sundays?") == "chess"
    tea_first = asked(index, "tea in the morning, chess?", k=5)
    assert "chess" not in {hit.known.memory.id for hit in tea_first.hits[1:]}


def test_upsert_replaces_and_remove_drops_an_indexed_belief(index: BeliefIndex) -> None:
    """And what was taken out is not found any more."""
    index.upsert([known(memory("lisbon", "Lives in Faro.", key="location"), 99)], {})
    (hit, *_) = asked(index, "Where do I live?").hits
    index.remove([MemoryId(ObjectId("lisbon"))])

    assert hit.known.memory.text == "Lives in Faro."
    assert len(index) == len(MEMORIES) - 1
    assert "lisbon" not in {each.known.memory.id for each in asked(index, "Where do I live?").hits}


def test_belief_search_is_filtered_by_kind(index: BeliefIndex) -> None:
    """A program may want facts alone."""
    question = SearchQuery(text="Rex the dog, jazz, nurse", language="en", asked_at=NOW)

    assert {hit.known.memory.kind for hit in index.search(question, 5, kinds=["event"]).hits} == {
        "event"
    }


def test_update_stats_changes_the_indexed_evidence_stats(index: BeliefIndex) -> None:
    """Evidence came, and nothing was decided."""
    stronger = EvidenceStats(
        strength=5.0, confidence=0.95, times_seen=4, first_seen=NOW - DAY, last_seen=NOW
    )
    index.update_stats({MemoryId(ObjectId("tea")): stronger})

    tea = next(each for each in index.live if each.memory.id == "tea")
    assert tea.stats == stronger


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what is the gate code", []),
        ("are we at the galley on friday", ["The Galley"]),
        ("when will it be", []),
        ("what does Will eat", ["Will Hart"]),
    ],
)
def test_common_word_is_not_matched_as_an_entity_name(text: str, names: list[str]) -> None:
    """It brought "The Galley" into every question with "the"."""
    known = [entity("The Galley"), entity("Will Hart")]

    assert [each.name for each in list_named_entities(text, known)] == names
    assert [each.name for each in NameIndex(known).list_named_entities(text)] == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Was macht Ana heute?", ["Ana"]),
        ("Anabel was here", []),
        ("hows anas dad", ["Ana"]),
        ("anasta came", []),
        ("小敏是谁？", ["小敏"]),
        ("周小敏是谁？", ["周小敏"]),
    ],
)
def test_entity_name_is_matched_as_a_whole_word_except_in_chinese(
    text: str, names: list[str]
) -> None:
    """In Chinese it stands among other characters."""
    people = [entity("Ana"), entity("小敏"), entity("周小敏")]

    assert [each.name for each in list_named_entities(text, people)] == names
    assert [each.name for each in NameIndex(people).list_named_entities(text)] == names
