"""Call spool: keeps model calls in memory and on disk until they are in the ledger.

A call is noted before it is sent, and recorded as soon as its last byte has been read: from then on
neither a killed process nor a database that cannot be written loses it.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from oldfriend.app.event_log import log_warning
from oldfriend.app.process_registry import LineSpan, ProcessFile
from oldfriend.app.spooled_calls import (
    FinishedCall,
    OpenCall,
    count_chars,
    finished_call_to_json,
    open_call_to_json,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import CompletionRequest
from oldfriend.usage.model_calls import CallContext

SYNC_AFTER_S: Final = 0.1
"""A call that is not in the ledger by then is also secured against a power cut."""
NOTE_INTERVAL_S: Final = 0.25
"""How often the progress of an answer is noted."""


class CallSpool:
    """The calls of this process that are not in the ledger yet."""

    def __init__(self, file: ProcessFile | None = None) -> None:
        """Start empty; without a file, calls are kept in memory only."""
        self.pending: dict[str, FinishedCall] = {}
        self._file = file
        self._open: dict[str, OpenCall] = {}
        self._spans: dict[str, LineSpan] = {}
        self._ended = asyncio.Event()
        self._sync: asyncio.TimerHandle | None = None

    def reserve(self) -> None:
        """Reserve disk space for later calls, as far as there is any."""
        if self._file is not None:
            with suppress(OSError):
                self._file.reserve()

    def begin(
        self,
        asker: CallContext,
        request: CompletionRequest,
        *,
        step: int,
        request_hash: str,
        model: str,
        is_free: bool,
        now: Micros,
    ) -> OpenCall:
        """Note that a call is about to be sent."""
        opened = OpenCall(
            id=new_id(now),
            asker=asker,
            step=step,
            request_hash=request_hash,
            model=model,
            purpose=request.purpose,
            prompt=request.prompt,
            sent_chars=count_chars(request),
            is_free=is_free,
            made_at=now,
        )
        self._open[opened.id] = opened
        opened.span = self._append(open_call_to_json(opened))
        return opened

    def note_progress(self, opened: OpenCall, chunk: str) -> None:
        """Note from time to time how much of an answer has arrived, in case its end never comes."""
        opened.received_chars += len(chunk)
        now = asyncio.get_running_loop().time()
        if opened.span is None or now < opened.noted_at + NOTE_INTERVAL_S:
            return
        opened.noted_at = now
        if self._file is not None:
            with suppress(OSError):
                self._file.overwrite(opened.span, open_call_to_json(opened))

    def put(self, finished: FinishedCall, *, ends: OpenCall | None = None) -> None:
        """Record a finished call; ``ends`` is the open call that it completes."""
        self.pending[finished.id] = finished
        span = self._append(finished_call_to_json(finished, ends=None if ends is None else ends.id))
        if span is not None:
            self._spans[finished.id] = span
        if ends is not None and (span is not None or self._file is None):
            self.end(ends)
        if self._sync is None and span is not None:
            loop = asyncio.get_running_loop()
            self._sync = loop.call_later(SYNC_AFTER_S, self._sync_in_thread)

    def end(self, opened: OpenCall) -> None:
        """Mark an open call as no longer under way."""
        if self._open.pop(opened.id, None) is not None:
            self._ended.set()
            self._erase(opened.span)
            self._cancel_idle_sync()

    async def wait_for_turn(self, turn: TurnId | None, *, timeout_s: float) -> None:
        """Wait until this process has no open call for the turn, so that its answer can be used.

        There may be one if the turn's lease was lost here and the turn has been claimed again.
        """
        if not self._has_open(turn):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._has_open(turn):
                    self._ended.clear()
                    await self._ended.wait()

    def _has_open(self, turn: TurnId | None) -> bool:
        return any(each.asker.turn == turn for each in self._open.values())

    def mark_stored(self, call_id: str) -> None:
        """Remove a call that is in the ledger from the spool."""
        self.pending.pop(call_id, None)
        self._erase(self._spans.pop(call_id, None))
        self._cancel_idle_sync()

    def close(self) -> None:
        """Release the file; it stays on disk if it holds a call that is not in the ledger."""
        if self._sync is not None:
            self._sync.cancel()
        if self._file is not None:
            self._file.close(keep=bool(self.pending or self._open))

    def _append(self, fields: Mapping[str, JsonValue]) -> LineSpan | None:
        if self._file is None:
            return None
        try:
            if self._file.is_half_full:
                with suppress(OSError):  # the file still has some room
                    self._compact(self._file)
            return self._file.append(fields)
        except OSError as error:
            log_warning("call-not-spooled", error)
            return None

    def _compact(self, file: ProcessFile) -> None:
        """Rewrite the file without its erased lines. Raises OSError."""
        opened = [each for each in self._open.values() if each.span is not None]
        spooled = [
            self.pending[each] for each, span in self._spans.items() if not file.is_erased(span)
        ]
        spans = file.rewrite(
            [
                *map(open_call_to_json, opened),
                *(finished_call_to_json(each, ends=None) for each in spooled),
            ]
        )
        for each, span in zip(opened, spans, strict=False):
            each.span = span
        self._spans = {
            each.id: span for each, span in zip(spooled, spans[len(opened) :], strict=True)
        }

    def _erase(self, span: LineSpan | None) -> None:
        if self._file is not None and span is not None:
            with suppress(OSError):
                self._file.erase(span)

    def _cancel_idle_sync(self) -> None:
        """Cancel the pending sync if the file holds nothing that matters."""
        if self._sync is not None and not (self._open or self._spans):
            self._sync.cancel()
            self._sync = None

    def _sync_in_thread(self) -> None:
        """Sync pending calls to disk in a thread."""
        self._sync = None
        if self._file is not None and self.pending:
            asyncio.get_running_loop().run_in_executor(None, self._sync_now)

    def _sync_now(self) -> None:
        assert self._file is not None
        with suppress(OSError):
            self._file.sync()
