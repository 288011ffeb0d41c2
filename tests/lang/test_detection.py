"""A text's language is told by its script, then by its small words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import list_languages


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where is the boat that we saw?", "en"),
        ("¿Dónde está el gato de Ana?", "es"),
        ("Onde você mora e por que não?", "pt"),
        ("Où est mon chat, tu sais ?", "fr"),
        ("Wann hast du das gesagt?", "de"),
        ("Dove vai con la macchina?", "it"),
        ("Waar is de hond van jou?", "nl"),
        ("Как зовут моего кота?", "ru"),
        ("我的猫叫什么名字", "zh"),
        ("僕の猫の名前は何ですか", "ja"),
        ("내 고양이 이름이 뭐야", "ko"),
        ("I love 寿司 a lot, and the sea", "en"),
    ],
)
def test_language_of_a_sentence_is_detected(text, language):
    """Eleven languages are told apart whatever the fallback is."""
    assert detect_language(text, fallback="it" if language != "it" else "en") == language


@pytest.mark.parametrize("text", ["", "Paris", "ok", "👍", "12:30", "\ud800"])
def test_undetectable_text_gets_the_fallback_language(text):
    """One word is not enough to change a person's language."""
    assert detect_language(text, fallback="fr") == "fr"


def test_han_characters_alone_are_japanese_when_the_fallback_is_japanese():
    """東京 is as Japanese as it is Chinese."""
    assert detect_language("東京", fallback="ja") == "ja"
    assert detect_language("東京", fallback="en") == "zh"


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_has_a_language(text):
    """No string breaks it, lone surrogates included."""
    assert detect_language(text, fallback="en") in list_languages()


def test_language_detection_reads_only_the_beginning_of_a_long_text():
    """Only the beginning is looked at."""
    assert detect_language("und das ist " * 100_000, fallback="en") == "de"


@pytest.mark.parametrize("expected", ["zh", "ja", "ko", "ru"])
def test_latin_words_are_not_detected_as_a_non_latin_fallback_language(expected):
    """One or two are said there as well."""
    assert detect_language("Coriander ruins everything", fallback=expected) == "en"
    assert detect_language("OK", fallback=expected) == expected
    assert detect_language("Coriander ruins everything", fallback="es") == "en"


@pytest.mark.parametrize("expected", ["zh", "ja"])
@pytest.mark.parametrize("text", ["Zoë", "Málaga", "café", "Beyoncé", "São Paulo"])
def test_a_name_with_an_accent_is_no_change_of_language(text: str, expected: str) -> None:
    """It is said in talk of another script as one without is."""
    assert detect_language(text, fallback=expected) == expected
    assert detect_language("Zoë está muy feliz", fallback=expected) == "es"


@pytest.mark.parametrize("fallback", ["en", "de", "it"])
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Lena wohnt in Hamburg", "de"),
        ("wo wohnt lena?", "de"),
        ("où habite Léna ?", "fr"),
        ("Ma fille Alice a six ans", "fr"),
        ("balu had surgery on monday", "en"),
        ("hoy corrí 5 km con Ana", "es"),
    ],
)
def test_few_words_are_known_by_their_language(text: str, language: str, fallback: str) -> None:
    """Where small words do not tell it, or tell a language that knows fewer of the others."""
    assert detect_language(text, fallback=fallback) == language


@pytest.mark.parametrize("text", ["I ran 1e300 km", "/done e3a9", "I 5a 3e km"])
def test_letters_of_numbers_and_ids_tell_no_language(text: str) -> None:
    """ "e" and "a" are words of several languages."""
    assert detect_language(text, fallback="en") == "en"


@pytest.mark.parametrize("text", ["Lena Meier Hamburg", "spaghetti carbonara", "ok danke", "Miso"])
def test_names_and_loanwords_keep_the_language_of_the_talk(text: str) -> None:
    """They are of no language, or of several."""
    assert detect_language(text, fallback="en") == "en"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Pizza Margherita Napoli", "en"),
        ("Hotel California album", "en"),
        ("Meeting mit Team", "de"),
        ("sorry bin late", "de"),
        ("Die Band Radiohead", "de"),
        ("Lena adore Berlin", "fr"),
    ],
)
def test_foreign_names_and_loanwords_do_not_turn_a_few_words(text: str, language: str) -> None:
    """No small word of the other language is among them."""
    assert detect_language(text, fallback=language) == language


@pytest.mark.parametrize("text", ["晚饭吃了两碗面 胃又不舒服了", "老板说下个月搬走", "那她呢"])
def test_one_japanese_message_does_not_make_chinese_ones_japanese(text: str) -> None:
    """Somebody who learns Japanese writes a word of it, and goes on in Chinese."""
    assert detect_language(text, fallback="ja") == "zh"
