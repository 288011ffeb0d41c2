"""The disk fills up while somebody is talking."""

import json
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.runtime.admin_http import CACHE_TTL_S
from tests.cli.serving import on_any_port, served
from tests.journeys.conftest import enlarge, fill
from tests.processes import Program, line_of

LAST_OF_HELP = "Ctrl-C stops a reply."


def test_full_disk_is_reported_and_loses_no_stored_message(
    oldfriend: Program, small_disk: Path
) -> None:
    """And when there is room again, the talk goes on."""
    program = replace(oldfriend, data=small_disk / "data")
    program.done("say", "Remember that my cat is called Miso")
    for room in (0, 300_000):
        filler = small_disk / "filler"
        filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - room))
        refused = program("say", "-", stdin="I would like to tell you a story. " * 20_000)

        assert refused.code == 1
        assert "is full" in refused.stderr
        assert "Traceback" not in refused.stderr
        filler.unlink()
    assert "my cat is called Miso" in program.done("say", "What do you know about me?").stdout
    program.done("say", "I would like to tell you a short story.")


def test_a_memory_on_a_full_disk_can_be_read_but_not_written(
    oldfriend: Program, small_disk: Path
) -> None:
    """And ``doctor`` says what is wrong, with all else that it checks."""
    program = replace(oldfriend, data=small_disk / "data")
    program.done("say", "Remember that my cat is called Miso")
    filler = fill(small_disk)
    recalled, checked = program("recall", "cat"), program("doctor")
    refused = program("person", "rename", "owner", "Nora")
    filler.unlink()

    assert "Miso" in recalled.stdout
    assert "the disk is full" in checked.stdout
    assert len(checked.stdout.splitlines()) > 1
    assert (refused.code, "is full" in refused.stderr) == (1, True)
    program.done("person", "rename", "owner", "Nora")


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_a_server_says_that_it_is_not_ready_while_the_disk_is_full(
    oldfriend: Program, small_disk: Path, kind: str
) -> None:
    """It is alive all the same; and ready as soon as there is room. To find out takes none."""
    enlarge(small_disk, 8)
    store = {"OLDFRIEND_DATABASE": f"{kind}:///{small_disk}/memory.{kind}"}
    program = on_any_port(Program(data=oldfriend.data, environment=store))
    with served(program) as running:
        before = shutil.disk_usage(small_disk).used
        for _ in range(3):
            time.sleep(CACHE_TTL_S)
            assert running.get("/ready")[0] == 200
        assert shutil.disk_usage(small_disk).used <= before + (64 << 10)
        filler = fill(small_disk)
        time.sleep(CACHE_TTL_S)
        status, told = running.get("/ready")
        alive, _ = running.get("/health")
        filler.unlink()
        time.sleep(CACHE_TTL_S)
        again, _ = running.get("/ready")

    assert (status, alive, again) == (503, 200, 200)
    (why,) = json.loads(told)["why"]
    assert "is full" in why


@pytest.mark.parametrize("address", ["sqlite:///{}/memory.db", "json:///{}/memory.json"])
def test_chat_on_a_full_disk_continues_and_is_stored_once_there_is_space(
    oldfriend: Program, small_disk: Path, address: str
) -> None:
    """It is said once that nothing is kept, and once that all of it is."""
    store = {"OLDFRIEND_DATABASE": address.format(small_disk)}
    program = Program(data=oldfriend.data, environment=store)
    program.done("say", "My cat is called Miso.")
    story = "I would like to tell you a story. " * 200
    with program.started("chat") as process:
        say(process, "Hello there.")
        filler = fill(small_disk)
        thanked = say(process, f"I have a boat called Dora. {story}")
        answered = say(process, "What is my boat called?")
        filler.unlink()
        say(process, "Now there is room.")
        assert process.stdin is not None
        process.stdin.close()
        told = "" if process.stderr is None else process.stderr.read().decode()
        assert process.wait(60) == 0

    assert "Dora" in answered
    assert "kept" not in thanked
    assert told.count("is not kept yet") == 1
    assert told.count("is kept now") == 1
    exported = program.done("export").stdout
    assert exported.count('"text": "I have a boat called Dora.') == 1
    assert "Dora" in program.done("say", "What is my boat called?").stdout


def test_chat_starts_without_a_store_and_saves_to_a_fallback_file(
    oldfriend: Program, tmp_path: Path
) -> None:
    """It is in memory alone, and then in the store, or it is said in which file it lies."""
    in_the_way = tmp_path / "place"
    in_the_way.write_text("a file where a folder should be")
    store = {"OLDFRIEND_DATABASE": f"sqlite:///{in_the_way / 'memory.db'}"}
    program = Program(data=oldfriend.data, environment=store)
    lost = program("chat", stdin="I have a boat called Dora.\n/quit\n")
    assert lost.code == 1
    assert "is not kept yet" in lost.stderr
    (aside,) = oldfriend.data.glob("talk-*.jsonl")
    assert f"2 messages in {aside}" in lost.stdout
    assert "a boat called Dora" in aside.read_text("utf-8")
    refused = program("say", "hello")
    assert (refused.code, refused.stdout) == (1, "")

    with program.started("chat") as process:
        say(process, "I have a boat called Dora.")
        in_the_way.unlink()
        say(process, "Good night.")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    assert "Dora" in program.done("say", "What is my boat called?").stdout


def say(process: "subprocess.Popen[bytes]", text: str) -> str:
    """Say a line; what is replied to it."""
    assert process.stdin is not None
    process.stdin.write(f"{text}\n/help\n".encode())
    process.stdin.flush()
    replied = ""
    while (line := line_of(process.stdout)) != LAST_OF_HELP:
        assert process.poll() is None, "it has ended"
        replied += line
    return replied
