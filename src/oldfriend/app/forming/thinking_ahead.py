"""When does the companion think between conversations, and with what? At the end of a reading.

By jobs in lanes of their own, so that nobody waits for them; each looks for itself whether its
gate is open. Nothing here plans itself: where nothing is read, nothing is thought.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.app.charging import LedgerAccount
from oldfriend.app.forgotten import forgotten_of
from oldfriend.app.forming.means import embed
from oldfriend.app.house import House
from oldfriend.app.thinking import background_model
from oldfriend.background.describing import describe_everybody
from oldfriend.background.reflecting import reflect
from oldfriend.background.thinking import Means
from oldfriend.background.ticking import tick
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, start_of_day
from oldfriend.domain.errors import BrokenOutput, ModelMisconfigured
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.sayings import saying
from oldfriend.ledger.calls import Asker, set_aside
from oldfriend.llm.model import Model
from oldfriend.memory.tallying import counted_in
from oldfriend.memory.ticks import (
    TRANSCRIPTS_LAST,
    Thinking,
    TickKind,
    list_ticks,
    thinking_since,
)
from oldfriend.queues.agenda import Job, put_job
from oldfriend.queues.letters import first_due

REFLECT: Final = "reflect"
TICK: Final = "tick"
DESCRIBE: Final = "describe"

Think = Callable[[Means, PersonId], Awaitable[object]]
THINKING: Final[Mapping[str, Think]] = MappingProxyType(
    {REFLECT: reflect, TICK: tick, DESCRIBE: describe_everybody}
)
"""The jobs, and what each does."""

IS_OFF: Final = saying(
    "thinks_off",
    "It does not think between conversations: [memory] thinks is off in oldfriend.toml.",
)  # fmt: skip
FORMS_OFF: Final = saying(
    "thinks_off_with_forms", "It does not think between conversations: [memory] forms is off.",
)  # fmt: skip
NO_MODEL: Final = saying(
    "thinking_takes_model", "It does not think between conversations: that takes a language model.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Whether it thinks, and how much it has thought today."""

    why_not: str | None  # None: it thinks
    today: Mapping[TickKind, Thinking]
    is_failing: bool  # the last time today was in vain
    refused: Mapping[str, int]  # ideas of the last two weeks that were not believed, by reason


def why_not(house: House) -> str | None:
    """Why it does not think between conversations; None: it does."""
    if not house.settings.memory.forms:
        return FORMS_OFF
    if not house.settings.memory.thinks:
        return IS_OFF
    return None if "reflect" in house.models else NO_MODEL


def thinking_lane_of(name: str, person: PersonId) -> str:
    """The lane in which it thinks in one way about one person's life."""
    return f"{name}:{person}"


async def plan_thinking(tx: Transaction, house: House, person: PersonId, *, now: Micros) -> None:
    """Have it thought about what was just read; what waits already, or is put off, is enough."""
    if why_not(house) is not None:
        return
    for name in THINKING:
        lane = thinking_lane_of(name, person)
        if await first_due(tx, "agenda", lane) is None:
            await put_job(tx, lane, Job(name=name), person=person, now=now)


async def think(house: House, person: PersonId, name: str) -> None:
    """Do one of the jobs, where it may be done still.

    Raises AllowanceUsedUp, BrokenOutput, and what the model raises.
    """
    if why_not(house) is not None:
        return
    try:
        await THINKING[name](await means_for(house, person), person)
    except BrokenOutput:
        async with house.db.writing() as tx:
            await set_aside(tx, person, TurnId(person))  # else it would be thought from it again
        raise


async def means_for(house: House, person: PersonId) -> Means:
    """What it thinks with. Raises AllowanceUsedUp where nothing may be spent on it today."""
    asker = Asker(person=person, is_background=True)
    await LedgerAccount(
        db=house.db, settings=house.settings, clock=house.clock, asker=asker
    ).check()

    async def model(asked: str) -> Model:
        asking = Asker(person=person, turn=TurnId(person), asked=asked, is_background=True)
        found = await background_model(house, asking, "reflect")
        if found is None:
            raise ModelMisconfigured(NO_MODEL)
        return found

    return await means_with(house, person, model)


async def means_with(
    house: House, person: PersonId, model: Callable[[str], Awaitable[Model]]
) -> Means:
    """What it thinks with by some model; what it means is charged to the person."""
    asker = Asker(person=person, is_background=True)
    async with house.db.reading() as tx:
        forgotten = await forgotten_of(house.settings, tx, person)
    return Means(
        db=house.db,
        clock=house.clock,
        model=model,
        embed=partial(embed, house.on_behalf_of(asker).embedder),
        embedder=house.embedder.model,
        is_forgotten=forgotten.is_forgotten,
        zone=house.settings.zone,
    )


async def status_of(tx: Transaction, house: House, person: PersonId) -> Status:
    """Whether it thinks, and what it has thought today."""
    now = house.clock()
    midnight = start_of_day(now, house.settings.zone)
    kinds: tuple[TickKind, ...] = ("reflection", "slow tick", "description")
    today = {each: await thinking_since(tx, person, each, midnight) for each in kinds}
    lately = await list_ticks(tx, person, since=now - TRANSCRIPTS_LAST)
    refused = sum((counted_in(each.outcome.get("rejected")) for each in lately), Counter[str]())
    newest = next((each for each in lately if each.ran_at >= midnight), None)
    return Status(
        why_not=why_not(house), today=today,
        is_failing=newest is not None and newest.error is not None,
        refused=dict(refused.most_common()),
    )  # fmt: skip


def status_as_text(status: Status) -> str:
    """It, on one line."""
    if status.why_not is not None:
        return status.why_not
    counts = ", ".join(
        f"{thinking.cycles} {kind}{'' if thinking.cycles == 1 else 's'}"
        for kind, thinking in status.today.items()
        if thinking.cycles
    )
    tokens = sum(each.tokens_in + each.tokens_out for each in status.today.values())
    if not counts:
        return saying("thinks_not_yet", "It thinks between conversations; not yet today.")
    failed = saying("thought_in_vain", " The last time in vain.") if status.is_failing else ""
    return saying(
        "thinks_today",
        f"It thinks between conversations. Today: {counts}, {tokens:,} tokens.{failed}",
        counts=counts, times=sum(each.cycles for each in status.today.values()), tokens=tokens,
        failed=failed,
    )  # fmt: skip
