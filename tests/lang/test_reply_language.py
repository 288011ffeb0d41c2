"""In which language somebody wants to be answered is read from whole requests only."""

import pytest

from oldfriend.lang.reply_language import find_language, name_language, read_language_ask


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Please speak German with me.", "de"),
        ("from now on, answer in Spanish please", "es"),
        ("Can you please talk to me in French?", "fr"),
        ("Switch to Chinese", "zh"),
        ("Speak the language I write in.", "auto"),
        ("Sprich bitte Deutsch mit mir.", "de"),
        ("Antworte ab jetzt auf Englisch!", "en"),
        ("Kannst du bitte mit mir Französisch sprechen?", "fr"),
        ("Sprich meine Sprache", "auto"),
        ("Háblame en inglés, por favor.", "en"),
        ("¿Puedes hablar en alemán conmigo?", "de"),
        ("Responde en mi idioma", "auto"),
        ("Parle-moi en anglais, s'il te plaît.", "en"),
        ("Réponds toujours en espagnol", "es"),
        ("Réponds dans ma langue", "auto"),
        ("请用英语跟我说话。", "en"),
        ("以后用德语回答我", "de"),
        ("用我的语言回答", "auto"),
        ("Can you speak German?", None),
        ("I speak German.", None),
        ("German", None),
        ("My sister wants you to speak German", None),
        ("How do you say cat in German?", None),
        ("Write a letter in Spanish please", None),
        ("Ich spreche Deutsch und Englisch.", None),
        ("Hablo inglés", None),
        ("我会说英语", None),
        ("", None),
    ],
)
def test_whole_request_is_read(text: str, choice: str | None) -> None:
    """What is only told of a language, or asked about it, changes nothing."""
    assert read_language_ask(text) == choice


@pytest.mark.parametrize(
    ("name", "code"),
    [("de", "de"), ("Deutsch", "de"), ("alemán", "de"), ("中文", "zh"), ("AUTO", "auto")],
)
def test_language_is_found_by_its_name_in_any_language(name: str, code: str) -> None:
    """Or by its code."""
    assert find_language(name) == code


def test_languages_have_names() -> None:
    """In the words of the one who reads them."""
    assert name_language("de", language="fr") == "allemand"
    assert name_language("ko", language="ja") == "Korean"
    assert find_language("Klingon") is None
