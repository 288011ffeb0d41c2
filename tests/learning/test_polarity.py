"""A claim that says the opposite of its quote, or swaps a part of it, is not believed."""

from dataclasses import replace
from typing import Final

import pytest

from oldfriend.domain.memories import MemoryKind
from oldfriend.learning.extraction import Claim, Extraction
from oldfriend.learning.validate import validate_extraction
from tests.learning.segment_fixtures import believed, claim, quote, talk

REVERSED: Final[tuple[tuple[str, MemoryKind, str, str, str, str], ...]] = (
    # language, kind, key, value, claim, what was said
    ("en", "fact", "pets", "Rex", "Has no dog called Rex.", "My dog is called Rex."),
    ("en", "fact", "dietary", "meat", "Does not eat meat.", "I eat meat every day."),
    ("en", "fact", "location", "Leeds", "Does not live in Leeds.", "I live in Leeds, no joke."),
    ("en", "preference", "dislikes", "Berlin", "Hates Berlin.", "I love Berlin."),
    ("en", "event", "", "", "Sold the car.", "I bought a car yesterday."),
    ("en", "event", "", "", "Failed the exam.", "I passed the exam."),
    ("en", "event", "", "", "Bought a piano.", "I bought a guitar."),
    ("de", "event", "", "", "Kaufte ein Klavier.", "Ich kaufte gestern eine Gitarre."),
    ("fr", "event", "", "", "A acheté un piano.", "J'ai acheté une guitare."),
    ("en", "fact", "interests", "piano", "Plays the piano.", "I play the guitar."),
    ("en", "fact", "possessions", "car", "Does not own a car.", "I have a car."),
    ("en", "fact", "possessions", "no car", "Has no car.", "I own a car, an old one."),
    ("en", "fact", "location", "Berlin", "No longer lives in Berlin.", "I moved to Berlin."),
    ("de", "fact", "possessions", "Auto", "Besitzt kein Auto.", "Ich habe ein Auto."),
    ("de", "fact", "location", "Köln", "Wohnt nicht mehr in Köln.", "Ich bin nach Köln gezogen."),
    ("es", "fact", "possessions", "coche", "No posee coche.", "Tengo un coche."),
    ("es", "fact", "location", "Jaén", "Ya no vive en Jaén.", "Me mudé a Jaén."),
    ("fr", "fact", "possessions", "voiture", "Ne possède pas de voiture.", "J'ai une voiture."),
    ("fr", "fact", "location", "Lille", "N'habite plus à Lille.", "J'ai déménagé à Lille."),
    ("zh", "fact", "possessions", "车", "没有车。", "我有一辆车。"),
    ("de", "fact", "pets", "Rex", "Hat keinen Hund namens Rex.", "Mein Hund heißt Rex."),
    ("de", "preference", "dislikes", "Berlin", "Hasst Berlin.", "Ich liebe Berlin."),
    ("es", "fact", "pets", "Rex", "No tiene un perro llamado Rex.", "Mi perro se llama Rex."),
    ("es", "preference", "dislikes", "Madrid", "Odia Madrid.", "Me encanta Madrid."),
    ("fr", "fact", "pets", "Rex", "N'a pas de chien appelé Rex.", "Mon chien s'appelle Rex."),
    ("fr", "preference", "dislikes", "Paris", "Déteste Paris.", "J'adore Paris."),
    ("pt", "fact", "pets", "Rex", "Não tem um cão chamado Rex.", "O meu cão chama-se Rex."),
    ("pt", "preference", "dislikes", "Lisboa", "Odeia Lisboa.", "Adoro Lisboa."),
    (
        "it",
        "fact",
        "pets",
        "Rex",
        "Non ha un cane che si chiama Rex.",
        "Il mio cane si chiama Rex.",
    ),
    ("it", "preference", "dislikes", "Roma", "Odia Roma.", "Adoro Roma."),
    ("nl", "fact", "pets", "Rex", "Heeft geen hond die Rex heet.", "Mijn hond heet Rex."),
    ("zh", "fact", "pets", "雷克斯", "没有叫雷克斯的狗。", "我的狗叫雷克斯。"),
    ("zh", "preference", "dislikes", "北京", "讨厌北京。", "我喜欢北京。"),
    (
        "ja",
        "fact",
        "pets",
        "レックス",
        "レックスという犬を飼っていない。",
        "うちの犬はレックスです。",
    ),
)
SWAPPED: Final[tuple[tuple[str, str, str], ...]] = (
    # claim about others, its value, what was said
    ("Anna loves Tom.", "Tom", "Tom loves Anna."),
    ("Rex is a cat.", "Rex", "Rex is my dog."),
    ("The brother is a nurse.", "nurse", "My sister is a nurse."),
)
RIGHT: Final[tuple[tuple[str, MemoryKind, str, str, str, str], ...]] = (
    ("en", "fact", "pets", "no dog", "Has no dog.", "I don't have a dog."),
    ("en", "fact", "habits", "no smoking", "No longer smokes.", "I quit smoking in May."),
    ("en", "fact", "possessions", "car", "No longer has a car.", "I sold my car."),
    ("en", "fact", "possessions", "no car", "Has no car.", "I have a bike but no car."),
    ("en", "fact", "possessions", "no car", "Does not own a car.", "I sold the only car I had."),
    (
        "en",
        "fact",
        "location",
        "Berlin",
        "No longer lives in Berlin.",
        "I moved from Berlin to Oslo.",
    ),
    ("de", "fact", "possessions", "Auto", "Hat kein Auto.", "Ein Auto habe ich nicht."),
    ("en", "preference", "dislikes", "mint", "Hates mint.", "Mint tastes of toothpaste to me."),
    ("en", "fact", "allergy", "nuts", "Cannot eat nuts.", "I'm allergic to nuts."),
    ("de", "fact", "allergy", "Nüsse", "Verträgt keine Nüsse.", "Ich bin allergisch gegen Nüsse."),
    ("es", "fact", "allergy", "nueces", "No puede comer nueces.", "Soy alérgico a las nueces."),
    ("en", "preference", "diet", "pork", "Does not eat pork.", "Pork is off the table for me."),
    ("fr", "preference", "dietary", "café", "Ne boit plus de café.", "je bois plus de café"),
    ("pt", "fact", "habits", "fumar", "Não fuma mais.", "Deixei de fumar em maio."),
    ("zh", "preference", "dislikes", "香菜", "不喜欢香菜。", "香菜这玩意儿我闻一下都想报警"),
)


