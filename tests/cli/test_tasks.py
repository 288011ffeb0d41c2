"""oldfriend tasks: what is on the list, ended by its number or id, and exchanged with calendars."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import Program

pytestmark = pytest.mark.slow


def test_tasks_are_listed_ended_and_exchanged(oldfriend: Program, tmp_path: Path) -> None:
    """ACCEPTANCE L5, W5: own tasks, by the first letters of an id."""
    file = str(tmp_path / "tasks.ics")
    oldfriend("say", "Remind me to call mum tomorrow at 10am")
    oldfriend("say", "add milk to my list")
    listed = oldfriend("tasks").stdout
    written = oldfriend("tasks", "export", file).stdout
    task = listed.splitlines()[1].rpartition("(")[2].rstrip(")")
    cancelled = oldfriend("tasks", "cancel", task).stdout
    read = oldfriend("tasks", "import", file).stdout
    again = oldfriend("tasks", "import", file).stdout

    assert "1. call mum, " in listed
    assert "2. milk (" in listed
    assert len(task) == 8
    assert written.startswith("Wrote 2 to ")
    assert "won't remind you of “call mum”" in cancelled
    assert read.startswith("Added or moved 0; 2 were there")
    assert again.startswith("Added or moved 0; 2 were there")
    assert "Done: “milk”" in oldfriend("tasks", "done", "1").stdout


def test_calendar_that_is_imported_as_a_file_goes_to_the_list(
    oldfriend: Program, tmp_path: Path
) -> None:
    """Whichever of the two commands somebody types."""
    file = tmp_path / "home.ICS"
    file.write_text(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Somebody//EN\nBEGIN:VEVENT\nUID:c-1\n"
        "SUMMARY:Choir\nDTSTART:20351124T190000\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    oldfriend("say", "I like tea")
    assert oldfriend("import", str(file)).stdout.startswith("Added or moved 1; 0 were there")
    assert "Choir" in oldfriend("tasks").stdout


@pytest.mark.parametrize(
    ("text", "is_told"),
    [("Remind me to call mum tomorrow at 10am", True), ("My sister Ana lives in Lisbon.", False)],
)
def test_say_tells_that_nobody_runs_to_remind(tmp_path: Path, text: str, is_told: bool) -> None:
    """Only where a reminder was set."""
    command = [sys.executable, "-m", "oldfriend", "--data", str(tmp_path), "say", text]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ("while I run" in done.stderr) == is_told
