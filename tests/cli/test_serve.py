"""A process that is there for everybody: starts, answers, is asked, reloads, ends, is killed."""

import json
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from oldfriend.app.pid_lock import find_server
from tests.cli.conftest import Call
from tests.cli.serving import Running, has_ended, on_any_port, served, serving, status_of
from tests.conftest import SIZE
from tests.engines import SQLITE_ONLY, both_engines
from tests.processes import Program, kill, until

engine = both_engines


IDLE_S = 600.0 if SIZE == "full" else 10.0
MOST_IDLE = 0.01
LOOKS = 6
SECRETS = ("my cat is called Zanzibar", "the safe opens with Xylophone", "Perséphone said so")


@pytest.fixture
def program(oldfriend: Program, database_url: str) -> Iterator[Program]:
    """The command line on each engine."""
    yield on_any_port(oldfriend, OLDFRIEND_DATABASE=database_url)


def test_serve_process_answers_reports_status_and_stops(program: Program) -> None:
    """The whole life of a process, on each engine."""
    with served(program) as running:
        first = program.done("say", "My cat is called Miso.", "--json").json
        again = program.done("say", "What is my cat called?", "--json").json
        status = status_of(program)
        health = running.get("/health")
        stopped = program.done("stop")
        code = running.process.wait(30)

    assert first["reply"]
    assert "Miso" in again["reply"]
    assert health == (200, '{"alive":true}')
    assert status["serving"]["pid"] == running.process.pid
    assert status["serving"]["ready"]
    assert status["waiting"]["inbox"] == dict.fromkeys(
        ("due", "later", "failed", "leased", "parked", "held"), 0
    )
    assert "has stopped" in stopped.stdout
    assert code == 0
    assert find_server(program.data) is None


@pytest.mark.slow
@SQLITE_ONLY
def test_serve_log_and_metrics_contain_no_message_text_or_names(
    program: Program, call: Call
) -> None:
    """Not even of a message that is broken, or of a name."""
    with served(program) as running:
        for secret in SECRETS:
            call("say", secret, "--person", "Hildegard", "--new-person")
        call("recall", "Zanzibar", "--person", "Hildegard")
        call("reload")
        metrics = running.get("/metrics")[1]
        call("stop")
        running.process.wait(30)
        log = running.process.stderr.read().decode()

    assert re.search(r"^at=\S+Z level=info event=serving host=127.0.0.1 port=\d+ ", log, re.M)
    assert "event=settings-reloaded" in log
    assert "event=stopped" in log
    for line in log.splitlines():
        assert re.match(r"at=\S+ level=\w+ event=", line), line
    for secret in ("Hildegard", "Zanzibar", "Xylophone", "Perséphone"):
        assert secret not in log
        assert secret not in metrics


@pytest.mark.slow
@SQLITE_ONLY
def test_second_serve_is_refused_but_extra_work_process_is_allowed(
    program: Program, call: Call
) -> None:
    """The sentence says what to do instead."""
    with served(program) as running:
        second = program("serve")
        with program.started("work") as hand:
            assert b"event=worker-started" in hand.stderr.readline()
            reply = call("say", "hello").stdout
            hand.send_signal(signal.SIGTERM)
            ended = hand.wait(30)

        assert second.code == 1
        assert f"(pid {running.process.pid}) is already running for {program.data}" in second.stderr
        assert "oldfriend stop" in second.stderr
        assert "Traceback" not in second.stderr
        assert running.is_ready
        assert reply
        assert ended == 0


@pytest.mark.slow
@SQLITE_ONLY
def test_serve_starts_again_after_a_kill(program: Program, call: Call) -> None:
    """What the dead one left behind is history."""
    with served(program) as running:
        kill(running.process)
    left = program.data / "serve.json"

    assert json.loads(left.read_text())["pid"] == running.process.pid
    assert call("status", "--json").json["serving"] is None
    assert "nothing to stop" in call("stop").stdout
    with served(program) as again:
        assert call("say", "hello").stdout
        assert call("status", "--json").json["serving"]["pid"] == again.process.pid


@pytest.mark.slow
@SQLITE_ONLY
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_or_sigint_stops_serve_gracefully(program: Program, number: signal.Signals) -> None:
    """As a service manager, or a person with Ctrl-C, expects."""
    with served(program) as running:
        running.process.send_signal(number)
        assert running.process.wait(30) == 0