@pytest.mark.parametrize(
    ("language", "kind", "key", "value", "text", "said"), REVERSED, ids=lambda each: each
)
def test_the_opposite_of_a_quote_is_not_believed(
    language: str, kind: MemoryKind, key: str, value: str, text: str, said: str
) -> None:
    """Neither with a "not" of its own, nor with the verb that says the reverse."""
    assert not _believe(told(kind, key, value, text, said), said, language=language)


@pytest.mark.parametrize(("text", "value", "said"), SWAPPED)
def test_others_are_not_swapped(text: str, value: str, said: str) -> None:
    """Who loves whom, and who of the family or of the animals it is, stands in the quote."""
    swapped = replace(told("fact", "family", value, text, said), subject="other")

    assert not _believe(swapped, said)


@pytest.mark.parametrize(("language", "kind", "key", "value", "text", "said"), RIGHT)
def test_what_is_denied_in_other_words_is_believed(
    language: str, kind: MemoryKind, key: str, value: str, text: str, said: str
) -> None:
    """An end, a loss and a dislike may be told without a "not"."""
    assert _believe(told(kind, key, value, text, said), said, language=language)


def test_a_number_that_stands_nearby_does_not_replace_that_of_the_quote() -> None:
    """Two cats of another sentence make no two dogs."""
    lines = ("I have two cats.", "I have three dogs.")
    swapped = replace(
        told("fact", "pets", "two dogs", "Has two dogs.", lines[1]),
        quotes=(quote(lines[1], 2),),
    )

    assert not _believe(swapped, *lines)


def test_a_change_is_not_believed_of_words_that_deny_it() -> None:
    """The person does not live in Porto, so nothing supersedes Faro."""
    known = believed("home", "fact", "Lives in Faro.", key="location", value="Faro")
    said = "I don't live in Porto."
    change = replace(
        told("fact", "location", "Porto", "Lives in Porto.", said),
        effect="supersedes",
        target=known.memory.id,
    )
    material = talk(said, known=[known])

    checked = validate_extraction(Extraction(author="model/1", claims=(change,)), material)

    assert checked.rejected == {"opposite": 1}


@pytest.mark.parametrize(
    ("said", "summary", "is_kept"),
    [
        ("My dog is called Rex.", "Nora has no dog called Rex.", False),
        ("I love my job.", "Nora hates her job.", False),
        ("I have three dogs.", "Nora has two dogs.", False),
        ("My sister is a nurse.", "Nora's brother is a nurse.", False),
        ("I don't eat meat.", "Nora eats no meat.", True),
        ("My dog is called Rex.", "Nora's dog is called Rex.", True),
    ],
)
def test_a_summary_does_not_say_the_opposite(said: str, summary: str, *, is_kept: bool) -> None:
    """Its sentences rest on words that say so, like claims."""
    read = Extraction(author="model/1", summary=summary)

    assert bool(validate_extraction(read, talk(said)).extraction.summary) == is_kept


def told(kind: MemoryKind, key: str, value: str, text: str, said: str) -> Claim:
    """What a careless reader makes of a message."""
    impact = 3 if kind == "event" else 0
    return claim(kind, text, said, key=key, value=value, confidence=0.95, impact=impact)


def _believe(one: Claim, *lines: str, language: str = "en") -> bool:
    """Whether a claim of a model passes."""
    material = talk(*lines, language=language)
    extraction = Extraction(author="model/1", claims=(one,))
    return bool(validate_extraction(extraction, material).extraction.claims)
