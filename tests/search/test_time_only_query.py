"""What was there at a time? Whatever was said then answers, and what happened then."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from oldfriend.domain.clock import DAY, to_micros
from oldfriend.search import PersonIndex, search
from oldfriend.search.date_parser import parse_date_spans
from oldfriend.search.time_query import is_time_only_query, list_non_events
from oldfriend.search.types import MIN_ANSWER_PROBABILITY, SearchQuery
from tests.learning.segment_fixtures import believed
from tests.search.conversation import rows

NOVEMBER = to_micros(datetime(2026, 11, 22, tzinfo=UTC))


def asking(text: str, language: str) -> SearchQuery:
    """A question that is asked in November 2026."""
    return SearchQuery(text=text, language=language, asked_at=NOVEMBER)


def only_when(text: str, language: str) -> bool:
    """Whether a question asks what there was at a time, of nothing else."""
    return is_time_only_query(
        asking(text, language), parse_date_spans(text, asked_at=NOVEMBER, zone_offset_s=0)
    )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "What happened in May?"),
        ("en", "What did I do last week?"),
        ("en", "What was going on in March 2026?"),
        ("en", "What happened on 20 May 2026?"),
        ("es", "¿Qué pasó en mayo?"),
        ("fr", "Qu'est-ce qui s'est passé en mai ?"),
        ("de", "Was ist im Mai passiert?"),
        ("zh", "五月发生了什么？"),
        ("en", "What have we been talking about in May?"),
        ("en", "Can you sum up last week?"),
        ("es", "Hazme un resumen de la semana pasada."),
        ("de", "Gib mir eine Zusammenfassung von gestern."),
        ("fr", "Résume la semaine dernière."),
        ("zh", "总结一下昨天。"),
    ],
)
def test_time_only_query_is_detected(language: str, text: str) -> None:
    """No word of what there was needs to stand in the question."""
    assert only_when(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "What happened at the wedding in May?"),
        ("en", "What happened?"),
        ("en", "Who died in May?"),
        ("en", "What did I tell you about Mark in May?"),
        ("es", "¿Qué pasó con Marta en mayo?"),
        ("de", "Was ist im Mai mit Uwe passiert?"),
        ("zh", "五月小梅发生了什么？"),
    ],
)
def test_query_with_a_topic_is_not_time_only(language: str, text: str) -> None:
    """A wedding of which nobody told is not answered with a funeral."""
    assert not only_when(text, language)


def at(month: int, day: int, year: int = 2026) -> int:
    """A moment."""
    return to_micros(datetime(year, month, day, tzinfo=UTC))


def test_coarse_dated_and_future_beliefs_are_not_events_of_the_month() -> None:
    """Nor did what is only to come, or holds."""
    known = [
        believed("a", "event", "Rufus died.", happened_at=at(5, 17), happened_until=at(5, 18)),
        believed(
            "b",
            "event",
            "Lost father.",
            happened_at=at(1, 1, 2023),
            happened_until=at(12, 31, 2023),
        ),
        believed("c", "commitment", "Promised Ana to call.", due_at=at(5, 20)),
        believed("d", "fact", "Lives in Leeds."),
    ]
    known = [replace(each, base_seq=n) for n, each in enumerate(known)]

    assert list_non_events(asking("What happened in May?", "en"), known) == {1, 2, 3}
    assert list_non_events(asking("What happened in 2023?", "en"), known) == {2, 3}
    assert list_non_events(asking("Where did I live in May?", "en"), known) == set()


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "What did I tell you yesterday?", "I bought a bicycle."),
        ("es", "¿Qué te dije ayer?", "Compré una bicicleta."),
        ("fr", "Qu'est-ce que je t'ai dit hier ?", "J'ai acheté un vélo."),
        ("fr", "Que t'ai-je raconté hier ?", "J'ai acheté un vélo."),
        ("de", "Was habe ich dir gestern erzählt?", "Ich habe ein Fahrrad gekauft."),
        ("zh", "我昨天跟你说了什么？", "我买了一辆自行车。"),
        ("zh", "我昨天告诉你什么了？", "我买了一辆自行车。"),
    ],
)
def test_message_of_another_time_does_not_answer_a_time_only_query(
    language: str, text: str, told: str
) -> None:
    """It is found only where it was."""
    (said,) = rows([("s1", "Helen", told)], role="person", language=language)
    before, yesterday = (
        search(PersonIndex.build([said._replace(said_at=day)]), asking(text, language), 4)
        for day in (NOVEMBER - 5 * DAY, NOVEMBER - DAY // 2)
    )

    assert not before.is_answerable
    assert yesterday.is_answerable


def test_time_only_query_finds_exactly_the_messages_of_that_time() -> None:
    """None of its words stands in the question."""
    told = ["We live in Leeds.", "Rufus is dead.", "I quit at St James.", "My car broke down."]
    days = [at(3, 5), at(5, 17), at(5, 20), at(6, 1)]
    lines = [("s1", "Helen", text) for text in told]
    said = [
        row._replace(said_at=day) for row, day in zip(rows(lines, role="person"), days, strict=True)
    ]
    found = search(PersonIndex.build(said), asking("What happened in May?", "en"), 4)

    assert {hit.seq for hit in found.hits if hit.score.value >= MIN_ANSWER_PROBABILITY} == {1, 2}
    assert found.answer_probability >= MIN_ANSWER_PROBABILITY
