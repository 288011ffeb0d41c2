"""Fingerprints recognize what was forgotten, and nothing else, and only with their key."""

import json

import pytest

from oldfriend.memory.deletion.tombstones import hash_text_shingles, normalize_to_words
from oldfriend.memory.deletion.verification import (
    KeyedHasher,
    TextFingerprints,
    format_fingerprints_json,
    iterate_matching_shingles,
    parse_fingerprints_json,
)

KEY = b"k" * 32
SECRET = "my sister Ana is terribly allergic to hazelnuts"
ID = "018bcfe5-6800-7000-852d-87fabaad4a64"


def traces_for(
    *texts: str, names: tuple[str, ...] = (), ids: tuple[str, ...] = ()
) -> TextFingerprints:
    """The traces of some messages, as a plan would have them."""
    made = KeyedHasher(KEY)
    runs = [
        run for text in texts for run in iterate_matching_shingles(text, hash_text_shingles(text))
    ]
    tokens = [normalize_to_words(name).split() for name in names]
    return TextFingerprints(
        hasher=made,
        key=made.hash_text(""),
        shingles=made.hash_all(runs),
        first_tokens=made.hash_all(
            [each.split()[0] for each in runs] + [each[0] for each in tokens]
        ),
        names={
            count: made.hash_all(" ".join(each) for each in tokens if len(each) == count)
            for count in {len(each) for each in tokens}
        },
        words={},
        messages=made.hash_all(map(normalize_to_words, texts)),
        ids=made.hash_all(ids),
    )


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"They say that {SECRET.upper()}!",
        json.dumps({"text": f"well\n{SECRET}"}),
        "my sister Ana is terribly tired",
        "… is terribly allergic to hazelnuts",
    ],
)
def test_five_consecutive_deleted_words_are_recognized(text: str) -> None:
    """Wherever they stand, and however they are written."""
    assert traces_for(SECRET).has_deleted_text(text)


@pytest.mark.parametrize("text", ["", "my sister Ana", "Ana is allergic", "hazelnuts, terribly"])
def test_fewer_than_five_deleted_words_are_not_recognized(text: str) -> None:
    """Fewer words are said every day."""
    assert not traces_for(SECRET).has_deleted_text(text)


def test_eight_chinese_characters_of_deleted_text_are_recognized() -> None:
    """As everywhere in forgetting."""
    traces = traces_for("我的妹妹对榛子严重过敏")

    assert traces.has_deleted_text("听说我的妹妹对榛子严重过敏了")
    assert not traces.has_deleted_text("我的妹妹对")


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("then Ana came", True),
        ("ANA", True),
        ("then Ana Maria Sousa came", True),
        ("a banana", False),
        ("Maria Sousa", False),
    ],
)
def test_deleted_name_is_recognized_only_as_a_whole(text: str, is_named: bool) -> None:
    """However many words it has."""
    assert traces_for(names=("Ana", "Ana Maria Sousa")).has_deleted_text(text) == is_named


def test_short_deleted_message_is_recognized_only_as_a_whole() -> None:
    """For a typed line may be one."""
    traces = traces_for("call Bo!")

    assert traces.is_deleted_message("Call Bo")
    assert not traces.is_deleted_message("call Bo today")
    assert not traces.has_deleted_text("call Bo")


def test_deleted_id_is_recognized_inside_a_text() -> None:
    """And no other."""
    traces = traces_for(ids=(ID,))

    assert traces.has_deleted_id(f'["{ID}"]')
    assert not traces.has_deleted_id(ID.replace("8", "9"))


def test_stored_fingerprints_round_trip_and_contain_no_words() -> None:
    """With another key nothing can be recognized, and that is known."""
    traces = traces_for(SECRET, "call Bo", names=("Ana",), ids=(ID,))
    stored = format_fingerprints_json(traces)

    assert parse_fingerprints_json(stored, KEY) == traces
    assert parse_fingerprints_json(stored, b"another") is None
    assert not any(
        each in stored.casefold()
        for each in (*normalize_to_words(SECRET).split(), ID)
        if len(each) > 3
    )
