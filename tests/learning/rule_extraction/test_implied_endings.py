"""Something is over, and something else with it; or not, where that is not told."""

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.learning.extraction import Claim
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.validate import validate_extraction
from tests.learning.rule_extraction.message_fixtures import WEDNESDAY, material_of, message


def kept(language: str, *texts: str) -> list[Claim]:
    """What is kept of what is said on several days, the last of them today."""
    last = len(texts) - 1
    material = material_of(
        *(
            message(text, number=n, language=language, at=WEDNESDAY - (last - n) * 9 * DAY)
            for n, text in enumerate(texts)
        )
    )
    return list(validate_extraction(extract_with_rules(material), material).extraction.claims)


def over(language: str, *texts: str) -> dict[str, str]:
    """What of it is over by now: each key with the value that it had."""
    ends = [each.ended_claim for each in kept(language, *texts) if each.ended_claim is not None]
    return {each.key: each.value for each in ends}


@pytest.mark.parametrize(
    ("language", "at_work", "left"),
    [
        ("en", "I work at Siemens.", "I quit my job yesterday."),
        ("en", "I work at Siemens.", "I lost my job."),
        ("de", "Ich arbeite bei Siemens.", "Ich habe gestern gekündigt."),
        ("es", "Trabajo en Siemens.", "Ayer dejé el trabajo."),
        ("fr", "Je travaille chez Siemens.", "J'ai démissionné hier."),
        ("zh", "我在华为上班。", "我昨天辞职了。"),
        ("en", "I work at Siemens.", "I left my job last week."),
        ("en", "I work at Siemens.", "I quit my job because I was tired."),
        ("en", "I work at Siemens.", "I retired last week."),
        ("en", "I work at Siemens.", "I quit my job at Siemens yesterday."),
        ("de", "Ich arbeite bei Siemens.", "Ich habe meinen Job gekündigt."),
        ("de", "Ich arbeite bei Siemens.", "Ich habe meine Stelle bei Siemens gekündigt."),
        ("de", "Ich arbeite bei Siemens.", "Ich habe letzte Woche meinen Job verloren."),
        ("es", "Trabajo en Siemens.", "Me despidieron ayer."),
        ("es", "Trabajo en Siemens.", "He dejado mi trabajo en Siemens."),
        ("fr", "Je travaille chez Siemens.", "J'ai quitté mon travail hier."),
        ("fr", "Je travaille chez Siemens.", "J'ai quitté mon travail chez Siemens."),
    ],
)
def test_quitting_a_job_ends_the_known_workplace(language: str, at_work: str, left: str) -> None:
    """Though the place is not named again."""
    assert [*over(language, at_work, left)] == ["workplace"]


@pytest.mark.parametrize(
    "texts",
    [
        ("I work at Siemens.", "I don't work on Fridays any more."),
        ("I work at Siemens.", "My brother quit his job."),
        ("I work at Siemens.", "I quit my job and now I work at Siemens."),
        ("I quit my job.", "I work at Siemens."),
        ("I work at Siemens.", "I want to quit my job."),
    ],
)
def test_workplace_stays_when_the_person_has_not_quit_it(texts: tuple[str, str]) -> None:
    """Nor who says where they work now."""
    assert over("en", *texts) == {}


@pytest.mark.parametrize(
    ("language", "at_work", "left"),
    [
        ("en", "I work at Siemens.", "I left my job early today."),
        ("en", "I work at Siemens.", "I left my job at five."),
        ("en", "I work at Siemens.", "I quit my job search."),
        ("en", "I work at Siemens.", "I lost my job application."),
        ("en", "I work at Siemens.", "I retired my old laptop."),
        ("en", "I work at Siemens.", "I got fired up about it."),
        ("en", "I work at Siemens.", "I quit my job at the bar."),
        ("de", "Ich arbeite bei Siemens.", "Ich habe mein Abo gekündigt."),
        ("de", "Ich arbeite bei Siemens.", "Ich habe gestern meine Wohnung gekündigt."),
        ("de", "Ich arbeite bei Siemens.", "Mir wurde die Wohnung gekündigt."),
        ("de", "Ich arbeite bei Siemens.", "Ich wurde gestern aus dem Krankenhaus entlassen."),
        ("es", "Trabajo en Siemens.", "He dejado el trabajo a medias."),
        ("es", "Trabajo en Siemens.", "Me despidieron en la estación."),
        ("fr", "Je travaille chez Siemens.", "J'ai quitté mon travail à six heures."),
        ("fr", "Je travaille chez Siemens.", "J'ai démissionné du club d'échecs."),
        ("zh", "我在华为上班。", "我明年退休了。"),
    ],
)
def test_leaving_something_other_than_the_job_keeps_the_workplace(
    language: str, at_work: str, left: str
) -> None:
    """A flat, the office for today, another job."""
    value = "华为" if language == "zh" else "Siemens"

    assert value not in over(language, at_work, left).values()
    assert not [each for each in kept(language, left) if each.key == "occupation"]


