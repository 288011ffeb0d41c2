"""Whatever dies, and whenever: what was accepted is answered once, in order, and paid for once."""

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import get_args

import pytest

from oldfriend.app.app_context import CrashPoint
from oldfriend.runtime.wiring import open_database
from tests.conftest import Sizes
from tests.engines import SEVERAL_PROCESSES
from tests.fakes.platform import sent_to, shown_in
from tests.killable import CHANNELS, LEASE_S, Town
from tests.postgres import Server
from tests.processes import kill, line_of, running, until


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """What a town looks like from outside, and in the log."""

    shown: list[tuple[str, str]]  # address, text
    said: list[tuple[str, str]]  # address, text
    called: Counter[str]
    paid_twice: int  # requests of turns that were made again although the first had an answer
    sent_again: int


@pytest.fixture
def town(database_url: str, tmp_path: Path) -> Town:
    """A town with nobody in it yet."""
    (tmp_path / "town").mkdir()
    return Town(url=database_url, folder=tmp_path / "town")


@contextmanager
def process(
    town: Town, what: str, step: str = "", *, delay_s: float = 0, end: str = "SIGKILL"
) -> "Iterator[Popen[bytes]]":
    """A worker or a mail carrier of the town, once it is ready."""
    command = [
        sys.executable,
        "-m",
        "tests.killable",
        what,
        town.url,
        town.folder,
        step,
        delay_s,
        end,
    ]
    with running(list(map(str, command))) as started:
        assert line_of(started.stdout) == "ready", started.stderr.read().decode()
        yield started


def is_stopped(child: "Popen[bytes]") -> bool:
    """Whether a process has been frozen."""
    how = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, child.pid, how) is not None


def say(town: Town, lines: list[tuple[str, str, str]]) -> None:
    """Have people say something: person, channel, text."""
    town.said.write_text(
        "".join(
            json.dumps({"person": person, "channel": channel, "text": text}) + "\n"
            for person, channel, text in lines
        ),
        "utf-8",
    )


def bring_all(town: Town) -> None:
    """Bring everything that was said, however often the carrier dies."""
    with process(town, "bring") as carrier:
        assert carrier.wait(120) == 0, carrier.stderr.read().decode()


async def what_happened(town: Town) -> Happened:
    """Look at the platform, the log and the calls."""
    database = await open_database(town.url)
    try:
        async with database.begin_read() as tx:
            said = await tx.rows(
                """SELECT c.address, m.text FROM message m JOIN chat c ON c.id = m.chat
                   WHERE m.role = 'person' ORDER BY m.person, m.seq"""
            )
            paid = await tx.rows(
                """SELECT count(*) FROM model_call WHERE outcome IN ('done', 'late')
                   GROUP BY person, turn, step HAVING count(*) > 1"""
            )
    finally:
        await database.close()
    calls = town.called.read_text("utf-8").splitlines() if town.called.exists() else []
    return Happened(
        shown=shown_in(town.shown),
        said=[(row[0], row[1]) for row in said],
        called=Counter(calls),
        paid_twice=len(paid),
        sent_again=sum(sent_to(town.shown).values()) - len(shown_in(town.shown)),
    )


def by_address(messages: list[tuple[str, str]]) -> dict[str, list[str]]:
    """The texts of each chat, in order."""
    chats: dict[str, list[str]] = {}
    for address, text in messages:
        chats.setdefault(address, []).append(text)
    return chats


@pytest.mark.parametrize("step", get_args(CrashPoint))
async def test_crash_at_any_step_is_recovered_by_the_next_process(town: Town, step: str) -> None:
    """At each named step of accept, turn, commit and send."""
    say(town, [("Ana", "square", "when one"), ("Ana", "square", "two")])
    with process(town, "bring", step) as carrier:
        carrier.wait(30)
    bring_all(town)
    with process(town, "work", step) as worker:
        until(lambda: worker.poll() is not None or len(shown_in(town.shown)) == 2)
    with process(town, "work"):
        until(lambda: len(shown_in(town.shown)) == 2, within_s=10 * LEASE_S)
        await asyncio.sleep(0.3)  # for anything that would be shown twice
    happened = await what_happened(town)

    assert happened.said == [("Ana@square", "when one"), ("Ana@square", "two")]
    assert happened.shown == [("Ana@square", "re: when one"), ("Ana@square", "re: two")]
    assert happened.called == {"when one": 1, "two": 1}
    assert happened.paid_twice == 0
    assert happened.sent_again <= 1  # by one that died before it could note it


TALKING = ("accepted", "thinking", "spooled", "called", "decided", "committing", "committed")


@pytest.mark.parametrize("step", TALKING)
async def test_message_of_a_killed_say_process_is_answered_by_a_worker(
    town: Town, step: str
) -> None:
    """`say` and `chat` work on their own chat, and are as mortal as any."""
    say(town, [("Ana", "square", "one")])
    with process(town, "talk", step) as talker:
        talker.wait(30)
    with process(town, "work"):
        until(lambda: len(shown_in(town.shown)) == 1, within_s=10 * LEASE_S)
    happened = await what_happened(town)

    assert happened.said == [("Ana@square", "one")]
    assert happened.shown == [("Ana@square", "re: one")]
    assert happened.called == {"one": 1}


async def test_healthy_worker_keeps_its_leases_beyond_the_lease_time(town: Town) -> None:
    """Many short turns, longer together than a lease: none is begun or sent by a second one."""
    lines = [("Ana", "square", f"line {number}") for number in range(12)]
    say(town, lines)
    bring_all(town)
    with process(town, "work", delay_s=0.25), process(town, "work", delay_s=0.25):
        until(lambda: len(shown_in(town.shown)) == len(lines))
    happened = await what_happened(town)

    assert happened.called == {text: 1 for _, _, text in lines}
    assert happened.sent_again == 0


