"""Diaries and health data become part of the memory: whole, once, and so that it can be undone."""

import json
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from oldfriend.diary.diary_store import DiaryFilter, list_entries
from oldfriend.domain.errors import ImportRefused
from oldfriend.measurements.measurement_store import (
    Measurement,
    delete_measurement,
    list_measurements,
    save_measurements,
)
from oldfriend.transfer.formats.format_detection import detect_format
from tests.transfer.conftest import NOW

ENTRY: dict[str, Any] = {
    "uuid": "A1B2",
    "text": "We walked along the sea\\.\n\n![](dayone-moment://ABC)",
    "creationDate": "2023-05-03T21:30:00Z",
    "modifiedDate": "2023-05-04T08:00:00Z",
    "timeZone": "Europe/Madrid",
    "location": {"placeName": "Beach", "localityName": "Cádiz", "country": "Spain"},
    "weather": {"conditionsDescription": "Clear", "temperatureCelsius": 21.4},
    "tags": ["sea", "family"],
    "photos": [{"identifier": "1"}, {"identifier": "2"}],
}


def build_diary(*entries: dict[str, Any]) -> str:
    """A Day One export."""
    return json.dumps({"metadata": {"version": "1.0"}, "entries": entries})


def record(
    kind: str, at: str, value: str, *, unit: str = "", end: str = "", by: str = "Watch"
) -> str:
    """One record of Apple Health."""
    return (
        f'<Record type="{kind}" sourceName="{by}" unit="{unit}" creationDate="{at} +0200" '
        f'startDate="{at} +0200" endDate="{end or at} +0200" value="{value}"/>\n'
    )


STEPS, MASS = "HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierBodyMass"
HEART, SLEEP = "HKQuantityTypeIdentifierHeartRate", "HKCategoryTypeIdentifierSleepAnalysis"
ASLEEP = "HKCategoryValueSleepAnalysisAsleepCore"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE HealthData [\n'
    "<!ELEMENT HealthData (ExportDate,Me,Record*)>\n]>\n"
    '<HealthData locale="en_GB">\n<ExportDate value="2024-05-05 10:00:00 +0200"/>\n'
)
HEALTH = (
    HEAD
    + record(STEPS, "2024-05-03 08:00:00", "4000", unit="count")
    + record(STEPS, "2024-05-03 18:00:00", "4400", unit="count")
    + record(STEPS, "2024-05-03 18:00:00", "5000", unit="count", by="Phone")
    + record(MASS, "2024-05-03 07:00:00", "71.9", unit="kg")
    + record(MASS, "2024-05-03 07:30:00", "71.4", unit="kg")
    + record(HEART, "2024-05-03 07:30:00", "60", unit="count/min")
    + record(HEART, "2024-05-03 09:30:00", "70", unit="count/min")
    + record(SLEEP, "2024-05-02 23:00:00", ASLEEP, end="2024-05-03 03:00:00")
    + record(SLEEP, "2024-05-03 03:10:00", ASLEEP, end="2024-05-03 06:10:00")
    + record(SLEEP, "2024-05-03 06:10:00", "HKCategoryValueSleepAnalysisAwake")
    + '<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="31" '
    'durationUnit="min" startDate="2024-05-03 19:00:00 +0200" endDate="2024-05-03 19:31:00 +0200">'
    '<WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" sum="5.02" '
    'unit="km"/></Workout>\n</HealthData>\n'
)


async def values(install: Any, name: str) -> list[tuple[str, float, str, float | None]]:
    """The values of a measure."""
    async with install.db.begin_read() as tx:
        found = await list_measurements(tx, install.person.id, name)
    return [(each.day.isoformat(), each.value, each.unit, each.second_value) for each in found]


async def test_diary_keeps_text_place_weather_tags_and_zone(install, write):
    result = await install.bring_in(write("Journal.json", build_diary(ENTRY)))

    async with install.db.begin_read() as tx:
        (entry,) = await list_entries(tx, install.person.id, DiaryFilter(city="cádiz"))
    assert result.added == 1
    assert entry.text == "We walked along the sea."
    assert (entry.day.isoformat(), entry.zone) == ("2023-05-03", "Europe/Madrid")
    assert (entry.place, entry.city, entry.weather) == ("Beach", "Cádiz", "Clear, 21 °C")
    assert (entry.tags, entry.media) == (("sea", "family"), {"photos": 2})
    (details,) = [row[0] for row in await install.rows("SELECT details FROM message")]
    assert "record" not in json.loads(details or "{}")


async def test_diary_comes_in_once_and_changes_with_a_newer_export(install, write):
    path = write("Journal.json", build_diary(ENTRY))
    await install.bring_in(path)
    again = await install.bring_in(path)
    newer = {**ENTRY, "text": "We swam in the sea", "modifiedDate": "2023-06-01T08:00:00Z"}
    await install.bring_in(write("Journal.json", build_diary(newer)))

    assert again.added == 0
    async with install.db.begin_read() as tx:
        (entry,) = await list_entries(tx, install.person.id, DiaryFilter())
    assert entry.text == "We swam in the sea"


