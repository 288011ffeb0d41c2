"""What comes in slowly or without end, seen from the door."""

import asyncio

import pytest
from starlette.types import Message

from oldfriend.web import guarding
from oldfriend.web.guarding import TooMuch, bounded


@pytest.mark.parametrize(
    ("size", "pause_s", "comes_in"),
    [(1, 0.05, False), (1, 2.0, False), (16_000, 0.05, True)],
    ids=["in drops", "not at all", "slow, but it comes"],
)
async def test_nobody_holds_a_connection_by_sending_in_drops(
    monkeypatch: pytest.MonkeyPatch, size: int, pause_s: float, comes_in: bool
) -> None:
    """However small the pieces: in all it takes no longer than a slow line does."""
    monkeypatch.setattr(guarding, "TO_SEND_S", 0.6)
    left = 20

    async def receive() -> Message:
        nonlocal left
        await asyncio.sleep(pause_s)
        left -= 1
        return {"type": "http.request", "body": bytes(size), "more_body": left > 0}

    receive_some = bounded(receive, 1_000_000)

    async def receive_all() -> None:
        while (await receive_some())["more_body"]:
            pass

    if comes_in:
        await receive_all()
    else:
        with pytest.raises(TooMuch):
            await receive_all()
    assert (left == 0) is comes_in
