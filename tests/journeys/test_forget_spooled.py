"""What a model answered is gone after a forget, also from where it waits for the ledger."""

import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.serving import Running
from tests.fakes.slow_model import SlowModel, slow_model
from tests.journeys.http_chat import Talker, ledger_of, talker_on, wait_for_replies
from tests.journeys.residue import residue_in
from tests.processes import kill, until

LEASE_S = 60.0
SECRET = "Zinniawood hides quillfeather7731 in the cellar under the old stairs"
MARKERS = ("Zinniawood", "quillfeather7731")
REPLY = f"You said it yourself: “{SECRET}”, läuft bei dir."
GOES_ON = "Nothing at all, I am afraid."
FORGET = ("forget", "--about", "Zinniawood", "--yes", "--json")


@pytest.fixture
def model() -> Iterator[SlowModel]:
    """A model that repeats what must go."""
    with slow_model() as model:
        model.says, model.pause_s = REPLY, 0.02
        yield model


@pytest.fixture
def talker(oldfriend, model: SlowModel) -> Talker:
    """Somebody who has told the secret."""
    talker = talker_on(oldfriend, model, lease_s=LEASE_S)
    with talker.served() as running:
        talker.says(running, f"Remember: {SECRET}")
        wait_for_replies(talker, running, 2, within_s=20)
    return talker


@contextmanager
def locked(data: Path) -> Iterator[None]:
    """A store that nobody can write meanwhile."""
    database = sqlite3.connect(data / "oldfriend.db", isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        database.execute("ROLLBACK")
        database.close()


def spools_in(data: Path) -> list[str]:
    """The markers that stand in files of processes."""
    return residue_in(data / "processes", MARKERS)


@contextmanager
def answer_spooled(talker: Talker) -> Iterator[Running]:
    """A process whose model has answered, and which cannot enter that into the ledger."""
    with talker.served() as running:
        talker.says(running, "What does Zinniawood hide?")
        until(lambda: len(talker.model.about) == 2, within_s=20)
        with locked(talker.program.data):
            until(lambda: bool(spools_in(talker.program.data)), within_s=20)
            running.process.send_signal(signal.SIGSTOP)
        yield running


def test_forget_removes_spooled_model_output_of_a_killed_process(talker: Talker) -> None:
    """It was paid for, so it is in the ledger: without its words."""
    data = talker.program.data
    with answer_spooled(talker) as running:
        kill(running.process)
        assert spools_in(data) != []
        forgotten = talker.program.done(*FORGET)

    assert forgotten.json["is_proved"], forgotten.stdout
    assert residue_in(data, MARKERS) == []
    assert ledger_of(data) == [("done", 120, 12)] * 2
    assert list((data / "processes").iterdir()) == []


def test_forget_removes_spooled_model_output_of_a_running_process(
    talker: Talker,
) -> None:
    """Even if that one stands still; once it goes on, it does not bring anything back."""
    data = talker.program.data
    with answer_spooled(talker) as running:
        forgotten = talker.program.done(*FORGET)
        left = residue_in(data, MARKERS)
        talker.model.says = GOES_ON
        running.process.send_signal(signal.SIGCONT)
        talker.says(running, "And what else is there?")
        until(lambda: talker.replies(running)[-1] == GOES_ON, within_s=30)
        back = residue_in(data, MARKERS)

    assert forgotten.json["is_proved"], forgotten.stdout
    assert left == []
    assert back == []
    assert residue_in(data, MARKERS) == []
