"""What comes in slowly or without end, seen from the door."""

import asyncio

import pytest
from starlette.datastructures import Headers
from starlette.types import Message

from oldfriend.api import security_middleware as guarding
from oldfriend.api.security_middleware import PayloadTooLarge, check_request, limit_body


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "pause_s", "comes_in"),
    [(1, 0.05, False), (1, 2.0, False), (16_000, 0.05, True)],
    ids=["in drops", "not at all", "slow, but it comes"],
)
async def test_body_sent_in_tiny_pieces_times_out_but_slow_upload_is_accepted(
    monkeypatch: pytest.MonkeyPatch, size: int, pause_s: float, comes_in: bool
) -> None:
    """However small the pieces: in all it takes no longer than a slow line does."""
    monkeypatch.setattr(guarding, "RECEIVE_TIMEOUT_S", 0.6)
    left = 20

    async def receive() -> Message:
        nonlocal left
        await asyncio.sleep(pause_s)
        left -= 1
        return {"type": "http.request", "body": bytes(size), "more_body": left > 0}

    receive_some = limit_body(receive, 1_000_000)

    async def receive_all() -> None:
        while (await receive_some())["more_body"]:
            pass

    if comes_in:
        await receive_all()
    else:
        with pytest.raises(PayloadTooLarge):
            await receive_all()
    assert (left == 0) is comes_in


SCOPE = {"method": "GET", "scheme": "http", "path": "/"}


def status_of(length: str) -> int | None:
    """With what a request of this length is refused, where at most 100 bytes are taken."""
    raw = [(b"content-length", length.encode("latin-1"))]
    found = check_request(SCOPE, Headers(raw=raw), 100)
    return found and found.status


@pytest.mark.parametrize("length", ["0", "99", "100"])
def test_content_length_up_to_the_limit_is_accepted(length: str) -> None:
    """Up to the limit."""
    assert status_of(length) is None


@pytest.mark.parametrize(
    "length", ["101", "\u00b2", "-1", "+5", "1_0", "1e1", "0x1", " 5", "9" * 5000]
)
def test_invalid_or_too_large_content_length_is_refused(length: str) -> None:
    """Also what Python takes for a number or a digit."""
    assert status_of(length) == 413
