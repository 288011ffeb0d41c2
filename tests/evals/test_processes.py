"""Processes are measured from outside, and a failure is not mistaken for speed."""

import sys

import pytest

from oldfriend_evals.processes import ProcessFailed, measure_disk_mb, measure_processor_s


def test_processor_time_of_busy_work_exceeds_that_of_idle():
    idle = measure_processor_s([sys.executable, "-c", "pass"])
    busy = measure_processor_s([sys.executable, "-c", "for _ in range(5_000_000): pass"])

    assert 0 < idle < busy


def test_failing_command_raises_process_failed():
    with pytest.raises(ProcessFailed, match="no such luck"):
        measure_processor_s([sys.executable, "-c", "raise SystemExit('no such luck')"])


def test_size_on_disk_counts_nested_files(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"x" * 3 * 1024**2)

    assert 3 <= measure_disk_mb(tmp_path) < 3.2
