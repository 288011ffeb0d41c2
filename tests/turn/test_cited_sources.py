"""A reply is traced to what it shares with a source, and not to what everybody says."""

from collections.abc import Mapping, Sequence

import pytest

from oldfriend.search import PersonIndex
from oldfriend.turn.cited_sources import (
    build_rarity_test,
    check_stated_sources,
    rank_cited_sources,
)
from tests.search.conversation import rows

BORN = "Ana was born in Porto on 3 May 1991"
BICYCLES = "You repair bicycles on Saturdays"
SISTER = "Ana is your sister"


def all_rare(words: Sequence[str]) -> Sequence[bool]:
    """A history in which nothing is said often."""
    return [True for _ in words]


def cited(
    reply: str, question: str, sources: Sequence[str] | Mapping[str, str], *, language: str = "en"
) -> list[str]:
    """The sources that a reply is traced to, in a history without habits."""
    named = sources if isinstance(sources, Mapping) else {each: each for each in sources}
    return rank_cited_sources(reply, question, named, languages=[language], is_rare=all_rare)


def believed(reply: str, question: str, stated: Sequence[str], *traced: str) -> list[str]:
    """The sources that a model is believed to have used, of those that it cites."""
    sources = {each: each for each in (BORN, BICYCLES, SISTER)}
    return check_stated_sources(stated, traced, reply, question, sources, language="en")


def test_only_source_that_a_model_cites_needs_no_shared_word() -> None:
    """It is there for what is told in other words."""
    assert believed("He mends wheels.", "And on weekends?", [BICYCLES]) == [BICYCLES]
    assert believed("He mends wheels.", "And on weekends?", ["gone"]) == []


def test_each_of_several_cited_sources_tells_a_word_of_its_own() -> None:
    """Neither one of the question nor one that another tells; all if none does."""
    reply, question = "Bicycles, while Ana is in Porto.", "What do I repair?"

    assert believed(reply, question, [SISTER, BORN, BICYCLES]) == [BORN, BICYCLES]
    assert believed("Go and see her.", question, [BORN, SISTER]) == [BORN, SISTER]


def test_model_that_cites_more_than_its_reply_can_tell_has_not_chosen() -> None:
    """What the reply can be traced to counts."""
    sources = {str(number): f"Ana was in Porto on day {number}" for number in range(4)}

    def check(*stated: str) -> list[str]:
        return check_stated_sources(stated, ["2"], "In Porto!", "", sources, language="en")

    assert check("0", "1", "2", "3") == ["2"]
    assert check("1", "0") == ["1"]


def test_common_words_do_not_cite_a_source() -> None:
    """Found with a model that answers everything alike."""
    reply = "I hear you. That matters to me. What made you think of it today?"
    sources = [
        "can't today, site meeting until 5",
        "17:42 from Temple Meads I think",
        "Iris is one today",
        "I think I made it today",
    ]

    assert cited(reply, "We went to the lake.", sources) == []


def test_shared_rare_word_cites_a_source() -> None:
    """One is enough where hardly anybody says it."""
    sources = ["Is allergic to hazelnuts.", "Likes cake and coffee.", BICYCLES]

    assert cited("No hazelnuts in it, I promise!", "Which cake should I bake?", sources) == [
        "Is allergic to hazelnuts."
    ]


def test_two_shared_less_rare_words_cite_a_source() -> None:
    """Neither would be enough alone."""
    train = "we took the train to Leeds, in the rain"

    assert cited("By train, and it was raining.", "How did I get there?", [train, SISTER]) == [
        train
    ]
    assert cited("By train.", "How did I get there?", [train]) == []


def test_words_repeated_from_the_question_do_not_cite_a_source() -> None:
    """A reply that repeats them may come from anywhere."""
    assert cited("Yes, bicycles!", "Do I repair bicycles?", [BICYCLES]) == []


def test_shared_number_cites_a_source_but_a_year_does_not() -> None:
    """A year alone does not."""
    flat = "The flat costs 1275 a month"

    assert cited("It was 1275.", "What did I say about the flat?", [flat, BORN]) == [flat]
    assert cited("In 1991.", "When was that?", [BORN]) == []


