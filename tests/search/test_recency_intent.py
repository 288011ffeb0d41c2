"""Who asks for the latest gets the newest of what answers (ACCEPTANCE J22)."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.search import (
    BeliefIndex,
    IndexRow,
    PersonIndex,
    SearchQuery,
    encode_document_terms,
    search,
)
from oldfriend.search.time_query import RecencyCandidate, is_recency_query, rank_newest_first
from tests.search.test_belief_search import NOW, known, memory


@pytest.mark.parametrize(
    "text",
    [
        "What is the latest news from Ana?",
        "When did I last see Tom?",
        "What was the last book I read?",
        "my most recent trip",
        "What did I say last?",
        "¿Cuál es el último libro que leí?",
        "¿Cuándo vi a Clara por última vez?",
        "lo más reciente",
        "Quel est le dernier livre que j'ai lu ?",
        "La dernière fois que j’ai vu Tom",
        "Was habe ich zuletzt gelesen?",
        "Wann war ich das letzte Mal in Wien?",
        "mein letztes Buch",
        "我上次见小敏是什么时候？",
        "我最近一次去医院",
        "最新的消息",
        "How is my mother?",
        "So, how's Ana doing these days?",
        "How are my sister's knees?",
        "¿Cómo está mi madre?",
        "¿Y cómo le va a Ana?",
        "Wie geht es meiner Mutter?",
        "Comment va ma mère ?",
        "Comment vont mes parents ?",
        "我妈妈怎么样了？",
        "小红还好吗？",
    ],
)
def test_recency_query_is_detected_in_five_languages(text: str) -> None:
    assert is_recency_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "What did I do last week?",
        "last Monday",
        "What is my last name?",
        "at last",
        "How long does it last?",
        "Where do I live now?",
        "in the last few days",
        "¿Qué hice la última semana?",
        "en los últimos tres meses",
        "la semaine dernière",
        "l'an dernier",
        "les derniers jours",
        "Qu'ai-je fait mercredi dernier ?",
        "letzte Woche",
        "letzten Monat",
        "im letzten Jahr",
        "我最近怎么样",
        "上周",
        "How old is Ben?",
        "How is my mother called?",
        "How are Ana and Ben related?",
        "How have I been lately?",
        "How do I make soup?",
        "¿Cómo se llama mi madre?",
        "Wie heißt meine Mutter?",
        "Comment s'appelle ma mère ?",
        "我妈妈叫什么？",
    ],
)
def test_other_uses_of_last_are_not_a_recency_query(text: str) -> None:
    assert not is_recency_query(text)


def test_candidates_near_the_best_score_are_ranked_newest_first() -> None:
    """What hardly answers does not come first for being new."""
    found = [
        RecencyCandidate(0.9, 0.0, 1),
        RecencyCandidate(0.8, 0.0, 3),
        RecencyCandidate(0.5, 0.0, 2),
        RecencyCandidate(0.1, 0.0, 9),
    ]

    assert rank_newest_first(found) == [1, 2, 0, 3]
    assert rank_newest_first([]) == []


def test_candidates_with_equal_word_match_are_ranked_newest_first() -> None:
    """Where meaning tells little, the same words score far apart."""
    most, less = 0.6, 0.3
    found = [
        RecencyCandidate(0.9, most, 1),
        RecencyCandidate(0.2, most, 3),
        RecencyCandidate(0.2, less, 9),
    ]

    assert rank_newest_first(found) == [1, 0, 2]


READ = tuple(
    memory(f"book{number}", text, kind="event", happened_at=NOW - days * DAY)
    for number, (text, days) in enumerate(
        [
            ("Read the book Middlemarch.", 300),
            ("Read the book Emma.", 20),
            ("Read the book Dracula.", 90),
            ("Will read the book Ulysses.", -30),
        ]
    )
)


def best(text: str) -> str:
    """What answers best of some books."""
    index = BeliefIndex()
    index.upsert([known(each, base) for base, each in enumerate(READ, start=1)], {})
    hits = index.search(SearchQuery(text=text, language="en", asked_at=NOW), 4).hits

    assert (scores := [hit.score.value for hit in hits]) == sorted(scores, reverse=True)
    return hits[0].known.memory.text


def test_recency_query_ranks_the_newest_past_belief_first() -> None:
    """Not the one that is still to come."""
    assert best("What was the last book that I read?") == "Read the book Emma."
    assert best("Did I read the book Dracula?") == "Read the book Dracula."


def test_recency_query_ranks_the_newest_matching_message_first() -> None:
    """Also where only one is wanted."""
    said = [
        ("I saw Tom at the market", 1),
        ("I saw Tom at the harbour", 9),
        ("Nice weather", 10),
        ("I saw Tom at the station", 5),
    ]
    rows = [
        IndexRow(
            seq=seq,
            chat="c",
            session=str(day),
            said_at=NOW + day * DAY,
            speaker="Nora",
            role="person",
            language="en",
            imprint=encode_document_terms(text, language="en"),
        )
        for seq, (text, day) in enumerate(said)
    ]
    asked = SearchQuery(text="Where did I last see Tom?", language="en", asked_at=NOW + 20 * DAY)
    index = PersonIndex.build(rows)

    assert [hit.seq for hit in search(index, asked, 3).hits] == [1, 3, 0]
    assert [hit.seq for hit in search(index, replace(asked), 1).hits] == [1]
