"""Reminder worker: a process that works on a clock of its own, and notes when it sends what.

``python -m oldfriend_evals.reminder_worker DATA URL FROM SHOWN SPEED FILE`` works on a database
until it is killed. Its clock shows the time SHOWN when the machine's shows FROM, and runs so many
times as fast. What it is given to send it notes in a file: the time of that clock, and the last
word of the first line.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from typing_extensions import override

from oldfriend.channels.channel import Channel, Cursors, HandleEvent
from oldfriend.cli.work import tune_gc
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import Clock, Micros, system_clock
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from oldfriend_evals.temporary_stores import KnownVectors, build_settings

PLATFORM: Final = "bench"


class NotingChannel(Channel):
    """A platform that takes everything at once, and notes when."""

    debounce_s = 0.0

    def __init__(self, file: Path, clock: Clock) -> None:
        """Note in this file by this clock."""
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._clock = clock

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        return [text]

    @override
    async def send(
        self,
        address: str,
        text: str,
        *,
        send_key: str,
        preview_send_key: str | None = None,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> str:
        number = text.splitlines()[0].rpartition(" ")[2]
        os.write(self._file, f"{self._clock()} {number}\n".encode())
        return send_key

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        await asyncio.Event().wait()


def build_clock(begins: Micros, shown: Micros, speed: float) -> Clock:
    """Build a clock that shows a time when the machine's shows another, and runs faster."""
    return lambda: shown + round((system_clock() - begins) * speed)


async def main(data: Path, url: str, clock: Clock, file: Path) -> None:
    """Work for ever."""
    settings = replace(build_settings(data), database=url)
    async with open_app(settings, clock=clock) as plain:
        app = replace(
            plain,
            embedder=KnownVectors(plain.embedder, {}),
            channels={PLATFORM: NotingChannel(file, clock)},
            platforms=frozenset({PLATFORM}),
        )
        tune_gc()
        await run_worker(app, stopping=asyncio.Event())


if __name__ == "__main__":
    folder, where, begin, show, fast, noted = sys.argv[1:]
    its_clock = build_clock(int(begin), int(show), float(fast))
    asyncio.run(main(Path(folder), where, its_clock, Path(noted)))
