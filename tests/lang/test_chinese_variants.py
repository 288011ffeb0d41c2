"""Chinese is read and written in either script."""

import pytest

from oldfriend.lang.chinese_variants import (
    is_traditional,
    load_character_variants,
    to_simplified,
    to_traditional,
)


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("我養了一隻貓", "我养了一只猫"),
        ("她是護士", "她是护士"),
        ("鱖魚和鮪魚", "鳜鱼和鲔鱼"),
        ("姊姊", "姐姐"),
    ],
)
def test_traditional_characters_become_simplified_ones(traditional: str, simplified: str) -> None:
    assert to_simplified(traditional) == simplified
    assert is_traditional(traditional)
    assert not is_traditional(simplified)


def test_text_without_variants_is_unchanged() -> None:
    for text in ("", "Hello, 你好", "に行った", "😀"):
        assert to_simplified(text) == text
        assert not is_traditional(text)


def test_ambiguous_characters_are_not_converted_to_traditional() -> None:
    """皇后 is no 皇後, 公里 no 公裡, 台北 stays as it is commonly written."""
    assert to_traditional("皇后住在台北三公里外") == "皇后住在台北三公里外"
    assert to_traditional("养猫的护士") == "養貓的護士"


def test_every_variant_pair_is_one_to_one() -> None:
    variants = load_character_variants()

    assert len(variants) > 2_000
    assert variants["猫"] == "猫貓"
    assert all(
        simplified == to_simplified(each) for simplified, all_ in variants.items() for each in all_
    )
