"""Somebody of whom much is known, and the place where all of it is seen."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Locator, Page

from oldfriend.config.settings import Settings
from oldfriend.domain.clock import DAY
from oldfriend.memory.people import ensure_owner
from oldfriend.memory.vectors import save_belief_vectors
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.corpus import draw_vectors
from tests.api.many_beliefs import believe_many
from tests.cli.serving import on_any_port, served
from tests.processes import Program

LIST: Final = "What I know about you"


@contextmanager
def serving_much(data: Path, count: int, days: int) -> Iterator[Program]:
    """A process that serves somebody of whom so many things are known."""
    program = on_any_port(Program(data=data))
    program.data.mkdir(exist_ok=True)
    elsewhere(fill(program.data, count, days))
    with served(program):
        yield program


def elsewhere(work: Coroutine[object, object, None]) -> None:
    """Do something in another thread: in this one the browser has its loop."""
    with ThreadPoolExecutor() as threads:
        threads.submit(asyncio.run, work).result()


async def fill(data: Path, count: int, days: int) -> None:
    """Have so many things known, learned over so many days until now."""
    database = f"sqlite:///{data / 'oldfriend.db'}"
    settings = Settings(data=data, database=database, zone="UTC", language="en")
    async with open_app(settings) as app:
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
        since = app.clock() - days * DAY
        memories = await believe_many(app, owner.id, count, since=since, days=days)
        vectors = draw_vectors(count, seed=1, dimension=app.embedder.dimension)
        meanings = {each.id: vectors[place] for place, each in enumerate(memories)}
        async with app.db.begin_write() as tx:  # else serve is busy with them all the while
            await save_belief_vectors(tx, owner.id, app.embedder.model, meanings)


def rows(page: Page) -> Locator:
    """What stands in the list."""
    return page.get_by_role("list", name=LIST).locator("> li")


def place(page: Page, link: str) -> None:
    """Go to the Memory place, once signed in."""
    page.get_by_label("Say something …").wait_for()
    page.goto(f"{link.partition('/#')[0]}/memory")
    rows(page).first.wait_for()
