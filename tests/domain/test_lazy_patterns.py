"""What any match contains is found in the expression; so nothing that matches is passed over."""

import re
from random import Random

import pytest

from oldfriend.domain.lazy_patterns import (
    LazyPattern,
    find_literal_prefix,
    find_needles,
    has_needles,
)
from tests.expression_expansions import expand


@pytest.mark.parametrize(
    ("source", "needles"),
    [
        ("where do i live", [("where do i live",)]),
        ("(?:what|which) town", [(" town",), ("what", "which")]),
        ("my (?:old |dear )?cat", [("my ",), ("cat",)]),
        (r"I am (?P<what>\w+) tall\.", [(" tall.",), ("i am ",)]),
        ("dogs?|cats", [("dog", "cats")]),
        ("(?:a|bird)s", []),
        ("ab*(?!cd)(?:ef)+", [("ef",)]),
        (r"[abc]{2}", []),
        (r"xyz[a[b]", []),
        ("{who} sings", [(" sings",)]),
        ("(?:(?<=周)|(?<=星期))一|今[早晚]|a", []),
        ("(?:(?<=周)|(?<=星期))一|今[早晚]", [("一", "今")]),
        (r"\d+年?前|x", []),
        (r"\d+年?前", [("前",)]),
    ],
)
def test_needles_of_a_pattern_are_found(source: str, needles: list[tuple[str, ...]]) -> None:
    """Words outside of what may be absent, and of each group one alternative."""
    assert sorted(find_needles(source)) == sorted(needles)


@pytest.mark.parametrize(
    ("source", "start"),
    [
        ("where do", "where do"),
        ("cats?", "cat"),
        ("(?:a|b)c", ""),
        ("one|two", ""),
        ("x(?:1|2)y|z", ""),
        ("who{is} it", "who"),
    ],
)
def test_literal_prefix_of_a_pattern_is_found(source: str, start: str) -> None:
    """Where it is certain."""
    assert find_literal_prefix(source) == start


def test_needles_never_exclude_a_match() -> None:
    """Of expressions made at random."""
    random = Random(7)
    for _ in range(2_000):
        source = made_up(random, depth=2)
        text = expand(source, random)
        assert re.fullmatch(source, text), source
        assert has_needles(text, find_needles(source)), (source, text)
        assert text.startswith(find_literal_prefix(source)), (source, text)


def made_up(random: Random, *, depth: int) -> str:
    """An expression of words, sets, groups, alternatives and what may be absent."""
    parts: list[str] = []
    for _ in range(random.randint(1, 3)):
        if depth and random.random() < 0.5:
            inside = [made_up(random, depth=depth - 1) for _ in range(random.randint(1, 3))]
            part, quantifiers = f"(?:{'|'.join(inside)})", ["", "", "?", "{0,2}", "{1,2}"]
        else:
            part = random.choice(["cat", "my ", "a", "周", "今天", r"\w", "[xyz]", r"\.", "is"])
            quantifiers = ["", "", "", "?", "*", "+", "{0,2}", "??"]
        parts.append(part + random.choice(quantifiers))
    return "".join(parts)


def test_lazy_pattern_is_compiled_only_when_a_text_may_match() -> None:
    """Not before; letter case is left aside where the expression does."""
    made: list[str] = []

    def complete(source: str) -> str:
        made.append(source)
        return source.replace("{place}", r"(\w+)")

    pattern = LazyPattern("I live in {place}", complete, re.IGNORECASE, fold=str.lower)

    assert pattern.match("It rains in Porto.") is None
    assert made == []
    found = pattern.match("Today i LIVE in Porto.", 6)
    assert found is not None and found[1] == "Porto"
    assert pattern.match("Today i LIVE in Porto.") is None
    assert made == ["I live in {place}"]
