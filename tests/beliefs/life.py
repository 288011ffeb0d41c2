"""A life told in a few sentences, and read."""

from collections.abc import Sequence

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.queries import BeliefDetails, list_beliefs
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.memory.consolidation_undo import undo_consolidation
from oldfriend.memory.evidence import list_stats_mismatches
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.segments import list_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now

TOLD = (
    "I live in Porto, in a small flat by the river.",
    "My sister Ana is a nurse. She works nights at the hospital.",
    "I love jazz, and I can't stand coriander.",
    "My dog Rex died yesterday. I am heartbroken.",
)


async def tell(app: AppContext, chat_context: ChatContext, texts: Sequence[str] = TOLD) -> None:
    """Say some things, and have them read."""
    for text in texts:
        await answer_message(app, chat_context, MessageSubmission(text=text))
    await learn_now(app, chat_context.person.id, cut_reason="asked")


async def believed(
    app: AppContext, chat_context: ChatContext, *, live: bool = True
) -> list[BeliefDetails]:
    """What is believed, found to be what was decided."""
    async with app.db.begin_read() as tx:
        assert await list_view_mismatches(tx, chat_context.person.id) == []
        assert await list_stats_mismatches(tx, chat_context.person.id) == []
        return await list_beliefs(tx, chat_context.person.id, live=live)


async def the_one(app: AppContext, chat_context: ChatContext, words: str) -> str:
    """The id of the one memory in which these words stand."""
    async with app.db.begin_read() as tx:
        told = await list_beliefs(tx, chat_context.person.id, live=False)
    (found,) = [
        each.content.id
        for each in told
        if isinstance(each.content, StoredBelief) and words in each.content.text
    ]
    return found


async def undo_last_reading(app: AppContext, chat_context: ChatContext) -> None:
    """Undo all that was read of the last moment; what puts right is read before the reply to it."""
    async with app.db.begin_write() as tx:
        segments = await list_segments(tx, chat_context.person.id)
        for each in segments:
            if each.from_at == segments[-1].from_at:
                await undo_consolidation(tx, chat_context.person.id, each.id, now=app.clock())
