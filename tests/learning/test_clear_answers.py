"""A question about one clear sentence is answered, with nothing beside it, in every language."""

import pytest

from oldfriend.prompts.locale_phrases import load_phrases
from tests.chat_fixtures import Say

TOLD = [
    (
        "de",
        ("Heute war es sehr windig.", "Ich habe Brot gekauft.", "Das Fahrrad hat einen Platten."),
        "Was hat einen Platten?",
    ),
    (
        "es",
        ("Hoy hizo mucho viento.", "He comprado pan.", "La bici tiene una rueda pinchada."),
        "¿Qué tiene una rueda pinchada?",
    ),
    (
        "fr",
        ("Il a plu toute la journée.", "Ma fille Alice a six ans", "Mon vélo a un pneu crevé."),
        "Qu'est-ce qui a un pneu crevé ?",
    ),
]


@pytest.mark.parametrize(("language", "told", "question"), TOLD)
async def test_clear_sentence_answers_as_sure_and_alone(
    say: Say, language: str, told: tuple[str, ...], question: str
) -> None:
    """What else was said is no closer for being there."""
    for each in told:
        await say(each)
    text = (await say(question)).reply.text

    assert told[-1].rstrip(".") in text
    assert not any(each.rstrip(".") in text for each in told[:-1])
    assert not text.startswith(load_phrases(language).phrases["not_sure"].partition("{")[0].strip())
