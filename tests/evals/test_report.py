"""A report can be read by people, and compared by programs."""

import json

from oldfriend_evals.bench_measures import Measure, build_unmeasured, build_upper_target
from oldfriend_evals.report import format_table, to_json

MEASURES = [
    Measure(
        name="recall",
        value=4.5,
        unit="ms",
        reference=2.0,
        target=build_upper_target(3),
        note="beside F",
    ),
    Measure(name="say", value=1.25, unit="s", target=build_upper_target(1)),
    build_unmeasured("chat", "no /proc", target=build_upper_target(180)),
]


def test_report_table_has_a_row_per_measure_with_its_note():
    lines = [" ".join(line.split()) for line in format_table(MEASURES).splitlines()]

    assert lines[2:] == [
        "recall 4.5 ms 2 ms 2.25 ≤ 3 yes",
        "(beside F)",
        "say 1.25 s ≤ 1 NO",
        "chat not measured ≤ 180",
        "(no /proc)",
    ]


def test_report_json_holds_measures_targets_and_time():
    report = json.loads(to_json(MEASURES, quick=True, at=0))

    assert report["at"] == "1970-01-01T00:00:00+00:00"
    assert report["quick"] is True
    assert [each["reached"] for each in report["measures"]] == [True, False, None]
    assert report["measures"][0]["target"] == {"limit": 3, "sense": "at most"}
