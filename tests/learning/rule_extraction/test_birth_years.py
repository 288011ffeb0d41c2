"""Birthdays keep the year that is told with them, and a year alone is kept."""

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


@pytest.mark.parametrize(
    ("language", "text", "key"),
    [
        ("en", "my brother Jonas was born in 1991", "Jonas:birth_date"),
        ("en", "I was born in 1991 in Leeds", "birth_date"),
        ("de", "mein Bruder Jonas ist 1991 geboren", "Jonas:birth_date"),
        ("de", "Ich bin 1991 geboren", "birth_date"),
        ("es", "mi hermano Luis nació en 1991", "Luis:birth_date"),
        ("fr", "mon frère Paul est né en 1991", "Paul:birth_date"),
        ("zh", "我弟弟叫小明，他1991年出生", "小明:birth_date"),
        ("zh", "我是1991年出生的", "birth_date"),
    ],
)
def test_year_of_birth_is_kept_of_whoever_is_told_of(language: str, text: str, key: str) -> None:
    """How old somebody is follows from it."""
    told = {each.key: each.value for each in said(text, language=language).claims}
    assert told.get(key) == "1991"


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "I've been working at Siemens for three years", "Siemens"),
        ("de", "Ich arbeite seit drei Jahren bei Siemens", "Siemens"),
        ("es", "Trabajo desde hace tres años en Siemens", "Siemens"),
        ("fr", "Je travaille depuis trois ans chez Airbus", "Airbus"),
        ("zh", "在腾讯工作三年了", "腾讯"),
    ],
)
def test_workplace_is_kept_where_its_time_is_told(language: str, text: str, value: str) -> None:
    """Before or behind it, and in Chinese without a subject."""
    told = {each.key: each.value for each in said(text, language=language).claims}
    assert told.get("workplace") == value


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich arbeite seit drei Stunden für die Prüfung"),
        ("zh", "在家工作三年了"),
        ("en", "I was born in a small town"),
    ],
)
def test_other_times_and_places_are_neither(language: str, text: str) -> None:
    """An exam, a home and a town."""
    told = {each.key for each in said(text, language=language).claims}
    assert told.isdisjoint({"workplace", "birth_date"})
