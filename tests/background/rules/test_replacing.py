"""Somebody has taken another's place, or always had it: in five languages."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from tests.background.rules.saying import WEDNESDAY, message, read, said
from tests.background.talking import believed


def ended(language: str, text: str, *others: str, part: str = "boss") -> list[str]:
    """Whose place is taken, of those who are known by a part."""
    known = [
        believed(name, "fact", f"Boss: {name}.", key=f"{name}:relation", value=part,
                 subject="other")
        for name in others or ("Karen",)
    ]  # fmt: skip
    known = [replace(each, memory=replace(each.memory, language=language)) for each in known]
    claims = read(message(text, language=language), known=tuple(known)).claims
    return [each.ends.key.partition(":")[0] for each in claims if each.ends is not None]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "That's not right, my boss is Tina."), ("en", "No, my boss is Tina."),
        ("en", "My new boss is Tina."), ("es", "En realidad mi jefa es Begoña."),
        ("es", "Mi nueva jefa es Begoña."), ("fr", "Non, ma cheffe s'appelle Anne."),
        ("de", "Nein, meine Chefin heißt Tina."), ("de", "Meine neue Chefin heißt Tina."),
        ("zh", "不对，我老板叫王芳。"),
    ],
)  # fmt: skip
def test_there_is_one_at_a_time(language: str, text: str) -> None:
    """Who was it before is it no more."""
    assert ended(language, text) == ["Karen"]


@pytest.mark.parametrize("text", ["My boss is Tina.", "My boss Tina is nice.", "No, I like Tina."])
def test_another_beside_takes_no_place(text: str) -> None:
    """There may be two."""
    assert ended("en", text) == []


def test_a_new_friend_is_one_more() -> None:
    """But who is put right means one alone; of several nobody knows which."""
    assert ended("en", "My new best friend is Sana.", part="best friend") == []
    assert ended("en", "No, my best friend is Sana.", part="best friend") == ["Karen"]
    assert ended("en", "No, my boss is Tina.", "Karen", "Paul") == []


def test_who_is_put_right_at_once_means_the_one_just_named() -> None:
    """In the same talk; what is said again afterwards holds."""
    claims = said("My boss is Karen.", "No, my boss is Tina.").claims

    assert [each.ends.value for each in claims if each.ends is not None] == ["boss"]
    assert [each.ends.key for each in claims if each.ends is not None] == ["Karen:relation"]


def test_old_words_overrule_nothing_newer() -> None:
    """Whoever was told of since then stays."""
    karen = believed("k", "fact", "Boss: Karen.", key="Karen:relation", value="boss",
                     subject="other")  # fmt: skip
    newer = replace(karen, standing=replace(karen.standing, last_seen=WEDNESDAY + DAY))
    claims = read(message("No, my boss is Tina."), known=(newer,)).claims

    assert [each.key for each in claims] == ["Tina:relation"]
