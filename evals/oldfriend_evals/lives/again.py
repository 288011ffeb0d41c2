"""Is the same believed again? A life that was talked through, derived anew from its log.

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
from oldfriend_evals.lives.talking import Talking
from oldfriend_evals.roles import with_models


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What came of deriving a memory anew."""

    steps: int
    reused: int  # answers that were at hand
    asked: int  # of a model, for want of one
    failed: int  # readings
    differences: tuple[str, ...]


async def derived_again(talking: Talking, second: AppContext) -> Again:
    """Derive all memory of a life in an empty house, and compare the two."""
    steps = [0]

    def show(_: int, total: int) -> None:
        steps[0] = max(steps[0], total)

    settings = replace(talking.app.settings, database=second.settings.database)
    app = with_models(replace(second, settings=settings), talking.models)
    told = await run_replay(talking.app.db, app, ReplayRequest(), on_progress=show)
    async with talking.app.db.begin_read() as ours, second.db.begin_read() as theirs:
        found = await diff_memories(ours, theirs, include_ended=True)
    return Again(
        steps=steps[0],
        reused=told.reused,
        asked=told.asked,
        failed=told.failed,
        differences=tuple(each for one in found for each in differences_in(one)),
    )


def differences_in(compared: PersonDiff) -> Iterator[str]:
    """What is believed in one of the two only, or otherwise."""
    for each in compared.differences:
        what = each.first or each.second
        told = "; ".join(
            f"{one.field_name}: {one.first} / {one.second}" for one in each.field_differences
        )
        if what is not None:
            yield f"{each.status}: {each.kind} {words_in(what)} {told}".rstrip()


def words_in(belief: BeliefDetails) -> str:
    """What a belief says."""
    return belief.content.name if isinstance(belief.content, Entity) else belief.content.text
