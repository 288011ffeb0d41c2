"""Several real processes work on the same lanes, and some of them die."""

from collections import defaultdict

from oldfriend.db.database import Database
from oldfriend.queues import lanes
from tests.conftest import SEVERAL_PROCESSES
from tests.processes import kill, line_of, python

LANES, LETTERS = 6, 15

WORKER = """
import asyncio, sys
from oldfriend.app.wiring import open_database
from oldfriend.queues import lanes

async def work(url, name):
    db = await open_database(url)
    while True:
        async with db.writing() as tx:
            claim = await lanes.claim(tx, "inbox", owner=name, now=1, lease_s=0.5)
        if claim is None:
            async with db.reading() as tx:
                letters = await lanes.list_letters(tx, parked=False)
            if all(letter.queue == "outbox" for letter in letters):
                break
            await asyncio.sleep(0.02)
            continue
        print(claim.lane, flush=True)
        await asyncio.sleep(0.002)
        async with db.writing() as tx:
            (letter, *_) = claim.letters
            await lanes.finish(tx, claim, [letter], now=1)
            await lanes.put(tx, "outbox", claim.lane, letter.body, person=None, now=1)
            await lanes.release(tx, claim, now=1)
    await db.close()

asyncio.run(work(sys.argv[1], sys.argv[2]))
"""


@SEVERAL_PROCESSES
async def test_each_letter_is_handled_once_and_in_order_though_a_worker_is_killed(
    db: Database, database_url: str
) -> None:
    """Two race for the same lanes; one dies with a lane in its hands; the other does the rest."""
    async with db.writing() as tx:
        for number in range(LETTERS):
            for lane in range(LANES):
                body = {"number": number}
                await lanes.put(tx, "inbox", f"lane {lane}", body, person=None, now=0)
    with (
        python(WORKER, database_url, "short-lived") as doomed,
        python(WORKER, database_url, "long-lived") as other,
    ):
        for _ in range(20):
            assert line_of(doomed.stdout)
        kill(doomed)
        worked_on = len(other.stdout.readlines())
        assert other.wait() == 0, other.stderr.read()

    async with db.reading() as tx:
        letters = await lanes.list_letters(tx, parked=False)
    handled = defaultdict(list)
    for letter in letters:
        assert letter.queue == "outbox"
        handled[letter.lane].append(letter.body["number"])
    assert handled == {f"lane {lane}": list(range(LETTERS)) for lane in range(LANES)}
    assert worked_on < LANES * LETTERS  # both had their share
