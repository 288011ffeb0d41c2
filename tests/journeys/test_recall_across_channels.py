"""The story of the cat: told once, in one place, and remembered in another."""

import pytest

from tests.processes import Program


@pytest.mark.quick
def test_chinese_message_on_one_channel_is_recalled_on_another(
    oldfriend: Program,
) -> None:
    """Nothing is shared between the two processes but the memory."""
    oldfriend.done(
        "say", "我养了只白猫,叫小黑。他超调皮,老在半夜跳到我脸上。", "--channel", "signal"
    )
    given = oldfriend.done("say", "你还记得我的猫吗", "--channel", "web", "--json").json

    assert "小黑" in given["reply"]
    assert given["receipt"]["language"] == "zh"
    (evidence, *_) = given["receipt"]["evidence"]
    assert (evidence["channel"], evidence["role"]) == ("signal", "person")


@pytest.mark.quick
def test_message_of_one_person_is_not_recalled_for_another(oldfriend: Program) -> None:
    """The same question by another person finds nothing."""
    oldfriend.done("say", "我养了只白猫,叫小黑。", "--channel", "signal")
    given = oldfriend.done(
        "say", "你还记得我的猫吗", "--channel", "web", "--person", "Ana", "--new-person", "--json"
    ).json

    assert "小黑" not in given["reply"]
    assert given["receipt"]["evidence"] == given["receipt"]["considered"] == []
