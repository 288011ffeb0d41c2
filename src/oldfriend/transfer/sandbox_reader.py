"""Sandbox reader: reads one file within limits on time, memory and open files, and reports it.

``sandbox_process`` starts it as ``python -m``. The task arrives as one line of JSON on standard
input, and each output line is one report. A file crafted to harm its parser ends this process and
nothing else.
"""

import json
import os
import resource
import sys
from base64 import b64decode
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Final

from oldfriend.domain.errors import ImportRefused, InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.sandbox.child_process import (
    ABANDONED,
    OUT_OF_MEMORY,
    SandboxLimits,
    apply_limits,
    parse_limits,
)
from oldfriend.tasks.calendar_files import read_calendar
from oldfriend.transfer.formats.format_detection import detect_format
from oldfriend.transfer.formats.source import FileStamp, check_unchanged, get_size, list_sources
from oldfriend.transfer.preview import build_preview
from oldfriend.transfer.speaker_mapping import check_lengths
from oldfriend.transfer.wire_format import encode_message, encode_preview, encode_refusal

DEFAULT_LIMITS: Final = SandboxLimits(memory_bytes=1 << 30, cpu_s=60, cpu_s_per_mb=3)
"""A WhatsApp chat, the slowest file to read, takes half a second per megabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWriter:
    """A writer of reports, one line of JSON each."""

    stream: IO[bytes]

    def write(self, report: list[JsonValue]) -> None:
        """Write a report to the buffer."""
        self.stream.write(json.dumps(report, separators=(",", ":")).encode() + b"\n")

    def send(self, report: list[JsonValue]) -> None:
        """Write a report and flush it."""
        self.write(report)
        self.stream.flush()


def main() -> int:
    """Run the task and report how it ended."""
    reports = ReportWriter(stream=os.fdopen(os.dup(1), "wb", buffering=1 << 16))
    task: dict[str, JsonValue] = json.loads(sys.stdin.buffer.readline())
    limits = parse_limits(task.get("limits"))
    apply_limits(limits)
    reports.send(["begin"])
    try:
        if task.get("do") == "calendar":
            send_calendar(task, reports)
        else:
            set_cpu_limit(limits, Path(str(task["path"])))
            run_task(task, reports)
        reports.send(["end"])
    except ImportRefused as refused:
        reports.send(encode_refusal(refused))
    except MemoryError:
        return OUT_OF_MEMORY
    except BrokenPipeError:
        return ABANDONED
    return 0


def run_task(task_json: dict[str, JsonValue], reports: ReportWriter) -> None:
    """Inspect the file or report its messages.

    Raises ImportRefused, ValueError for an unknown task.
    """
    path = Path(str(task_json["path"]))
    match task_json:
        case {"do": "inspect", "me": str() | None as me, "person": str(person), "zone": str(zone)}:

            def tick(done: int) -> None:
                reports.send(["tick", done])

            for part in encode_preview(
                build_preview(path, me=me, person=person, zone=zone, on_progress=tick)
            ):
                reports.write(part)
        case {"do": "read", "after": int(after), "stamp": [int(size), int(changed_ns)]}:
            send_messages(path, after, FileStamp(size=size, mtime_ns=changed_ns), reports)
        case _:
            raise ValueError("no task")


def send_calendar(task_json: dict[str, JsonValue], reports: ReportWriter) -> None:
    """Report what a calendar, which comes with the task, asks for. Raises ImportRefused."""
    match task_json:
        case {"content": str(content), "zone": str(zone), "now": int(now)}:
            pass
        case _:
            raise ValueError("no task")
    try:
        entries, unused = read_calendar(b64decode(content), zone=zone, now=now)
    except InvalidInput as error:
        raise ImportRefused(str(error)) from error
    for each in entries:
        told = [each.text, each.due_at, each.rrule, each.starts_at, each.zone]
        lasts = [each.is_date_only, each.duration_s]
        edition = [each.stamped_at, each.ending, each.sequence, each.series, each.replaces_at]
        reports.write(["entry", *told, *lasts, each.uid, *edition])
    for line in unused:
        reports.write(["unused", line])


def send_messages(path: Path, after: int, stamp: FileStamp, reports: ReportWriter) -> None:
    """Report the messages of a file after a position. Raises ImportRefused."""
    check_unchanged(path, stamp)
    for message in islice(detect_format(path).parse(lambda _: None), after, None):
        check_lengths(message)
        reports.write(encode_message(message))
    check_unchanged(path, stamp)


def set_cpu_limit(limits: SandboxLimits, path: Path) -> None:
    """Set the processor time limit for a file of this size. Raises ImportRefused."""
    size = sum(get_size(source) for source in list_sources(path))
    seconds = limits.cpu_s + limits.cpu_s_per_mb * (size >> 20)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if hard < 0 else min(seconds, hard), hard))


if __name__ == "__main__":
    raise SystemExit(main())
