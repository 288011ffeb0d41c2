"""Cached model: answers replay requests from recorded calls and asks a model only on a miss.

A recorded answer counts when the model, the prompt and every word of the request are the same. New
calls are charged to the target database, under the replay's own limit or the daily one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from oldfriend.app.call_spool import FinishedCall, save_call
from oldfriend.app.spend_limits import load_allowances
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, get_start_of_day
from oldfriend.domain.errors import AllowanceUsedUp
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.llm.model import (
    CallSink,
    Completion,
    CompletionRequest,
    LanguageModel,
    ModelCall,
    TextCallback,
    TokenUsage,
)
from oldfriend.llm.recorded_calls import hash_request
from oldfriend.usage.costs import SpendCap, UsageTotals, sum_usage
from oldfriend.usage.model_calls import (
    CallContext,
    ModelRequestKey,
    find_completion,
    load_answered_calls,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendLimit:
    """What a replay may spend: ``limit`` in total, else what is left of the day."""

    source: Database
    target: Database
    settings: Settings
    clock: Clock  # the current time, not that of a step
    limit: SpendCap | None = None

    async def check(self) -> None:
        """Raise AllowanceUsedUp if nothing more may be spent."""
        if self.limit is not None:
            async with self.target.begin_read() as tx:
                spent = await sum_usage(tx, 0)
            if self.limit.is_reached_by(spent):
                raise AllowanceUsedUp("The limit that was given for this replay is reached.")
            return
        now = self.clock()
        midnight = get_start_of_day(now, self.settings.zone)
        async with self.target.begin_read() as tx:
            spent_here = await sum_usage(tx, midnight)
        async with self.source.begin_read() as tx:
            for each in await load_allowances(tx, self.settings, now=now):
                if each.cap.is_reached_by(add_spending(each.spent, spent_here)):
                    raise AllowanceUsedUp(
                        "Today's limit is reached, for both databases together. Go on tomorrow, "
                        "or name a limit for the replay (--limit-usd, --limit-tokens)."
                    )


def add_spending(first: UsageTotals, second: UsageTotals) -> UsageTotals:
    """Add up two totals, as far as limits look at them."""
    return UsageTotals(
        tokens_in=first.tokens_in + second.tokens_in,
        tokens_out=first.tokens_out + second.tokens_out,
        cost=first.cost + second.cost,
        unpriced_tokens=first.unpriced_tokens + second.unpriced_tokens,
    )


@dataclass(slots=True, kw_only=True)
class ReplayCache:
    """The recorded answers for one person in both databases."""

    person: PersonId
    source: Database
    target: Database
    in_source: dict[ModelRequestKey, str]
    in_target: dict[ModelRequestKey, str]
    hits: int = 0
    misses: int = 0

    async def find_response(self, request_key: ModelRequestKey) -> tuple[Completion, bool] | None:
        """Return an answer to the same request, and whether the target database already has it."""
        for db, calls in ((self.target, self.in_target), (self.source, self.in_source)):
            if request_key not in calls:
                continue
            async with db.begin_read() as tx:
                found = await find_completion(tx, self.person, calls[request_key])
            if found is not None:
                return found, db is self.target
        return None


async def load_replay_cache(source: Database, target: Database, person: PersonId) -> ReplayCache:
    """Load which requests were answered for a person so far."""
    async with source.begin_read() as tx:
        in_source = await load_answered_calls(tx, person)
    async with target.begin_read() as tx:
        in_target = await load_answered_calls(tx, person)
    return ReplayCache(
        person=person, source=source, target=target, in_source=in_source, in_target=in_target
    )


@dataclass(slots=True, kw_only=True)
class CachedModel:
    """A model that replays recorded answers and is only asked on a miss."""

    name: str
    models: Sequence[str]  # whose recorded answers count
    chain: Callable[[CallSink], LanguageModel]
    cache: ReplayCache
    asker: CallContext
    spend_limit: SpendLimit
    _step: int = field(default=0)  # how many calls were recorded

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Return the recorded answer to the same request, else ask the model.

        Raises AllowanceUsedUp instead of asking where nothing more may be spent.
        """
        digest = hash_request(request)
        for model in self.models:
            found = await self.cache.find_response(
                ModelRequestKey(request_hash=digest, model=model)
            )
            if found is not None:
                return await self.return_cached(request, digest, *found)
        await self.spend_limit.check()
        self.cache.misses += 1

        async def record(call: ModelCall) -> None:
            await self.record_call(call, digest)

        return await self.chain(record).complete(request, on_text)

    async def return_cached(
        self, request: CompletionRequest, digest: str, cached: Completion, is_in_target: bool
    ) -> Completion:
        """Return a recorded answer, and record it here at no cost, so that forgetting finds it."""
        self.cache.hits += 1
        if not is_in_target:
            free = replace(cached, usage=TokenUsage(), cost=0)
            call = ModelCall(
                request=request,
                model=cached.model,
                outcome="done",
                completion=free,
                error=None,
                latency_us=0,
            )
            await self.record_call(call, digest)
        return cached

    async def record_call(self, call: ModelCall, digest: str) -> None:
        """Record a finished call in the target database, at the current time."""
        now = self.spend_limit.clock()
        finished = FinishedCall(
            id=new_id(now),
            asker=self.asker,
            step=self._step,
            request_hash=digest,
            since=None,
            made_at=now,
            call=call,
        )
        async with self.cache.target.begin_write() as tx:
            call_id = await save_call(tx, self.asker, finished)
        if call.outcome == "done":
            self.cache.in_target[ModelRequestKey(request_hash=digest, model=call.model)] = call_id
        self._step += 1
