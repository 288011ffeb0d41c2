"""A program starts `oldfriend mcp`, or reaches a server, as real processes do."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.cli.serving import on_any_port, served
from tests.mcp_server.conftest import Caller, read_texts
from tests.processes import Program, until

pytestmark = pytest.mark.slow

MISO = "My cat is called Miso."
STARTS_S = 30.0
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
LIST_ONLY = """
import asyncio, os, sys
from oldfriend.cli.main import main
import oldfriend.mcp_server.stdio_door as door
real = door.LazyMemory.close
async def close(memory):
    print(*sys.modules, file=sys.stderr)
    await real(memory)
door.LazyMemory.close = close
main(["mcp"])
"""


@asynccontextmanager
async def started(
    program: Program, *arguments: str, cwd: Path | None = None
) -> AsyncIterator[Caller]:
    """A program that has started `oldfriend mcp`."""
    command, *rest = map(str, program.command("mcp", *arguments))
    parameters = StdioServerParameters(
        command=command, args=rest, env=dict(program.variables), cwd=cwd
    )
    async with Client(parameters) as client:
        yield Caller(client)


def open_pipes(program: Program, *arguments: str) -> "subprocess.Popen[bytes]":
    """`oldfriend mcp` with its pipes in our hands."""
    return subprocess.Popen(
        program.command("mcp", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=program.variables,
    )


def send(process: "subprocess.Popen[bytes]", *messages: object) -> None:
    """Write messages, one a line."""
    assert process.stdin is not None
    for each in messages:
        line = each if isinstance(each, bytes) else json.dumps(each).encode()
        process.stdin.write(line + b"\n")
    process.stdin.flush()


async def test_a_program_remembers_and_recalls(oldfriend: Program, tmp_path: Path) -> None:
    """On a fresh machine, from any folder, and with what the person said in the terminal (5, 7)."""
    async with started(oldfriend, cwd=tmp_path) as caller:
        stored = await caller.told("remember", text="The spare key is under the blue pot.")
        found = await caller.told("recall", query="Where is the spare key?")
    oldfriend.done("say", MISO)
    (tmp_path / "elsewhere").mkdir()
    async with started(oldfriend, "--read-only", cwd=tmp_path / "elsewhere") as caller:
        cats = await caller.told("recall", query="What is my cat called?")
        refusal = await caller.refused("remember", text="No.")
    recalled = oldfriend.done("recall", "spare key", "--json").json

    assert found["results"][0]["id"] == stored["id"]
    assert MISO in read_texts(cats)
    assert "no tool" in refusal or "only read" in refusal
    assert recalled[0]["message"] == stored["id"]


async def test_what_is_said_meanwhile_is_found(oldfriend: Program) -> None:
    """A program and a server share the store: each finds at once what the other stored."""
    with served(on_any_port(oldfriend)):
        async with started(oldfriend) as caller:
            await caller.told("recall", query="cat")
            oldfriend.done("say", MISO)
            found = await caller.told("recall", query="What is my cat called?")
            async with asyncio.TaskGroup() as tasks:
                for number in range(20):
                    tasks.create_task(caller.told("remember", text=f"Note {number}."))
        listed = oldfriend.done("export").stdout

    assert MISO in read_texts(found)
    assert all(f"Note {number}." in listed for number in range(20))


async def test_12_a_restarted_server_goes_on_with_its_clients(oldfriend: Program) -> None:
    """“Transport changes.” No session is kept, so none is lost, whichever protocol is spoken."""
    oldfriend.done("say", "Hello.")
    token = oldfriend.done("token", "new", "desk", "--scope", "write").stdout
    secret = next(word for word in token.split() if word.startswith("oldfriend_"))
    headers = {"Authorization": f"Bearer {secret}"}
    with served(on_any_port(oldfriend)) as first:
        port = first.port
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport, mode="legacy") as client:
                caller = Caller(client)
                await caller.told("remember", text=MISO)
                first.process.send_signal(signal.SIGTERM)
                first.process.wait(STARTS_S)
                again = replace(
                    oldfriend,
                    environment={**oldfriend.environment, "OLDFRIEND_SERVE_PORT": str(port)},
                )
                with served(again):
                    found = await caller.told("recall", query="What is my cat called?")

    assert MISO in read_texts(found)


def test_8_lists_load_nothing_heavy(oldfriend: Program) -> None:
    """“Slow start.” Neither numpy nor the model nor a database, and no file is made."""
    with subprocess.Popen(
        [sys.executable, "-c", LIST_ONLY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=oldfriend.variables,
    ) as process:
        send(process, HANDSHAKE, LIST)
        assert process.stdout is not None
        _, listed = process.stdout.readline(), json.loads(process.stdout.readline())
        _, logged = process.communicate(timeout=STARTS_S)
    loaded = set(logged.decode().split())

    assert len(listed["result"]["tools"]) == 5
    assert "mcp" in loaded
    heavy = {"numpy", "onnxruntime", "apsw", "oldfriend.runtime.wiring", "fastapi"}
    assert not heavy & loaded
    assert not oldfriend.data.exists()


def test_standard_output_carries_the_protocol_only(oldfriend: Program) -> None:
    """Whatever comes in, and although a warning is logged."""
    with open_pipes(oldfriend, "--set", "search.memory_mb=64") as process:
        call = {"name": "recall", "arguments": {"query": "cat"}}
        send(
            process,
            HANDSHAKE,
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            b"this is no JSON",
            b"\xff\xfe",
            b"[1, 2]",
            {"jsonrpc": "2.0", "id": 3, "method": "no/such"},
            {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": call},
            LIST,
        )
        assert process.stdout is not None
        lines, seen = [], set()
        while not {1, 2, 3, 4} <= seen:
            lines.append(json.loads(process.stdout.readline()))
            seen.add(lines[-1].get("id"))
        out, _ = process.communicate(timeout=STARTS_S)

    assert all(each["jsonrpc"] == "2.0" for each in lines)
    assert out == b""
    assert process.returncode == 0


@pytest.mark.parametrize("has_called", [False, True])
@pytest.mark.parametrize("end", ["eof", "term", "int", "kill parent"])
def test_10_no_process_stays_behind(oldfriend: Program, end: str, has_called: bool) -> None:
    """“Leaked processes.” It ends with its program, however that one ends."""
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"  # our pipe stays open
        "print(child.pid, flush=True)\n"
        "for line in child.stdout: sys.stdout.buffer.write(line); sys.stdout.flush()\n"
    )
    command = [sys.executable, "-c", script, *map(str, oldfriend.command("mcp"))]
    parent = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=oldfriend.variables,
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        call = {"name": "recall", "arguments": {"query": "cat"}}
        asked = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
        send(parent, HANDSHAKE, *([asked] if has_called else [LIST]))
        parent.stdout.readline()
        parent.stdout.readline()
        if end == "eof":
            assert parent.stdin is not None
            parent.stdin.close()
        elif end == "kill parent":  # our end of the pipe stays open
            parent.kill()
        else:
            os.kill(pid, signal.SIGTERM if end == "term" else signal.SIGINT)
        try:
            until(lambda: not is_alive(pid), within_s=STARTS_S)
        finally:
            parent.kill()


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2][:3]
    except OSError:
        return False


async def test_11_a_damaged_or_locked_store_is_told(oldfriend: Program, tmp_path: Path) -> None:
    """“Corrupt or untyped store.” In a sentence; the next call works once it is mended."""
    oldfriend.data.mkdir(mode=0o700)
    file = oldfriend.data / "oldfriend.db"
    file.write_bytes(b"not a database" * 1000)
    async with started(oldfriend) as caller:
        broken = await caller.refused("recall", query="cat")
        file.unlink()
        mended = await caller.told("recall", query="cat")

    assert "oldfriend.db" in broken
    assert mended["results"] == []


async def test_a_readable_store_that_a_server_holds_is_told(oldfriend: Program) -> None:
    """The JSON engine has one process at a time; the program is told so, and waits its turn."""
    url = f"json:///{oldfriend.data / 'oldfriend.json'}"
    program = replace(oldfriend, environment={"OLDFRIEND_DATABASE": url})
    async with started(program) as caller:
        with served(on_any_port(program)):
            began = time.monotonic()
            refusal = await caller.refused("recall", query="cat")
            took = time.monotonic() - began
        found = await caller.told("recall", query="cat")

    assert "oldfriend.json is in use by process" in refusal
    assert took < STARTS_S
    assert found["results"] == []


async def test_an_unknown_person_is_told(oldfriend: Program) -> None:
    """And nobody is created by a typo."""
    async with started(oldfriend, "--person", "Zebulon") as caller:
        refusal = await caller.refused("recall", query="cat")

    assert "Zebulon" in refusal
    assert "--person" in refusal
