"""Names that cannot be told apart by eye."""

import pytest

from oldfriend.domain.confusable_names import is_confusable, is_group_like


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
def test_what_looks_the_same_is_found(one: str, other: str) -> None:
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
def test_people_of_different_names_can_all_be_here(one: str, other: str) -> None:
    """However near they are."""
    assert not is_confusable(one, other)


def test_the_mark_of_a_group_is_known_in_other_signs() -> None:
    """A word in a name is none."""
    marked = ["owner (group)", "owner [Group]", "owner（ｇｒｏｕｐ）", "owner (grоup) ."]

    assert [each for each in marked if not is_group_like(each)] == []
    assert not is_group_like("Group")
    assert not is_group_like("The group")
