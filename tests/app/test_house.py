"""What a running Oldfriend shares follows the settings, also while it runs."""

from dataclasses import replace

from oldfriend.app.accepting import Line, Said, open_line
from oldfriend.app.answering import answer
from oldfriend.app.choices.sections import ScorerName
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.turn.recall import Cue, recall
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY

YEAR = 60 * 24 * 365


def weighed_by(house: House, scorer: ScorerName) -> House:
    """The house after a reload."""
    search = replace(house.settings.search, scorer=scorer)
    return house.refurnish(house, replace(house.settings, search=search))


async def score(house: House, line: Line) -> float:
    """What the best belief scores as an answer."""
    cue = Cue(text="Do I love jazz?", language="en", at=house.clock())
    found = await recall(house.looking, line.person, cue, limit=5)
    return found.beliefs[0].score


@SQLITE_ONLY
async def test_another_scorer_weighs_from_the_next_question_on(
    house: House, clock: FrozenClock
) -> None:
    """Beliefs at hand are the same, and nothing of the scorer before is left in them."""
    line = await open_line(house, person=None, channel="terminal")
    await answer(house, line, Said(text="I love jazz."))
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)
    clock.tick(minutes=YEAR)
    names: tuple[ScorerName, ...] = ("typed_decay", "dual_trace", "act_r", "typed_decay")
    scores = [await score(weighed_by(house, name), line) for name in names]

    assert scores[0] == scores[3] == await score(house, line)
    assert len(set(scores)) == 3
