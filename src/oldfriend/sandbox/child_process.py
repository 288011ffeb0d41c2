"""Child processes: started with nothing of this process, limited in memory and time.

Also keeps libraries from reporting how they are used.
"""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.domain.json import JsonValue


def start_child(module: str) -> "subprocess.Popen[bytes]":
    """Start a module as a process with pipes for input, output and errors. Raises OSError.

    It writes to stderr only why it could not start: see ``apply_limits``.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=build_environment(),
        start_new_session=True,  # Ctrl-C is for the parent alone
    )


def build_environment() -> dict[str, str]:
    """Return the complete environment of a child: no keys, no passwords."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


OUT_OF_MEMORY: Final = 90
ABANDONED: Final = 91
"""Exit codes, besides 0 and those of a crash."""

MAX_OPEN_FILES: Final = 64
NICE_INCREMENT: Final = 5
WATCH_INTERVAL_S: Final = 0.25
PROC_STATUS: Final = Path("/proc/self/status")
PEAK_FIELD: Final = "VmHWM:"
PEAK_UNIT: Final = 1 if sys.platform == "darwin" else 1024
"""Bytes per unit in which the system reports the peak memory of a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """The resources that parsing one input may use."""

    memory_bytes: int
    cpu_s: int  # seconds of CPU time
    cpu_s_per_mb: int = 0  # plus this many per megabyte of input


def limits_to_json(limits: SandboxLimits) -> JsonValue:
    """Return limits as they are sent to the child."""
    return [limits.memory_bytes, limits.cpu_s, limits.cpu_s_per_mb]


def parse_limits(value: JsonValue) -> SandboxLimits:
    """Parse limits as they were sent. Raises ValueError."""
    match value:
        case [int(memory), int(cpu_s), int(cpu_s_per_mb)]:
            return SandboxLimits(memory_bytes=memory, cpu_s=cpu_s, cpu_s_per_mb=cpu_s_per_mb)
    raise ValueError("no limits")


def apply_limits(limits: SandboxLimits) -> None:
    """Apply limits to this process from now on, and end it when its parent ends.

    From then on stderr is discarded: it might quote the input.
    """
    threading.Thread(
        target=watch_parent_and_memory, args=(os.getppid(), limits), daemon=True
    ).start()
    set_resource_limits(limits)
    silence_stderr()


def silence_stderr() -> None:
    """Redirect stderr to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)


def set_resource_limits(limits: SandboxLimits) -> None:
    """Give up everything that parsing does not need."""
    for name, limit in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CPU, limits.cpu_s),
    ):
        with suppress(ValueError, OSError):  # not every system supports each of them
            _, hard = resource.getrlimit(name)
            limit = limit if hard < 0 else min(limit, hard)
            resource.setrlimit(name, (limit, hard if name == resource.RLIMIT_CPU else limit))
    with suppress(OSError):
        os.nice(NICE_INCREMENT)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # only the parent ends it
        signal.signal(number, signal.SIG_IGN)


def watch_parent_and_memory(parent_pid: int, limits: SandboxLimits) -> None:
    """End this process when its parent is gone, or when it exceeds its memory limit."""
    while os.getppid() == parent_pid:
        if measure_peak_bytes() > limits.memory_bytes:
            os._exit(OUT_OF_MEMORY)
        time.sleep(WATCH_INTERVAL_S)
    os._exit(ABANDONED)


def measure_peak_bytes() -> int:
    """Return the peak memory of this process, in bytes.

    ``getrusage`` never reports less than the parent's memory at the start of this process, so it is
    used only where the system offers nothing else.
    """
    with suppress(OSError, ValueError):
        for line in PROC_STATUS.read_text("ascii", errors="replace").splitlines():
            if line.startswith(PEAK_FIELD):
                return int(line.removeprefix(PEAK_FIELD).split()[0]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT


def disable_telemetry() -> None:
    """Keep libraries in this process and its children from recording their use and reporting it.

    ONNX Runtime would otherwise write events into the home folder and send them to its maker. The
    libraries read this when they are imported.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