@pytest.mark.quick
@pytest.mark.timeout(3600)
@SEVERAL_PROCESSES
async def test_no_message_is_lost_duplicated_or_reordered_by_random_kills(
    town: Town, engine: str, sizes: Sizes
) -> None:
    """Carriers and workers are killed at any moment: nothing lost, doubled or out of order."""
    chance = random.Random(11)
    people = [f"person {number}" for number in range(sizes.crash_chats // len(CHANNELS))]
    lines = [
        (chance.choice(people), chance.choice(CHANNELS), f"message {number}")
        for number in range(sizes.crash_messages)
    ]
    say(town, lines)
    workers = 1 if engine == "sqlite" else 3
    with ExitStack() as alive:
        team = [alive.enter_context(process(town, "work", delay_s=0.02)) for _ in range(workers)]
        carrier = alive.enter_context(process(town, "bring"))
        kills = 0
        while len(shown_in(town.shown)) < len(lines):
            await asyncio.sleep(chance.uniform(0.1, 0.8))
            if carrier.poll() is not None and carrier.returncode != 0:
                carrier = alive.enter_context(process(town, "bring"))
            victim = chance.randrange(workers + 1)
            if kills < sizes.kills * 5 and victim == workers and carrier.poll() is None:
                kill(carrier)
                kills += 1
            elif kills < sizes.kills * 5 and victim < workers:
                kill(team[victim])
                kills += 1
                team[victim] = alive.enter_context(process(town, "work", delay_s=0.02))
        for worker in team:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(30) for worker in team] == [0] * workers
    happened = await what_happened(town)

    wanted: dict[str, list[str]] = {}
    for person, channel, text in lines:
        wanted.setdefault(f"{person}@{channel}", []).append(text)
    assert by_address(happened.said) == wanted
    assert by_address(happened.shown) == {
        address: [f"re: {text}" for text in texts] for address, texts in wanted.items()
    }
    in_flight = kills * town.settings.serve.turns_at_once
    assert happened.paid_twice == 0
    assert happened.sent_again <= in_flight
    assert sum(happened.called.values()) <= len(lines) + in_flight


async def test_a_worker_frozen_past_its_lease_cannot_commit(town: Town) -> None:
    """It wakes up, finds that somebody else has answered, and leaves it at that."""
    say(town, [("Ana", "square", "one")])
    bring_all(town)
    with process(town, "work", delay_s=2 * LEASE_S) as frozen:
        until(lambda: town.called.exists())
        await asyncio.sleep(0.3)  # whoever holds SQLite's own lock when it freezes freezes all
        frozen.send_signal(signal.SIGSTOP)
        with process(town, "work"):
            until(lambda: len(shown_in(town.shown)) == 1, within_s=10 * LEASE_S)
            frozen.send_signal(signal.SIGCONT)
            await asyncio.sleep(3 * LEASE_S)
        assert frozen.poll() is None
    happened = await what_happened(town)

    assert happened.shown == [("Ana@square", "re: one")]
    assert happened.called == {"one": 2}
    assert happened.paid_twice == 1  # and the ledger says so


async def test_worker_frozen_past_its_lease_makes_no_model_call(town: Town) -> None:
    """It was about to: by its own clock it sees that the chat may be another's by now."""
    say(town, [("Ana", "square", "one")])
    bring_all(town)
    with process(town, "work", "thinking", end="SIGSTOP") as frozen:
        until(lambda: is_stopped(frozen))
        with process(town, "work"):
            until(lambda: len(shown_in(town.shown)) == 1, within_s=10 * LEASE_S)
            frozen.send_signal(signal.SIGCONT)
            await asyncio.sleep(LEASE_S)
        assert frozen.poll() is None
    happened = await what_happened(town)

    assert happened.shown == [("Ana@square", "re: one")]
    assert happened.called == {"one": 1}


async def test_worker_finishes_running_turns_on_sigterm(town: Town) -> None:
    """And begins no new one."""
    say(town, [("Ana", channel, f"in the {channel}") for channel in CHANNELS])
    bring_all(town)
    with process(town, "work", delay_s=0.5) as worker:
        until(lambda: town.called.exists())
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(20) == 0
    happened = await what_happened(town)

    answered = {f"re: {text}" for text in happened.called}
    database = await open_database(town.url)
    async with database.begin_read() as tx:
        kept = {row[0] for row in await tx.rows("SELECT text FROM message WHERE role <> 'person'")}
        held = await tx.rows("SELECT partition FROM job_partition WHERE owner IS NOT NULL")
    await database.close()
    assert 1 <= len(answered) <= town.settings.serve.turns_at_once
    assert kept == answered
    assert held == []


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_worker_recovers_from_repeated_postgres_disconnects(
    town: Town, sizes: Sizes, postgres: Server
) -> None:
    """In the middle of transactions too: the same process goes on when it can."""
    lines = [("Ana", channel, f"line {number}") for number in range(5) for channel in CHANNELS]
    say(town, lines)
    bring_all(town)
    cut = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'oldfriend' AND pid <> pg_backend_pid()"""
    with process(town, "work", delay_s=0.05) as worker:
        for _ in range(sizes.kills):
            await asyncio.sleep(0.2)
            postgres.run(cut)
        until(lambda: len(shown_in(town.shown)) == len(lines), within_s=60)
        assert worker.poll() is None
    happened = await what_happened(town)

    assert sorted(by_address(happened.shown)) == sorted({f"Ana@{each}" for each in CHANNELS})
    for texts in by_address(happened.shown).values():
        assert texts == [f"re: line {number}" for number in range(5)]
    assert max(happened.called.values()) <= len(CHANNELS) + sizes.kills
