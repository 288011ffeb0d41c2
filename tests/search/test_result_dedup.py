"""What says the same thing about the same topic is told once, by the best that says it."""

from oldfriend.domain.memories import StoredBelief
from oldfriend.search import BeliefIndex, SearchQuery
from oldfriend.search.belief_results import build_dedup_key
from tests.search.test_belief_search import MOVED, NOW, known, memory


def are_one(one: StoredBelief, other: StoredBelief) -> bool:
    """Whether two count as one."""
    return build_dedup_key(one) == build_dedup_key(other)


def test_beliefs_with_the_same_key_and_value_are_duplicates() -> None:
    """However it is worded."""
    one = memory("a", "Loves jazz.", kind="preference", key="interests", value="jazz")

    assert are_one(one, memory("b", "Is fond of Jazz!", key="interests", value="Jazz"))
    assert not are_one(one, memory("b", "Loves jazz.", key="dislikes", value="jazz"))
    assert not are_one(
        one, memory("b", "Loves jazz.", key="interests", value="jazz", subject="other")
    )


def test_beliefs_without_a_value_are_duplicates_only_by_same_words() -> None:
    """A word more, or another order, may say the opposite."""
    one = memory("a", "Drinks tea in the morning.", kind="pattern")

    assert are_one(one, memory("b", "drinks tea in the mornings", kind="pattern"))
    assert not are_one(one, memory("b", "Never drinks tea in the morning.", kind="pattern"))
    assert not are_one(
        memory("a", "Ana loves Ben.", kind="event"), memory("b", "Ben loves Ana.", kind="event")
    )
    assert are_one(
        memory("a", "喜欢下雨天。", kind="pattern", language="zh"),
        memory("b", "喜欢下雨天", kind="pattern", language="zh"),
    )


def test_beliefs_of_different_times_are_not_duplicates() -> None:
    """The same flat again is another time."""
    assert not are_one(
        memory("a", "Ran a race.", kind="event", happened_at=NOW),
        memory("b", "Ran a race.", kind="event", happened_at=MOVED),
    )
    home = {"key": "location", "value": "Porto"}
    then = memory(
        "a", "Lives in Porto.", **home, status="superseded", ended_at=MOVED, holds_until=MOVED
    )
    assert not are_one(then, memory("b", "Lives in Porto.", **home))


def test_duplicate_beliefs_take_one_place_among_the_hits() -> None:
    """One of it stands for it, and leaves room for others."""
    index = BeliefIndex()
    said = ["Drinks tea in the morning.", "Drinks tea in the mornings.", "Drinks tea at night."]
    index.upsert(
        [known(memory(f"m{n}", text, kind="pattern"), n) for n, text in enumerate(said, start=1)],
        {},
    )
    hits = index.search(SearchQuery(text="tea in the morning", language="en", asked_at=NOW), 2).hits

    first, second = [hit.known.memory.id for hit in hits]
    assert first in {"m1", "m2"}
    assert second == "m3"
