"""What a channel asks of the database, besides how far it has been heard."""

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.channel_cursors import ChannelCursors
from oldfriend.inbound.receive import handle_event
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.inbound.test_failed_events import allowing_ana, forget_everything, says

engine = both_engines


async def test_when_everything_was_forgotten_is_told_of_all_at_once(
    app: AppContext, clock: FrozenClock
) -> None:
    """The last time; of others, and of who has only talked, there is none."""
    app = allowing_ana(app)
    cursors = ChannelCursors(app, "telegram")
    asked = {"7", "9"}
    await handle_event(app, says("I like tea."))
    before = await cursors.find_forgotten_times(asked)
    for _ in range(2):
        clock.tick(minutes=1)
        await forget_everything(app)

    assert before == {}
    assert await cursors.find_forgotten_times(asked) == {"7": clock()}
