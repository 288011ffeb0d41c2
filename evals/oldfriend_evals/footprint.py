"""Footprint: what starting, staying and being installed cost."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target
from oldfriend_evals.corpus import list_questions
from oldfriend_evals.processes import (
    build_command,
    measure_disk_mb,
    measure_median_processor_s,
    measure_memory_after_reply,
)
from oldfriend_evals.temporary_stores import build_history, build_settings

TIMES = 7
CHECKOUT = Path(__file__).parents[3]
EXTRAS = "[models,postgres,keyring]"
LOCKED = Path("requirements/run.txt")


async def measure_start(scope: Scope) -> list[Measure]:
    """What each command pays before it does anything, beside a bare Python."""
    times = TIMES // 2 if scope.quick else TIMES
    starts = {
        "oldfriend --version": [sys.executable, "-m", "oldfriend", "--version"],
        "from oldfriend import Memory": [sys.executable, "-c", "from oldfriend import Memory"],
    }
    bare = measure_median_processor_s([[sys.executable, "-c", "pass"]] * times)
    return [
        Measure(
            name=f"start: {name}",
            value=measure_median_processor_s([command] * times),
            unit="s",
            reference=bare,
            note="reference: a bare Python",
        )
        for name, command in starts.items()
    ]


async def measure_say(scope: Scope) -> list[Measure]:
    """`say`, from the start of the process to its end."""
    size, times = (1_000, 3) if scope.quick else (10_000, TIMES)
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        await fill_store(Path(folder), size)
        commands = [build_command(Path(folder), "say", text) for text in list_questions(times + 1)]
        measure_median_processor_s(commands[:1])
        seconds = measure_median_processor_s(commands[1:])
    return [
        Measure(
            name=f"say among {size:,} messages",
            value=seconds,
            unit="s",
            target=build_upper_target(1.5),
            note="the whole process; it embeds one message after it has replied",
        )
    ]


async def measure_chat(scope: Scope) -> list[Measure]:
    """What `chat` holds in memory once it has answered."""
    size = 1_000 if scope.quick else 10_000
    name = f"chat among {size:,} messages, resident"
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        await fill_store(Path(folder), size)
        try:
            memory = measure_memory_after_reply(
                build_command(Path(folder), "chat"), list_questions(1)[0]
            )
        except FileNotFoundError:
            return [build_unmeasured(name, "needs Linux's /proc", target=build_upper_target(180))]
    return [
        Measure(name=name, value=memory.now, unit="MB", target=build_upper_target(180)),
        Measure(name=f"{name} at its peak", value=memory.peak, unit="MB"),
    ]


async def fill_store(folder: Path, size: int) -> None:
    """Leave a store with the owner's history in a folder."""
    async with open_app(build_settings(folder)) as app:
        await build_history(app, size, seed=1)


async def measure_install(scope: Scope) -> list[Measure]:
    """An environment with what runs and nothing else, bytecode included."""
    name, target = "installed without dev tools", build_upper_target(300)
    uv = shutil.which("uv")
    if scope.quick or uv is None or not (CHECKOUT / LOCKED).exists():
        return [
            build_unmeasured(name, "needs a checkout, uv and a package registry", target=target)
        ]
    try:
        plain, whole = (measure_installed_mb(uv, extras) for extras in ("", EXTRAS))
    except subprocess.CalledProcessError as error:
        return [build_unmeasured(name, str(error.stderr)[-200:], target=target)]
    return [
        Measure(name=name, value=plain, unit="MB", target=target),
        Measure(name=f"{name}, with models and PostgreSQL", value=whole, unit="MB"),
    ]


def measure_installed_mb(uv: str, extras: str) -> float:
    """How much an installation takes, in the versions of the lock. Raises CalledProcessError."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        into = ["--python", folder, "--compile-bytecode", "--quiet"]
        for command in (
            ["venv", "--python", sys.executable, "--quiet", folder],
            ["pip", "install", *into, "-c", str(CHECKOUT / LOCKED), f"{CHECKOUT}{extras}"],
        ):
            subprocess.run([uv, *command], check=True, capture_output=True, text=True)
        return measure_disk_mb(Path(folder))
