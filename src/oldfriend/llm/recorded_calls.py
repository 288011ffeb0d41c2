"""Recorded calls: replays the model calls of a turn that is run again after a crash.

A finished call is paid for, so it is taken from the record instead of being made once more.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from oldfriend.domain.json import to_json_object
from oldfriend.llm.model import (
    CallSink,
    Completion,
    CompletionRequest,
    LanguageModel,
    ModelCall,
    PromptTurn,
    TextCallback,
)

HASHED_NAMES: Final = {
    "system_prompt": "stable",
    "call_instructions": "changing",
    "max_output_tokens": "most_tokens",
}
"""Names of a request's fields in its hash, so that calls recorded under former names are found."""
MAX_GRACE_S: Final = 5.0
"""How long a call may take to finish after its turn was cancelled for being late."""


class CallObserver(Protocol):
    """Observer of the calls made for a sequence of requests."""

    def begin(self, request: CompletionRequest, digest: str, number: int) -> None:
        """Note that a request is about to be sent, with its hash and its number in the turn."""

    def on_text(self, piece: str) -> None:
        """Note a piece of the answer."""

    async def record(self, call: ModelCall) -> None:
        """Record a finished call for the request; another may follow."""

    def end(self) -> None:
        """Note that no more calls are made for the request."""


def allow_call() -> None:
    """Allow every call."""


def is_never_late() -> bool:
    """Return False: no other worker can have taken over."""
    return False


@dataclass(slots=True, kw_only=True)
class ReplayingModel:
    """Model of one turn that replays recorded completions; its requests are sequential."""

    build_model: Callable[[CallSink], LanguageModel]  # for requests without a recorded completion
    recorded: Mapping[int, Completion]  # from before a crash, by request number
    recorder: CallObserver
    name: str
    before_call: Callable[[], None] = allow_call  # raises if no new call is allowed any more
    is_late: Callable[[], bool] = is_never_late  # whether another worker may have taken over
    recorded_by_hash: Mapping[str, Completion] = field(default_factory=dict)  # by request hash
    first_number: int = 0  # of its first request; other models of the turn start elsewhere
    _next: int = field(init=False)

    def __post_init__(self) -> None:
        """Start at the first number."""
        self._next = self.first_number

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Return the recorded completion of a request, or ask the model."""
        number, self._next = self._next, self._next + 1
        digest = hash_request(request)
        if (found := self.recorded.get(number) or self.recorded_by_hash.get(digest)) is not None:
            if on_text is not None and found.text:
                await on_text(found.text)
            return found

        self.before_call()
        self.recorder.begin(request, digest, number)
        try:
            return await self._ask(request, on_text)
        finally:
            self.recorder.end()

    async def _ask(self, request: CompletionRequest, on_text: TextCallback | None) -> Completion:
        """Ask the model.

        When cancelled for being late, let a nearly finished call end: it is paid for and belongs in
        the record.
        """
        relay = None if on_text is None else StreamRelay(on_text, self.recorder)
        relay_text = None if relay is None else relay.relay
        call = self.build_model(self.recorder.record).complete(request, relay_text)
        try:
            async with asyncio.TaskGroup() as group:
                task = group.create_task(call)
                try:
                    return await asyncio.shield(task)
                except asyncio.CancelledError:
                    if relay is not None:
                        relay.is_closed = True
                    await self._finish_call(task)
                    raise
        except BaseExceptionGroup as failed:
            raise failed.exceptions[-1] from failed

    async def _finish_call(self, asking: asyncio.Task[Completion]) -> None:
        """Cancel a call that nobody awaits; if late, first give it MAX_GRACE_S to finish."""
        try:
            if self.is_late():
                await asyncio.wait({asking}, timeout=MAX_GRACE_S)
        finally:
            asking.cancel()  # it is recorded as cut off


@dataclass(slots=True)
class StreamRelay:
    """Relay of streamed text that can be closed when the reader is gone."""

    on_text: TextCallback
    recorder: CallObserver
    is_closed: bool = False

    async def relay(self, piece: str) -> None:
        """Observe the next piece and pass it on unless closed."""
        self.recorder.on_text(piece)
        if not self.is_closed:
            await self.on_text(piece)


def hash_request(request: CompletionRequest) -> str:
    """Hash a request, the same in every process and database and for every model.

    `shown` is not sent to the model and so not part of the hash.
    """
    sent = {
        HASHED_NAMES.get(name, name): value
        for name, value in to_json_object(replace(request, shown=())).items()
    }
    if not request.output_form:
        del sent["output_form"]  # requests without one hash as they did before there was one
    if request.temperature is None:
        del sent["temperature"]  # likewise
    if not request.call_form:
        del sent["call_form"]
    canonical = json.dumps(sent, default=to_hashed_object, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def to_hashed_object(value: object) -> dict[str, object]:
    """Convert a part of a request to a dict for its hash."""
    found = to_json_object(value)
    if isinstance(value, PromptTurn) and value.role == "instruction":
        found["role"] = "house"
    return found
