"""What a running Oldfriend shares follows the settings, also while it runs."""

from dataclasses import replace

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import ScorerName
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.replies.reply_worker import answer_message
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY

YEAR = 60 * 24 * 365


def weighed_by(app: AppContext, scorer: ScorerName) -> AppContext:
    """The house after a reload."""
    search = replace(app.settings.search, scorer=scorer)
    return app.with_settings(app, replace(app.settings, search=search))


async def score(app: AppContext, chat_context: ChatContext) -> float:
    """What the best belief scores as an answer."""
    cue = RecallQuery(text="Do I love jazz?", language="en", at=app.clock())
    found = await recall(app.search_deps, chat_context.person, cue, limit=5)
    return found.beliefs[0].score.value


@SQLITE_ONLY
async def test_changed_scorer_setting_applies_from_the_next_recall(
    app: AppContext, clock: FrozenClock
) -> None:
    """Beliefs at hand are the same, and nothing of the scorer before is left in them."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    await answer_message(app, chat_context, MessageSubmission(text="I love jazz."))
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)
    clock.tick(minutes=YEAR)
    names: tuple[ScorerName, ...] = ("typed_decay", "dual_trace", "act_r", "typed_decay")
    scores = [await score(weighed_by(app, name), chat_context) for name in names]

    assert scores[0] == scores[3] == await score(app, chat_context)
    assert len(set(scores)) == 3
