"""Which model answers, when the first one does not? The next; and each is asked for the record.

It knows neither providers nor databases. What was said once is not said again: a model that
takes over goes on where the other one broke off.
"""

import asyncio
from asyncio import CancelledError
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import (
    BrokenOutput,
    KeyRefused,
    ModelError,
    ModelMisconfigured,
    ModelNotAsked,
    ModelRefused,
    ModelUnavailable,
    RequestRejected,
)
from oldfriend.domain.sayings import saying
from oldfriend.llm.going_on import Joint, asked_to_go_on
from oldfriend.llm.model import (
    Call,
    Completion,
    Model,
    Outcome,
    Record,
    Request,
    Say,
    Usage,
)
from oldfriend.llm.pairing import whole_pairs
from oldfriend.llm.resting import Rests

ROUNDS: Final = 2
"""So often each is asked at most: what fails once mostly works a second later."""

PAUSE_S: Final = 1.0
"""Between rounds, on average, where no provider says how long."""

PATIENCE_S: Final = 10.0
"""Somebody waits for the reply: a provider that asks for more is not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A model made of several, in the order in which they are asked. Cheap to make."""

    models: Sequence[Model]
    record: Record
    rests: Rests  # shared by all chains of the process
    clock: Clock
    random: Callable[[], float]  # 0 to 1, for the length of pauses
    free: Collection[str] = ()  # the models that cost nothing, also where nothing is counted

    @property
    def name(self) -> str:
        """That of the first choice."""
        return self.models[0].name

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """Ask one after another until one answers; with ``say``, each word is said once.

        Raises what is most worth knowing of all that went wrong.
        """
        told = None if say is None or request.output is not None else Told(say)
        models = self._awake()
        errors: dict[str, ModelError] = {}
        for _ in range(ROUNDS):
            if errors:
                pause_s = pause_before_asking_again(errors.values(), self.random)
                models = [model for model in models if may_pass(errors[model.name])]
                if not models or pause_s > PATIENCE_S:
                    break
                await asyncio.sleep(pause_s)
            for model in models:
                try:
                    return await self._ask(model, request, told)
                except ModelError as error:
                    if isinstance(error, ModelRefused) and not isinstance(error, RequestRejected):
                        raise  # it has answered; nobody is asked to overrule it
                    errors[model.name] = error
        raise together(list(errors.values()))

    def _awake(self) -> list[Model]:
        """The models that may be asked now. Raises ModelUnavailable if none may."""
        now = self.clock()
        left = {model.name: self.rests.left_s(model.name, now) for model in self.models}
        awake = [model for model in self.models if not left[model.name]]
        if not awake:
            soonest = min(left, key=left.__getitem__)
            names, seconds = ", ".join(left), round(left[soonest])
            raise ModelUnavailable(
                saying(
                    "models_rest",
                    f"{names} did not answer lately and will be asked again in {seconds} s.",
                    names=names,
                    seconds=seconds,
                ),
                retry_after_s=left[soonest],
                outage=self.rests.outage_of(soonest),
            )
        return awake

    async def _ask(self, model: Model, request: Request, told: "Told | None") -> Completion:
        """Ask one model, and write down how it went."""
        attempt = Attempt(
            request=request, model=model.name, told=told, began="" if told is None else told.text,
            started=asyncio.get_running_loop().time(), is_free=model.name in self.free,
        )  # fmt: skip
        try:
            completion = await complete_or_go_on(model, request, told)
        except CancelledError:
            await self.record(
                attempt.failed("cut off", "It was stopped, or its turn took too long.")
            )
            raise
        except ModelError as error:
            if isinstance(error, ModelUnavailable):
                self.rests.failed(model.name, self.clock(), error)
            if not isinstance(error, ModelNotAsked):
                outcome: Outcome = "refused" if isinstance(error, ModelRefused) else "failed"
                await self.record(attempt.failed(outcome, str(error)))
            raise
        self.rests.answered(model.name)
        await self.record(attempt.done(completion))
        return completion


@dataclass(slots=True)
class Told:
    """What the person has read of the reply so far, whoever wrote it."""

    say: Say
    text: str = ""

    async def hear(self, piece: str) -> None:
        """Pass on the next piece."""
        self.text += piece
        await self.say(piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call to one model, while it is under way."""

    request: Request
    model: str
    told: Told | None
    began: str  # what was said before it
    started: float  # by the loop's clock, which nobody sets
    is_free: bool

    def done(self, completion: Completion) -> Call:
        """It answered."""
        return self._call("done", completion, None)

    def failed(self, outcome: Outcome, why: str) -> Call:
        """It did not; perhaps after it had said something."""
        partial = self._broken_off()
        return self._call("cut off" if partial else outcome, partial, why)

    def _broken_off(self) -> Completion | None:
        """The words that were said, and about how many tokens they and the request are.

        Nobody reported them, so a token is taken for four characters; what is not free has an
        unknown cost.
        """
        text = "" if self.told is None else self.told.text
        if text == self.began:
            return None
        turns = "".join(turn.text for turn in self.request.turns)
        sent = self.request.stable + self.request.changing + turns + self.began
        usage = Usage(input=len(sent) // 4, output=(len(text) - len(self.began)) // 4)
        cost = 0 if self.is_free else None
        return Completion(model=self.model, text=text, usage=usage, cost=cost)

    def _call(self, outcome: Outcome, completion: Completion | None, why: str | None) -> Call:
        took_s = asyncio.get_running_loop().time() - self.started
        return Call(
            request=self.request, model=self.model, outcome=outcome, completion=completion,
            error=why, latency_us=round(took_s * 1_000_000), began=self.began,
        )  # fmt: skip


async def complete_or_go_on(model: Model, request: Request, told: Told | None) -> Completion:
    """What a model makes of a request and of what was said of the reply already."""
    whole = replace(request, turns=whole_pairs(request.turns))
    if told is None:
        return await model.complete(whole)
    if not told.text:
        return await model.complete(whole, told.hear)
    joint = Joint(told.text, told.hear)
    completion = await model.complete(asked_to_go_on(whole, told.text), joint.take)
    await joint.close()
    return replace(completion, text=told.text)


def may_pass(error: ModelError) -> bool:
    """Whether asking the same model again may help."""
    return isinstance(error, ModelUnavailable | BrokenOutput)


def pause_before_asking_again(errors: Iterable[ModelError], random: Callable[[], float]) -> float:
    """How many seconds to wait: until the first provider may be asked, else about a second."""
    asked = [error.retry_after_s for error in errors if isinstance(error, ModelUnavailable)]
    waits = [PAUSE_S * (0.5 + random()) if wait is None else wait for wait in asked]
    return min(waits, default=0.0)


def one_and_another(one: str, other: str) -> str:
    """Two sentences, one behind the other."""
    return saying("one_and_another", f"{one} {other}", one=one, other=other)


def together(errors: Sequence[ModelError]) -> ModelError:
    """One error for all: of the kind that leaves most hope, with all that they say."""
    if len(errors) == 1:
        return errors[0]
    says = reduce(one_and_another, dict.fromkeys(error.says for error in errors))
    waits = [error for error in errors if isinstance(error, ModelUnavailable)]
    if waits:
        known = [error.retry_after_s for error in waits if error.retry_after_s is not None]
        outage = waits[0].outage
        return ModelUnavailable(says, retry_after_s=min(known, default=None), outage=outage)
    for kind in (BrokenOutput, RequestRejected, KeyRefused):
        if any(isinstance(error, kind) for error in errors):
            return kind(says)
    return ModelMisconfigured(says)
