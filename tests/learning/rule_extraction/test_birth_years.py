"""Birthdays keep the year that is told with them."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "my birthday is 12 april 1991", "12 april 1991"),
        ("en", "my birthday is march 12, 1991", "march 12, 1991"),
        ("en", "my birthday is march 12", "march 12"),
        ("de", "Mein Geburtstag ist am 12. April 1991", "12. April 1991"),
        ("es", "mi cumpleaños es el 12 de abril de 1991", "12 de abril de 1991"),
        ("fr", "mon anniversaire est le 12 avril 1991", "12 avril 1991"),
        ("zh", "我的生日是1991年4月12日", "1991年4月12日"),
    ],
)
def test_birthday_keeps_its_year(language: str, text: str, value: str) -> None:
    """As far as one was said."""
    told = [each for each in said(text, language=language).claims if each.key == "birthday"]
    assert [each.value for each in told] == [value]
