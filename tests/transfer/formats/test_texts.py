"""Notes and tables."""

import os
from datetime import UTC, datetime

import pytest

from oldfriend.transfer.formats.format_detection import detect_format


def test_front_matter_gives_date_and_title_and_is_kept_as_text(read):
    text = "---\ntitle: Lisbon\ndate: 2024-05-03\ntags:\n  - trip\n  - sea\n---\n\nWe swam.\n"
    told = read("a.md", text)

    assert [m.text for m in told] == [
        "title: Lisbon\ndate: 2024-05-03\ntags: trip, sea",
        "We swam.",
    ]
    assert {m.at for m in told} == {datetime.fromisoformat("2024-05-03")}
    assert {(m.role, m.chat_title) for m in told} == {("person", "Lisbon")}


def test_notes_without_a_date_use_the_file_modification_time(write):
    path = write("a.txt", "We swam.")
    os.utime(path, (1704056733, 1704056733))
    told = list(detect_format(path).parse([].append))

    assert told[0].at == datetime(2023, 12, 31, 21, 5, 33, tzinfo=UTC)


def test_horizontal_rule_is_not_front_matter(read):
    assert [m.text for m in read("a.md", "---\njust a line\n")] == ["---\njust a line"]


def test_paragraphs_are_merged_up_to_a_size_without_losing_words(read):
    paragraphs = [" ".join(f"{p}-{w}" for w in range(120)) for p in range(12)]
    told = read("a.txt", "\n\n".join(paragraphs))

    assert "\n\n".join(m.text for m in told) == "\n\n".join(paragraphs)
    assert all(len(m.text) <= 2000 for m in told)


@pytest.mark.parametrize("length", [1999, 2000, 2001, 2500, 2999, 3000, 3001, 90_000])
def test_long_paragraph_is_split_into_overlapping_windows(read, length):
    text = "".join(chr(0x4E00 + n % 20_000) for n in range(length))
    told = read("a.txt", text)

    assert all(len(m.text) <= 2000 for m in told)
    joined = told[0].text + "".join(m.text[500:] for m in told[1:])
    assert joined == text


def test_edited_note_keeps_the_ids_of_unchanged_parts(read):
    long = "word " * 390
    before = {m.external_id for m in read("a.txt", f"{long}\n\n{'b' * 1900}\n")}
    after = {m.external_id for m in read("a.txt", f"{long}\n\n{'c' * 1900}\n")}

    assert len(before & after) == 1


def test_table_is_read_in_groups_of_eight_rows_as_outside(read):
    rows = "".join(f'{n};"a\nb"\n' for n in range(9))
    told = read("a.csv", f"day;what\n{rows}")

    assert len(told) == 2
    assert told[0].text.startswith("day: 0, what: a\nb\nday: 1")
    assert all(m.outside for m in told)


@pytest.mark.parametrize(
    ("encoding", "words"), [("utf-8-sig", "añb"), ("utf-16", "añb"), ("cp1252", "añb€")]
)
def test_text_in_other_encodings_is_decoded(read, encoding, words):
    assert read("a.txt", words.encode(encoding))[0].text == words
