"""Fallback chain and circuit breaker: asks models in order until one answers; records each call.

Text that was already streamed is not sent again: a model that takes over continues the reply where
the previous one broke off.
"""

import asyncio
import re
from asyncio import CancelledError
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import takewhile
from typing import Final

from oldfriend.domain.clock import SECOND, Clock, Micros
from oldfriend.domain.errors import (
    ApiKeyRejected,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelNotSetUp,
    ModelRefusal,
    ModelUnavailable,
    OutageKind,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.model import (
    CallOutcome,
    CallSink,
    Completion,
    CompletionRequest,
    LanguageModel,
    ModelCall,
    PromptTurn,
    TextCallback,
    TokenUsage,
    ToolResult,
)

FAILURE_THRESHOLD: Final = 3
"""Failures in a row; a single one is nothing unusual."""

MAX_COOLDOWN_S: Final = 600.0
"""Upper limit of a cooldown; a later retry time comes from a clock that was set wrong."""


@dataclass(slots=True)
class CircuitBreaker:
    """Cooldowns of all models of a process; times are those of the injected clock."""

    cooldown_s: float = 30.0
    _failures: dict[str, int] = field(default_factory=dict)
    _retry_at: dict[str, Micros] = field(default_factory=dict)
    _outages: dict[str, OutageKind] = field(default_factory=dict)

    def compute_wait_s(self, model: str, now: Micros) -> float:
        """Return for how many seconds a model must not be asked; 0: it may be."""
        wait_s = (self._retry_at.get(model, now) - now) / SECOND
        return wait_s if 0 < wait_s <= MAX_COOLDOWN_S else 0.0

    def get_outage(self, model: str) -> OutageKind:
        """Return the kind of a model's last failure."""
        return self._outages.get(model, "unavailable")

    def record_failure(self, model: str, now: Micros, error: ModelUnavailable) -> None:
        """Count a failure; start a cooldown if the provider asks for one or at the threshold."""
        self._failures[model] = self._failures.get(model, 0) + 1
        self._outages[model] = error.outage
        cooldown_s = error.retry_after_s or 0.0
        if self._failures[model] >= FAILURE_THRESHOLD:
            cooldown_s = max(cooldown_s, self.cooldown_s)
        self._retry_at[model] = now + round(min(cooldown_s, MAX_COOLDOWN_S) * SECOND)

    def record_success(self, model: str) -> None:
        """Reset failures and cooldown."""
        self._failures.pop(model, None)
        self._retry_at.pop(model, None)


CONTINUATION_PROMPT: Final = """\
[The connection broke in the middle of your reply; the last turn is how far it came, and the \
other side has read it. Continue the same reply. Begin by repeating its last words exactly \
("{tail}") and then go on from there, in the same language and voice. Do not start again, do not \
greet, do not mention the break.]"""

TAIL_LENGTH: Final = 24
"""About how many characters the model is asked to repeat, to show where the parts meet."""

MIN_OVERLAP: Final = 3
"""Fewer equal characters may be chance."""

_SPACELESS = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")

MAX_ROUNDS: Final = 2
"""Attempts per model: what fails once mostly works a second later."""

RETRY_PAUSE_S: Final = 1.0
"""Mean pause between rounds, where no provider says how long to wait."""

MAX_RETRY_WAIT_S: Final = 10.0
"""A person waits for the reply, so a provider that asks for a longer wait is not retried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackChain:
    """Model made of several that are asked in order; cheap to create."""

    models: Sequence[LanguageModel]
    record: CallSink
    circuit_breaker: CircuitBreaker  # shared by all chains of the process
    clock: Clock
    random: Callable[[], float]  # 0 to 1, for jitter
    free_models: Collection[str] = ()  # models that cost nothing, even where no usage is reported

    @property
    def name(self) -> str:
        """Name of the first model."""
        return self.models[0].name

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Ask one model after another until one answers; with `on_text`, stream no text twice.

        If all fail, raises one error that combines theirs (see `combine_errors`).
        """
        reply = None if on_text is None or request.output is not None else StreamedReply(on_text)
        models = self._list_available()
        errors: dict[str, ModelError] = {}
        for _ in range(MAX_ROUNDS):
            if errors:
                pause_s = compute_retry_pause(errors.values(), self.random)
                models = [model for model in models if is_transient(errors[model.name])]
                if not models or pause_s > MAX_RETRY_WAIT_S:
                    break
                await asyncio.sleep(pause_s)
            for model in models:
                try:
                    return await self._ask(model, request, reply)
                except ModelError as error:
                    if isinstance(error, ModelRefusal) and not isinstance(error, RequestRejected):
                        raise  # a refusal is an answer; no other model may overrule it
                    errors[model.name] = error
        raise combine_errors(list(errors.values()))

    def _list_available(self) -> list[LanguageModel]:
        """List the models that may be asked now. Raises ModelUnavailable if there are none."""
        now = self.clock()
        wait_by_name = {
            model.name: self.circuit_breaker.compute_wait_s(model.name, now)
            for model in self.models
        }
        available = [model for model in self.models if not wait_by_name[model.name]]
        if not available:
            soonest = min(wait_by_name, key=wait_by_name.__getitem__)
            names, seconds = ", ".join(wait_by_name), round(wait_by_name[soonest])
            raise ModelUnavailable(
                localizable(
                    "models_rest",
                    f"{names} did not answer lately and will be asked again in {seconds} s.",
                    names=names,
                    seconds=seconds,
                ),
                retry_after_s=wait_by_name[soonest],
                outage=self.circuit_breaker.get_outage(soonest),
            )
        return available

    async def _ask(
        self, model: LanguageModel, request: CompletionRequest, streamed: "StreamedReply | None"
    ) -> Completion:
        """Ask one model and record the call."""
        attempt = Attempt(
            request=request,
            model=model.name,
            reply=streamed,
            reply_prefix="" if streamed is None else streamed.text,
            started_s=asyncio.get_running_loop().time(),
            is_free=model.name in self.free_models,
        )
        try:
            completion = await complete_or_continue(model, request, streamed)
        except CancelledError:
            await self.record(
                attempt.build_failure("cut off", "It was stopped, or its turn took too long.")
            )
            raise
        except ModelError as error:
            if isinstance(error, ModelUnavailable):
                self.circuit_breaker.record_failure(model.name, self.clock(), error)
            if not isinstance(error, ModelNotSetUp):
                outcome: CallOutcome = "refused" if isinstance(error, ModelRefusal) else "failed"
                await self.record(attempt.build_failure(outcome, str(error)))
            raise
        self.circuit_breaker.record_success(model.name)
        await self.record(attempt.build_success(completion))
        return completion


@dataclass(slots=True)
class StreamedReply:
    """Text of the reply that was streamed so far, by whichever model."""

    on_text: TextCallback
    text: str = ""

    async def write(self, piece: str) -> None:
        """Pass on the next piece."""
        self.text += piece
        await self.on_text(piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call to one model while it is in progress."""

    request: CompletionRequest
    model: str
    reply: StreamedReply | None
    reply_prefix: str  # text that was streamed before this call
    started_s: float  # by the event loop's monotonic clock
    is_free: bool

    def build_success(self, completion: Completion) -> ModelCall:
        """Build the record of a call that was answered."""
        return self._build_call("done", completion, None)

    def build_failure(self, outcome: CallOutcome, error: str) -> ModelCall:
        """Build the record of a failed call, which may have streamed text that was paid for."""
        text = "" if self.reply is None else self.reply.text
        if text == self.reply_prefix and outcome != "cut off":
            return self._build_call(outcome, None, error)
        return self._build_call("cut off", self._build_partial(text), error)

    def _build_partial(self, text: str) -> Completion:
        """Build a completion of the text streamed so far, with estimated token counts.

        No usage was reported, so a token counts as four characters; the cost is unknown unless
        free.
        """
        turns = "".join(turn.text for turn in self.request.turns)
        sent = (
            self.request.system_prompt + self.request.call_instructions + turns + self.reply_prefix
        )
        usage = TokenUsage(input=len(sent) // 4, output=(len(text) - len(self.reply_prefix)) // 4)
        cost = 0 if self.is_free else None
        return Completion(model=self.model, text=text, usage=usage, cost=cost)

    def _build_call(
        self, outcome: CallOutcome, completion: Completion | None, error: str | None
    ) -> ModelCall:
        took_s = asyncio.get_running_loop().time() - self.started_s
        return ModelCall(
            request=self.request,
            model=self.model,
            outcome=outcome,
            completion=completion,
            error=error,
            latency_us=round(took_s * 1_000_000),
            reply_prefix=self.reply_prefix,
        )


async def complete_or_continue(
    model: LanguageModel, request: CompletionRequest, streamed: StreamedReply | None
) -> Completion:
    """Have a model answer a request, or continue the reply that was streamed already."""
    paired = replace(request, turns=drop_unpaired_calls(request.turns))
    if streamed is None:
        return await model.complete(paired)
    if not streamed.text:
        return await model.complete(paired, streamed.write)
    overlap_filter = OverlapFilter(streamed.text, streamed.write)
    completion = await model.complete(
        build_continuation_request(paired, streamed.text), overlap_filter.feed
    )
    await overlap_filter.close()
    return replace(completion, text=streamed.text)


def is_transient(error: ModelError) -> bool:
    """Tell whether asking the same model again may help."""
    return isinstance(error, ModelUnavailable | BrokenOutput)


def compute_retry_pause(errors: Iterable[ModelError], random: Callable[[], float]) -> float:
    """Return the seconds until the first provider may be asked again, by default about one."""
    requested = [error.retry_after_s for error in errors if isinstance(error, ModelUnavailable)]
    waits = [RETRY_PAUSE_S * (0.5 + random()) if wait is None else wait for wait in requested]
    return min(waits, default=0.0)


def join_sentences(one: str, other: str) -> str:
    """Join two sentences."""
    return localizable("one_and_another", f"{one} {other}", one=one, other=other)


def combine_errors(errors: Sequence[ModelError]) -> ModelError:
    """Combine errors into one of the kind that gives most hope, with the texts of all."""
    if len(errors) == 1:
        return errors[0]
    text = reduce(join_sentences, dict.fromkeys(error.user_text for error in errors))
    unavailable = [error for error in errors if isinstance(error, ModelUnavailable)]
    if unavailable:
        known = [error.retry_after_s for error in unavailable if error.retry_after_s is not None]
        outage = unavailable[0].outage
        return ModelUnavailable(text, retry_after_s=min(known, default=None), outage=outage)
    for kind in (BrokenOutput, RequestRejected, ApiKeyRejected):
        if any(isinstance(error, kind) for error in errors):
            return kind(text)
    return ModelMisconfigured(text)


def build_continuation_request(request: CompletionRequest, said: str) -> CompletionRequest:
    """Return the request extended by the text so far and the instruction to continue it."""
    tail = said[-TAIL_LENGTH:]
    if len(said) > TAIL_LENGTH and not said[-TAIL_LENGTH - 1].isspace():
        tail = tail.split(maxsplit=1)[-1]  # do not start in the middle of a word
    partial = PromptTurn(role="companion", text=said)
    instruction = PromptTurn(role="instruction", text=CONTINUATION_PROMPT.format(tail=tail.strip()))
    return replace(request, turns=(*request.turns, partial, instruction))


@dataclass(slots=True)
class OverlapFilter:
    """Filter that passes on the text after `said`, without a repetition at its start."""

    said: str
    on_text: TextCallback
    _pending: str = ""  # may still turn out to be a repetition
    _is_open: bool = field(init=False)

    def __post_init__(self) -> None:
        """Open the filter if there is nothing to repeat."""
        self._is_open = not self.said

    async def feed(self, piece: str) -> None:
        """Take the next piece; pass on what is certainly new."""
        if self._is_open:
            await self._emit(piece)
            return
        self._pending += piece
        if not is_possible_repeat(self.said, self._pending):
            await self.close()

    async def close(self) -> None:
        """End the comparison: pass on what was held back and is new."""
        if not self._is_open:
            self._is_open = True
            await self._emit(remove_overlap(self.said, self._pending))

    async def _emit(self, piece: str) -> None:
        if piece:
            self.said += piece
            await self.on_text(piece)


def is_possible_repeat(said: str, text: str) -> bool:
    """Tell whether all of a text so far stands in what was said, so that more must be awaited."""
    return text.lstrip() in said


def remove_overlap(said: str, text: str) -> str:
    """Remove the start of a text that repeats the end of what was said."""
    stripped = text.lstrip()
    overlap = next(
        (size for size in range(len(stripped), 0, -1) if _is_overlap(said, stripped, size)), 0
    )
    if overlap:
        return stripped[overlap:]
    return f" {text}" if _needs_space(said, text) else text


def _is_overlap(said: str, begun: str, size: int) -> bool:
    """Tell whether `said` ends with the first `size` characters of the text, and not by chance."""
    if not said.endswith(begun[:size]):
        return False
    start = len(said) - size
    starts_word = start == 0 or not (
        _is_word_character(said[start - 1]) and _is_word_character(said[start])
    )
    return starts_word and (size >= MIN_OVERLAP or start == 0)


def _needs_space(said: str, text: str) -> bool:
    """Tell whether the last word and the first one would run together."""
    return bool(text) and _is_word_character(said[-1:]) and _is_word_character(text[:1])


def _is_word_character(character: str) -> bool:
    """Tell whether it is a letter or digit of a script that puts spaces between words."""
    return character.isalnum() and not _SPACELESS.match(character)


def drop_unpaired_calls(
    turns: Sequence[PromptTurn | ToolResult],
) -> tuple[PromptTurn | ToolResult, ...]:
    """Drop calls without a result right after their turn, and results without a call."""
    paired: list[PromptTurn | ToolResult] = []
    for place, turn in enumerate(turns):
        if isinstance(turn, PromptTurn) and turn.calls:
            results = takewhile(lambda each: isinstance(each, ToolResult), turns[place + 1 :])
            paired.extend(
                _pair_calls(turn, [each for each in results if isinstance(each, ToolResult)])
            )
        elif isinstance(turn, PromptTurn) and turn.text:
            paired.append(turn)
    return tuple(paired)


def _pair_calls(turn: PromptTurn, results: Sequence[ToolResult]) -> list[PromptTurn | ToolResult]:
    """Return a turn with its answered calls, followed by the first result of each call."""
    results_by_id = {result.id: result for result in reversed(results)}
    calls_by_id = {call.id: call for call in reversed(turn.calls) if call.id in results_by_id}
    calls = tuple(call for call in turn.calls if calls_by_id.get(call.id) is call)
    if not calls and not turn.text:
        return []
    if calls != turn.calls:  # drop the echo, which mentions the dropped calls
        turn = PromptTurn(role=turn.role, text=turn.text, calls=calls)
    return [turn, *(results_by_id[call.id] for call in calls)]
