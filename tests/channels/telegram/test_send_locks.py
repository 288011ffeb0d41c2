"""Who is slow with a call in the air is waited for by whoever has taken their chat over."""

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from oldfriend.channels.telegram.sent_log import POLL_INTERVAL_S, SendLocks
from oldfriend.channels.telegram.telegram_channel import TelegramChannel
from tests.fakes.telegram import Fault, World, running_telegram
from tests.processes import line_of, python

ANA = 7
HOLDS = """
import asyncio, sys
from pathlib import Path
from oldfriend.channels.telegram.sent_log import SendLocks

async def main():
    locks = SendLocks(Path(sys.argv[1]), timeout_s=9)
    await locks.acquire("reply/0")
    print("held", flush=True)
    sys.stdin.readline()
    locks.release("reply/0")
    print("let go", flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""
SENDS = """
import asyncio, sys
from pathlib import Path
from oldfriend.channels.telegram.telegram_channel import TelegramChannel

async def main():
    telegram = TelegramChannel(sys.argv[2], base_url=sys.argv[3], folder=Path(sys.argv[1]))
    sending = asyncio.create_task(telegram.send(sys.argv[4], "hi", send_key="reply/0"))
    if sys.argv[5:]:  # it loses what it held; the call goes on
        await asyncio.sleep(float(sys.argv[5]))
        sending.cancel()
    await asyncio.wait([sending])
    await telegram.close()

asyncio.run(main())
"""


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@contextmanager
def timed() -> Iterator[list[float]]:
    """How many seconds something takes."""
    took: list[float] = []
    began = time.monotonic()
    yield took
    took.append(time.monotonic() - began)


async def test_send_lock_of_another_process_is_waited_for_until_release(tmp_path: Path) -> None:
    """Only for the same; it may have it again afterwards."""
    begun = SendLocks(tmp_path, timeout_s=9)
    with python(HOLDS, tmp_path) as other:
        assert line_of(other.stdout) == "held"
        await begun.acquire("reply/1")
        waiting = asyncio.ensure_future(begun.acquire("reply/0"))
        await asyncio.sleep(4 * POLL_INTERVAL_S)
        waits = not waiting.done()
        assert other.stdin is not None
        other.stdin.write(b"\n")
        other.stdin.flush()
        assert line_of(other.stdout) == "let go"
        await asyncio.wait_for(waiting, 5)
    begun.release("reply/0")
    begun.release("reply/1")
    with python(HOLDS, tmp_path) as other:
        assert line_of(other.stdout) == "held"

    assert waits


async def test_send_lock_of_stopped_process_times_out_and_of_dead_one_is_free(
    tmp_path: Path,
) -> None:
    """Nothing hangs on a process that may never go on."""
    begun = SendLocks(tmp_path, timeout_s=0.6)
    with python(HOLDS, tmp_path) as other:
        assert line_of(other.stdout) == "held"
        other.send_signal(signal.SIGSTOP)
        with timed() as stopped:
            await begun.acquire("reply/0")
        begun.release("reply/0")
        other.send_signal(signal.SIGKILL)
        other.wait(5)
        with timed() as dead:
            await begun.acquire("reply/0")

    assert stopped[0] >= 0.6
    assert dead[0] < 0.5


async def test_send_locks_without_a_usable_folder_do_not_block(tmp_path: Path) -> None:
    """Without a folder, and where none can be made; and what is held twice is let go of twice."""
    (tmp_path / "file").touch()
    for folder in (None, tmp_path / "file", tmp_path):
        begun = SendLocks(folder, timeout_s=9)
        with timed() as took:
            await begun.acquire("reply/0")
            await begun.acquire("reply/0")
        begun.release("reply/0")
        begun.close()
        begun.release("reply/0")

        assert took[0] < 1
    with python(HOLDS, tmp_path) as other:
        assert line_of(other.stdout) == "held"


@pytest.mark.slow
@pytest.mark.parametrize("gives_up", [(), (0.3,)], ids=["waits", "gives up"])
async def test_message_in_flight_in_another_process_is_not_sent_again(
    world: World, tmp_path: Path, gives_up: tuple[float, ...]
) -> None:
    """Its answer is waited for, also where nobody there waits for it any more."""
    world.scripted["sendMessage"].append(Fault(status=200, delay_s=1.0))
    telegram = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
    with python(SENDS, tmp_path, world.token, world.url, ANA, *gives_up) as slow:
        assert await asyncio.to_thread(world.wait, lambda: bool(world.texts(ANA)))
        await asyncio.sleep(0.4 if gives_up else 0.0)
        key = await telegram.send(str(ANA), "hi", send_key="reply/0")
        await telegram.close()
        assert slow.wait(10) == 0

    assert world.texts(ANA) == ["hi"]
    assert key == f"message:{ANA}:{world.shown[0].id}"


@pytest.mark.slow
async def test_message_that_failed_in_another_process_is_sent(world: World, tmp_path: Path) -> None:
    """It was refused, or never got there."""
    world.scripted["sendMessage"].append(Fault(status=500, delay_s=0.5))
    telegram = TelegramChannel(world.token, base_url=world.url, folder=tmp_path)
    with python(SENDS, tmp_path, world.token, world.url, ANA):
        assert await asyncio.to_thread(world.wait, lambda: bool(world.called("sendMessage")))
        await telegram.send(str(ANA), "hi", send_key="reply/0")
        await telegram.close()

    assert world.texts(ANA) == ["hi"]