def test_four_shared_consecutive_words_cite_a_source() -> None:
    """Four words in a row, though each is common."""
    said = "my sister's house by the river was cold"

    assert cited("You said: the house by the river was cold.", "And?", [said, SISTER]) == [said]


@pytest.mark.parametrize(
    ("reply", "source", "language"),
    [
        ("Have a good day at work!", "Tom said: have a good day everyone", "en"),
        ("I hope you feel better soon.", "I hope you feel better soon. Best, Gill", "en"),
        ("That sounds like a lot of fun!", "It sounds like a lot to carry", "en"),
        ("Take an umbrella on Tuesday.", "On Tuesday I have yoga", "en"),
        ("Most begin in December.", "In December my father died", "en"),
        ("See you at 7pm on Friday, at 8.", "On Friday we eat at 8, come at 7pm", "en"),
        ("Merry Christmas to you too!", "Merry Christmas to you, says the card", "en"),
        ("¡Que tengas un buen día!", "que tengas un buen día, dijo el cura", "es"),
        ("Gute Besserung und alles Gute!", "gute Besserung und alles Gute stand da", "de"),
        ("Bonne journée à toi aussi !", "bonne journée à toi aussi, dit-elle", "fr"),
        ("祝你今天过得愉快！", "主持人总说祝你今天过得愉快", "zh"),
    ],
)
def test_set_phrases_and_calendar_words_do_not_cite_a_source(
    reply: str, source: str, language: str
) -> None:
    """However many words of them stand in a row."""
    assert cited(reply, "So?", [source, SISTER], language=language) == []


def test_shared_day_and_month_cite_a_source() -> None:
    """A day and its month together, where neither would be enough alone."""
    flight = "we fly on 14 March"

    assert cited("On 14 March.", "When do we fly?", [flight, SISTER]) == [flight]
    assert cited("In March.", "When do we fly?", [flight]) == []


def test_long_run_of_shared_common_words_cites_a_source() -> None:
    """Even where each of them is said often."""
    said = "nobody knows what my brother does all day in that old house"
    index = PersonIndex.build(rows([("s1", "Ana", said)] * 9))
    reply = "You once said: nobody knows what my brother does all day in that old house."

    found = rank_cited_sources(
        reply, "And?", {"said": said}, languages=["en"], is_rare=build_rarity_test(index)
    )

    assert found == ["said"]


def test_frequent_name_in_the_history_does_not_cite_a_source() -> None:
    """A name that stands in every second message is no trace."""
    lines = [("s1", "Ana", f"Jonah did thing number {number}") for number in range(40)]
    index = PersonIndex.build(rows([*lines, ("s1", "Ana", "Jonah is in Ljubljana")]))
    sources = {"often": "Jonah did thing number 1", "once": "Jonah is in Ljubljana"}

    found = rank_cited_sources(
        "Jonah? In Ljubljana.",
        "Where is he?",
        sources,
        languages=["en"],
        is_rare=build_rarity_test(index),
    )

    assert found == ["once"]


def test_cited_sources_are_ranked_by_shared_words() -> None:
    """It shares most."""
    sources = ["Grows zucchini.", "Grows zucchini and rhubarb in Bedminster."]

    assert cited("Rhubarb and zucchini, in Bedminster.", "What?", sources) == sources[::-1]


@pytest.mark.parametrize(
    ("reply", "question", "source", "other", "language"),
    [
        (
            "她对榛子和花生过敏，别放。",
            "蛋糕里能放什么？",
            "安娜对榛子和花生过敏",
            "你周六修自行车",
            "zh",
        ),
        (
            "Sin avellanas ni cacahuetes.",
            "¿Qué tarta hago?",
            "Es alérgica a las avellanas",
            "Repara bicicletas los sábados",
            "es",
        ),
        (
            "Ohne Haselnüsse natürlich.",
            "Welchen Kuchen soll ich backen?",
            "Verträgt keine Haselnüsse",
            "Repariert samstags Fahrräder",
            "de",
        ),
    ],
)
def test_sources_are_cited_in_other_languages(
    reply: str, question: str, source: str, other: str, language: str
) -> None:
    """With a lexicon, and without one by pairs of characters."""
    assert cited(reply, question, [source, other], language=language) == [source]
