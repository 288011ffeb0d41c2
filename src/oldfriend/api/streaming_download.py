"""Streaming download: sends an export file and aborts when the client stops reading.

The file is closed when the response ends.
"""

import asyncio
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from oldfriend.transfer.export import ExportFile

SEND_TIMEOUT_S: Final = 60.0


class ExportResponse(StreamingResponse):
    """A streaming response that sends an export file as a download."""

    def __init__(self, export_file: ExportFile, filename: str) -> None:
        """Set the headers from the file's size and name."""
        super().__init__(
            export_file.read_chunks(),
            media_type="application/jsonl",
            headers={
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename)}",
                "Content-Length": str(export_file.size),
            },
        )
        self._export_file = export_file

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file and close it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._export_file.close()

    @override
    async def stream_response(self, send: Send) -> None:
        """Send until done, or until the client takes no chunk for SEND_TIMEOUT_S."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await send(message)

        with suppress(TimeoutError):
            await super().stream_response(send_in_time)
