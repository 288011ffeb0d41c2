"""Processes are measured from outside, and a failure is not mistaken for speed."""

import sys

import pytest

from oldfriend_evals.processes import ProcessFailed, processor_s, size_on_disk_mb


def test_work_costs_more_than_no_work():
    idle = processor_s([sys.executable, "-c", "pass"])
    busy = processor_s([sys.executable, "-c", "for _ in range(5_000_000): pass"])

    assert 0 < idle < busy


def test_a_command_that_fails_is_not_measured():
    with pytest.raises(ProcessFailed, match="no such luck"):
        processor_s([sys.executable, "-c", "raise SystemExit('no such luck')"])


def test_a_folder_is_as_large_as_its_files(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"x" * 3 * 1024**2)

    assert 3 <= size_on_disk_mb(tmp_path) < 3.2
