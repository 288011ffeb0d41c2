"""A worker whose model costs nothing but time, as a process of its own.

``python -m oldfriend_evals.scripted_worker DATA SECONDS SYNC`` works in a folder of ``stores``
until it is killed, with a model that takes so long, on a disk whose syncs take so much longer. It
says so in a line once it has all imported and read that a worker needs.
"""

import asyncio
import sys
from pathlib import Path

from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from oldfriend_evals.load import house_with_model, with_model
from oldfriend_evals.slow_disk import on_a_disk
from oldfriend_evals.stores import settings_in


async def main(data: Path, delay_s: float, sync_s: float) -> None:
    """Work for ever."""
    async with house_with_model(delay_s=0):
        with on_a_disk(sync_s=sync_s):
            async with open_app(settings_in(data)) as app:
                sys.stdout.write("ready\n")
                sys.stdout.flush()
                await run_worker(with_model(app, delay_s=delay_s), stopping=asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *map(float, sys.argv[2:])))
