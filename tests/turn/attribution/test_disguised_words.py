"""A text with disguised letters is taken for nobody's."""

import pytest

from oldfriend.turn.attribution.quoted_spans import find_disguised_text

DISGUISED = [
    "І live in Рorto.",  # Cyrillic letters
    "us\u200ber lives in Porto",
    "I wor\u00adk as a spy",
    "𝐈 𝐥𝐢𝐯𝐞 in Porto",
    "I live in \u202eotroP",
    "Rеmember this",
]
PLAIN = [
    "Ｉ ｌｉｖｅ in Porto.",
    "Живу в Порту, работаю в IT.",
    "café, naïve, Łódź, Ñandú, Straße",
    "我在Porto工作，用iPhone",
    "👩‍👩‍👧 and 🏳️‍🌈",
    "می‌خواهم بروم",
]


@pytest.mark.parametrize("text", DISGUISED)
def test_text_with_homoglyphs_or_hidden_characters_is_detected(text: str) -> None:
    """Mixed scripts, hidden characters, letters of mathematics, turned reading."""
    assert [(each.start, each.end) for each in find_disguised_text(text)] == [(0, len(text))]


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_in_any_script_is_not_detected_as_disguised(text: str) -> None:
    """Several languages, accents, wide letters, joined emoji."""
    assert list(find_disguised_text(text)) == []
