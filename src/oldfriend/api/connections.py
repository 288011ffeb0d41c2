"""Connection hub: the open pages of this process and the replies being streamed to them.

Replies to web messages are generated here so that their text can be streamed, and then spoken if
the person wants that. Nothing depends on it: accepted messages wait in the inbox, and another
process answers them if this one ends. Independent of HTTP.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from typing_extensions import override

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.app.leases import HeldLease
from oldfriend.app.notifications import WakeEvent, set_on_stop
from oldfriend.domain.errors import OldfriendError, TurnStopped
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import MessageId, PersonId, TurnId
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import AcceptedMessage
from oldfriend.replies.delay_notices import Delay, format_delay
from oldfriend.replies.reply_worker import wait_for_reply
from oldfriend.replies.text_to_speech import synthesize_reply
from oldfriend.runtime.import_jobs import ImportWorker
from oldfriend.transfer.export_run import ExportBuilder
from oldfriend.transfer.uploads import UPLOADS_FOLDER

MAX_REPLIES: Final = 64
"""Replies generated here at once; of any beyond that, clients see only the finished text."""
MAX_SPEECH: Final = 4
"""Replies synthesized at once, each held in memory whole."""
MAX_CONNECTIONS: Final = 32
"""Open pages per person in one process."""
MAX_CONNECTIONS_PER_TOKEN: Final = 8
"""Connections per token, so that a program leaves room for its person's own pages."""
SWEEP_S: Final = 30.0


@dataclass(slots=True, kw_only=True)
class DraftReply:
    """A reply in progress: its text so far, and a notice of why it is delayed."""

    person: PersonId
    asked: MessageId
    turn: TurnId
    text: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransientEvent:
    """An event for connected clients only; it is not stored."""

    number: int
    person: PersonId
    kind: Literal["failed", "voice ready", "tasks changed"]
    message: MessageId | None = None  # the unanswered message, or the reply that now has audio
    reason: str = ""


class Connection(WakeEvent):
    """An open page: a wake event for draft text and for stored changes."""

    def __init__(self, token: str = "") -> None:
        """Start with an update pending; a program's connection carries its token."""
        super().__init__()
        self.token = token
        self._has_updates = True

    @override
    def set(self) -> None:
        """Signal that something may have been stored."""
        self._has_updates = True
        super().set()

    def notify_draft(self) -> None:
        """Signal that draft text has changed but nothing was stored."""
        super().set()

    @override
    async def wait(self, timeout_s: float) -> None:
        """Wait for a signal; a timeout also sets the update flag, in case a signal was missed."""
        clock = asyncio.get_running_loop().time
        until = clock() + timeout_s
        await super().wait(timeout_s)
        self._has_updates = self._has_updates or clock() >= until

    def take_update_flag(self) -> bool:
        """Return whether something may have been stored since the last call, and reset the flag."""
        has_updates, self._has_updates = self._has_updates, False
        return has_updates


