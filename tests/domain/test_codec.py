"""What is packed comes back as it was, is small, and holds no word."""

import json
from typing import get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.codec import (
    CAUSES,
    PROMPT_SECTIONS,
    PackedItem,
    PackedReason,
    join_details,
    pack_id,
    pack_items,
    pack_references,
    pack_sources,
    split_details,
    unpack_items,
    unpack_references,
    unpack_sources,
)
from oldfriend.search import ReasonCause

UUIDS = st.uuids().map(str)
NUMBERS = st.integers(min_value=1, max_value=1 << 40)
NAMES = st.one_of(UUIDS, st.text(max_size=20))
SHARES = st.integers(min_value=-10_000, max_value=50_000).map(lambda each: each / 10_000)
REASONS = st.builds(
    PackedReason,
    cause=st.sampled_from((*CAUSES, "a cause of later")),
    words=st.lists(st.text(max_size=8), max_size=3).map(tuple),
    name=st.none() | st.text(max_size=8),
    strength=SHARES,
)
NUMBERED = st.tuples(NUMBERS, st.just(0))
NAMED = st.tuples(NAMES, st.integers(min_value=0, max_value=1 << 40))
ITEMS = st.builds(
    lambda which, **more: PackedItem(reference=which[0], version=which[1], **more),
    NUMBERED | NAMED,
    is_memory=st.booleans(),
    is_used=st.booleans(),
    score=SHARES,
    reasons=st.lists(REASONS, max_size=3).map(tuple),
    is_cited=st.none() | st.booleans(),
)
BELIEF = str(UUID(int=7))


@given(references=st.sets(NUMBERS | NAMES))
def test_packed_references_round_trip(references: set[int | str]) -> None:
    """Message numbers, ids of the usual form, and any other."""
    assert set(unpack_references(pack_references(references))) == references


@given(items=st.lists(ITEMS, max_size=5))
def test_packed_receipt_items_round_trip_in_order(items: list[PackedItem]) -> None:
    """With scores and strengths to four places, which is as much as anybody is shown."""
    assert unpack_items(*pack_items(items)) == items


@given(items=st.lists(ITEMS, max_size=5))
def test_packed_sources_keep_only_used_items_and_causes(items: list[PackedItem]) -> None:
    """The strongest first; no scores, and nothing of what was not used."""
    found = unpack_sources(pack_sources(items))

    used = [item for item in items if item.is_used]
    assert [(each.reference, each.is_cited) for each in found] == [
        (each.reference, each.is_cited) for each in used
    ]
    assert [[why.cause for why in each.reasons] for each in found] == [
        [why.cause for why in sorted(each.reasons, key=lambda why: -why.strength)] for each in used
    ]


def test_packed_bytes_contain_no_words() -> None:
    """So that a search through a file for words that were forgotten finds all of them."""
    why = (PackedReason("words", ("hazelnuts",), "Ana", 0.5),)
    items = [PackedItem(False, 5, 0, True, 0.5, why), PackedItem(True, BELIEF, 3, False, 0.25, why)]
    packed, terms = pack_items(items)

    assert json.loads(terms) == ["hazelnuts", "Ana"]
    for held in (packed, pack_sources(items)):
        assert b"hazelnuts" not in held
        assert b"Ana" not in held


def test_consecutive_message_references_are_packed_compactly() -> None:
    """The newest messages of a talk are shown to each call."""
    assert len(pack_references(range(1_000, 1_040))) < 10


@pytest.mark.parametrize("name", [BELIEF, "no usual id"])
def test_id_is_found_in_packed_bytes_without_unpacking(name: str) -> None:
    """A database looks for its bytes."""
    packed, _ = pack_items([PackedItem(True, name, 3, False, 0.25, ())])

    assert pack_id(name) in packed
    assert pack_id(str(UUID(int=8))) not in packed


def test_unknown_codec_version_is_rejected() -> None:
    """Rather than read as something else."""
    with pytest.raises(ValueError, match="another version"):
        unpack_references(b"\x09\x00")


def test_every_cause_has_a_code() -> None:
    """A new one is appended, so that those that are kept stay what they are."""
    assert set(CAUSES) == set(get_args(ReasonCause))


@pytest.mark.parametrize(
    "tokens",
    [
        {**dict.fromkeys(PROMPT_SECTIONS, 3), "about Ana": 7},
        dict.fromkeys(PROMPT_SECTIONS, 3),
        {"rules": 1},
    ],
)
def test_receipt_details_round_trip_through_split_and_join(tokens: dict[str, int]) -> None:
    """Also what was dropped from the context, known or not among what was considered."""
    details = {
        "intent": "question",
        "understood": {"goal": "inform"},
        "context": {"tokens": tokens, "dropped": {"beliefs": [BELIEF, "elsewhere"]}},
    }

    lasting, passing = split_details(details, ["m1", BELIEF])

    assert join_details(lasting, passing, ["m1", BELIEF]) == details
    assert join_details(lasting, None, []) == {"intent": "question"}


def test_usual_receipt_details_take_no_room_and_are_told_all_the_same() -> None:
    """What is unusual is stored."""
    usual = {
        "author": "reply/11",
        "degraded": False,
        "missing": [],
        "model": {"name": "m", "calls": 1, "tokens_in": 5, "tokens_cached": 0, "cost": 0},
    }
    unusual = {**usual, "degraded": True, "missing": ["summaries"], "model": {"cost": None}}

    lasting, passing = split_details(usual, [])

    assert lasting == '{"author":"reply/11","model":{"name":"m","tokens_in":5}}'
    assert join_details(lasting, passing, []) == usual
    assert join_details('{"author":"reply/4","degraded":true}', None, []) == {
        "author": "reply/4",
        "degraded": True,  # of before: what was missing was not said
    }
    assert join_details(*split_details(unusual, []), []) == {
        **unusual,
        "model": {"calls": 1, "tokens_cached": 0, "cost": None},
    }
