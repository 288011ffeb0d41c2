"""Every value comes back exactly, and stands as people write it where that is possible."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.db.database import SqlValue
from oldfriend.db.json.document_schema import (
    InvalidValue,
    build_column,
    encode_json,
    from_json_value,
    to_json_value,
)
from oldfriend.domain.json import JsonValue

NAMES = st.sampled_from(["said_at", "is_owner", "tags", "after", "text", "holds_from", "n"])
TYPES = st.sampled_from(["TEXT", "BIGINT", "DOUBLE PRECISION", "BLOB"])
TEXT = st.text(st.characters(codec="utf-8"))
JSON_TEXT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda each: st.lists(each) | st.dictionaries(TEXT, each),
).map(lambda value: json.dumps(value, ensure_ascii=False))
VALUES = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.binary()
    | TEXT
    | JSON_TEXT
    | st.sampled_from([0, 1, -0.0, '{"$text": "x"}', '{"a": 1, "a": 2}'])
)


@given(NAMES, TYPES, VALUES)
def test_every_value_round_trips_through_json(name: str, declared: str, value: SqlValue) -> None:
    """Whatever its column is made for, through the file's own text."""
    column = build_column(name, declared, is_required=False)

    back = from_json_value(column, json.loads(encode_json(to_json_value(column, value))))

    assert (type(back), back) == (type(value), value)
    assert not isinstance(value, float) or math.copysign(1, value) == math.copysign(1, back)


@pytest.mark.parametrize(
    ("name", "declared", "value", "stands"),
    [
        ("said_at", "BIGINT", 1_705_314_600_000_001, "2024-01-15T10:30:00.000001Z"),
        ("is_owner", "BIGINT", 1, True),
        ("is_owner", "BIGINT", 2, 2),
        ("tags", "TEXT", '["café", 1]', ["café", 1]),
        ("tags", "TEXT", '["a","b"]', '["a","b"]'),
        ("text", "TEXT", "[1]", "[1]"),
        ("said_at", "BIGINT", -(2**63), -(2**63)),
    ],
)
def test_values_are_stored_in_readable_form_where_lossless(
    name: str, declared: str, value: SqlValue, stands: JsonValue
) -> None:
    """Where that loses nothing."""
    assert to_json_value(build_column(name, declared, is_required=False), value) == stands


@pytest.mark.parametrize(
    ("name", "declared", "value", "wanted"),
    [
        ("said_at", "BIGINT", "yesterday", "a moment, such as 2024"),
        ("said_at", "BIGINT", "9999-12-31T23:59:59Z", "years 2 to 9998"),
        ("is_owner", "BIGINT", "yes", "true or false"),
        ("n", "BIGINT", 2**63, "a whole number"),
        ("n", "BIGINT", True, "a whole number"),
        ("text", "TEXT", 5, "text in quotes"),
        ("text", "TEXT", None, "cannot be empty"),
        ("tags", "TEXT", 5, "a list, an object or text"),
        ("score", "DOUBLE PRECISION", "1", "a number"),
        ("bytes", "BLOB", "?", "base64"),
        ("n", "BIGINT", {"$nothing": 1}, "cannot be"),
    ],
)
def test_invalid_value_is_refused_naming_the_expected_form(
    name: str, declared: str, value: JsonValue, wanted: str
) -> None:
    """Nothing is guessed."""
    with pytest.raises(InvalidValue, match=wanted):
        from_json_value(build_column(name, declared, is_required=True), value)
