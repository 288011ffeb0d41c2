"""How does one thing happen again? By the very means by which it happened, at its own time."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from oldfriend.app.choices.sections import Role
from oldfriend.app.forming.means import is_for_model, means_with
from oldfriend.app.forming.tending import give_up_reading
from oldfriend.app.forming.thinking_ahead import DESCRIBE, REFLECT, THINKING, TICK, Think
from oldfriend.app.forming.thinking_ahead import means_with as thinking_with
from oldfriend.app.house import House, RoleModel
from oldfriend.app.replaying.asking import Ledgers, Recalling
from oldfriend.app.replaying.pausing import check_off
from oldfriend.app.replaying.standing_there import Standing
from oldfriend.app.replaying.steps import Past, Step
from oldfriend.app.replaying.upholding import carry_over, uphold
from oldfriend.app.replaying.wanting import Replaying
from oldfriend.background.compacting import compact
from oldfriend.background.consolidating import consolidate
from oldfriend.background.merging import merge
from oldfriend.domain.errors import (
    BrokenOutput,
    InvalidInput,
    ModelRefused,
    NotFound,
    RequestRejected,
)
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.letters import Letter
from oldfriend.ledger.calls import Asker
from oldfriend.llm.model import Model
from oldfriend.memory.expiring import expire_overdue
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import get_segment
from oldfriend.memory.thoughts import let_questions_go
from oldfriend.memory.ticks import TickKind

THOUGHT: Final[Mapping[TickKind, Think]] = MappingProxyType(
    {
        "reflection": THINKING[REFLECT],
        "slow tick": THINKING[TICK],
        "description": THINKING[DESCRIBE],
    }
)


async def do(
    replaying: Replaying, person: PersonId, following: tuple[Letter, Step], *,
    ledgers: Ledgers, past: Past, here: Standing,
) -> None:  # fmt: skip
    """Let one thing happen again."""
    letter, step = following
    match step.kind:
        case "read":
            await read(replaying, person, letter, step, ledgers)
        case "tidy" | "fold":
            asker = Asker(person=person, is_background=True)
            await look_after(replaying, person, letter, step, model_of(replaying, ledgers, asker))
        case "think":
            await think(replaying, person, letter, step, ledgers)
        case "carry" | "uphold":
            await decide_again(replaying, person, letter, step, past, here)


async def read(
    replaying: Replaying, person: PersonId, letter: Letter, step: Step, ledgers: Ledgers
) -> None:
    """Read a stretch of talk once more; what a model cannot make sense of is set aside."""
    assert step.segment is not None
    house, told = replaying.house, replaying.told
    async with house.db.reading() as tx:
        segment = await get_segment(tx, person, step.segment)
    asker = Asker(
        person=person, turn=TurnId(segment.id), asked=f"generation {segment.generation}",
        is_background=True,
    )  # fmt: skip
    is_by_model = is_for_model(house, segment, step.by)
    model = model_of(replaying, ledgers, asker) if is_by_model else None
    means = replace(await means_with(house, asker, model), clock=lambda: step.at)
    try:
        told.read += await consolidate(means, segment) is not None
    except (BrokenOutput, ModelRefused) as error:
        if isinstance(error, RequestRejected) and ledgers.asked == 1:
            raise  # so will be all others
        told.failed += 1
        async with house.db.writing() as tx:
            await give_up_reading(tx, person, segment.id, str(error), now=step.at)
    await settle(house, person, letter)


async def look_after(
    replaying: Replaying, person: PersonId, letter: Letter, step: Step, model: Model | None
) -> None:
    """Tidy or fold, as it was done at this time."""
    house = replaying.house
    if step.kind == "tidy":
        async with house.db.writing() as tx:
            await lock_person(tx, person)
            await expire_overdue(tx, person, now=step.at)
            await let_questions_go(tx, person, now=step.at)
        await merge(house.db, person, model=model, embedder=house.embedder.model, now=step.at)
    else:
        await compact(house.db, person, model=model, now=step.at)
    await settle(house, person, letter)


async def think(
    replaying: Replaying, person: PersonId, letter: Letter, step: Step, ledgers: Ledgers
) -> None:
    """Think about it as it was thought about then; what makes no sense is not believed."""
    house = replaying.house

    async def model(asked: str) -> Model:
        asker = Asker(person=person, turn=TurnId(person), asked=asked, is_background=True)
        found = model_of(replaying, ledgers, asker, "reflect")
        assert found is not None
        return found

    if step.thinking is not None and is_thinking(replaying):
        means = await thinking_with(house, person, model)
        with suppress(BrokenOutput, ModelRefused):
            await THOUGHT[step.thinking](replace(means, clock=lambda: step.at), person)
    await settle(house, person, letter)


def is_thinking(replaying: Replaying) -> bool:
    """Whether there is a model that thinks."""
    return "reflect" in replaying.house.models and replaying.wanted.reader != "rules"


async def settle(house: House, person: PersonId, letter: Letter) -> None:
    """Note that a step is done which has written in transactions of its own."""
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        await check_off(tx, person, letter)


async def decide_again(
    replaying: Replaying, person: PersonId, letter: Letter, step: Step, past: Past,
    here: Standing,
) -> None:  # fmt: skip
    """Decide again what was decided, or tell that it could not be."""
    anew = carry_over if step.kind == "carry" else uphold
    change = past.decided(step.change)
    if change is not None:
        try:
            async with replaying.house.db.writing() as tx:
                await anew(tx, past, here, change, now=step.at)
                await check_off(tx, person, letter)
            replaying.told.upheld += 1
        except (InvalidInput, NotFound) as error:
            here.forget()
            replaying.told.lost.append(f"{change.op} {change.object}: {error}")
        else:
            return
    await settle(replaying.house, person, letter)


def model_of(
    replaying: Replaying, ledgers: Ledgers, asker: Asker, role: Role = "small"
) -> Model | None:
    """The model of a role, which repeats what it has said before; None: rules read."""
    make = replaying.house.models.get(role)
    if make is None or replaying.wanted.reader == "rules":
        return None
    return Recalling(
        name=make.name, models=names_of(replaying.house, make, role), chain=make.chain,
        ledgers=ledgers, asker=asker, purse=replaying.purse,
    )  # fmt: skip


def names_of(house: House, make: RoleModel, role: Role) -> tuple[str, ...]:
    """Whose answers count as the model's own: those of all in its chain."""
    return tuple(dict.fromkeys((make.name, *house.settings.models.for_role(role))))