async def test_undone_diary_is_gone(install, write):
    result = await install.bring_in(write("Journal.json", build_diary(ENTRY)))
    await install.undo(result.number)

    assert await install.rows("SELECT id FROM diary_entry") == []


async def test_health_days_are_added_up(install, write):
    """Of several devices the one with the most counts; sleep counts for its morning."""
    await install.bring_in(write("export.xml", HEALTH))

    day = "2024-05-03"
    assert await values(install, "steps") == [(day, 8400, "", None)]
    assert await values(install, "weight") == [(day, 71.4, "kg", None)]
    assert await values(install, "heart_rate") == [(day, 65, "bpm", None)]
    assert await values(install, "sleep") == [(day, 7, "h", None)]
    assert await values(install, "running") == [(day, 5.02, "km", 31)]


async def test_health_comes_in_once_and_can_be_undone(install, write):
    path = write("export.xml", HEALTH)
    first = await install.bring_in(path)
    await install.bring_in(path)
    assert len(await values(install, "running")) == 1
    await install.undo(first.number)
    assert await install.rows("SELECT id FROM measurement") == []


async def test_number_that_was_deleted_does_not_come_back(install, write):
    """Neither with the same file nor with a newer one; what was not deleted stays, once."""
    twice = HEALTH.replace(
        "</HealthData>",
        f"{HEALTH[HEALTH.index('<Workout ') : HEALTH.index('</HealthData>')]}</HealthData>",
    )
    path = write("export.xml", twice)
    await install.bring_in(path)
    async with install.db.begin_write() as tx:
        (weight,) = await list_measurements(tx, install.person.id, "weight")
        first_run, _ = await list_measurements(tx, install.person.id, "running")
        for each in (weight, first_run):
            assert await delete_measurement(tx, install.person.id, each.id, now=NOW)
    await install.bring_in(path)
    await install.bring_in(write("newer.xml", twice.replace('"71.4"', '"71.6"')))

    assert await values(install, "weight") == []
    assert len(await values(install, "running")) == 1
    assert await values(install, "steps") == [("2024-05-03", 8400, "", None)]


def test_whole_zip_of_health_is_read(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("apple_health_export/export_cda.xml", "<ClinicalDocument/>")
        archive.writestr("apple_health_export/export.xml", HEALTH)
    detected = detect_format(path)

    assert detected.format.name == "apple_health"
    assert len([*detected.parse(lambda _: None)]) == 1


def test_entities_and_broken_xml_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "export.xml"
    bomb = HEAD.replace("]>", '<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>')
    for text in (bomb + "</HealthData>", HEALTH[:-40]):
        path.write_text(text, "utf-8")
        with pytest.raises(ImportRefused):
            [*detect_format(path).parse(lambda _: None)]


async def test_import_replaces_no_weight_that_the_person_told(install, write):
    told = Measurement(
        id="told",
        person=install.person.id,
        name="weight",
        day=date(2024, 5, 3),
        measured_at=NOW,
        zone="UTC",
        value=70.0,
        unit="kg",
    )
    async with install.db.begin_write() as tx:
        await save_measurements(tx, install.person.id, [told], now=NOW)
    result = await install.bring_in(write("export.xml", HEALTH))
    await install.undo(result.number)

    assert await values(install, "weight") == [("2024-05-03", 70.0, "kg", None)]


async def test_table_of_numbers_is_read_by_its_titles(install, write):
    table = "Datum;Gewicht (kg);Schritte\n03.05.2024;71,4;8400\n04.05.2024;;9000\n"
    await install.bring_in(write("werte.csv", table))

    assert await values(install, "weight") == [("2024-05-03", 71.4, "kg", None)]
    assert [each[1] for each in await values(install, "steps")] == [8400, 9000]


async def test_long_table_keeps_own_names(install, write):
    await install.bring_in(write("numbers.csv", "date,name,value,unit\n2024-05-03,coffee,3,cups\n"))
    assert await values(install, "coffee") == [("2024-05-03", 3, "cups", None)]


MEASURE = """
import sys
from pathlib import Path
from oldfriend.transfer.formats.format_detection import detect_format
count = sum(1 for _ in detect_format(Path(sys.argv[1])).parse(lambda _: None))
status = Path("/proc/self/status").read_text()
print(count, status.split("VmHWM:")[1].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_large_health_export_takes_bounded_memory(tmp_path: Path) -> None:
    """85 MB of records of three years."""
    path = tmp_path / "export.xml"
    with path.open("w") as file:
        file.write(HEAD)
        number = 0
        while file.tell() < 85_000_000:
            day = f"{2021 + number // 336 % 3}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}"
            file.write(record(STEPS, f"{day} 08:00:00", "40", unit="count"))
            number += 1
        file.write("</HealthData>\n")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True
    )
    count, peak_kb = map(int, done.stdout.split())

    assert count == 3 * 336
    assert peak_kb < 200_000
