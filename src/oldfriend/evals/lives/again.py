"""Is the same believed again? A life that was talked through, derived anew from its log.

By the same models, whose answers are all at hand; nobody is to be asked anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from oldfriend.app.believing.looking import Belief
from oldfriend.app.comparing.differing import Compared, compare
from oldfriend.app.house import House
from oldfriend.app.replaying.going import replay
from oldfriend.app.replaying.wanting import Wanted
from oldfriend.domain.memories import Entity
from oldfriend.evals.lives.talking import Talking
from oldfriend.evals.roles import with_models


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What came of deriving a memory anew."""

    steps: int
    reused: int  # answers that were at hand
    asked: int  # of a model, for want of one
    failed: int  # readings
    differences: tuple[str, ...]


async def derived_again(talking: Talking, second: House) -> Again:
    """Derive all memory of a life in an empty house, and compare the two."""
    steps = [0]

    def show(_: int, total: int) -> None:
        steps[0] = max(steps[0], total)

    settings = replace(talking.house.settings, database=second.settings.database)
    house = with_models(replace(second, settings=settings), talking.models)
    told = await replay(talking.house.db, house, Wanted(), show=show)
    async with talking.house.db.reading() as ours, second.db.reading() as theirs:
        found = await compare(ours, theirs, is_all=True)
    return Again(
        steps=steps[0], reused=told.reused, asked=told.asked, failed=told.failed,
        differences=tuple(each for one in found for each in differences_in(one)),
    )  # fmt: skip


def differences_in(compared: Compared) -> Iterator[str]:
    """What is believed in one of the two only, or otherwise."""
    for each in compared.differences:
        what = each.one or each.other
        told = "; ".join(f"{one.what}: {one.one} / {one.other}" for one in each.differs)
        if what is not None:
            yield f"{each.finding}: {each.kind} {words_in(what)} {told}".rstrip()


def words_in(belief: Belief) -> str:
    """What a belief says."""
    return belief.what.name if isinstance(belief.what, Entity) else belief.what.text
