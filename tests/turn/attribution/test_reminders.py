"""Orders to remember are no part of what is told beside them."""

import pytest

from oldfriend.turn.attribution.orders import drop_reminders


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "Tomás is allergic to peanuts, don't forget", "Tomás is allergic to peanuts"),
        ("en", "I'm allergic to penicillin, please remember", "I'm allergic to penicillin"),
        ("en", "I'm allergic to penicillin please remember.", "I'm allergic to penicillin"),
        ("en", "Carla hates nuts, don’t let me forget!", "Carla hates nuts"),
        ("en", "I live in Leeds - and remember that, please, don't forget", "I live in Leeds"),
        ("en", "Please remember that I am 71", "I am 71"),
        ("en", "Don't forget: my neighbour is 71", "my neighbour is 71"),
        ("en", "Please don't forget!", ""),
        (
            "es",
            "Soy alérgica a la penicilina, por favor no te olvides",
            "Soy alérgica a la penicilina",
        ),
        (
            "de",
            "Ich bin allergisch gegen Nüsse, bitte nicht vergessen",
            "Ich bin allergisch gegen Nüsse",
        ),
        ("de", "Merk dir, dass ich Nüsse hasse", "ich Nüsse hasse"),
        (
            "fr",
            "Je suis allergique aux noix, n’oublie pas s'il te plaît",
            "Je suis allergique aux noix",
        ),
        ("it", "Sono allergico alle noci, non dimenticare", "Sono allergico alle noci"),
        ("pt", "Sou alérgico a nozes, não te esqueças", "Sou alérgico a nozes"),
        ("nl", "Ik ben allergisch voor noten, niet vergeten", "Ik ben allergisch voor noten"),
        ("ru", "У меня аллергия на орехи, не забудь", "У меня аллергия на орехи"),
        ("ja", "ナッツアレルギーです、忘れないで。", "ナッツアレルギーです"),
        ("zh", "我对花生过敏，别忘了", "我对花生过敏"),
    ],
)
def test_order_to_remember_is_no_part_of_what_is_told(language: str, text: str, told: str) -> None:
    """In whichever language, before it or behind it."""
    assert drop_reminders(text, language) == told


@pytest.mark.parametrize(
    "text",
    [
        "don't forget the nuts",
        "don't forget to buy milk",
        "I like people who don't forget",
        "I will always remember that",
        "She told me to remember it",
        "What should I remember?",
        "We met in Leeds, remember?",
    ],
)
def test_words_about_remembering_stay(text: str) -> None:
    """Where they tell or ask something themselves."""
    assert drop_reminders(text, "en") == text
