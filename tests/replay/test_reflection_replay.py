"""What the companion thought of it all is thought again, at the same times."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import open_local_chat
from oldfriend.llm.model import CompletionRequest
from oldfriend.replay.replay_run import run_replay
from oldfriend.replay.replay_types import ReplayRequest
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY
from tests.learning.reflection_fixtures import TOLD, Mind, a_thought, alias, tell, thinking_house
from tests.replay.lives import compared, faults_of, findings, nobody_looks

pytestmark = [SQLITE_ONLY, pytest.mark.usefixtures("settings_folder")]
MISSES = "Rex died, and Porto may be very quiet now."
RELIEF = "The days without Rex may seem long, and the evenings longer still."


def thinking(text: str) -> Mind:
    """A mind that has one thought about the dog."""

    def mourns(request: CompletionRequest) -> object:
        return {"thoughts": [a_thought(text, alias(request, "Rex"), tags=["grief"])]}

    return Mind(reflects=mourns)


async def live_in(app: AppContext, clock: FrozenClock) -> None:
    """Have something read and thought about, while time goes on."""
    going_on = replace(app, clock=lambda: clock.tick(seconds=0.01))
    chat_context = await open_local_chat(
        going_on.db, going_on.clock, going_on.settings, person=None, channel="terminal"
    )
    await tell(thinking_house(going_on, thinking(MISSES)), chat_context, *TOLD)
    clock.tick(minutes=90)


async def test_replay_reuses_stored_reflection_answers(
    app: AppContext, second: AppContext, clock: FrozenClock
) -> None:
    """Nobody is asked; another mind thinks otherwise, and that is named."""
    await live_in(app, clock)

    same = thinking(MISSES)
    told = await run_replay(
        app.db, thinking_house(second, same), ReplayRequest(), on_progress=nobody_looks
    )

    assert (same.model.requests, told.asked, told.reused > 0) == ([], 0, True)
    assert findings(await compared(app.db, second.db)) == []
    assert await faults_of(second.db) == []


async def test_replay_with_another_reflection_model_reports_both_thoughts(
    app: AppContext, second: AppContext, clock: FrozenClock
) -> None:
    """It is asked at the same times; both thoughts are shown."""
    await live_in(app, clock)

    other = thinking(RELIEF)
    other.model = replace(other.model, name="scripted:other")
    await run_replay(
        app.db, thinking_house(second, other), ReplayRequest(), on_progress=nobody_looks
    )

    assert len(other.model.requests) > 0
    assert findings(await compared(app.db, second.db)) == [
        ("only in 1", MISSES),
        ("only in 2", RELIEF),
    ]
