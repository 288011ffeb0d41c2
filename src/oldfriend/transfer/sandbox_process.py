"""Sandbox process: runs a reader process for each untrusted file, which may crash without harm.

Its output arrives as validated values; no parser sees the file's bytes in this process.
"""

import json
import signal
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import (
    ImportRefused,
    InvalidInput,
    ParserCrashed,
    ParserNotStarted,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text
from oldfriend.sandbox.child_process import (
    OUT_OF_MEMORY,
    SandboxLimits,
    limits_to_json,
    start_child,
)
from oldfriend.tasks.calendar_files import ENDING_NAMES, CalendarEntry, check_calendar_size
from oldfriend.transfer.formats.parsed_message import ParsedMessage
from oldfriend.transfer.preview import ImportPreview, OnProgress
from oldfriend.transfer.sandbox_reader import DEFAULT_LIMITS
from oldfriend.transfer.wire_format import decode_message, decode_preview, decode_refusal

READER_MODULE: Final = "oldfriend.transfer.sandbox_reader"
MAX_REPORT_BYTES: Final = 32 << 20
CALENDAR_NAME: Final = "calendar.ics"
CALENDAR_LIMITS: Final = SandboxLimits(memory_bytes=1 << 30, cpu_s=30)
CALENDAR_TIMEOUT_S: Final = 60.0
INSPECTION_TIMEOUT_S: Final = 7200.0
"""Also covers a process that only waits, such as for a disk that does not answer."""
EXIT_TIMEOUT_S: Final = 5.0
STDERR_TAIL_BYTES: Final = 2_000
"""Bytes of error output kept from a process that never started reading."""

ReaderFailure: TypeAlias = Literal["crash", "memory", "time"]


class ReaderProcess:
    """A process that reads one file and reports its contents; it has ended after ``close``."""

    def __init__(self, path: Path, task_json: dict[str, JsonValue], limits: SandboxLimits) -> None:
        """Start the process. Raises ImportRefused."""
        self._path = path
        self._is_late = False
        try:
            self._process = start_child(READER_MODULE)
        except OSError as error:
            raise build_not_started_error(path.name, exit_code=None, stderr=str(error)) from error
        self._send({**task_json, "path": str(path), "limits": limits_to_json(limits)})

    def _send(self, task_json: dict[str, JsonValue]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stream:
            stream.write(json.dumps(task_json).encode() + b"\n")

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def read_reports(self) -> Iterator[list[JsonValue]]:
        """Yield the reports until the end.

        Raises ImportRefused, or its subclasses ParserCrashed and ParserNotStarted.
        """
        has_begun = False
        while (report := self._read_report()) is not None:
            match report:
                case ["begin"]:
                    has_begun = True
                case ["end"]:
                    return
                case ["refused", *_]:
                    raise decode_refusal(report)
                case _:
                    yield report
        raise self._build_ended_error() if has_begun else self._build_unstarted_error()

    def _read_report(self) -> list[JsonValue] | None:
        """Return the next report; None at the end, or for output that is not a report."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline(MAX_REPORT_BYTES)
        if not line.endswith(b"\n"):
            return None
        try:
            report: JsonValue = json.loads(line)
        except RecursionError:
            return None
        return report if isinstance(report, list) else None

    def kill_late(self) -> None:
        """Kill the process because it takes too long."""
        self._is_late = True
        self._process.kill()

    def close(self) -> None:
        """Kill the process and release its pipes."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._process.stdout.close()
        self._process.stderr.close()

    def _build_ended_error(self) -> ParserCrashed:
        """Build the error for a process that ended before its file did."""
        try:
            code = self._process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:  # it sent an invalid report and is still running
            self._process.kill()
            return build_ended_error("crash", self._path.name, exit_code=None)
        if self._is_late or code == -signal.SIGXCPU:
            return build_ended_error("time", self._path.name, exit_code=code)
        # The kernel kills a process with SIGKILL when memory runs out.
        if code in {OUT_OF_MEMORY, -signal.SIGKILL}:
            return build_ended_error("memory", self._path.name, exit_code=code)
        return build_ended_error("crash", self._path.name, exit_code=code)

    def _build_unstarted_error(self) -> ParserNotStarted:
        """Build the error for a process that never started reading; the file is not at fault."""
        assert self._process.stderr is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_TIMEOUT_S)
        self._process.kill()
        code = self._process.wait()
        stderr = self._process.stderr.read()[-STDERR_TAIL_BYTES:].decode(errors="replace").strip()
        return build_not_started_error(self._path.name, exit_code=code, stderr=stderr)


class ReaderTask:
    """A task run by a reader process, which ends on leaving the context."""

    _process: ReaderProcess

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process, even while another thread waits for its reports."""
        self._process.close()


class InspectionTask(ReaderTask):
    """The inspection of a whole file in a reader process."""

    def __init__(
        self,
        path: Path,
        *,
        me: str | None,
        person: str,
        zone: str,
        limits: SandboxLimits = DEFAULT_LIMITS,
    ) -> None:
        """Start the inspection. Raises ImportRefused."""
        self._path = path
        self._process = ReaderProcess(
            path, {"do": "inspect", "me": me, "person": person, "zone": zone}, limits
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def wait(self, on_progress: OnProgress | None = None) -> ImportPreview:
        """Wait for the preview; ``on_progress`` receives how many messages were checked so far.

        Raises ImportRefused.
        """
        timer = Timer(INSPECTION_TIMEOUT_S, self._process.kill_late)
        timer.daemon = True
        timer.start()
        parts: list[JsonValue] = []
        try:
            for report in self._process.read_reports():
                match report:
                    case ["tick", int(done)]:
                        if on_progress is not None:
                            on_progress(done)
                    case _:
                        parts.append(report)
            return decode_preview(self._path, parts)
        except (ValueError, LookupError) as error:
            raise build_ended_error("crash", self._path.name, exit_code=None) from error
        finally:
            timer.cancel()


class MessageStream(ReaderTask):
    """The messages of an inspected file after a position, read in a reader process."""

    def __init__(self, preview: ImportPreview, *, after: int = 0) -> None:
        """Start reading. Raises ImportRefused."""
        self._name = preview.path.name
        stamp: list[JsonValue] = [preview.file_stamp.size, preview.file_stamp.mtime_ns]
        self._process = ReaderProcess(
            preview.path, {"do": "read", "after": after, "stamp": stamp}, DEFAULT_LIMITS
        )
        self._reports = self._process.read_reports()

    def read_batch(self, count: int) -> list[ParsedMessage]:
        """Return up to ``count`` next messages; empty at the end. Raises ImportRefused."""
        try:
            return [decode_message(report) for report in islice(self._reports, count)]
        except (ValueError, LookupError) as error:
            raise build_ended_error("crash", self._name, exit_code=None) from error


class CalendarTask(ReaderTask):
    """A calendar file that is read in a reader process; it comes with the task, not from a disk."""

    def __init__(self, content: bytes, *, zone: str, now: Micros) -> None:
        """Start reading. Raises ImportRefused."""
        task: dict[str, JsonValue] = {
            "do": "calendar",
            "content": b64encode(content).decode(),
            "zone": zone,
            "now": now,
        }
        self._process = ReaderProcess(Path(CALENDAR_NAME), task, CALENDAR_LIMITS)

    def wait(self) -> tuple[list[CalendarEntry], list[str]]:
        """Wait for what is to come, and a line for each entry that is not used.

        Raises ImportRefused.
        """
        timer = Timer(CALENDAR_TIMEOUT_S, self._process.kill_late)
        timer.daemon = True
        timer.start()
        entries: list[CalendarEntry] = []
        unused: list[str] = []
        try:
            for report in self._process.read_reports():
                match report:
                    case ["unused", str(line)]:
                        unused.append(sanitize_text(line))
                    case _:
                        entries.append(decode_calendar_entry(report))
        except (ValueError, LookupError) as error:
            raise build_ended_error("crash", CALENDAR_NAME, exit_code=None) from error
        finally:
            timer.cancel()
        return entries, unused


def decode_calendar_entry(report: list[JsonValue]) -> CalendarEntry:
    """Decode what a calendar asks to be reminded of. Raises ValueError."""
    match report:
        case [
            "entry",
            str(text),
            int() | None as due_at,
            str() | None as rrule,
            int() | None as starts_at,
            str() | None as zone,
            bool(is_date_only),
            int() | None as duration_s,
            str(uid),
            int() | None as stamped_at,
            str(ending),
            int() | None as sequence,
            str(series),
            int() | None as replaces_at,
        ]:
            return CalendarEntry(
                text=sanitize_text(text),
                due_at=due_at,
                rrule=rrule,
                starts_at=starts_at,
                zone=zone,
                is_date_only=is_date_only,
                duration_s=duration_s,
                uid=sanitize_text(uid),
                stamped_at=stamped_at,
                ending=ENDING_NAMES[ENDING_NAMES.index(ending)],
                sequence=sequence,
                series=sanitize_text(series),
                replaces_at=replaces_at,
            )
    raise ValueError("no entry")


def read_calendar_in_sandbox(
    content: bytes, *, zone: str, now: Micros
) -> tuple[list[CalendarEntry], list[str]]:
    """Read a calendar file in a process of its own. Raises InvalidInput.

    Returns what is to come, and a line for each entry that is not used.
    """
    check_calendar_size(content)
    try:
        with CalendarTask(content, zone=zone, now=now) as task:
            return task.wait()
    except ImportRefused as refused:
        raise InvalidInput(refused.user_text) from refused


def inspect_in_sandbox(
    path: Path, *, me: str | None, person: str, zone: str, on_progress: OnProgress | None = None
) -> ImportPreview:
    """Inspect a whole file in a process of its own. Raises ImportRefused."""
    with InspectionTask(path, me=me, person=person, zone=zone) as inspection:
        return inspection.wait(on_progress)


def build_not_started_error(name: str, *, exit_code: int | None, stderr: str) -> ParserNotStarted:
    """Build the error for a file whose reader process could not start."""
    text = localizable(
        "import_reader_unstarted",
        f"{name} was not read, because no process could be started for it. Try again.",
        name=name,
    )
    return ParserNotStarted(text, exit_code=exit_code, stderr=stderr)


def build_ended_error(failure: ReaderFailure, name: str, *, exit_code: int | None) -> ParserCrashed:
    """Build the error for a file whose reader process failed in this way."""
    match failure:
        case "memory":
            text = localizable(
                "import_reader_memory",
                f"Reading {name} took too much memory, so it was stopped and the file was set "
                "aside. Export it again, or import smaller parts.",
                name=name,
            )
        case "time":
            text = localizable(
                "import_reader_time",
                f"Reading {name} took far longer than a file of its size should, so it was "
                "stopped and the file was set aside. Export it again, or import smaller parts.",
                name=name,
            )
        case _:
            text = localizable(
                "import_reader_crash",
                f"Reading {name} failed in a way that only damaged or malicious files should "
                "cause, so the file was set aside. Export it again; if that fails, too, please "
                "report it.",
                name=name,
            )
    return ParserCrashed(text, exit_code=exit_code)
