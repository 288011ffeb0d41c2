"""A feeling is seen by its words, in five languages; what is denied is not felt."""

import pytest

from oldfriend.turn.message_analysis import EMOTIONS, detect_emotion, load_emotion_cues


@pytest.mark.parametrize(
    ("language", "text", "emotion"),
    [
        ("en", "I'm so worried about the scan, I can't sleep", "anxious"),
        ("en", "WE WON!! I can’t wait to tell dad", "excited"),
        ("en", "The bus leaves at nine.", "neutral"),
        ("es", "Estoy agobiada, no puedo más con todo esto", "overwhelmed"),
        ("es", "¡Qué alegría, me dieron el trabajo!", "excited"),
        ("de", "Ich vermisse die Zeit damals in Kiel", "nostalgic"),
        ("de", "Der Drucker nervt, ich bin stinksauer", "frustrated"),
        ("fr", "Merci, ça compte beaucoup pour moi", "grateful"),
        ("fr", "Je me demande comment ça marche", "curious"),
        ("zh", "我最近很焦虑，晚上睡不着", "anxious"),
        ("zh", "太好了，我们赢了！", "excited"),
    ],
)
def test_emotion_is_detected_by_words_in_each_language(
    language: str, text: str, emotion: str
) -> None:
    """As somebody would say it."""
    assert detect_emotion(text, language) == emotion


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I'm not at all worried"),
        ("es", "no estoy preocupado"),
        ("de", "Ich bin nicht nervös"),
        ("fr", "Je ne suis pas inquiet"),
        ("zh", "我不担心"),
    ],
)
def test_negated_emotion_is_detected_as_neutral(language: str, text: str) -> None:
    """The denial may stand a word or two before."""
    assert detect_emotion(text, language) == "neutral"


def test_more_serious_of_two_emotions_is_detected() -> None:
    """Thanks in passing does not hide that somebody breaks down."""
    assert detect_emotion("thanks, but I'm falling apart", "en") == "overwhelmed"


@pytest.mark.parametrize("language", ["en", "es", "de", "fr", "zh"])
def test_every_language_has_cues_for_every_emotion(language: str) -> None:
    """None is forgotten in a book."""
    assert {*load_emotion_cues(language).patterns, "neutral"} == {*EMOTIONS}
