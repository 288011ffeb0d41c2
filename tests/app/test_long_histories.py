"""Years of messages make a turn no dearer for the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import apsw

from oldfriend.app.accepting import Line, Said, edit, open_line
from oldfriend.app.answering import answer
from oldfriend.app.house import House
from oldfriend.evals.load import house_with_model
from oldfriend.evals.stores import line_with_history

QUESTION = "What did Ana say about the market?"
EACH = 100


@dataclass(slots=True)
class Work:
    """What SQLite has done."""

    hundreds: int = 0  # of steps of its virtual machine

    def count(self) -> bool:
        """It goes on."""
        self.hundreds += 1
        return False

    def watch(self, connection: apsw.Connection) -> None:
        """Count what is done on this connection, too."""
        connection.set_progress_handler(self.count, EACH)


@contextmanager
def counted() -> Iterator[Work]:
    """The work on all connections that are opened meanwhile."""
    work = Work()
    apsw.connection_hooks.append(work.watch)
    try:
        yield work
    finally:
        apsw.connection_hooks.remove(work.watch)


async def talk(house: House, line: Line) -> None:
    """By rules, then with a model that is told what the rules quoted; and on second thought."""
    for each in (replace(house, models={}), house):
        answered = await answer(each, line, Said(text=QUESTION))
    await edit(house, line, answered.said.id, "What did Ana say about the sea?")


async def work_of_a_talk(*, history: int) -> int:
    """What it takes the database when so much was said before, elsewhere, and is at hand."""
    with counted() as work:
        async with house_with_model(delay_s=0) as house:
            await line_with_history(house, history, seed=1)
            line = await open_line(house, person=None, channel="terminal")
            await talk(house, line)
            before = work.hundreds
            await talk(house, line)
            return work.hundreds - before


async def test_a_turn_costs_the_database_no_more_after_years():
    short, long = [await work_of_a_talk(history=count) for count in (100, 4_000)]

    assert long < 1.5 * short
