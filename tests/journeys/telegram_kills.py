"""Processes that die while a companion is on Telegram, and what was shown twice because of it."""

import os
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.telegram import World
from tests.fakes.telegram.world import Shown
from tests.processes import running

FIRST_USER = 1_000
LEASE_S = 1
STARTS_S = 180.0
"""At most, on a machine that has much else to do, until a process has started and answered."""
WINDOW_S = 5.0
"""At most, on a machine that has much else to do, between what Telegram does and its answer."""


def one_who_serves(
    folder: Path, world: World, step: str = "", *, ahead_s: float = 0.0
) -> AbstractContextManager["subprocess.Popen[bytes]"]:
    """A process that listens to the first user and answers, and dies at a step.

    Its clock may be ahead: as after a sleep.
    """
    command = [
        sys.executable,
        "-m",
        "tests.killable_server",
        f"sqlite:///{folder}/oldfriend.db",
        str(folder),
        step,
        str(ahead_s),
    ]
    return running(
        command,
        {
            "PATH": os.defpath,
            "HOME": str(folder),
            "OLDFRIEND_TELEGRAM_TOKEN": world.token,
            "OLDFRIEND_TELEGRAM_BASE_URL": world.url,
            "OLDFRIEND_TELEGRAM_QUIET_S": "0",
            "OLDFRIEND_TELEGRAM_ALLOWED": str(FIRST_USER),
            "OLDFRIEND_LIMITS_LEASE_S": str(LEASE_S),
            "OLDFRIEND_LIMITS_HEARTBEAT_S": "0.2",
        },
    )


@dataclass(frozen=True, slots=True)
class Struck:
    """What was shown twice, and the kill beside it: whoever died did not come to note it."""

    shown_at: float
    kill: float


def struck_by(kills: list[float], doubled: list[Shown]) -> list[Struck]:
    """By which kill each was struck: the nearest.

    It may be the one before: what somebody had sent is read and shown once they are dead, too.
    """
    return [Struck(each.at, min(kills, key=lambda kill: abs(kill - each.at))) for each in doubled]


def width_of(struck: Struck) -> float:
    """Seconds between the showing and the kill."""
    return abs(struck.kill - struck.shown_at)
