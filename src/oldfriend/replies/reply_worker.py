"""Reply worker: claims what waits in a chat, runs the turn and commits the reply.

A turn reads and decides; its outcome is written here, in one transaction, by whoever holds the
chat's lease at that moment. Nothing is sent that has not been committed; a page or a draft may show
the words of a reply while they are being written.
"""

import asyncio
import math
from dataclasses import dataclass, replace
from functools import partial

from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import run_with_watcher
from oldfriend.app.dead_processes import reap_dead_processes
from oldfriend.app.embed_messages import format_for_embedding
from oldfriend.app.leases import HeldLease
from oldfriend.app.recorded_models import build_asker, build_turn_dependencies
from oldfriend.db.database import Database
from oldfriend.domain.errors import (
    EmbeddingFailed,
    LeaseLost,
    OldfriendError,
    StaleDecision,
    TurnFailed,
    TurnStopped,
)
from oldfriend.domain.ids import TurnId
from oldfriend.domain.job_types import Job, Lease
from oldfriend.domain.messages import Message, is_untranscribed
from oldfriend.inbound.accept import (
    AcceptedMessage,
    ChatContext,
    MessageSubmission,
    accept_message,
    claim_chat,
)
from oldfriend.inbound.system_replies import STOPPED_MARKER
from oldfriend.inbound.voice_messages import transcribe_turn
from oldfriend.learning.eager_extraction import extract_before_reply
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.model import TextCallback
from oldfriend.memory.message_log import find_reply
from oldfriend.memory.receipts import Receipt, find_receipt
from oldfriend.queues.inbox import is_turn_waiting, take_first_turn
from oldfriend.replies.called_off_tasks import CALLED_OFF
from oldfriend.replies.delay_notices import OnDelay, report_delays
from oldfriend.replies.draft_streaming import open_draft_stream
from oldfriend.replies.edited_requests import follow_edit
from oldfriend.replies.goal_progress import GOAL_PROGRESS
from oldfriend.replies.turn_commit import (
    TurnTask,
    commit_stop,
    commit_turn,
    commit_with_retry,
    get_turn_key,
    load_utterance,
    schedule_turn_retry,
    send_given_up_notices,
    verify_and_acknowledge,
)
from oldfriend.turn.pipeline import build_fixed_outcome, finish_without_model, run_turn
from oldfriend.turn.turn_outcome import Outcome, Utterance
from oldfriend.usage.tool_calls import delete_read_calls

