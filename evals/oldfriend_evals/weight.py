"""How heavy is it? What starting, staying and being installed cost."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from oldfriend.runtime.wiring import open_app
from oldfriend_evals.corpus import questions
from oldfriend_evals.measuring import Measure, Scope, at_most, not_measured
from oldfriend_evals.processes import (
    median_processor_s,
    memory_after_reply,
    oldfriend,
    size_on_disk_mb,
)
from oldfriend_evals.stores import line_with_history, settings_in

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
    bare = median_processor_s([[sys.executable, "-c", "pass"]] * times)
    return [
        Measure(
            name=f"start: {name}",
            value=median_processor_s([command] * times),
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
        await fill(Path(folder), size)
        commands = [oldfriend(Path(folder), "say", text) for text in questions(times + 1)]
        median_processor_s(commands[:1])
        seconds = median_processor_s(commands[1:])
    return [
        Measure(
            name=f"say among {size:,} messages",
            value=seconds,
            unit="s",
            target=at_most(1.5),
            note="the whole process; it embeds one message after it has replied",
        )
    ]


async def measure_chat(scope: Scope) -> list[Measure]:
    """What `chat` holds in memory once it has answered."""
    size = 1_000 if scope.quick else 10_000
    name = f"chat among {size:,} messages, resident"
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        await fill(Path(folder), size)
        try:
            memory = memory_after_reply(oldfriend(Path(folder), "chat"), questions(1)[0])
        except FileNotFoundError:
            return [not_measured(name, "needs Linux's /proc", target=at_most(180))]
    return [
        Measure(name=name, value=memory.now, unit="MB", target=at_most(180)),
        Measure(name=f"{name} at its peak", value=memory.peak, unit="MB"),
    ]


async def fill(folder: Path, size: int) -> None:
    """Leave a store with the owner's history in a folder."""
    async with open_app(settings_in(folder)) as app:
        await line_with_history(app, size, seed=1)


async def measure_install(scope: Scope) -> list[Measure]:
    """An environment with what runs and nothing else, bytecode included."""
    name, target = "installed without dev tools", at_most(300)
    uv = shutil.which("uv")
    if scope.quick or uv is None or not (CHECKOUT / LOCKED).exists():
        return [not_measured(name, "needs a checkout, uv and a package registry", target=target)]
    try:
        plain, whole = (installed_mb(uv, extras) for extras in ("", EXTRAS))
    except subprocess.CalledProcessError as error:
        return [not_measured(name, str(error.stderr)[-200:], target=target)]
    return [
        Measure(name=name, value=plain, unit="MB", target=target),
        Measure(name=f"{name}, with models and PostgreSQL", value=whole, unit="MB"),
    ]


def installed_mb(uv: str, extras: str) -> float:
    """How much an installation takes, in the versions of the lock. Raises CalledProcessError."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        into = ["--python", folder, "--compile-bytecode", "--quiet"]
        for command in (
            ["venv", "--python", sys.executable, "--quiet", folder],
            ["pip", "install", *into, "-c", str(CHECKOUT / LOCKED), f"{CHECKOUT}{extras}"],
        ):
            subprocess.run([uv, *command], check=True, capture_output=True, text=True)
        return size_on_disk_mb(Path(folder))
