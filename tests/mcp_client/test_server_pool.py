"""Servers' tools are used without waiting for the servers, and nothing of them stays behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from oldfriend.domain.errors import ToolServerFailed
from oldfriend.mcp_client.remote_tool import MAX_TOOLS, RemoteTool
from oldfriend.mcp_client.server_pool import ToolServerPool
from tests.mcp_client.conftest import OpenPool, is_alive, list_alive, server_settings
from tests.processes import until

pytestmark = pytest.mark.slow

WAIT_S = 30.0
HOLD = """
import asyncio, sys
from pathlib import Path
from oldfriend.mcp_client.server_pool import ToolServerPool
from tests.mcp_client.conftest import server_settings

async def main():
    settings = server_settings(Path(sys.argv[1]), sys.argv[2])
    pool = ToolServerPool({"notes": settings}, lambda *_: None)
    print((await pool.check(30))[0].state, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def tool_of(pool: ToolServerPool, name: str) -> RemoteTool:
    """A tool, once its server is connected."""
    await pool.check(WAIT_S)
    return next(each for each in pool.list_tools() if each.name == name)


async def test_a_tool_is_called_once_its_server_is_there(
    open_pool: OpenPool, tmp_path: Path
) -> None:
    """Until then it is absent, and nobody waits for it."""
    pool = open_pool(notes=server_settings(tmp_path))
    began = time.monotonic()
    assert pool.list_tools() == ()
    assert time.monotonic() - began < 0.2

    search = await tool_of(pool, "search")
    answer = await pool.call(search, {"query": "plums"})
    (status,) = await pool.check(WAIT_S)

    assert "August" in answer
    assert search.full_name == "notes_search"
    assert search.is_reading
    assert status.state == "ready"
    assert "more0" in status.unused
    assert set(status.missing) == {"large"}


async def test_only_what_the_owner_has_named_is_offered_and_bounded(
    open_pool: OpenPool, tmp_path: Path
) -> None:
    """Neither a flood of tools nor deep or large schemas come through."""
    many = ("deep", *(f"more{number}" for number in range(60)))
    pool = open_pool(
        notes=server_settings(tmp_path), many=server_settings(tmp_path, tools=many, reading=())
    )
    await pool.check(WAIT_S)
    tools = pool.list_tools()
    of_many = [each for each in tools if each.server == "many"]
    deep = next(each for each in tools if each.full_name == "many_deep")

    assert {each.name for each in tools if each.server == "notes"} == {
        "search",
        "create",
        "environment",
        "slow",
        "die",
        "ordered",
        "deep",
    }
    assert len(of_many) == MAX_TOOLS
    assert len(json.dumps(deep.parameters)) < 500
    assert deep.parameters["properties"]["kind"] == {"type": "string"}
    assert not deep.is_reading


async def test_a_server_gets_none_of_our_variables(
    open_pool: OpenPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But its own, and its key under the name that the owner has given."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "ours")
    monkeypatch.setenv("OLDFRIEND_DATABASE", "postgresql://secret")
    pool = open_pool(
        key="theirs",
        notes=server_settings(tmp_path, env=("LEVEL=quiet=1",), key_from_env="NOTES_KEY"),
    )
    text = await pool.call(await tool_of(pool, "environment"), {})
    variables = json.loads(text)

    assert variables["LEVEL"] == "quiet=1"
    assert variables["NOTES_KEY"] == "theirs"
    assert not {"ANTHROPIC_API_KEY", "OLDFRIEND_DATABASE", "PYTHONPATH"} & variables.keys()
    assert "ours" not in text


@pytest.mark.parametrize("mode", ["mute", "crash", "missing"])
async def test_a_broken_server_delays_nothing(
    open_pool: OpenPool, tmp_path: Path, mode: str
) -> None:
    """Beside it another one is used, and it says why it cannot be."""
    broken = server_settings(tmp_path, mode)
    if mode == "missing":
        broken = type(broken)(command="/no/such/program", tools=("search",))
    pool = open_pool(broken=broken, notes=server_settings(tmp_path))
    began = time.monotonic()
    pool.list_tools()
    states = {each.name: each for each in await pool.check(3)}
    assert time.monotonic() - began < 6

    assert "August" in await pool.call(await tool_of(pool, "search"), {"query": "plums"})
    assert states["broken"].state == ("connecting" if mode == "mute" else "failed")
    assert mode == "mute" or states["broken"].reason


async def test_noise_does_not_break_a_server(open_pool: OpenPool, tmp_path: Path) -> None:
    """What is no protocol is passed over."""
    pool = open_pool(notes=server_settings(tmp_path, "noise"))

    assert "August" in await pool.call(await tool_of(pool, "search"), {"query": "plums"})


async def test_a_call_that_takes_too_long_ends(open_pool: OpenPool, tmp_path: Path) -> None:
    """In the time that the owner has set."""
    pool = open_pool(notes=server_settings(tmp_path, call_timeout_s=0.5))
    slow = await tool_of(pool, "slow")
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await pool.call(slow, {})

    assert time.monotonic() - began < 5


async def test_a_server_that_dies_is_a_sentence_and_comes_back(
    open_pool: OpenPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the next use after a pause."""
    monkeypatch.setattr("oldfriend.mcp_client.server_connection.FIRST_PAUSE_S", 0.2)
    pool = open_pool(notes=server_settings(tmp_path))
    die, search = await tool_of(pool, "die"), await tool_of(pool, "search")
    with pytest.raises(TimeoutError):  # it acts, so nobody knows whether it has
        await pool.call(die, {})
    with pytest.raises(ToolServerFailed, match="not connected"):
        await pool.call(search, {"query": "plums"})
    for _ in range(100):
        if pool.list_tools():
            break
        await asyncio.sleep(0.2)

    assert "August" in await pool.call(search, {"query": "plums"})


@pytest.mark.parametrize("mode", ["", "stubborn", "mute"])
async def test_closing_ends_all_processes(open_pool: OpenPool, tmp_path: Path, mode: str) -> None:
    """Those that a server has started, too."""
    pool = open_pool(notes=server_settings(tmp_path, mode))
    await pool.check(3)
    assert list_alive(tmp_path)
    await pool.close()

    until(lambda: not list_alive(tmp_path), within_s=WAIT_S)


async def test_a_server_that_is_being_ended_is_not_left_behind(
    open_pool: OpenPool, tmp_path: Path
) -> None:
    """Closed while a failed start is tidied up, which takes seconds: it is waited for."""
    pool = open_pool(notes=server_settings(tmp_path, "deaf"))
    (status,) = await pool.check(0)
    await asyncio.to_thread(until, (tmp_path / "deaf").exists, within_s=WAIT_S)
    await pool.check(1)
    await pool.close()

    assert status.state == "connecting"
    until(lambda: not list_alive(tmp_path), within_s=5)


@pytest.mark.parametrize("mode", ["", "stubborn"])
def test_no_server_outlives_us(tmp_path: Path, mode: str) -> None:
    """However we end: by a kill that leaves no time to tidy up."""
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), str(root)])
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), mode],
        stdout=subprocess.PIPE,
        env={"PATH": os.defpath, "PYTHONPATH": path},
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        alive = list_alive(tmp_path)
        holder.send_signal(signal.SIGKILL)

    assert alive
    until(lambda: not any(map(is_alive, alive)), within_s=WAIT_S)


async def test_two_servers_never_share_the_name_of_a_tool(
    open_pool: OpenPool, tmp_path: Path
) -> None:
    """A yes for the one would run the other: the first that is configured has it."""
    settings = server_settings(tmp_path, tools=("search",), reading=())
    pool = open_pool(**{"a_b": settings, "a-b": settings})
    await pool.check(WAIT_S)

    assert [(each.server, each.full_name) for each in pool.list_tools()] == [("a_b", "a_b_search")]
