"""The disk fills up while somebody is talking."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes import Program


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    try:
        subprocess.run(mounting, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a disk cannot be made here ({error}); tests/db has the same with a limit")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_said_plainly_and_costs_nothing_that_was_kept(
    oldfriend: Program, small_disk: Path
) -> None:
    """And when there is room again, the talk goes on."""
    program = replace(oldfriend, data=small_disk / "data")
    program.done("say", "Remember that my cat is called Miso")
    for room in (0, 300_000):
        filler = small_disk / "filler"
        filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - room))
        refused = program("say", "-", stdin="I would like to tell you a story. " * 20_000)

        assert refused.code == 1
        assert "is full" in refused.stderr
        assert "Traceback" not in refused.stderr
        filler.unlink()
    assert "my cat is called Miso" in program.done("say", "What do you know about me?").stdout
    program.done("say", "I would like to tell you a short story.")