class ConnectionHub:
    """State shared by the open pages of this process."""

    def __init__(self, app: AppContext, *, port: int) -> None:
        """Start without connections."""
        self.app = app  # replaced when settings are reloaded
        self.port = port
        self.import_worker = ImportWorker(app.settings.data / UPLOADS_FOLDER)
        self.export_builder = ExportBuilder(app.settings.data)
        self.drafts: dict[TurnId, DraftReply] = {}
        self._transient_events: deque[TransientEvent] = deque(maxlen=MAX_REPLIES)
        self._transient_count = 0
        self._spoken_ids: deque[MessageId] = deque(maxlen=MAX_REPLIES)
        self._speech_tasks: set[asyncio.Task[None]] = set()
        self._speech_slots = asyncio.Semaphore(MAX_SPEECH)
        self._is_stopping = False
        self._reply_queue: deque[AcceptedMessage] = deque()
        self._workers: set[WakeEvent] = set()
        self._connections: dict[PersonId, set[Connection]] = {}
        self.sign_outs = 0  # counts the calls to note_sign_out

    @property
    def is_closing(self) -> bool:
        """Whether event streams must end: the process stops and no reply is in progress."""
        return self._is_stopping and not (self._workers or self.drafts)

    @property
    def has_capacity(self) -> bool:
        """Whether another reply can be generated here now."""
        return bool(self._workers) and len(self.drafts) + len(self._reply_queue) < MAX_REPLIES

    async def start_reply(self, accepted: AcceptedMessage) -> None:
        """Queue an accepted message for a reply, or release its lease if no worker runs here."""
        if not self._workers:
            if accepted.lease is not None:
                await HeldLease(self.app, accepted.lease).release()
            return
        self._reply_queue.append(accepted)
        for worker in self._workers:
            worker.set()

    async def run(self, app: AppContext, stopping: asyncio.Event) -> None:
        """Reply to messages from open pages until told to stop, then finish what was started."""
        self.app, self._is_stopping = app, False
        wake = WakeEvent()
        self._workers.add(wake)
        self.notify()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(set_on_stop(stopping, wake))
                while not stopping.is_set():
                    self._start_queued(app, tasks)
                    await wake.wait(SWEEP_S)
                self._workers.discard(wake)  # later messages are left to other processes
                self._start_queued(app, tasks)
                for each in self._speech_tasks:  # the text of the reply is stored already
                    each.cancel()
        finally:
            self._workers.discard(wake)
            self._is_stopping = stopping.is_set()
            self.notify()

    def _start_queued(self, app: AppContext, talks: asyncio.TaskGroup) -> None:
        """Start a task for every queued message."""
        while self._reply_queue:
            talks.create_task(self._stream_reply(app, self._reply_queue.popleft(), talks))

    async def _stream_reply(
        self, app: AppContext, accepted: AcceptedMessage, talks: asyncio.TaskGroup
    ) -> None:
        """Generate one reply while publishing its draft text, then start its speech."""
        message = accepted.message
        assert message.turn is not None  # accepted messages have one
        draft = DraftReply(person=message.person, asked=message.id, turn=message.turn)
        self.drafts[message.turn] = draft

        async def say(piece: str) -> None:
            draft.text += piece
            self._notify_draft(message.person)

        async def tell(delay: Delay) -> None:
            draft.remark = format_delay(delay)
            self._notify_draft(message.person)

        response = None
        try:
            response = await wait_for_reply(
                app, accepted, on_text=say if app.models else None, on_delay=tell
            )
        except TurnStopped:
            pass  # the stop is a stored event, which every page gets
        except OldfriendError as error:
            self._record(message, "failed", explain_failure(error))
        finally:
            del self.drafts[message.turn]
            self.notify(message.person)
        if response is not None and self._workers and response.reply.id not in self._spoken_ids:
            self._spoken_ids.append(response.reply.id)  # one reply may answer several messages
            speech_task = talks.create_task(self._speak_reply(app, response.reply))
            self._speech_tasks.add(speech_task)
            speech_task.add_done_callback(self._speech_tasks.discard)

    async def _speak_reply(self, app: AppContext, reply: Message) -> None:
        """Synthesize speech for a reply where wanted; a failure is only logged."""
        try:
            async with self._speech_slots:
                speech = await synthesize_reply(app, reply.person, reply.id)
        except Exception as error:  # speech is optional, and must not stop other replies
            log_warning("speech-failed", error)
            return
        if speech is not None:
            self._record(reply, "voice ready")
            self.notify(reply.person)

    def note_tasks_changed(self, person: PersonId) -> None:
        """Have a person's pages read their tasks, goals and watches anew."""
        self._transient_count += 1
        self._transient_events.append(
            TransientEvent(number=self._transient_count, person=person, kind="tasks changed")
        )
        self.notify(person)

    def _record(
        self, message: Message, what: Literal["failed", "voice ready"], why: str = ""
    ) -> None:
        self._transient_count += 1
        self._transient_events.append(
            TransientEvent(
                number=self._transient_count,
                person=message.person,
                kind=what,
                message=message.id,
                reason=why,
            )
        )

    def list_transient_since(self, person: PersonId, number: int) -> list[TransientEvent]:
        """List a person's transient events after the given number."""
        return [
            each
            for each in self._transient_events
            if each.person == person and each.number > number
        ]

    @property
    def last_transient_number(self) -> int:
        """The number of the newest transient event of any person."""
        return self._transient_count

    def is_full(self, person: PersonId, token: str = "") -> bool:
        """Tell whether a person, or one token of theirs, has too many connections."""
        connections = self._connections.get(person, set())
        with_token = sum(each.token == token for each in connections) if token else 0
        return len(connections) >= MAX_CONNECTIONS or with_token >= MAX_CONNECTIONS_PER_TOKEN

    @contextmanager
    def connect(self, person: PersonId, token: str = "") -> Iterator[Connection]:
        """Register a connection for as long as the context lasts."""
        connection = Connection(token)
        with self.app.notifier.subscribe(connection):
            self._connections.setdefault(person, set()).add(connection)
            try:
                yield connection
            finally:
                self._connections[person].discard(connection)
                if not self._connections[person]:
                    del self._connections[person]

    def note_sign_out(self, person: PersonId) -> None:
        """Make a person's connections check whether they are still signed in."""
        self.sign_outs += 1
        self.notify(person)

    def _notify_draft(self, person: PersonId) -> None:
        """Wake a person's connections for new draft text."""
        for connection in self._connections.get(person, ()):
            connection.notify_draft()

    def notify(self, person: PersonId | None = None) -> None:
        """Make the connections of a person (None: of everybody) look for stored changes."""
        groups = (
            self._connections.values() if person is None else [self._connections.get(person, set())]
        )
        for connection in [each for group in groups for each in group]:
            connection.set()


def explain_failure(error: OldfriendError) -> str:
    """Return why there is no reply; for the page, with the user text of the cause."""
    cause = error.__cause__
    if not isinstance(cause, OldfriendError):
        return error.user_text
    return localizable("turn_failed_by", str(error), says=str(error), why=cause.user_text)