@pytest.mark.slow
@SQLITE_ONLY
def test_reload_applies_settings_and_names_those_that_need_a_restart(
    program: Program, call: Call
) -> None:
    """A broken file changes nothing; everything keeps running."""
    file = program.data / "oldfriend.toml"
    with served(program) as running:
        unchanged = call("reload")
        file.write_text("[limits]\nmessages_per_minute = 7\n[serve]\nturns_at_once = 3\n")
        changed = call("reload")
        file.write_text("[limits]\nmessages_per_minit = 7\n")
        wrong = call("reload")
        stays = running.is_ready
        file.write_text("")

    assert unchanged.stdout == "The settings were read again.\n"
    assert "in effect only after a restart: serve.turns_at_once." in changed.stdout
    assert "limits.messages_per_minute" in changed.stdout  # among what is taken up at once
    assert wrong.code == 1
    assert "The old settings stay" in wrong.stderr
    assert "Did you mean limits.messages_per_minute?" in wrong.stderr
    assert stays
    assert call("reload").code == 1
    assert "Oldfriend is not running" in call("reload").stderr


@pytest.mark.slow
@SQLITE_ONLY
def test_serve_refuses_a_non_local_host(program: Program) -> None:
    """Not before there is a way to know who asks."""
    refused = program("serve", "--set", "serve.host=0.0.0.0")

    assert refused.code == 2
    assert "must be an address of this machine only" in refused.stderr


@pytest.mark.slow
@SQLITE_ONLY
def test_serve_reports_a_port_that_is_in_use(program: Program, tmp_path: Path) -> None:
    """And nothing is left behind."""
    other = Program(data=tmp_path / "other", environment={"OLDFRIEND_SERVE_PORT": "0"})
    with served(other) as running:
        refused = program("serve", "--set", f"serve.port={running.port}")

    assert refused.code == 1
    assert f"127.0.0.1 port {running.port} cannot be listened at" in refused.stderr
    assert find_server(program.data) is None


@pytest.mark.slow
@SQLITE_ONLY
def test_stop_works_with_a_broken_settings_file(program: Program, call: Call) -> None:
    """To look and to stop must work when something is wrong."""
    with served(program) as running:
        (program.data / "oldfriend.toml").write_text("nonsense")
        status = call("status")
        stopped = call("stop")

        assert status.code == 2
        assert f"pid {running.process.pid}" in status.stdout
        assert "has stopped" in stopped.stdout


@pytest.mark.slow
@SQLITE_ONLY
def test_serve_starts_after_a_kill_during_startup(program: Program) -> None:
    """At any moment of its start."""
    for after_s in (0.05, 0.2, 0.4, 0.7):
        with program.started("serve") as process:
            time.sleep(after_s)
            kill(process)
    with served(program) as running:
        assert running.is_ready


@pytest.mark.slow
@SQLITE_ONLY
def test_only_one_of_two_concurrent_serve_starts_wins_the_lock(program: Program) -> None:
    """The system decides whose the lock is."""
    with program.started("serve") as one, program.started("serve") as two:
        until(lambda: one.poll() is not None or two.poll() is not None, within_s=60)
        loser, winner = (one, two) if one.poll() is not None else (two, one)
        until(lambda: serving(program) is not None or has_ended(winner), within_s=60)

        assert loser.returncode == 1
        found = serving(program)
        assert found is not None
        assert found.pid == winner.pid


@dataclass(frozen=True, slots=True, kw_only=True)
class Idling:
    """What a process took while nobody wanted anything of it."""

    part: float  # of one core
    grown: float  # bytes of memory


def idling(running: Running) -> Idling:
    """Leave a process alone for a while."""
    began, cpu = time.monotonic(), running.number("process_cpu_seconds_total")
    memory = running.number("process_resident_memory_bytes")
    time.sleep(IDLE_S)
    used = running.number("process_cpu_seconds_total") - cpu
    grown = running.number("process_resident_memory_bytes") - memory
    return Idling(part=used / (time.monotonic() - began), grown=grown)


@pytest.mark.slow
def test_idle_serve_uses_almost_no_cpu_and_memory(program: Program) -> None:
    """Under one hundredth of a core, and no memory more, on each engine.

    What seems much is measured again: the start is over at some time, on a busy machine too, and
    what a neighbor adds differs; what is done again and again does not.
    """
    with served(program) as running:
        program.done("say", "hello")
        idle = idling(running)
        for _ in range(LOOKS - 1):
            if idle.part >= MOST_IDLE:
                idle = idling(running)

    assert idle.part < MOST_IDLE
    assert idle.grown < 2 * 1024 * 1024
