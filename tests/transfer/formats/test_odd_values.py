"""Odd rows and entries: each is left out and named, and the rest is read."""

import json

from oldfriend.domain.errors import ImportRefused
from oldfriend.transfer.formats.format_detection import detect_format

HEALTH = (
    '<?xml version="1.0"?><HealthData>{}</HealthData>',
    '<Record type="HKQuantityTypeIdentifierBodyMass" unit="kg" value="{}" '
    'startDate="{} 07:00:00 +0100" endDate="{} 07:00:00 +0100"/>',
)


def days_of(messages):
    """The days of the messages."""
    return [each.text for each in messages]


def read_with_notices(write, name, content):
    """What is read of a file, and what is said about it."""
    notices = []
    return list(detect_format(write(name, content)).parse(notices.append)), notices


def test_row_without_a_usual_number_or_day_is_named(write):
    rows = "date,weight\n2026-01-01,80\n2026-01-02,nan\n2026-01-03,1e999\n0001-01-01,80\n"
    found, notices = read_with_notices(write, "a.csv", rows + "9999-12-31,8\n2026-01-06,81\n")

    assert days_of(found) == ["2026-01-01: weight 80 kg", "2026-01-06: weight 81 kg"]
    assert notices[-1] == "Left out: line 3, 4, 5, 6."


def test_health_record_without_a_usual_number_or_day_is_counted(write):
    frame, record = HEALTH
    odd = [("nan", "2026-01-01"), ("inf", "2026-01-02"), ("80", "0001-01-01")]
    records = "".join(record.format(value, day, day) for value, day in [*odd, ("80", "2026-01-05")])
    found, notices = read_with_notices(write, "a.xml", frame.format(records))

    assert days_of(found) == ["2026-01-05: weight 80 kg"]
    assert "3 health records" in notices[0]


def test_diary_entry_of_an_unusual_year_is_named(write):
    entries = [
        {"uuid": year, "text": f"In {year}", "creationDate": f"{year}-01-01T00:00:00Z"}
        for year in ("0001", "2024", "9999")
    ]
    text = json.dumps({"metadata": {"version": "1.0"}, "entries": entries})
    found, notices = read_with_notices(write, "Journal.json", text)

    assert days_of(found) == ["In 2024"]
    assert notices[0].startswith("Left out: line ")


def test_lone_carriage_return_in_a_header_is_no_crash(write):
    try:
        read_with_notices(write, "a.csv", b'date\r"a')
    except ImportRefused as refused:
        assert "table" in str(refused)
