"""Replay of a life: what is believed when memory is derived anew from its log.

By the same models, whose answers are all at hand; nobody is to be asked anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.memories import Entity
from oldfriend.replay.memory_diff import PersonDiff, diff_memories
from oldfriend.replay.replay_run import run_replay
from oldfriend.replay.replay_types import ReplayRequest
from oldfriend_evals.lives.turn_simulation import TurnSimulation
from oldfriend_evals.model_roles import with_models


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayComparison:
    """What came of deriving a memory anew."""

    steps: int
    reused: int  # answers that were at hand
    asked: int  # of a model, for want of one
    failed: int  # readings
    differences: tuple[str, ...]


async def derive_again(talking: TurnSimulation, second: AppContext) -> ReplayComparison:
    """Derive all memory of a life in an empty house, and compare the two."""
    steps = [0]

    def show(_: int, total: int) -> None:
        steps[0] = max(steps[0], total)

    settings = replace(talking.app.settings, database=second.settings.database)
    app = with_models(replace(second, settings=settings), talking.models)
    told = await run_replay(talking.app.db, app, ReplayRequest(), on_progress=show)
    async with talking.app.db.begin_read() as ours, second.db.begin_read() as theirs:
        found = await diff_memories(ours, theirs, include_ended=True)
    return ReplayComparison(
        steps=steps[0],
        reused=told.reused,
        asked=told.asked,
        failed=told.failed,
        differences=tuple(each for one in found for each in list_differences(one)),
    )


def list_differences(compared: PersonDiff) -> Iterator[str]:
    """What is believed in one of the two only, or otherwise."""
    for each in compared.differences:
        what = each.first or each.second
        told = "; ".join(
            f"{one.field_name}: {one.first} / {one.second}" for one in each.field_differences
        )
        if what is not None:
            yield f"{each.status}: {each.kind} {get_words(what)} {told}".rstrip()


def get_words(belief: BeliefDetails) -> str:
    """What a belief says."""
    return belief.content.name if isinstance(belief.content, Entity) else belief.content.text
