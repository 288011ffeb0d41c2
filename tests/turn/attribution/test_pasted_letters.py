"""A letter that was pasted alone is not the person's answer."""

import pytest

from oldfriend.turn.attribution.quoted_spans import find_borrowed_spans

LETTERS = [
    ("en", "Dear Mrs Hill,\n\nI will start as head nurse.\n\nKind regards,\nJoanna Pike"),
    ("en", "My dearest Anne,\nI leave for the front at dawn.\nForever yours,\nThomas"),
    ("en", "Hi all, please note I'll be on leave from 3 March. Best, Olga"),
    ("es", "Querida Elena:\nTe escribo porque me caso en junio.\nUn abrazo,\nPilar"),
    ("de", "Liebe Frau Kern,\nhiermit kündige ich.\nMit freundlichen Grüßen\nH. Albers"),
    ("fr", "Chère maman,\nje me marie à Nice.\nJe t'embrasse,\nÉlodie"),
    ("zh", "亲爱的李老师：\n我下周起去深圳工作了。\n此致\n敬礼\n王芳"),
    ("pt", "Prezado síndico, informo que deixarei o prédio. Atenciosamente, Luís"),
    ("ja", "拝啓 田中様\n十二月に広島へ転勤します。\n敬具\n佐藤"),
]
BEHIND_A_GREETING = [
    ("en", "For Oldfriend"),
    ("en", "Hello Oldfriend!"),
    ("de", "Lieber Oldfriend,"),
]
OWN = [
    ("en", "Hi Miro,\nI moved to Porto last week.\nNora"),
    ("en", "hi! I got the job"),
    ("en", "Dear Oldfriend, my name is Margaret. I taught Latin in Shrewsbury for thirty years."),
    ("en", "Dear Oldfriend,\n\nI taught Latin and history for years.\n\nYours, Margaret"),
    ("de", "Lieber Oldfriend, ich heiße Karl und wohne seit drei Jahren in Husum."),
    ("es", "Querido Oldfriend: me llamo Carmen y soy enfermera."),
    ("fr", "Cher Oldfriend, je m'appelle Paul et je vis à Lyon depuis dix ans."),
    ("en", "Oh dear, I broke the vase again and it was expensive"),
    ("es", "Buenos días. Me llamo Mateo, aunque todos me llaman Teo."),
    ("de", "Hallo, ich bin wieder da und habe Hunger."),
]


@pytest.mark.parametrize(("language", "text"), LETTERS)
def test_pasted_letter_is_detected_in_each_language(language: str, text: str) -> None:
    """By their salutation, their close, or how they are laid out."""
    spans = find_borrowed_spans(text, language, frozenset({"Miro"}))
    assert "letter" in {each.kind for each in spans}


@pytest.mark.parametrize(("language", "text"), OWN)
def test_greeting_to_the_companion_is_not_detected_as_a_letter(language: str, text: str) -> None:
    """Nor is a greeting."""
    assert find_borrowed_spans(text, language, frozenset({"Miro"})) == ()


@pytest.mark.parametrize(("language", "greeting"), BEHIND_A_GREETING)
def test_letter_behind_a_greeting_to_the_companion_is_detected(
    language: str, greeting: str
) -> None:
    """Only what is said to the companion itself is the person's own."""
    letter = "Dear Anna,\nI moved to Lisbon and am allergic to nuts.\nBest regards,\nTom"
    spans = find_borrowed_spans(f"{greeting}\n{letter}", language)
    assert [each.kind for each in spans if each.start >= len(greeting)][:1] == ["letter"]
