"""Call spool: keeps model calls in memory and on disk, and moves them into the ledger.

A call is noted before it is sent, and recorded as soon as its last byte has been read: from then on
neither a killed process nor a database that cannot be written loses it.
In the ledger it is kept whole, unless something that it was shown has been forgotten by then.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from oldfriend.app.event_log import log_warning
from oldfriend.app.process_registry import LineSpan, ProcessFile
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound, SchemaTooNew, StoreCorrupt, StoreError
from oldfriend.domain.ids import PersonId, TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import Completion, CompletionRequest, ModelCall, TokenUsage
from oldfriend.memory.deletion.audit_log import has_all_sources, has_deletions_after
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.people import find_owner, get_person_by_id, lock_person
from oldfriend.usage.model_calls import (
    CallContext,
    answer_to_json,
    has_other_answer,
    parse_completion,
    record_call,
)

CHARS_PER_TOKEN: Final = 4
INTERRUPTED_ERROR: Final = "The process ended before the call did."


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCall:
    """A finished call, with everything that the ledger keeps of it."""

    id: str
    asker: CallContext | None  # None: nobody in particular, so the owner
    step: int
    request_hash: str  # a hash of what was sent
    since: int | None  # the count of deletions when the shown content was read
    made_at: Micros
    call: ModelCall


@dataclass(slots=True, kw_only=True)
class OpenCall:
    """A call that is under way."""

    id: str
    asker: CallContext
    step: int
    request_hash: str  # a hash of what was sent
    model: str
    purpose: str
    prompt: str
    sent_chars: int
    is_free: bool  # whether every model that may be asked is free of charge
    made_at: Micros
    received_chars: int = 0
    noted_at: float = 0.0  # when the progress was last written, by the event loop's clock
    span: LineSpan | None = None  # None: it could not be written


def count_chars(request: CompletionRequest) -> int:
    """Return approximately how many characters a request sends."""
    return (
        len(request.system_prompt)
        + len(request.call_instructions)
        + sum(len(e.text) for e in request.turns)
    )


def open_call_to_json(opened: OpenCall) -> dict[str, JsonValue]:
    """Return an open call as JSON, of a length that does not change with its progress."""
    return {
        "open": opened.id,
        "asker": asker_to_json(opened.asker),
        "step": opened.step,
        "request": opened.request_hash,
        "model": opened.model,
        "purpose": opened.purpose,
        "prompt": opened.prompt,
        "sent": opened.sent_chars,
        "is_free": opened.is_free,
        "made_at": opened.made_at,
        "heard": f"{opened.received_chars:010d}",
    }


def finished_call_to_json(finished: FinishedCall, *, ends: str | None) -> dict[str, JsonValue]:
    """Return a finished call as JSON; ``ends`` is the id of the open call that it completes."""
    call = finished.call
    return {
        "id": finished.id,
        "ends": ends,
        "asker": asker_to_json(finished.asker),
        "step": finished.step,
        "request": finished.request_hash,
        "since": finished.since,
        "made_at": finished.made_at,
        "purpose": call.request.purpose,
        "prompt": call.request.prompt,
        "shown": list(call.request.shown),
        "model": call.model,
        "outcome": call.outcome,
        "error": call.error,
        "latency_us": call.latency_us,
        "given": None if call.completion is None else spooled_completion_to_json(call.completion),
    }


def spooled_completion_to_json(given: Completion) -> dict[str, JsonValue]:
    """Return a completion as JSON."""
    usage = given.usage
    return {
        "model": given.model,
        "answer": answer_to_json(given),
        "cost": given.cost,
        "usage": [usage.input, usage.cached, usage.output],
        "sound_s": given.audio_s,
    }


def asker_to_json(asker: CallContext | None) -> dict[str, JsonValue] | None:
    """Return the asker of a call as JSON."""
    if asker is None:
        return None
    return {
        "person": asker.person,
        "turn": asker.turn,
        "asked": asker.answered_versions,
        "is_background": asker.is_background,
    }


def parse_finished_calls(lines: Iterable[Mapping[str, Any]]) -> list[FinishedCall]:
    """Return the finished calls among the lines of a file, skipping lines that cannot be parsed."""
    found: list[FinishedCall] = []
    for each in lines:
        if "id" in each:
            with suppress(KeyError, TypeError, ValueError):
                found.append(parse_finished_call(each))
    return found


def parse_interrupted_calls(lines: Iterable[Mapping[str, Any]]) -> list[FinishedCall]:
    """Return the calls that their process did not survive, as the ledger is to record them.

    Nobody reported their tokens, so four characters count as one; unless it was free, the cost is
    unknown.
    """
    lines = list(lines)
    ended = {each.get("ends") for each in lines}
    found: list[FinishedCall] = []
    for each in lines:
        if "open" in each and each["open"] not in ended:
            with suppress(KeyError, TypeError, ValueError):
                found.append(parse_interrupted_call(each))
    return found


def parse_finished_call(fields: Mapping[str, Any]) -> FinishedCall:
    """Parse a finished call from its JSON. Raises KeyError, TypeError, ValueError."""
    given = fields["given"]
    call = ModelCall(
        request=parse_spooled_request(fields),
        model=fields["model"],
        outcome=fields["outcome"],
        error=fields["error"],
        latency_us=fields["latency_us"],
        completion=None if given is None else parse_spooled_completion(given),
    )
    return FinishedCall(
        id=fields["id"],
        asker=parse_asker(fields["asker"]),
        step=fields["step"],
        request_hash=fields["request"],
        since=fields["since"],
        made_at=fields["made_at"],
        call=call,
    )


def parse_interrupted_call(fields: Mapping[str, Any]) -> FinishedCall:
    """Parse an interrupted call from its JSON. Raises KeyError, TypeError, ValueError."""
    usage = TokenUsage(
        input=fields["sent"] // CHARS_PER_TOKEN, output=int(fields["heard"]) // CHARS_PER_TOKEN
    )
    cost = 0 if fields.get("is_free") else None  # older versions did not record it
    call = ModelCall(
        request=parse_spooled_request(fields),
        model=fields["model"],
        outcome="cut off",
        completion=Completion(model=fields["model"], text="", usage=usage, cost=cost),
        error=INTERRUPTED_ERROR,
        latency_us=0,
    )
    return FinishedCall(
        id=fields["open"],
        asker=parse_asker(fields["asker"]),
        step=fields["step"],
        request_hash=fields["request"],
        since=None,
        made_at=fields["made_at"],
        call=call,
    )


def parse_spooled_request(fields: Mapping[str, Any]) -> CompletionRequest:
    """Return what the ledger keeps of a request; of an open one it is not noted what was shown."""
    purpose, prompt, shown = fields["purpose"], fields["prompt"], tuple(fields.get("shown", ()))
    return CompletionRequest(
        purpose=purpose, prompt=prompt, system_prompt="", turns=(), shown=shown
    )


def parse_spooled_completion(given: Mapping[str, Any]) -> Completion:
    """Parse a completion from its JSON."""
    found = parse_completion((given["model"], given["answer"], *given["usage"], given["cost"]))
    return replace(found, audio_s=given["sound_s"])


def parse_asker(fields: Mapping[str, Any] | None) -> CallContext | None:
    """Parse the asker of a call from its JSON."""
    if fields is None:
        return None
    turn = fields["turn"]
    return CallContext(
        person=PersonId(fields["person"]),
        turn=None if turn is None else TurnId(turn),
        answered_versions=fields["asked"],
        is_background=fields["is_background"],
    )


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

    async def wait_for_turn(self, turn_id: TurnId | None, *, timeout_s: float) -> None:
        """Wait until this process has no open call for the turn, so that its answer can be used.

        There may be one if the turn's lease was lost here and the turn has been claimed again.
        """
        if not self._has_open(turn_id):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._has_open(turn_id):
                    self._ended.clear()
                    await self._ended.wait()

    def _has_open(self, turn_id: TurnId | None) -> bool:
        return any(each.asker.turn == turn_id for each in self._open.values())

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
            log_warning("call-spool-failed", error)
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


MIN_BACKOFF_S: Final = 0.05
MAX_BACKOFF_S: Final = 1.0
PERMANENT_ERRORS: Final = (SchemaTooNew, StoreCorrupt)


async def save_call(tx: Transaction, asker: CallContext, finished: FinishedCall) -> str:
    """Record a finished call in the ledger once, under its id.

    If another call has answered the same request in the meantime, this one is recorded as late: the
    other answer is used, and this one was still paid for.
    """
    step, request_hash = finished.step, finished.request_hash
    call = await redact_if_forgotten(
        tx, asker.person, finished.call, since=finished.since, ended_at=finished.made_at
    )
    if call.outcome == "done" and await has_other_answer(
        tx, asker, step=step, request_hash=request_hash, excluded_call_id=finished.id
    ):
        call = replace(call, outcome="late")
    return await record_call(
        tx,
        asker,
        call,
        step=step,
        request_hash=request_hash,
        now=finished.made_at,
        call_id=finished.id,
    )


async def redact_if_forgotten(
    tx: Transaction, person: PersonId, call: ModelCall, *, since: int | None, ended_at: Micros
) -> ModelCall:
    """Return the call, without its content if what it was shown may have been forgotten since.

    This also applies if the call waited in the spool while something was forgotten: a transcript
    repeats a recording without having been shown any message. Whoever takes over the work asks
    again. Locks the person, so that nothing is forgotten at the same time.
    """
    await lock_person(tx, person)
    if since is None:
        is_kept = not await has_deletions_after(tx, person, ended_at) and await has_all_sources(
            tx, person, call.request.shown
        )
    else:
        is_kept = (await get_memory_version(tx, person)).rewritten == since
    if is_kept:
        return call
    empty = call.completion and replace(call.completion, text="", calls=(), echo=None)
    return replace(
        call,
        outcome="cut off",
        completion=empty,
        error=None,
        request=replace(call.request, shown=()),
    )


async def write_spooled_call(tx: Transaction, finished: FinishedCall) -> bool:
    """Enter a spooled call into the ledger once, or return False if its person does not exist."""
    asker = finished.asker
    if asker is None and (owner := await find_owner(tx)) is not None:
        asker = CallContext(person=owner.id)
    if asker is None:
        return False
    try:
        await get_person_by_id(tx, asker.person)
    except NotFound:
        return False
    await save_call(tx, asker, finished)
    return True


async def flush_call(db: Database, spool: CallSpool, finished: FinishedCall) -> None:
    """Move a call from the spool into the ledger. Raises StoreError; then it stays in the spool."""
    async with db.begin_write() as tx:
        await write_spooled_call(tx, finished)
    spool.mark_stored(finished.id)


async def flush_call_with_retry(
    db: Database, spool: CallSpool, finished: FinishedCall, *, retry_for_s: float = 0.0
) -> None:
    """Move a call from the spool into the ledger as soon as that is possible.

    A successful call waits up to ``retry_for_s`` for a database that cannot be written, then
    StoreError is raised. Any other call that cannot be stored stays in the spool until the database
    can be written.
    """
    clock = asyncio.get_running_loop().time
    deadline, pause_s = clock() + retry_for_s, MIN_BACKOFF_S
    while True:
        try:
            return await flush_call(db, spool, finished)
        except PERMANENT_ERRORS:
            raise
        except StoreError:
            if finished.call.outcome != "done" or not retry_for_s:
                return None
            if clock() + pause_s > deadline:
                raise
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, MAX_BACKOFF_S)


async def flush_spool(db: Database, spool: CallSpool) -> None:
    """Move everything in the spool into the ledger. Raises StoreError."""
    for spooled in list(spool.pending.values()):
        await flush_call(db, spool, spooled)


async def close_spool(db: Database, spool: CallSpool) -> None:
    """Enter what is left into the ledger, and leave what cannot be stored to a later process."""
    with suppress(StoreError):
        await flush_spool(db, spool)
    spool.close()
