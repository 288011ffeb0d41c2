"""Reply response: sends a reply as it is written, and ends it when the program is gone."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.types import Receive, Scope, Send

from oldfriend.app.concurrency import run_with_watcher
from oldfriend.app.event_log import log_warning
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.json import JsonValue
from oldfriend.openai_api.chat_reply import ChatReply, FinishedReply
from oldfriend.openai_api.error_json import ApiRefusal, ErrorFormat, to_refusal

KEEP_ALIVE_S: Final = 10.0
"""Seconds without a word after which a stream shows that it is alive."""


class ProgramGone(Exception):
    """The program that asked has closed its connection."""


class ReplyFormat(Protocol):
    """How a reply is written for a program."""

    @property
    def error_format(self) -> ErrorFormat:
        """Return the format of errors."""

    @property
    def is_streamed(self) -> bool:
        """Tell whether the reply is sent piece by piece."""

    @property
    def media_type(self) -> str:
        """Return the type of a stream."""

    def build_whole(self, finished: FinishedReply) -> JsonValue:
        """Return the body of a reply that is sent whole."""

    def iter_first(self) -> Iterator[str]:
        """Yield what a stream begins with."""

    def iter_piece(self, piece: str) -> Iterator[str]:
        """Yield what a stream holds for a piece of text."""

    def iter_last(self, finished: FinishedReply) -> Iterator[str]:
        """Yield what a stream ends with."""

    def iter_error(self, refusal: ApiRefusal) -> Iterator[str]:
        """Yield how a stream ends that cannot go on."""

    @property
    def keep_alive(self) -> str:
        """Return what shows that a stream is alive; empty if the format has nothing for it."""


@dataclass(slots=True)
class ReplyResponse:
    """The response to a request for a reply, as an ASGI application."""

    reply: ChatReply
    form: ReplyFormat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply; when the program is gone, nobody waits for it."""
        work = (
            self._stream(send) if self.form.is_streamed else self._send_whole(scope, receive, send)
        )
        try:
            await run_with_watcher(raise_when_gone(receive), work)
        except ProgramGone:
            with suppress(OldfriendError):  # it may be over, or forgotten
                await self.reply.abandon()

    async def _send_whole(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply once it is there."""
        try:
            finished = await self.reply.write(ignore_text)
        except (OldfriendError, ApiRefusal) as error:
            response = to_refusal(error).to_response(self.form.error_format)
            await response(scope, receive, send)
            return
        body = json.dumps(self.form.build_whole(finished), ensure_ascii=False).encode()
        await start(send, "application/json")
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, send: Send) -> None:
        """Send the reply as it is written."""
        await start(send, self.form.media_type)
        stream = ReplyStreaming(send, self.form)
        await stream.send_all(self.form.iter_first())
        try:
            finished = await run_with_watcher(
                stream.keep_alive(), self.reply.write(stream.write_piece)
            )
        except (OldfriendError, ApiRefusal) as error:
            log_warning("api-reply-failed", error)
            await stream.send_all(self.form.iter_error(to_refusal(error)))
        else:
            await stream.send_all(self.form.iter_last(finished))
        await send({"type": "http.response.body", "body": b""})


class ReplyStreaming:
    """A stream that is being sent."""

    def __init__(self, send: Send, form: ReplyFormat) -> None:
        """Begin with nothing sent."""
        self._send = send
        self._form = form
        self._has_sent = False

    async def send_all(self, frames: Iterator[str]) -> None:
        """Send frames."""
        text = "".join(frames)
        if text:
            self._has_sent = True
            await self._send(
                {"type": "http.response.body", "body": text.encode(), "more_body": True}
            )

    async def write_piece(self, piece: str) -> None:
        """Send a piece of text."""
        await self.send_all(self._form.iter_piece(piece))

    async def keep_alive(self) -> None:
        """Show that the stream is alive whenever nothing was sent for a while."""
        while True:
            self._has_sent = False
            await asyncio.sleep(KEEP_ALIVE_S)
            if not self._has_sent:
                await self.send_all(iter([self._form.keep_alive]))


async def raise_when_gone(receive: Receive) -> None:
    """Raise ProgramGone once the connection is closed."""
    while (await receive())["type"] != "http.disconnect":
        pass
    raise ProgramGone


async def start(send: Send, media_type: str) -> None:
    """Send the head of a response."""
    headers = [(b"content-type", media_type.encode()), (b"x-accel-buffering", b"no")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def ignore_text(_: str) -> None:
    """Ignore a piece: the whole is sent at the end."""


def to_sse(data: Mapping[str, JsonValue] | str, *, event: str = "") -> str:
    """Return a server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {event}\ndata: {text}\n\n" if event else f"data: {text}\n\n"
