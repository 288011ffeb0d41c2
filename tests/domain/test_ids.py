"""Ids are named by people with few characters, and never by a guess."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import ambiguous, find_named, patterns_of, short


def test_an_id_is_named_by_its_first_or_last_characters_or_the_first_that_are_seen() -> None:
    """Four of them do; what cannot be part of an id is refused."""
    one, other = "018bcfe5-6800-7000-8000-0000aaaabbbb", "018bcfe5-6800-7000-8000-0000ccccbbbb"
    assert short(one) == "aaaabbbb"
    assert find_named(one, [one, other]) == find_named("aaaa", [one, other]) == [one]
    assert find_named("AAAAB", [one, other]) == find_named("aabbbb", [one, other]) == [one]
    assert find_named("bbbb", [one, other]) == find_named("018b", [one, other]) == [one, other]
    assert find_named("abbb", [one, other]) == []
    assert patterns_of(" AaAa ") == {"begins": "aaaa%", "ends": "%aaaa", "shown": "%aaaa____"}
    assert patterns_of("aaaabbbb")["shown"] == "%aaaabbbb"
    for part in ("aaa", "a%aa", "a_aa", ""):
        with pytest.raises(InvalidInput, match="4 characters"):
            find_named(part, [one])
    error = ambiguous("bbbb", {one: "fact", other: "note"})
    assert "aaaabbbb (fact), ccccbbbb (note)" in str(error)
