"""A day counts in whatever form it is named, and only that day."""

from datetime import date

import pytest

from oldfriend_evals.day_values import DayReader

TODAY = date(2026, 10, 31)


def reader(language: str, *, is_month_first: bool = False) -> DayReader:
    """A reader of replies given on the last day of October 2026, a Saturday."""
    return DayReader(language=language, today=TODAY, is_month_first=is_month_first)


@pytest.mark.parametrize(
    ("language", "forms", "reply"),
    [
        ("en", ["2026-03-14"], "You went on the 14th of March."),
        ("en", ["14 march"], "It was on the 14th of March, I think."),
        ("en", ["14 march"], "That was Saturday, March 14, 2026."),
        ("en", ["14 march"], "On Saturday the 14th of March."),
        ("en", ["14 march"], "The fourteenth of March."),
        ("en", ["14 march"], "On 14/3."),
        ("en", ["14 march"], "2026-03-14, a Saturday."),
        ("en", ["sept 21"], "You started on September twenty-first."),
        ("en", ["5th of october", "5th"], "Back on mornings from the 5th!"),
        ("en", ["monday the 12th", "12th"], "Your jab is on 12 October."),
        ("en", ["monday the 12th"], "On the 12th of October (a Monday)."),
        ("en", ["17 august", "august"], "You split in August."),
        ("en", ["20th to 23rd november", "23rd"], "You are off until the 23rd of November."),
        ("en", ["tuesday"], "You are at college on Tuesday now."),
        ("de", ["15. oktober"], "Der Termin ist am Donnerstag, dem 15. Oktober 2026."),
        ("de", ["15. oktober", "15."], "Am 15.10. um neun."),
        ("de", ["23. oktober", "23."], "Am 23. ist es so weit."),
        ("es", ["30 de septiembre"], "El 30 de septiembre, miércoles."),
        ("es", ["1 de octubre"], "El primero de octubre."),
        ("fr", ["22 septembre", "le 22"], "C'était prévu le 22."),
        ("fr", ["lundi 5"], "C'est lundi 5 octobre à dix heures."),
        ("fr", ["1 mars"], "Le 1er mars."),
        ("it", ["1 settembre"], "Il primo settembre."),
        ("pt", ["8 de setembro", "dia 8"], "Você começou no dia 8."),
        ("pt", ["2 de outubro"], "É dia 02/10."),
        ("zh", ["10月13号", "10月13"], "十月十三日考。"),
        ("zh", ["七月二十一"], "妈妈的生日是7月21日。"),
        ("zh", ["15号", "11月15"], "11月15日（星期日）考。"),
        ("ja", ["11月3日"], "美月の誕生日は十一月三日だよ。"),
    ],
)
def test_reply_naming_the_same_day_in_another_form_matches(
    language: str, forms: list[str], reply: str
) -> None:
    """With or without weekday, year and ordinal."""
    assert reader(language).holds_any(reply, forms)


@pytest.mark.parametrize(
    ("language", "forms", "reply"),
    [
        ("en", ["14 march"], "On the 15th of March."),
        ("en", ["14 march"], "On the 14th of April."),
        ("en", ["14 march"], "On the 14th."),
        ("en", ["14 march"], "In March."),
        ("en", ["2026-03-14"], "On 14 March 2025."),
        ("en", ["14 march"], "On Monday 14 March."),  # a Saturday, in 2027 a Sunday
        ("en", ["14 march"], "At 14:30, in March."),
        ("en", ["4 march"], "On 14 March."),
        ("en", ["5th of october", "5th"], "On the 5th of November."),
        ("en", ["monday the 12th"], "On Tuesday the 12th."),
        ("en", ["17 august", "august"], "You split on the 18th of August."),
        ("en", ["nov 2"], "On November 20."),
        ("de", ["23. oktober", "23."], "Am 23. November."),
        ("de", ["15. oktober"], "Am 5. Oktober."),
        ("es", ["8 de octubre"], "El 8 de noviembre."),
        ("fr", ["lundi 5"], "C'est mardi 5."),
        ("fr", ["22 septembre", "le 22"], "C'est le 22 octobre."),
        ("pt", ["8 de setembro", "dia 8", "8/9"], "Foi no dia 9/8."),
        ("zh", ["10月13号"], "10月3号考。"),
        ("zh", ["十月五号"], "十月十五号在一起的。"),
        ("ja", ["11月3日"], "11月13日だよ。"),
    ],
)
def test_reply_naming_another_day_does_not_match(
    language: str, forms: list[str], reply: str
) -> None:
    """Also the same number in another month, and the right date on an impossible weekday."""
    assert not reader(language).holds_any(reply, forms)


@pytest.mark.parametrize(("is_month_first", "is_right"), [(True, True), (False, False)])
def test_numeric_dates_follow_the_day_month_order_of_the_locale(
    is_month_first: bool, is_right: bool
) -> None:
    """3/12 is in March in America, and in December elsewhere."""
    days = reader("en", is_month_first=is_month_first)

    assert days.holds_any("It is on 3/12.", ["12 march"]) is is_right


@pytest.mark.parametrize(
    "form", ["may", "2019", "14", "march 2019", "3 may or 4 may", "a 5th floor"]
)
def test_form_that_is_no_single_day_is_not_parsed_as_a_day(form: str) -> None:
    """A month, a year, a plain number, two days."""
    assert reader("en").parse_day(form) is None


def test_value_that_is_no_day_matches_as_whole_words() -> None:
    """As words of their own."""
    assert reader("en").holds_any("Her name is Ana.", ["ana"])
    assert not reader("en").holds_any("I like bananas.", ["ana"])
