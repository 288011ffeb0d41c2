"""What holds for a while is found whenever it was last said, also where a question names a time."""

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.search import BeliefIndex, SearchQuery
from tests.search.test_belief_search import MOVED, NOW, known, memory

ON_THAT_DAY = "Was at a concert of jazz."


@pytest.fixture
def index() -> BeliefIndex:
    """A habit of coffee that has ended, and something that happened on a day while it held."""
    day = MOVED - 20 * DAY
    said = (
        memory(
            "coffee",
            "Drinks coffee with milk.",
            key="coffee",
            value="with milk",
            status="superseded",
            ended_at=MOVED,
            holds_until=MOVED,
        ),
        memory("black", "Drinks coffee black.", key="coffee", value="black", holds_from=MOVED),
        memory("concert", ON_THAT_DAY, kind="event", happened_at=day),
        *(
            memory(
                f"walk{n}",
                f"Walked to the lake with dog {n}.",
                kind="event",
                happened_at=day + n * DAY,
            )
            for n in range(3)
        ),
    )
    beliefs = BeliefIndex()
    beliefs.upsert([known(each, base) for base, each in enumerate(said, start=1)], {})
    return beliefs


def scores(index: BeliefIndex, text: str) -> dict[str, float]:
    """How well each answers, best first."""
    hits = index.search(SearchQuery(text=text, language="en", asked_at=NOW), 5).hits
    return {hit.known.memory.id: hit.score.value for hit in hits}


@pytest.mark.parametrize(
    "text",
    ["How did I drink coffee on 2024-02-10?", "How did I drink my coffee in February 2024?"],
)
def test_belief_valid_on_the_asked_day_is_found_when_last_seen_later(
    index: BeliefIndex, text: str
) -> None:
    """As well as without the day; what holds today is not it."""
    found = scores(index, text)

    assert found["coffee"] > 0.4
    assert "black" not in found


def test_event_on_the_asked_day_is_found_without_shared_words(index: BeliefIndex) -> None:
    """No word of the question stands in it."""
    (best, *_) = scores(index, "Where was I on 2024-02-10?")

    assert best == "concert"
