"""Ids are named by people with few characters, and never by a guess."""

import pytest

from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import (
    build_ambiguous_id_error,
    build_id_patterns,
    get_by_partial_id,
    list_matching_ids,
    shorten_id,
)


def test_id_is_matched_by_prefix_suffix_or_short_form() -> None:
    """Four of them do; what cannot be part of an id is refused."""
    one, other = "018bcfe5-6800-7000-8000-0000aaaabbbb", "018bcfe5-6800-7000-8000-0000ccccbbbb"
    assert shorten_id(one) == "aaaabbbb"
    assert list_matching_ids(one, [one, other]) == list_matching_ids("aaaa", [one, other]) == [one]
    assert (
        list_matching_ids("AAAAB", [one, other])
        == list_matching_ids("aabbbb", [one, other])
        == [one]
    )
    assert (
        list_matching_ids("bbbb", [one, other])
        == list_matching_ids("018b", [one, other])
        == [one, other]
    )
    assert list_matching_ids("abbb", [one, other]) == []
    assert build_id_patterns(" AaAa ") == {"begins": "aaaa%", "ends": "%aaaa", "shown": "%aaaa____"}
    assert build_id_patterns("aaaabbbb")["shown"] == "%aaaabbbb"
    for part in ("aaa", "a%aa", "a_aa", ""):
        with pytest.raises(InvalidInput, match="4 characters"):
            list_matching_ids(part, [one])
    error = build_ambiguous_id_error("bbbb", {one: "fact", other: "note"})
    assert "aaaabbbb (fact), ccccbbbb (note)" in str(error)


def test_the_beginning_of_an_id_names_one_record() -> None:
    """In whatever case; nothing, and what begins several, names none."""
    named = [("3f2a90c1", "swim"), ("3f2b11d0", "read"), ("9c", "walk")]

    assert get_by_partial_id(" 3F2A", named, noun="goal") == "swim"
    assert get_by_partial_id("9c", named, noun="goal") == "walk"
    for nothing in ("", "  ", "77"):
        with pytest.raises(NotFound, match="no goal"):
            get_by_partial_id(nothing, named, noun="goal")
    with pytest.raises(InvalidInput, match="several"):
        get_by_partial_id("3f2", named, noun="goal")
