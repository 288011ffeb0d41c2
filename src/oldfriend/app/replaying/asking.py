"""Whom is a replay to ask? The ledgers first; a model only where nobody has answered the same.

An answer counts where model, prompt and every word of the request are the same. What is asked
anew is charged to the second database, under its own limit or that of the day.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from oldfriend.app.allowance import allowances
from oldfriend.app.choices.settings import Settings
from oldfriend.app.recording import keep_call
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, start_of_day
from oldfriend.domain.errors import AllowanceUsedUp
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.answers import Asked, find_answer, list_answered
from oldfriend.ledger.calls import Asker
from oldfriend.ledger.spending import Cap, Spent, spent_since
from oldfriend.llm.model import Call, Completion, Model, Record, Request, Say, Usage
from oldfriend.llm.replay import request_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """What may be spent: so much in all (``limit``), else what is left of the day."""

    source: Database
    target: Database
    settings: Settings
    clock: Clock  # the real one
    limit: Cap | None = None

    async def check(self) -> None:
        """Raise AllowanceUsedUp where nothing more may be spent."""
        if self.limit is not None:
            async with self.target.reading() as tx:
                spent = await spent_since(tx, 0)
            if self.limit.is_reached_by(spent):
                raise AllowanceUsedUp("The limit that was given for this replay is reached.")
            return
        now = self.clock()
        midnight = start_of_day(now, self.settings.zone)
        async with self.target.reading() as tx:
            here = await spent_since(tx, midnight)
        async with self.source.reading() as tx:
            for each in await allowances(tx, self.settings, now=now):
                if each.cap.is_reached_by(sum_of(each.spent, here)):
                    raise AllowanceUsedUp(
                        "Today's limit is reached, for both databases together. Go on tomorrow, "
                        "or name a limit for the replay (--limit-usd, --limit-tokens)."
                    )


def sum_of(one: Spent, other: Spent) -> Spent:
    """What was spent in two places, as far as limits look at it."""
    return Spent(
        tokens_in=one.tokens_in + other.tokens_in, tokens_out=one.tokens_out + other.tokens_out,
        cost=one.cost + other.cost,
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Ledgers:
    """What was answered on behalf of one person, in both databases."""

    person: PersonId
    source: Database
    target: Database
    in_source: dict[Asked, str]
    in_target: dict[Asked, str]
    reused: int = 0
    asked: int = 0

    async def find(self, asked: Asked) -> tuple[Completion, bool] | None:
        """An answer to the very same, and whether the second database has it already."""
        for db, calls in ((self.target, self.in_target), (self.source, self.in_source)):
            if asked not in calls:
                continue
            async with db.reading() as tx:
                found = await find_answer(tx, self.person, calls[asked])
            if found is not None:
                return found, db is self.target
        return None


async def open_ledgers(source: Database, target: Database, person: PersonId) -> Ledgers:
    """What was answered on behalf of a person so far."""
    async with source.reading() as tx:
        in_source = await list_answered(tx, person)
    async with target.reading() as tx:
        in_target = await list_answered(tx, person)
    return Ledgers(
        person=person, source=source, target=target, in_source=in_source, in_target=in_target
    )


@dataclass(slots=True, kw_only=True)
class Recalling:
    """A model that repeats what it has said, and is asked only where it has not."""

    name: str
    models: Sequence[str]  # whose answers count
    chain: Callable[[Record], Model]
    ledgers: Ledgers
    asker: Asker
    purse: Purse
    _step: int = field(default=0)  # how many calls were kept

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """What was answered to the same before, else what the model answers now.

        Raises AllowanceUsedUp instead of asking where nothing more may be spent.
        """
        digest = request_hash(request)
        for model in self.models:
            found = await self.ledgers.find(Asked(request=digest, model=model))
            if found is not None:
                return await self.repeat(request, digest, *found)
        await self.purse.check()
        self.ledgers.asked += 1

        async def record(call: Call) -> None:
            await self.keep(call, digest)

        return await self.chain(record).complete(request, say)

    async def repeat(
        self, request: Request, digest: str, found: Completion, is_here: bool
    ) -> Completion:
        """Give an answer once more; kept here, too, at no cost, so that forgetting finds it."""
        self.ledgers.reused += 1
        if not is_here:
            free = replace(found, usage=Usage(), cost=0)
            call = Call(
                request=request, model=found.model, outcome="done", completion=free, error=None,
                latency_us=0,
            )  # fmt: skip
            await self.keep(call, digest)
        return found

    async def keep(self, call: Call, digest: str) -> None:
        """Keep a finished call in the second database, at the time at which it was made."""
        async with self.ledgers.target.writing() as tx:
            kept = await keep_call(
                tx, self.asker, call, step=self._step, request=digest, now=self.purse.clock()
            )
        if call.outcome == "done":
            self.ledgers.in_target[Asked(request=digest, model=call.model)] = kept
        self._step += 1
