"""A finished call to a model is paid for once: whoever dies, freezes, or cannot write just then."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import Sizes
from tests.engines import SEVERAL_PROCESSES
from tests.fakes.slow_model import SlowModel, slow_model
from tests.journeys.conftest import enlarge, fill
from tests.journeys.http_chat import Talker, ledger_of, talker_on, wait_for_replies
from tests.postgres import Server
from tests.processes import Program, kill, until

LEASE_S = 2.0
AWAY_S = 2 * LEASE_S
LEAST_DELAY_S, LONGEST_DELAY_S = 0.2, 0.8
"""Whoever is killed sooner may not have been given the processor to read the last byte."""
BOAT = "Remember my boat, please."
LONG_REPLY = " ".join(["All is well here, and I remember that."] * 8)


@pytest.fixture
def model() -> Iterator[SlowModel]:
    """A model that is quick."""
    with slow_model() as model:
        model.says, model.pause_s = "All is well here, and I remember that.", 0.001
        yield model


@pytest.mark.timeout(3600)
@SEVERAL_PROCESSES
def test_finished_model_call_of_a_killed_worker_is_reused(
    oldfriend: Program,
    database_url: str,
    model: SlowModel,
    sizes: Sizes,
    record_property: Callable[[str, object], None],
) -> None:
    """The next process goes on with what was given, and need not wait for the lease."""
    chance = random.Random(3)
    talker = talker_on(oldfriend, model, database=database_url)
    for number in range(sizes.kills):
        with talker.served() as running:
            wait_for_replies(talker, running, 1 + 2 * number, within_s=20)
            talker.says(running, f"This is what comes before {number}.")  # all is imported then
            wait_for_replies(talker, running, 2 + 2 * number, within_s=20)
            ended = model.ended
            talker.says(running, f"Remember the number {number}, please.")
            until(lambda: model.ended > ended, within_s=20)  # noqa: B023
            time.sleep(chance.uniform(LEAST_DELAY_S, LONGEST_DELAY_S))
            kill(running.process)
    with talker.served() as running:
        wait_for_replies(talker, running, 1 + 2 * sizes.kills, within_s=20)
    asked = talker.times_asked()
    paid_again = sum(asked.values()) - len(asked)
    record_property("kills", sizes.kills)
    record_property("paid again", paid_again)

    assert len(asked) == 2 * sizes.kills
    assert paid_again == 0


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """A disk without any room, for a while."""
    filler = fill(disk)
    try:
        yield
    finally:
        filler.unlink()


def talk_while_away(talker: Talker, away: AbstractContextManager[None], *, is_killed: bool) -> str:
    """A call comes to its end while the store is away, for longer than a lease; the reply to it."""
    talker.model.says, talker.model.pause_s = LONG_REPLY, 0.02
    with ExitStack() as alive:
        running = alive.enter_context(talker.served())
        talker.says(running, BOAT)
        until(lambda: bool(talker.model.about), within_s=20)
        with away:
            until(lambda: talker.model.ended == 1, within_s=20)
            time.sleep(AWAY_S)
            if is_killed:
                kill(running.process)
        if is_killed:
            running = alive.enter_context(talker.served())
        wait_for_replies(talker, running, 2, within_s=20)
        return talker.replies(running)[-1]


@pytest.mark.parametrize("is_killed", [False, True], ids=["lives", "is killed"])
def test_model_call_finished_on_a_full_disk_is_not_repeated(
    oldfriend: Program, small_disk: Path, model: SlowModel, *, is_killed: bool
) -> None:
    """What it gave is in memory, and in room that was reserved before."""
    enlarge(small_disk, 8)
    program = replace(oldfriend, data=small_disk / "data")
    talker = talker_on(program, model, lease_s=LEASE_S)
    reply = talk_while_away(talker, full(small_disk), is_killed=is_killed)

    assert reply == LONG_REPLY
    assert talker.times_asked() == {BOAT: 1}
    assert ledger_of(program.data) == [("done", 120, 12)]


@pytest.mark.parametrize("is_killed", [False, True], ids=["lives", "is killed"])
def test_model_call_finished_while_postgres_is_down_is_not_repeated(
    oldfriend: Program, postgres: Server, model: SlowModel, *, is_killed: bool
) -> None:
    """It is entered as soon as the server is back."""
    with postgres.database() as url:
        talker = talker_on(oldfriend, model, lease_s=LEASE_S, database=url)
        reply = talk_while_away(talker, postgres.away(), is_killed=is_killed)

    assert reply == LONG_REPLY
    assert talker.times_asked() == {BOAT: 1}


def test_model_call_finished_while_worker_is_frozen_is_used_after_resume(
    oldfriend: Program, model: SlowModel
) -> None:
    """Though their lease is over: nobody else was at it."""
    talker = talker_on(oldfriend, model, lease_s=LEASE_S)
    model.says, model.pause_s = LONG_REPLY, 0.02
    with talker.served() as running:
        talker.says(running, BOAT)
        until(lambda: bool(model.about), within_s=20)
        running.process.send_signal(signal.SIGSTOP)
        until(lambda: model.ended == 1, within_s=20)
        time.sleep(AWAY_S)
        running.process.send_signal(signal.SIGCONT)
        wait_for_replies(talker, running, 2, within_s=20)

    assert talker.times_asked() == {BOAT: 1}
    assert ledger_of(oldfriend.data) == [("done", 120, 12)]


def test_late_or_cut_off_model_calls_are_recorded_in_the_ledger(
    oldfriend: Program, model: SlowModel
) -> None:
    """So that costs and limits are right; one that was cut off by a kill is there, too."""
    talker = talker_on(oldfriend, model, lease_s=LEASE_S)
    model.says, model.pause_s = LONG_REPLY, 0.02
    with talker.served() as frozen:
        talker.says(frozen, BOAT)
        until(lambda: bool(model.about), within_s=20)
        frozen.process.send_signal(signal.SIGSTOP)
        with talker.program.started("work"):
            until(lambda: len(ledger_of(oldfriend.data)) == 1, within_s=30)
        frozen.process.send_signal(signal.SIGCONT)
        until(lambda: len(ledger_of(oldfriend.data)) == 2, within_s=20)
        wait_for_replies(talker, frozen, 2, within_s=20)
        model.pause_s = 0.2
        talker.says(frozen, "And now something long.")
        until(lambda: len(model.about) == 3, within_s=20)
        time.sleep(1.0)
        kill(frozen.process)
    model.pause_s = 0.001
    with talker.served() as running:
        wait_for_replies(talker, running, 3, within_s=20)
    outcomes = [row[0] for row in ledger_of(oldfriend.data)]
    (cut_off,) = [row for row in ledger_of(oldfriend.data) if row[0] == "cut off"]

    assert talker.times_asked() == {BOAT: 2, "And now something long.": 2}
    assert sorted(outcomes) == ["cut off", "done", "done", "late"]
    assert min(cut_off[1:]) > 0
    total = talker.program.done("cost", "--json").json["total"]
    assert (total["calls"], total["failed"]) == (4, 1)
    assert (total["dollars"], total["unpriced_tokens"]) == (0, 0)  # the model is on this machine
    assert total["tokens_out"] == 3 * 12 + cut_off[2]
