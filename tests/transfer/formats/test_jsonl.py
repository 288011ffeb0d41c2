"""Oldfriend's own format for messages."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from oldfriend.domain.errors import ImportRefused

FULL = {
    "id": 5,
    "session": 2,
    "speaker": "Ana",
    "role": "person",
    "at": "2024-05-03T18:30:00+02:00",
    "text": "hello",
}


def test_every_field_is_parsed(read):
    told = read("talk.jsonl", json.dumps(FULL))[0]

    assert (told.external_id, told.session, told.speaker, told.role) == ("5", "2", "Ana", "person")
    assert told.at == datetime(2024, 5, 3, 18, 30, tzinfo=timezone(timedelta(hours=2)))
    assert (told.text, told.chat, told.chat_title) == ("hello", "talk.jsonl", "talk")


def test_optional_fields_may_be_missing(read):
    told = read("talk.jsonl", '\n{"speaker": "Ben", "at": "2024-05-03T18:30", "text": ""}\n')[0]

    assert (told.session, told.role, told.line) == (None, None, 2)
    assert told.at == datetime.fromisoformat("2024-05-03T18:30")
    assert told.external_id


def test_unknown_fields_are_ignored_with_one_notice(read):
    notes: list[str] = []
    lines = "\n".join(json.dumps(FULL | {"id": n, "mood": 1}) for n in range(3))

    assert len(read("talk.jsonl", lines, notes)) == 3
    assert len(notes) == 1
    assert "'mood'" in notes[0]


def test_json_list_of_messages_is_parsed(read):
    assert len(read("talk.json", [FULL, FULL | {"id": 6}])) == 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "a message such as"),
        ("[" * 100_000, "a message such as"),
        ("5", "a message such as"),
        (json.dumps(FULL | {"text": None}), "a text of at most"),
        (json.dumps(FULL | {"at": "today"}), "ISO 8601"),
        (json.dumps(FULL | {"at": None}), "ISO 8601"),
        (json.dumps(FULL | {"role": "boss"}), "person, companion or other"),
        (json.dumps(FULL | {"role": ["person"]}), "person, companion or other"),
        (json.dumps(FULL | {"role": "other", "speaker": ""}), '"speaker"'),
        (json.dumps(FULL | {"id": [1]}), "a text or a number"),
    ],
)
def test_malformed_line_is_refused_naming_what_was_expected(read, line, expected):
    with pytest.raises(ImportRefused) as refused:
        read("talk.jsonl", f"{json.dumps(FULL)}\n{line}\n")

    assert refused.value.line == 2
    assert expected in str(refused.value)


def test_duplicate_message_id_is_refused(read):
    """One of the two would be lost."""
    lines = [json.dumps(FULL | {"id": n % 3, "text": str(n)}) for n in range(4)]
    with pytest.raises(ImportRefused, match=r"^line 4: the id '0' is already used on line 1"):
        read("talk.jsonl", "\n".join(lines))


def test_identical_lines_get_the_same_external_id(read):
    told = read("talk.jsonl", f"{json.dumps(FULL)}\n" * 2)

    assert len({m.external_id for m in told}) == 1


def test_lone_surrogate_and_nul_are_replaced(read):
    assert read("talk.jsonl", json.dumps(FULL | {"text": "a\ud800\x00"}))[0].text == "a\ufffd\ufffd"


@pytest.mark.parametrize(
    ("field", "outside"),
    [({"forwarded": True}, True), ({"forwarded_from": "Ben"}, True), ({"forwarded": False}, False)],
)
def test_forwarded_message_is_outside(read, field, outside):
    notes: list[str] = []
    (told,) = read("talk.jsonl", json.dumps(FULL | field), notes)

    assert told.outside is outside
    assert not notes
