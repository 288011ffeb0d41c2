"""Numbers of protocols are ASCII digits, and normal forms take time in proportion to the text."""

import sys
import time
import unicodedata

import pytest

from oldfriend.domain.unicode_text import is_ascii_number, is_confusable, is_group_like, normalize

MARKS = "\u0301\u0316"
"""One above and one below, which a normal form sorts."""


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize(
    "text",
    ["plain", "Ångström ﬁne", "e\u0301\u0316x", "가각 ｱﾞ ½ 你好", "a" + MARKS * 15 + "b", "😀" * 99],
)
def test_normalize_matches_unicodedata_for_ordinary_text(form: str, text: str) -> None:
    """Also with as many marks as any script needs."""
    assert normalize(form, text) == unicodedata.normalize(form, text)


def test_normalizing_many_combining_marks_takes_bounded_time() -> None:
    """All at once, 100,000 of them take ten seconds of a whole process."""
    began = time.thread_time()
    found = normalize("NFKD", "a" + MARKS * 50_000)

    assert time.thread_time() - began < 2
    assert found.count("\u0301") == found.count("\u0316") == 50_000


def test_combining_marks_are_neither_alphanumeric_nor_space() -> None:
    """So that marks in a row are found as what is neither word nor space."""
    marks = filter(unicodedata.combining, map(chr, range(sys.maxunicode + 1)))

    assert not any(each.isalnum() or each.isspace() or each < "\u0300" for each in marks)


@pytest.mark.parametrize(("text", "is_one"), [("0", True), ("2026", True), ("", False)])
def test_ascii_digits_are_a_number(text: str, is_one: bool) -> None:
    """At least one of them."""
    assert is_ascii_number(text) is is_one


@pytest.mark.parametrize("text", ["²", "٣", "１", "½", "-1", " 1", "1_000", "1e3", "nan"])
def test_non_ascii_digits_and_signs_are_not_a_number(text: str) -> None:
    """Though Python reads some of it as one."""
    assert not is_ascii_number(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OWNER", "owner"),
        ("оwner", "owner"),  # a Cyrillic o
        ("ｏｗｎｅｒ", "owner"),
        ("0wner.", "owner"),
        ("owner\ufe0f", "owner"),
        ("owner\u3164", "owner"),
        ("OIdfriend", "Oldfriend"),  # a capital I
        ("Old friend", "Oldfriend"),
        ("ΑΝΑ", "Ana"),  # in Greek capitals
    ],
)
def test_confusable_names_are_detected(one: str, other: str) -> None:
    """Whichever stands first."""
    assert is_confusable(one, other)
    assert is_confusable(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana", "Anna"),
        ("José", "Jose"),
        ("Ian", "Lan"),
        ("小王", "小明"),
        ("★", "☆"),
        ("Marnie", "Mamie"),
        ("Ольга", "Олег"),
        ("Omar 1", "Omar 2"),
    ],
)
def test_different_names_are_not_confusable(one: str, other: str) -> None:
    """However near they are."""
    assert not is_confusable(one, other)


def test_group_suffix_is_recognized_with_confusable_characters() -> None:
    """A word in a name is none."""
    marked = ["owner (group)", "owner [Group]", "owner（ｇｒｏｕｐ）", "owner (grоup) ."]

    assert [each for each in marked if not is_group_like(each)] == []
    assert not is_group_like("Group")
    assert not is_group_like("The group")
