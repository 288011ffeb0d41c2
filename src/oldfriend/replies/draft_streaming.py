"""Draft streaming: shows a reply on a platform while it is being written.

Best effort: it neither delays a turn nor makes one fail. Where the draft is a message that becomes
the reply, its id is stored with the job, so that whoever takes over the turn continues in it.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from oldfriend.app.app_context import AppContext
from oldfriend.app.leases import raise_if_stopped
from oldfriend.channels.channel import DraftPreview
from oldfriend.domain.errors import (
    ChatAddressChanged,
    DeliveryFailed,
    InvalidInput,
    LeaseLost,
    StoreError,
    TurnStopped,
    Undeliverable,
)
from oldfriend.domain.job_types import Job, Lease
from oldfriend.memory.people import get_chat
from oldfriend.queues.inbox import (
    find_draft_external_id,
    parse_inbox_payload,
    record_draft_external_id,
)
from oldfriend.queues.queue import lock_lease
from oldfriend.turn.turn_outcome import Utterance

DRAFT_DELAY_S: Final = 1.0
"""A reply that is ready within this time is not previewed."""
SHOW_TIMEOUT_S: Final = 5.0
CREATE_TIMEOUT_S: Final = 30.0
"""Longer than a call takes: a send that is cut off may have created a message that nobody knows."""

T = TypeVar("T")


class DraftStream:
    """A reply that is being written, shown piece by piece on a platform."""

    def __init__(
        self,
        app: AppContext,
        lease: Lease,
        jobs: tuple[Job, ...],
        preview: DraftPreview,
        *,
        recorded_id: str | None,
    ) -> None:
        """Start empty; ``recorded_id`` is that of the message that shows the draft."""
        self._app = app
        self._lease = lease
        self._jobs = jobs
        self._preview = preview
        self._recorded_id = recorded_id
        self._is_over = False
        self._text = ""

    async def append(self, chunk: str) -> None:
        """Add a piece of the reply, without waiting for it to be shown."""
        self._text += chunk

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Show the draft while the work runs, and return the result of the work.

        A draft message that is being sent is waited for, so that it is not sent twice; after a stop
        nothing will be sent, so it is cancelled.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                showing = tasks.create_task(self._show())
                try:
                    done = await work
                finally:  # before the group sees an error, which would cancel the preview
                    self._is_over = True
                    is_unrecorded = self._preview.is_sending or not self._is_recorded
                    if is_unrecorded and not await self._is_stopped():
                        await asyncio.wait({showing})
                    showing.cancel()
        except BaseExceptionGroup as group:
            raise group.exceptions[-1] from group  # the work's own error comes last
        return done

    async def _show(self) -> None:
        """Update the preview from time to time, and give up if it cannot be shown."""
        await asyncio.sleep(DRAFT_DELAY_S)
        while not self._is_over:
            pause_s = self._preview.interval_s
            try:
                await self._show_once()
            except DeliveryFailed as error:
                if error.retry_after_s is None:
                    return  # the reply itself is delivered anyway
                pause_s = max(pause_s, error.retry_after_s)
            except (Undeliverable, ChatAddressChanged, TimeoutError, StoreError, LeaseLost):
                return
            if not self._is_over:
                await asyncio.sleep(pause_s)

    async def _show_once(self) -> None:
        """Update the preview, and record the id of a message that becomes the reply at once."""
        async with asyncio.timeout(CREATE_TIMEOUT_S) as limit:
            patience = asyncio.get_running_loop().call_later(SHOW_TIMEOUT_S, self._cut_off, limit)
            try:
                await self._preview.show(self._text)
            finally:
                patience.cancel()
        if not self._is_recorded:
            self._app.on_crash_point("shown")
            await self.record_external_id()

    async def record_external_id(self) -> None:
        """Record which message shows the draft, if it is not known yet. Raises LeaseLost."""
        if (external_id := self._preview.external_id) is None or self._is_recorded:
            return
        async with self._app.db.begin_write() as tx:
            await lock_lease(tx, self._lease)
            await record_draft_external_id(tx, self._jobs, external_id)
        self._recorded_id = external_id

    @property
    def _is_recorded(self) -> bool:
        return self._preview.external_id == self._recorded_id

    async def _is_stopped(self) -> bool:
        """Return whether the person has stopped the turn, as far as that can be known."""
        try:
            await raise_if_stopped(
                self._app.db, self._lease, parse_inbox_payload(self._jobs[0]).turn
            )
        except TurnStopped:
            return True
        except StoreError:
            return False
        return False

    def _cut_off(self, limit: asyncio.Timeout) -> None:
        """End an update that only edits; a message that is being created is waited for."""
        if not self._preview.is_sending:
            limit.reschedule(asyncio.get_running_loop().time())


async def open_draft_stream(
    app: AppContext, lease: Lease, jobs: tuple[Job, ...], utterance: Utterance
) -> DraftStream | None:
    """Open the preview of a reply on its platform; None if there is none."""
    channel = app.channels.get(utterance.message.channel)
    if channel is None:
        return None
    try:
        async with app.db.begin_read() as tx:
            chat = await get_chat(tx, utterance.person.id, utterance.message.chat)
            draft_external_id = await find_draft_external_id(tx, jobs)
        preview = channel.open_preview(
            chat.address, send_key=str(utterance.message.turn), external_id=draft_external_id
        )
        if preview is None:
            return None
        stream = DraftStream(app, lease, jobs, preview, recorded_id=draft_external_id)
        await (
            stream.record_external_id()
        )  # before the reply, which may be faster than the first preview
    except (StoreError, InvalidInput, LeaseLost):
        return None
    return stream
