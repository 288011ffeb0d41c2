"""How is something large handed out to whoever asks for it, and may be slow to take it?

It is sent as fast as it is taken. Whoever takes nothing of it for long has left, and it is let go
of. It does not know what it is.
"""

import asyncio
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from oldfriend.app.packing import Packed

TO_TAKE_S: Final = 60.0


class HandedOut(StreamingResponse):
    """What was packed, on its way to somebody, under a name."""

    def __init__(self, packed: Packed, name: str) -> None:
        """Nothing of it is sent yet."""
        super().__init__(
            packed.pieces(), media_type="application/jsonl",
            headers={
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
                "Content-Length": str(packed.size),
            },
        )  # fmt: skip
        self._packed = packed

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and let go of it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._packed.close()

    @override
    async def stream_response(self, send: Send) -> None:
        """Send all of it, or as much as is taken in time."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(TO_TAKE_S):
                await send(message)

        with suppress(TimeoutError):
            await super().stream_response(send_in_time)
