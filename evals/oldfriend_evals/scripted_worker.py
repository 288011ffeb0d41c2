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
from oldfriend_evals.load import open_store_with_model, use_model
from oldfriend_evals.slow_disk import use_slow_disk
from oldfriend_evals.temporary_stores import build_settings


async def main(data: Path, delay_s: float, sync_s: float) -> None:
    """Work for ever."""
    async with open_store_with_model(delay_s=0):
        with use_slow_disk(sync_s=sync_s):
            async with open_app(build_settings(data)) as app:
                sys.stdout.write("ready\n")
                sys.stdout.flush()
                await run_worker(use_model(app, delay_s=delay_s), stopping=asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *map(float, sys.argv[2:])))
