"""What does one turn think with? Models whose calls are recorded, a desk that forgets nothing.

Finished calls are kept as they happen, in transactions of their own: a turn that crashes is run
again, and takes from the ledger what was paid for and done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from oldfriend.app.allowance import allowances
from oldfriend.app.choices.sections import Role
from oldfriend.app.house import House
from oldfriend.app.in_time import refuse_too_late
from oldfriend.app.recording import keep_call
from oldfriend.ledger.calls import Asker, completions_by_request
from oldfriend.ledger.tools import (
    Kept,
    ToolClass,
    begin_tool_call,
    finish_tool_call,
    list_tool_calls,
)
from oldfriend.llm.model import Call, Completion, Model, ToolCall
from oldfriend.llm.replay import Replayed
from oldfriend.memory.changes import revision_of
from oldfriend.turn.budget import BUDGETS
from oldfriend.turn.mind import Limits, Mind
from oldfriend.turn.outcome import Utterance

NOTHING_GIVEN: Final[Mapping[int, Completion]] = MappingProxyType({})
NOTHING_GIVEN_FOR: Final[Mapping[str, Completion]] = MappingProxyType({})
FIRST_OF_JUDGEMENT: Final = 1_000
"""The calls for a reply are numbered from 0, and are fewer."""


async def mind_for(house: House, said: Utterance) -> Mind:
    """What a turn that answers these words thinks with."""
    asker = asker_of(said)
    return Mind(
        looking=house.on_behalf_of(asker).looking,
        model=model_for(house, asker, since=said.rewritten, given=said.given),
        small=judge_for(house, asker, said),
        desk=LedgerDesk(house=house, asker=asker),
        clock=house.clock,
        limits=Limits(
            budget=BUDGETS[house.settings.context.preset],
            tool_calls=house.settings.limits.most_tool_calls,
        ),
        resting=await why_resting(house),
    )


def judge_for(house: House, asker: Asker, said: Utterance) -> Model | None:
    """The model that judges what a message needs, where a small one was chosen for such work."""
    if not house.settings.models.small:
        return None
    return model_for(
        house, asker, "small", first=FIRST_OF_JUDGEMENT, since=said.rewritten, given=said.given
    )


def asker_of(said: Utterance) -> Asker:
    """On whose behalf a turn asks."""
    return Asker(
        person=said.person.id,
        turn=said.message.turn,
        asked=" ".join(f"{each.id}@{each.version}" for each in said.messages),
    )


def model_for(
    house: House, asker: Asker, role: Role = "main", *, first: int = 0, since: int | None = None,
    given: Mapping[int, Completion] = NOTHING_GIVEN,
    given_for: Mapping[str, Completion] = NOTHING_GIVEN_FOR,
) -> Model | None:  # fmt: skip
    """The model of a role, with every call recorded; None: the companion is offline.

    ``first`` is the number of its first call in the turn, ``given`` what the turn was given before
    it crashed, or ``given_for`` the hash of a request; ``since`` as in ``keep_call``.
    """
    make = house.models.get(role)
    if make is None:
        return None

    async def keep(call: Call, request: str, step: int) -> None:
        async with house.db.writing() as tx:
            await keep_call(
                tx, asker, call, step=step, request=request, now=house.clock(), since=since
            )
        house.reached("called")

    return Replayed(
        model=make.chain, given=given, given_for=given_for, keep=keep, name=make.name, first=first,
        before=refuse_too_late,
    )  # fmt: skip


async def background_model(house: House, asker: Asker, role: Role) -> Model | None:
    """The model of a role for work in the background, which goes on where it was before a crash.

    Where something is forgotten from now on, what it gives is not kept.
    """
    async with house.db.reading() as tx:
        since = (await revision_of(tx, asker.person)).rewritten
        given = await completions_by_request(tx, asker)
    return model_for(house, asker, role, since=since, given_for=given)


async def why_resting(house: House) -> str | None:
    """Why no model may be called any more today, if that is so."""
    budget = house.settings.budget
    if not house.models or (budget.all_per_day is None and budget.all_tokens_per_day is None):
        return None
    async with house.db.reading() as tx:
        _, everything = await allowances(tx, house.settings, now=house.clock())
    return "the limit for today is reached" if everything.is_used_up else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerDesk:
    """The tool calls of one turn, in the ledger."""

    house: House
    asker: Asker

    async def list_begun(self) -> Sequence[Kept]:
        """All calls of this turn so far, in order, whichever run began them."""
        assert self.asker.turn is not None
        async with self.house.db.reading() as tx:
            return await list_tool_calls(tx, self.asker.person, self.asker.turn)

    async def begin(self, call: int, asked: ToolCall, kind: ToolClass) -> None:
        """Keep that a call begins; committed before the tool does anything."""
        assert self.asker.turn is not None
        now = self.house.clock()
        async with self.house.db.writing() as tx:
            await begin_tool_call(
                tx, self.asker.person, self.asker.turn, call, asked, kind, now=now
            )
        self.house.reached("tool begun")

    async def finish(self, call: int, asked: ToolCall, kind: ToolClass, result: str) -> None:
        """Keep what a call gave, begun or not; committed before anything is done with it."""
        person, turn = self.asker.person, self.asker.turn
        assert turn is not None
        now = self.house.clock()
        async with self.house.db.writing() as tx:
            await begin_tool_call(tx, person, turn, call, asked, kind, now=now)
            await finish_tool_call(tx, person, turn, call, result, now=now)
        self.house.reached("tool finished")
