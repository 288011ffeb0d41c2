"""What the companion thought of it all is thought again, at the same times."""

from dataclasses import replace

import pytest

from oldfriend.app.accepting import open_line
from oldfriend.app.house import House
from oldfriend.app.replaying.going import replay
from oldfriend.app.replaying.wanting import Wanted
from oldfriend.llm.model import Request
from tests.app.forming.thinking import TOLD, Mind, a_thought, alias, tell, thinking_house
from tests.app.replaying.lives import compared, faults_of, findings, nobody_looks
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY

pytestmark = [SQLITE_ONLY, pytest.mark.usefixtures("settings_folder")]
MISSES = "Rex died, and Porto may be very quiet now."
RELIEF = "The days without Rex may seem long, and the evenings longer still."


def thinking(text: str) -> Mind:
    """A mind that has one thought about the dog."""

    def mourns(request: Request) -> object:
        return {"thoughts": [a_thought(text, alias(request, "Rex"), tags=["grief"])]}

    return Mind(reflects=mourns)


async def live_in(house: House, clock: FrozenClock) -> None:
    """Have something read and thought about, while time goes on."""
    going_on = replace(house, clock=lambda: clock.tick(seconds=0.01))
    line = await open_line(going_on, person=None, channel="terminal")
    await tell(thinking_house(going_on, thinking(MISSES)), line, *TOLD)
    clock.tick(minutes=90)


async def test_the_same_thoughts_are_thought_from_the_answers_kept(
    house: House, second: House, clock: FrozenClock
) -> None:
    """Nobody is asked; another mind thinks otherwise, and that is named."""
    await live_in(house, clock)

    same = thinking(MISSES)
    told = await replay(house.db, thinking_house(second, same), Wanted(), show=nobody_looks)

    assert (same.model.asked, told.asked, told.reused > 0) == ([], 0, True)
    assert findings(await compared(house.db, second.db)) == []
    assert await faults_of(second.db) == []


async def test_another_mind_thinks_otherwise(
    house: House, second: House, clock: FrozenClock
) -> None:
    """It is asked at the same times; both thoughts are shown."""
    await live_in(house, clock)

    other = thinking(RELIEF)
    other.model = replace(other.model, name="scripted:other")
    await replay(house.db, thinking_house(second, other), Wanted(), show=nobody_looks)

    assert len(other.model.asked) > 0
    assert findings(await compared(house.db, second.db)) == [
        ("only in 1", MISSES), ("only in 2", RELIEF),
    ]  # fmt: skip
