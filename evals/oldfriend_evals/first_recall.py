"""The first recall of a process beside warm ones, as a process of its own.

``python -m oldfriend_evals.first_recall DATA`` asks in a folder of ``stores`` once its embedder is
loaded, and prints the processor's milliseconds of the first question and of a later one.
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

from oldfriend.app.app_context import AppContext
from oldfriend.domain.messages import Person
from oldfriend.inbound.accept import open_local_chat
from oldfriend.runtime.wiring import open_app
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from oldfriend_evals.corpus import FIRST_DAY, list_questions
from oldfriend_evals.temporary_stores import CHANNEL, build_settings

ASKED = 9


async def main(data: Path) -> None:
    """Ask, and print."""
    async with open_app(build_settings(data)) as app:
        line = await open_local_chat(app.db, app.clock, app.settings, person=None, channel=CHANNEL)
        await app.embedder.embed(["What loads the model is not measured."])
        first, *later = [await ask(app, line.person, text) for text in list_questions(ASKED)]
    sys.stdout.write(f"{first} {median(later)}\n")


async def ask(app: AppContext, person: Person, text: str) -> float:
    """Recall what answers a question; the milliseconds of processor time that it took."""
    began = time.process_time()
    await recall(
        app.search_deps, person, RecallQuery(text=text, language="en", at=FIRST_DAY), limit=10
    )
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
