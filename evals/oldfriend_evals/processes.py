"""Cost of a command as a process of its own: time and memory, seen from outside."""

import resource
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from oldfriend.domain.errors import OldfriendError


class ProcessFailed(OldfriendError):
    """A command that was to be measured did not do its work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """Megabytes of memory of a living process."""

    now: float
    peak: float


def measure_processor_s(command: Sequence[str]) -> float:
    """The processor seconds that a command took, system calls included. Raises ProcessFailed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise ProcessFailed(f"{' '.join(command[-4:])}: {done.stderr.strip()[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_median_processor_s(commands: Iterable[Sequence[str]]) -> float:
    """The median of several like commands. Raises ProcessFailed."""
    return median(measure_processor_s(command) for command in commands)


def build_command(data: Path, *arguments: str) -> list[str]:
    """The command line of an oldfriend command on a folder."""
    return [sys.executable, "-m", "oldfriend", "--data", str(data), *arguments]


def measure_memory_after_reply(command: Sequence[str], text: str) -> Resident:
    """What a conversation holds in memory once it has answered. Raises ProcessFailed, OSError."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as talk:
        assert talk.stdin is not None and talk.stdout is not None
        talk.stdin.write(f"{text}\n")
        talk.stdin.flush()
        if not talk.stdout.readline():
            raise ProcessFailed(f"{' '.join(command[-4:])} did not answer.")
        memory = read_resident(talk.pid)
        talk.stdin.write("/quit\n")
        talk.stdin.flush()
        talk.stdout.read()
    return memory


def read_resident(process: int) -> Resident:
    """The memory of a process, as Linux tells it. Raises OSError elsewhere."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    kilobytes = {
        name: int(value.split()[0])
        for name, _, value in (line.partition(":") for line in lines)
        if name in {"VmRSS", "VmHWM"}
    }
    return Resident(now=kilobytes["VmRSS"] / 1024, peak=kilobytes["VmHWM"] / 1024)


def measure_disk_mb(folder: Path) -> float:
    """The megabytes that a folder takes, as `du` counts."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / 1024**2
