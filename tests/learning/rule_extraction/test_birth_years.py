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
        ("zh", "我在腾讯工作了三年了", "腾讯"),
    ],
)
def test_workplace_is_kept_where_its_time_is_told(language: str, text: str, value: str) -> None:
    """Before or behind it, and in Chinese without a subject."""
    told = {each.key: each.value for each in said(text, language=language).claims}
    assert told.get("workplace") == value


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich arbeite seit drei Jahren nicht mehr bei Siemens"),
        ("de", "Ich arbeite seit Mai nicht mehr bei Siemens"),
        ("de", "Ich arbeite seit gestern nicht für Siemens"),
        ("fr", "Je travaille depuis peu plus chez Siemens"),
        ("es", "Trabajo desde mayo ya no en Siemens"),
        ("zh", "我妈妈退休了，在银行工作了三十年"),
        ("zh", "我哥哥很忙，在银行工作三年了"),
        ("zh", "在银行工作了三年，后来辞职了"),
        ("zh", "大学毕业后，在银行工作了三年，现在当老师"),
        ("zh", "我在银行工作了三年"),
    ],
)
def test_ended_work_and_that_of_others_is_no_workplace_of_the_person(
    language: str, text: str
) -> None:
    """What is denied, past, or said of a relative."""
    claims = said(text, language=language).claims
    now = [each for each in claims if each.key == "workplace" and each.holds_until is None]
    assert {each.value for each in now if each.subject == "person"}.isdisjoint({"Siemens", "银行"})


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("我女儿六岁。", {"女儿:age": "六岁"}),
        ("我女儿叫小雨。", {"小雨:relation": "daughter"}),
        ("我在农村长大。", {"hometown": "农村"}),
        ("我在杭州长大的。", {"hometown": "杭州"}),
        ("我老家在杭州。", {"birthplace": "杭州"}),
    ],
)
def test_age_is_no_name_and_growing_up_no_place(text: str, told: dict[str, str]) -> None:
    """In Chinese, which writes no spaces between them."""
    assert {each.key: each.value for each in said(text, language="zh").claims} == told
