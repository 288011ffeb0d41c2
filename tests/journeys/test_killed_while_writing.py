"""What was acknowledged is there, however the process ended."""

import random

import pytest

from oldfriend.db.sqlite.sqlite_database import open_sqlite
from tests.conftest import Sizes
from tests.processes import Program, kill, line_of, python

WRITER = """
import asyncio, sys
from pathlib import Path
from oldfriend.inbound.accept import MessageSubmission, accept_message, open_local_chat
from oldfriend.config.settings import load_settings
from oldfriend.runtime.wiring import open_app

async def write(data):
    async with open_app(load_settings(data=data)) as app:
        line = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="terminal"
        )
        while True:
            words = MessageSubmission(text="x" * 3000)
            accepted = await accept_message(app, line, words, claim_now=False)
            print(accepted.message.id, flush=True)

asyncio.run(write(sys.argv[1]))
"""


@pytest.mark.quick
async def test_killed_writer_loses_no_acknowledged_message(
    oldfriend: Program, sizes: Sizes
) -> None:
    """The file stays sound, and the next one just goes on."""
    acknowledged: set[str] = set()
    chance = random.Random(7)
    for _ in range(sizes.kills):
        with python(WRITER, oldfriend.data) as writer:
            for _ in range(chance.randint(1, 60)):
                acknowledged.add(line_of(writer.stdout))
            kill(writer)
            acknowledged |= {line.decode().strip() for line in writer.stdout if line[-1:] == b"\n"}
        database = open_sqlite(oldfriend.data / "oldfriend.db")
        async with database.begin_read() as tx:
            kept = {row[0] for row in await tx.rows("SELECT id FROM message")}
        problems = await database.check_integrity()
        await database.close()

        assert acknowledged <= kept
        assert len(kept) - len(acknowledged) <= sizes.kills
        assert problems == []


@pytest.mark.quick
def test_killed_chat_keeps_every_answered_message(oldfriend: Program) -> None:
    """The whole way: through the program, and asked for by another process."""
    notes = ["my cat is called Miso", "the key is under the blue pot", "I am allergic to walnuts"]
    with oldfriend.started("chat") as chat:
        for note in notes:
            chat.stdin.write(f"Remember that {note}\n".encode())
            chat.stdin.flush()
            while note not in line_of(chat.stdout):
                pass
        kill(chat)

    listed = oldfriend.done("say", "What do you know about me?").stdout
    assert all(note in listed for note in notes)
    assert oldfriend.done("doctor").code == 0