MAX_DECISIONS = 3
"""How often a turn is decided again because something that it rests on has changed."""
RETRY_NOTE = "What was said is kept, and it will be tried again."
EMBEDDING_TIMEOUT_S = 20.0
"""The reply is ready already and does not wait long for its vectors."""
POLL_INTERVAL_S = 0.5
"""How often a process that waits for another one's reply polls, in case no notification arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """A reply as it was stored."""

    message: Message
    reply: Message
    receipt: Receipt


async def answer_message(
    app: AppContext,
    chat_context: ChatContext,
    submission: MessageSubmission,
    *,
    on_text: TextCallback | None = None,
    on_delay: OnDelay | None = None,
) -> StoredReply:
    """Accept a message and have it answered, here or by the process that holds the chat.

    ``on_text`` receives the reply as it is written, ``on_delay`` why there is none yet. Raises
    InvalidInput for a text that is empty or too long, TurnFailed, TurnStopped, StoreError.
    """
    accepted = await accept_message(app, chat_context, submission, claim_now=True)
    assert accepted is not None  # it has no key that could be known already
    return await wait_for_reply(app, accepted, on_text=on_text, on_delay=on_delay)


async def wait_for_reply(
    app: AppContext,
    accepted: AcceptedMessage,
    *,
    on_text: TextCallback | None,
    on_delay: OnDelay | None = None,
) -> StoredReply:
    """Wait for the answer to a message, reporting delays if ``on_delay`` is given.

    Raises TurnFailed if it cannot be answered now; the message is kept and retried. Raises
    TurnStopped if the person has said stop.
    """
    if on_delay is None:
        return await drive_chat(app, accepted, on_text)
    tee = StreamTee(on_text)
    watcher = report_delays(app, accepted.message, on_delay, has_begun=lambda: tee.has_begun)
    return await run_with_watcher(watcher, drive_chat(app, accepted, tee.on_text))


async def drive_chat(
    app: AppContext, accepted: AcceptedMessage, on_text: TextCallback | None
) -> StoredReply:
    """Work on the chat whenever its lease is free, until the message has its answer."""
    message = accepted.message
    if accepted.lease is not None:
        await process_until(app, accepted.lease, message, on_text)
    if (stored := await find_stored_reply(app.db, message)) is not None:
        return stored
    with app.notifier.subscribe() as wake_event:
        while (stored := await find_stored_reply(app.db, message)) is None:
            async with app.db.begin_write() as tx:
                lease = await claim_chat(tx, app, message.chat)
            if lease is not None:
                await process_until(app, lease, message, on_text)
            else:
                await raise_if_dead_letter(app.db, message)
                await reap_dead_processes(app)
                await wake_event.wait(POLL_INTERVAL_S)
    return stored


async def process_until(
    app: AppContext, lease: Lease, message: Message, on_text: TextCallback | None
) -> None:
    """Work on a chat until a message is answered. Raises TurnFailed."""
    try:
        await process_chat(app, lease, until=message.turn, on_text=on_text)
    except OldfriendError as error:
        raise TurnFailed(f"{error} {RETRY_NOTE}") from error
    except Exception as error:
        raise TurnFailed(
            f"Something went wrong inside Oldfriend ({type(error).__name__}). {RETRY_NOTE}"
        ) from error


async def raise_if_dead_letter(db: Database, message: Message) -> None:
    """Raise TurnFailed if nobody will answer a message any more."""
    assert message.turn is not None  # accepted messages have a turn
    async with db.begin_read() as tx:
        waits = await is_turn_waiting(tx, "inbox", message.chat, message.turn)
        reply = await find_reply(tx, message)
    if not waits and reply is None:
        raise TurnFailed(f"It was set aside as a failed job: oldfriend jobs --failed. {RETRY_NOTE}")


async def find_stored_reply(db: Database, message: Message) -> StoredReply | None:
    """Return the stored reply to a message, or None; raises TurnFailed, TurnStopped."""
    async with db.begin_read() as tx:
        reply = await find_reply(tx, message)
        receipt = None if reply is None else await find_receipt(tx, message.person, message.turn)
    if reply is None:
        return None
    if reply.role == "marker" and reply.text == STOPPED_MARKER:
        raise TurnStopped(
            "The reply was stopped: by you, or because something it rests on was being forgotten. "
            "Ask again if you still want it."
        )
    if receipt is None:
        raise TurnFailed(reply.text)
    return StoredReply(message=message, reply=reply, receipt=receipt)


async def process_chat(
    app: AppContext,
    lease: Lease,
    *,
    until: TurnId | None = None,
    on_text: TextCallback | None = None,
    stopping: asyncio.Event | None = None,
) -> None:
    """Process the jobs of a chat turn by turn, until a turn is done or the lease ends.

    Only the reply of that turn is streamed to ``on_text``. A job that fails is postponed or becomes
    a dead letter, and the error is raised; no job is lost.
    """
    held, jobs, is_done = HeldLease(app, lease), lease.jobs, False
    patience_s = math.inf if until is None else app.settings.limits.lease_s
    await send_given_up_notices(app, held)
    while jobs and not (is_done or (stopping and stopping.is_set())):
        turn_jobs = take_first_turn(jobs)
        task = TurnTask(held=held, jobs=turn_jobs, later_jobs=jobs[len(turn_jobs) :])
        is_done = until is not None and task.payloads[0].turn == until
        try:
            async with held.isolated(turn_jobs[0]):
                jobs = await process_turn(
                    app,
                    task,
                    on_text if is_done else None,
                    retry_for_s=patience_s,
                    stopping=stopping,
                )
        except LeaseLost:
            return  # another worker has taken over
        except asyncio.CancelledError:
            await held.release(task.jobs[0])
            raise
        except Exception as error:
            await schedule_turn_retry(app, task, error)
            raise
    if jobs or not lease.jobs:
        await held.release()


async def process_turn(
    app: AppContext,
    turn_task: TurnTask,
    on_text: TextCallback | None,
    *,
    retry_for_s: float = math.inf,
    stopping: asyncio.Event | None = None,
) -> tuple[Job, ...]:
    """Process one turn, and return the jobs left in the partition.

    Unless told to stop, it holds its decision for up to ``retry_for_s`` while the database is
    unavailable.
    """
    if turn_task.payloads[0].kind != "said":  # a notice for a turn that is over
        async with app.db.begin_write() as tx:
            if turn_task.payloads[0].kind == "edited" and turn_task.jobs[0].person is not None:
                await follow_edit(tx, app, turn_task.jobs[0].person, turn_task.payloads[0])
            rest = await verify_and_acknowledge(tx, app.clock, turn_task)
        app.notifier.notify()
        return rest
    tee, stale = StreamTee(on_text), StaleDecision("Nothing was decided yet.")
    for _ in range(MAX_DECISIONS):
        utterance = await load_utterance(app, turn_task)
        stream = (
            await open_draft_stream(app, turn_task.lease, turn_task.jobs, utterance)
            if on_text is None
            else None
        )
        tee = tee if stream is None else StreamTee(stream.append)  # a draft can be taken back
        deciding = transcribe_and_decide(app, turn_task, utterance, tee)
        work = deciding if stream is None else stream.run(deciding)
        try:
            utterance, outcome, vectors = await turn_task.held.run(
                work, turn=utterance.message.turn
            )
            may_redo = stream is not None or not tee.text
            write = partial(
                commit_turn, app, turn_task, utterance, outcome, vectors, may_redo=may_redo
            )
            return await commit_with_retry(
                app.db, turn_task, write, retry_for_s=retry_for_s, stopping=stopping
            )
        except TurnStopped:
            return await commit_stop(app.db, app.clock, turn_task, utterance)
        except StaleDecision as error:
            stale = error
        async with app.db.begin_write() as tx:
            await delete_read_calls(tx, *get_turn_key(utterance))
    raise stale


async def transcribe_and_decide(
    app: AppContext, turn_task: TurnTask, utterance: Utterance, tee: "StreamTee"
) -> tuple[Utterance, Outcome, Vectors | None]:
    """Transcribe recordings and run the turn; without any words, say why there are none."""
    utterance, failure = await transcribe_turn(app, turn_task.lease, utterance)
    if failure is None:
        return utterance, *await decide_turn(app, utterance, tee)
    failure_text = failure.to_text(utterance.system_language)
    transcribed = tuple(each for each in utterance.messages if not is_untranscribed(each.details))
    if not transcribed:
        return (
            utterance,
            build_fixed_outcome(
                utterance, failure_text, failure_kind=f"not heard: {failure.reason}"
            ),
            None,
        )
    outcome, vectors = await decide_turn(app, utterance, tee)
    reply = replace(outcome.reply, text=f"{failure_text}\n\n{outcome.reply.text}")
    return utterance, replace(outcome, reply=reply), vectors


async def decide_turn(
    app: AppContext, utterance: Utterance, tee: "StreamTee"
) -> tuple[Outcome, Vectors | None]:
    """Run the turn, and embed the messages if they are informative."""
    await extract_before_reply(app, utterance)
    dependencies = await build_turn_dependencies(app, utterance)
    handlers = (GOAL_PROGRESS, *dependencies.handlers, CALLED_OFF)
    dependencies = replace(dependencies, handlers=handlers)
    app.on_crash_point("thinking")
    try:
        async with asyncio.timeout(app.settings.limits.turn_timeout_s):
            outcome = await run_turn(utterance, dependencies, say=tee.on_text)
    except TimeoutError:
        outcome = await finish_without_model(
            utterance, dependencies, failure_kind="slow", text_so_far=tee.text, say=tee.on_text
        )
    vectors = await embed_utterance(app, utterance) if outcome.is_informative else None
    app.on_crash_point("decided")
    return outcome, vectors


async def embed_utterance(app: AppContext, utterance: Utterance) -> Vectors | None:
    """Return the vectors of the messages; None if they cannot be computed now."""
    embedder = app.with_asker(build_asker(utterance)).embedder
    try:
        async with asyncio.timeout(EMBEDDING_TIMEOUT_S):
            texts = await format_for_embedding(embedder.model, utterance.messages)
            return await embedder.embed(texts)
    except (EmbeddingFailed, TimeoutError):
        return None  # the backfill adds them later


class StreamTee:
    """Passes on a reply as it is written, and keeps what was passed on."""

    def __init__(self, on_text: TextCallback | None) -> None:
        """Pass text on to ``on_text``, if there is any."""
        self._on_text = on_text
        self._chunks: list[str] = []

    @property
    def text(self) -> str:
        """Everything that was passed on."""
        return "".join(self._chunks)

    @property
    def has_begun(self) -> bool:
        """Whether anything was passed on."""
        return bool(self._chunks)

    @property
    def on_text(self) -> TextCallback | None:
        """The callback for the turn; None if nobody listens."""
        return None if self._on_text is None else self._pass_on

    async def _pass_on(self, piece: str) -> None:
        assert self._on_text is not None
        self._chunks.append(piece)
        await self._on_text(piece)
