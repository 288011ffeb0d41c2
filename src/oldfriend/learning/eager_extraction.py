"""Eager extraction: reads new messages at once, before rules answer a question from beliefs.

So a person who says where they live and then asks for it gets the answer in the same conversation.
If this fails, the job stays scheduled and the segment is read later.
"""

import asyncio
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Database
from oldfriend.domain.errors import OldfriendError
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.memory.segments import list_uncut_spans
from oldfriend.turn.intent import perceive
from oldfriend.turn.turn_outcome import Utterance

TIMEOUT_S: Final = 5.0
"""Seconds that the answer waits; then it uses what was extracted by then."""
MAX_SESSION_MESSAGES: Final = 60
"""Maximum number of recent messages that are searched for unread statements."""


async def extract_before_reply(app: AppContext, utterance: Utterance) -> None:
    """Have rules extract this session's statements if the person asks for beliefs.

    Without effect if a model is configured: it extracts on its own schedule, and the model that
    replies sees the session.
    """
    if app.models or not perceive(utterance.own_words, utterance.addressee).is_asking_for_beliefs:
        return
    if not await has_unread_statements(app.db, utterance):
        return
    try:
        async with asyncio.timeout(TIMEOUT_S):
            session = utterance.message.session
            for segment in await schedule_learning(
                app.db,
                app.clock,
                app.settings,
                utterance.person.id,
                cut_reason="asked",
                session=session,
            ):
                await consolidate_segment(app, utterance.person.id, segment.id)
    except (TimeoutError, OldfriendError):
        return


async def has_unread_statements(db: Database, utterance: Utterance) -> bool:
    """Return whether the person has stated something in this session that is not extracted yet."""
    person, message = utterance.person.id, utterance.message
    async with db.begin_read() as tx:
        uncut = await list_uncut_spans(tx, person, session=message.session)
        recent = await list_recent_messages(tx, person, message.chat, limit=MAX_SESSION_MESSAGES)
    first = min((each.first_seq for each in uncut), default=message.seq)
    return any(
        first <= each.seq < message.seq
        and each.role == "person"
        and not perceive(each.text, utterance.addressee).is_only_question
        for each in recent
    )