def test_already_ended_workplace_is_not_ended_again() -> None:
    """It was said by itself."""
    texts = ("I work at Siemens.", "I no longer work at Siemens.", "I lost my job.")

    assert [each.value for each in kept("en", *texts) if each.ended_claim is not None] == [
        "no longer Siemens"
    ]


@pytest.mark.parametrize(
    ("language", "has", "gone"),
    [
        ("en", "I have a dog called Rex.", "I don't have a dog any more."),
        ("de", "Ich habe einen Hund namens Rex.", "Ich habe keinen Hund mehr."),
        ("es", "Tengo un perro que se llama Rex.", "Ya no tengo perro."),
        ("fr", "J'ai un chien qui s'appelle Rex.", "Je n'ai plus de chien."),
        ("zh", "我的狗叫Rex。", "我没有狗了。"),
        ("zh", "我养了一条狗。我的狗叫Rex。", "我没有狗了。"),
        ("en", "I have a dog called Rex.", "Sadly, I don't have a dog any more, I have a cat."),
    ],
)
def test_no_longer_having_a_dog_ends_the_named_dogs_relation(
    language: str, has: str, gone: str
) -> None:
    """Whatever it is called."""
    assert over(language, has, gone)["Rex:relation"] == "dog"


@pytest.mark.parametrize(
    "gone",
    [
        "I don't have a cat any more.",
        "I don't have two dogs anymore.",
        "I don't have a dog at work any more.",
        "At work, I don't have a dog any more.",
    ],
)
def test_no_longer_having_another_pet_keeps_the_named_dog(gone: str) -> None:
    """Of several, one may be there still; and one that is not at work is at home."""
    assert "Rex:relation" not in over("en", "I have a dog called Rex.", gone)


@pytest.mark.parametrize(
    ("language", "has", "gone"),
    [
        ("en", "I have a dog.", "I don't have a dog at work any more."),
        ("de", "Ich habe einen Hund.", "Ich habe keinen Hund mehr im Büro."),
        ("es", "Tengo un perro.", "Ya no tengo perro en la oficina."),
        ("fr", "J'ai un chien.", "Je n'ai plus de chien au bureau."),
    ],
)
def test_no_pet_at_work_does_not_end_having_a_pet(language: str, has: str, gone: str) -> None:
    """As it was told."""
    assert over(language, has, gone) == {}


@pytest.mark.parametrize(
    ("language", "is_so", "is_over"),
    [
        ("en", "Lisa is my boss.", "Lisa is no longer my boss, Tom is."),
        ("en", "Lisa is my boss.", "My boss is no longer Lisa."),
        ("de", "Lisa ist meine Chefin.", "Lisa ist nicht mehr meine Chefin."),
        ("es", "Lisa es mi jefa.", "Lisa ya no es mi jefa."),
        ("fr", "Lisa est ma cheffe.", "Lisa n'est plus ma cheffe."),
        ("zh", "Lisa是我老板。", "Lisa已经不是我老板了。"),
    ],
)
def test_no_longer_being_boss_ends_the_relation(language: str, is_so: str, is_over: str) -> None:
    """As it was told of them."""
    assert over(language, is_so, is_over) == {"Lisa:relation": "boss"}


@pytest.mark.parametrize(
    "text",
    [
        "My boss Lisa no longer lives in Porto.",
        "I don't work with my boss Lisa any more.",
        "Lisa is no longer at work.",
    ],
)
def test_person_who_only_stopped_an_activity_keeps_the_relation(text: str) -> None:
    """They are named by it still."""
    assert "Lisa:relation" not in over("en", "Lisa is my boss.", text)
