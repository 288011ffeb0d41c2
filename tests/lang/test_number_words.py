"""Numbers that are spelled out become digits, and other words stay."""

import pytest

from oldfriend.lang.number_words import write_digits


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "weighed uh eighty three point six today", "weighed uh 83.6 today"),
        ("en", "one of them was first", "one of them was first"),
        ("es", "hoy sesenta y ocho coma cinco", "hoy 68,5"),
        ("de", "dreiundachtzig komma sechs Kilo", "83,6 Kilo"),
        ("fr", "soixante et onze hier", "71 hier"),
        ("zh", "体重六十三点二公斤", "体重63.2公斤"),
        ("zh", "一百三十五", "135"),
        ("zh", "一百三", "130"),
        ("zh", "一百零三", "103"),
        ("zh", "两万三千", "23000"),
        ("zh", "一万二", "12000"),
        ("zh", "十二", "12"),
        ("zh", "一点三十分", "1点30分"),
        ("ru", "восемьдесят три", "восемьдесят три"),
    ],
)
def test_spelled_numbers_become_digits(language: str, text: str, expected: str) -> None:
    """Decimals, hundreds and short forms; a time of day is none."""
    assert write_digits(text, language) == expected


def test_only_the_begin_of_a_long_text_changes() -> None:
    """So that no message takes long."""
    assert write_digits("x" * 1_000 + " eighty three", "en").endswith(" eighty three")
